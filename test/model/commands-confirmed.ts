// What can happen to a service whose flows confirm reports.
import fc from 'fast-check';
import { picks, turns } from './arbitraries.ts';
import { type Command, command } from './command.ts';
import { GATEWAYS, KINDS, NODE_NAMES, NODES, type NodeName, type Wish } from './confirmed-settings.ts';
import type { ConfirmedWorld } from './confirmed-world.ts';

type Confirmed = Command<ConfirmedWorld>;

const SERVER_BUSY = 0x89;
const PASS_MS = [10, 600, 3_000, 20_000, 70_000];

/** Runs the command, and looks whether anything has gone wrong. */
const checked = (
  name: string,
  details: unknown,
  after: number,
  run: (world: ConfirmedWorld) => unknown,
): Confirmed =>
  command<ConfirmedWorld>(name, details, after, {
    async run(world) {
      await run(world);
      world.check();
    },
  });

const reports = fc.array(
  fc.record({ kind: fc.constantFrom(...KINDS), gateway: fc.constantFrom(GATEWAYS[0], ...GATEWAYS) }),
  { minLength: 1, maxLength: 6 },
);

const publish = fc
  .record({ list: reports, after: turns })
  .map(({ list, after }) => checked('publish', list, after, (world) => world.publish(list)));

const confirm = fc
  .record({ at: fc.oneof(fc.constant(0), picks), count: fc.constantFrom(1, 1, 2, 5), after: turns })
  .map(({ at, count, after }) =>
    checked('confirm', { at, count }, after, (world) => {
      for (let n = 0; n < count; n++) {
        world.confirm(at);
      }
    }),
  );

const all = turns.map((after) => checked('all', undefined, after, (world) => world.confirmAll()));

const again = fc
  .record({ at: picks, ms: fc.constantFrom(0, 2_000), after: turns })
  .map(({ at, ms, after }) => checked('again', { at, ms }, after, (world) => world.sendAgain(at, ms)));

const lose = turns.map((after) => checked('lose', undefined, after, (world) => world.lose()));

const end = turns.map((after) =>
  checked('end', undefined, after, ({ broker, clientId }) => broker.disconnect(SERVER_BUSY, clientId)),
);

const deafen = turns.map((after) => checked('deafen', undefined, after, (world) => world.deafen()));
const hear = turns.map((after) => checked('hear', undefined, after, (world) => world.hear()));

const resend = turns.map((after) => checked('resend', undefined, after, ({ kept }) => kept?.resend()));

const pass = fc
  .record({ ms: fc.constantFrom(...PASS_MS), after: turns })
  .map(({ ms, after }) => checked('pass', ms, after, (world) => world.pass(ms)));

const settle = fc.constant(checked('settle', undefined, 0, (world) => world.settle()));

/** What happens while flows are replaced, or the service is away. */
const meanwhile = fc.record({
  list: fc.oneof(fc.constant([]), reports),
  isLost: fc.constantFrom(false, false, false, true),
  ms: fc.constantFrom(0, 0, 10, 3_000),
});

async function happen(
  world: ConfirmedWorld,
  { list, isLost, ms }: { list: Parameters<ConfirmedWorld['publish']>[0]; isLost: boolean; ms: number },
): Promise<void> {
  world.publish(list);
  if (isLost) {
    world.lose();
  }
  if (ms > 0) {
    await world.pass(ms);
  }
}

/** What a node becomes: mostly what it was. */
const changes = fc.dictionary(fc.constantFrom(...NODE_NAMES), fc.constantFrom(-1, -1, 0, 1, 2, 3, 4), {
  minKeys: 1,
  maxKeys: 2,
  noNullPrototype: true,
});

function wishesOf(
  { ledger }: ConfirmedWorld,
  changed: Partial<Record<NodeName, number>>,
): Map<NodeName, Wish | undefined> {
  const wishes = Object.entries(changed).map(([key, at]) => {
    const name = key as NodeName;
    const all = NODES[name];
    return [name, at < 0 ? ledger.wishes.get(name) : all[at % all.length]] as const;
  });
  return new Map(wishes);
}

const deploy = fc
  .record({ changed: changes, during: meanwhile, after: turns })
  .map(({ changed, during, after }) =>
    checked('deploy', { changed, during }, after, (world) =>
      world.deploy(wishesOf(world, changed), () => happen(world, during)),
    ),
  );

const restart = fc
  .record({ changed: fc.oneof(fc.constant({}), changes), during: meanwhile, after: turns })
  .map(({ changed, during, after }) =>
    checked('restart', { changed, during }, after, (world) =>
      world.restart(wishesOf(world, changed), () => happen(world, during)),
    ),
  );

export const confirmedCommands: fc.Arbitrary<Confirmed>[] = [
  ...[publish, publish, publish, confirm, confirm, confirm, all, again],
  ...[lose, end, deafen, hear, resend, pass, settle, settle, settle, deploy, deploy, restart],
];
