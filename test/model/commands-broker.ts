// Commands about the broker: it withholds replies and sends them late, refuses subscriptions and grants them again.
import fc from 'fast-check';
import type { Reply } from '../scripted-broker/options.ts';
import { turns } from './arbitraries.ts';
import { type Command, command } from './command.ts';

const REPLIES: Reply[] = ['suback', 'unsuback', 'puback', 'connack'];

const withhold = fc
  .record({ replies: fc.subarray(REPLIES, { minLength: 1 }), after: turns })
  .map(({ replies, after }) =>
    command('withhold', replies, after, {
      check: ({ broker }) => broker.options.withhold.length === 0,
      run: (world) => world.withhold(replies),
    }),
  );

/** Late: one reply after the other, or all at once. */
const grant = fc
  .record({ count: fc.constantFrom(1, undefined, undefined), after: turns })
  .map(({ count, after }) =>
    command('grant', count, after, {
      check: ({ broker }) => broker.options.withhold.length > 0 || broker.withheld.length > 0,
      run(world) {
        if (count === undefined) {
          world.grant();
        } else {
          world.broker.release(undefined, count);
        }
      },
    }),
  );

const FILTERS = {
  reports: (filter: string) => !filter.includes('/response/'),
  responses: (filter: string) => filter.includes('/response/'),
  some: (filter: string) => filter.includes('0001/'),
};

const refuse = fc
  .record({ what: fc.constantFrom(...(Object.keys(FILTERS) as (keyof typeof FILTERS)[])), after: turns })
  .map(({ what, after }) =>
    command('refuse', what, after, {
      check: ({ isRefusing }) => !isRefusing,
      run: (world) => world.refuse(FILTERS[what]),
    }),
  );

const allow = turns.map((after) =>
  command('allow', undefined, after, {
    check: ({ isRefusing }) => isRefusing,
    run: (world) => world.refuse(undefined),
  }),
);

export const brokerCommands: fc.Arbitrary<Command>[] = [withhold, grant, grant, grant, refuse, allow, allow];
