// Commands about reports: who wants which, deploys, and gateways that publish.
import fc from 'fast-check';
import { filters, pick, picks, places, reports, turns } from './arbitraries.ts';
import { type Command, command } from './command.ts';
import type { World } from './world.ts';

const subscribe = fc.record({ filter: filters, after: turns }).map(({ filter, after }) =>
  command('subscribe', filter, after, {
    check: (world) => world.activeSubscribers.length < 6,
    run: (world) => void world.subscribe(filter),
  }),
);

const unsubscribe = fc.record({ at: picks, after: turns }).map(({ at, after }) =>
  command('unsubscribe', at, after, {
    check: (world) => world.activeSubscribers.length > 0,
    run: (world) => stopOne(world, at),
  }),
);

function stopOne(world: World, at: number): void {
  const subscriber = pick(world.activeSubscribers, at);
  if (subscriber) {
    world.unsubscribe(subscriber);
  }
}

/** Some nodes are replaced, as they were or changed, while gateways go on. */
const deploy = fc
  .record({
    replaced: fc.array(picks, { maxLength: 3 }),
    changed: fc.array(filters, { maxLength: 2 }),
    meanwhile: fc.array(reports, { maxLength: 4 }),
    after: turns,
  })
  .map(({ after, ...details }) =>
    command('deploy', details, after, {
      check: ({ isHeld }) => !isHeld,
      run: (world) => deployed(world, details),
    }),
  );

function deployed(
  world: World,
  {
    replaced,
    changed,
    meanwhile,
  }: {
    replaced: number[];
    changed: Parameters<World['subscribe']>[0][];
    meanwhile: { place: Parameters<World['report']>[0]; qos: 0 | 1; isBad: boolean }[];
  },
): void {
  world.hold();
  const gone = replaced.map((at) => pick(world.activeSubscribers, at)).filter((one) => one !== undefined);
  for (const one of new Set(gone)) {
    world.unsubscribe(one);
  }
  for (const { place, qos, isBad } of meanwhile) {
    world.report(place, qos, isBad);
  }
  const wanted = changed.length > 0 ? changed : [...new Set(gone)].map(({ filter }) => filter);
  for (const filter of wanted) {
    world.subscribe(filter);
  }
  world.release();
}

const hold = turns.map((after) =>
  command('hold', undefined, after, { check: ({ isHeld }) => !isHeld, run: (world) => world.hold() }),
);

const release = turns.map((after) =>
  command('release', undefined, after, { check: ({ isHeld }) => isHeld, run: (world) => world.release() }),
);

const report = fc
  .record({ list: fc.array(reports, { minLength: 1, maxLength: 5 }), after: turns })
  .map(({ list, after }) =>
    command('report', list, after, {
      // What is published while the session is closed waits at the broker, if anywhere.
      whenClosed: true,
      run(world) {
        for (const { place, qos, isBad } of list) {
          world.report(place, qos, isBad);
        }
      },
    }),
  );

/** Another gateway has heard one of the newest reports too. */
const again = fc.record({ at: picks, place: places, after: turns }).map(({ at, place, after }) =>
  command('again', { at, gateway: place.gateway }, after, {
    check: (world) => world.reports.published.length > 0,
    run(world) {
      const { published } = world.reports;
      const one = pick(published.slice(-5), at);
      if (
        !one ||
        published.some(({ number, gateway }) => number === one.number && gateway === place.gateway)
      ) {
        return;
      }
      world.report({ ...one, gateway: place.gateway }, 1, one.isBad, one.number);
    },
  }),
);

export const reportCommands: fc.Arbitrary<Command>[] = [
  subscribe,
  subscribe,
  subscribe,
  unsubscribe,
  deploy,
  hold,
  release,
  release,
  report,
  report,
  report,
  again,
];
