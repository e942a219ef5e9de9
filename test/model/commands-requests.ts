// Commands about requests: flows ask and acknowledge, gateways answer well or badly, time runs out.
import fc from 'fast-check';
import { pick, picks, places, turns } from './arbitraries.ts';
import { acknowledge, answer, request } from './asking.ts';
import { type Command, command } from './command.ts';
import { GATEWAYS } from './field.ts';
import { ANSWERS } from './requests.ts';

const asking = fc
  .record({ list: fc.array(places, { minLength: 1, maxLength: 4 }), after: turns })
  .map(({ list, after }) =>
    command('request', list, after, {
      // After the end each of them must be told so.
      whenClosed: true,
      run(world) {
        for (const place of list) {
          request(world, place, false);
        }
      },
    }),
  );

const expire = fc
  .record({ place: places, after: turns })
  .map(({ place, after }) =>
    command('expire', place, after, { run: (world) => request(world, place, true) }),
  );

/** Few samples of one device, so that some are acknowledged again. */
const acknowledging = fc
  .record({
    gateway: fc.constantFrom(GATEWAYS[0], GATEWAYS[1]),
    sample: fc.nat(1),
    wait: fc.boolean(),
    isShort: fc.constantFrom(false, false, true),
    after: turns,
  })
  .map(({ after, ...details }) =>
    command('acknowledge', details, after, {
      whenClosed: true,
      run: (world) => acknowledge(world, details),
    }),
  );

const answering = fc
  .record({ at: picks, kind: fc.constantFrom('right' as const, 'right' as const, ...ANSWERS), after: turns })
  .map(({ at, kind, after }) =>
    command('answer', { at, kind }, after, {
      check: (world) => world.requests.answerable.length > 0,
      run(world) {
        const asked = pick(world.requests.answerable, at);
        if (asked) {
          answer(world, asked, kind);
        }
      },
    }),
  );

export const requestCommands: fc.Arbitrary<Command>[] = [
  asking,
  asking,
  expire,
  acknowledging,
  acknowledging,
  answering,
  answering,
  answering,
  answering,
  answering,
];
