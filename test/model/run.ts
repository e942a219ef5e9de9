// Runs sequences of commands, several worlds beside each other, and says how to see a failure again.
import fc from 'fast-check';
import { isLong } from '../faults/table.ts';
import { startScriptedBroker } from '../scripted-broker/broker.ts';
import type { Command, Model } from './command.ts';
import { brokerCommands } from './commands-broker.ts';
import { closeCommand, connectionCommands } from './commands-connection.ts';
import { reportCommands } from './commands-reports.ts';
import { requestCommands } from './commands-requests.ts';
import { explain, type Replay } from './replay.ts';
import { setups } from './settings.ts';
import { finish, settle } from './settling.ts';
import { World } from './world.ts';

const MAX_COMMANDS = 80;
/** A failure that cannot be simplified any further by then is shown as it is. */
const SHORT_LIMIT_MS = 200_000;

/** What all sequences together did, the failed ones too. */
export interface Totals {
  commands: number;
  connections: number;
  /** Sent or queued by the broker. */
  reports: number;
  deliveries: number;
  answered: number;
  failed: Record<string, number>;
}

export const newTotals = (): Totals => ({
  ...{ commands: 0, connections: 0, reports: 0, deliveries: 0, answered: 0 },
  failed: {},
});

/** Runs so many sequences one after the other; undefined when all went well, else what went wrong. */
export async function runSequences(
  count: number,
  totals: Totals,
  { seed, path, replayPath }: Replay,
): Promise<string | undefined> {
  const broker = await startScriptedBroker();
  const usual = [...connectionCommands, ...reportCommands, ...requestCommands, ...brokerCommands];
  const all = [...usual, ...usual, closeCommand];
  const commands = fc.commands<Model, World, false>(all, {
    maxCommands: MAX_COMMANDS,
    size: 'max',
    ...(replayPath ? { replayPath } : {}),
  });
  const property = fc.asyncProperty(setups, commands, async (setup, sequence) => {
    await broker.reset(setup.broker);
    const world = new World(broker, setup);
    try {
      await runOne(world, sequence);
    } finally {
      add(totals, world);
      await world.dispose();
    }
  });
  try {
    const details = await fc.check(property, {
      numRuns: path ? 1 : count,
      seed,
      ...(path ? { path } : {}),
      ...(isLong ? {} : { interruptAfterTimeLimit: SHORT_LIMIT_MS }),
    });
    return details.failed ? explain(details, 'test/model/session.test.ts') : undefined;
  } finally {
    await broker.stop();
  }
}

async function runOne(world: World, sequence: Iterable<Command>): Promise<void> {
  await start(world);
  await fc.asyncModelRun(() => ({ model: { world }, real: world }), sequence);
  await finish(world);
}

function add(totals: Totals, world: World): void {
  const { published, subscribers } = world.reports;
  totals.commands += world.commands;
  totals.connections += world.connections;
  totals.reports += published.filter(({ copies }) => copies > 0).length;
  totals.deliveries += subscribers.flatMap(({ deliveries }) => deliveries).length;
  for (const { outcome } of world.requests.asked) {
    if (outcome?.code === undefined) {
      totals.answered += outcome ? 1 : 0;
    } else {
      totals.failed[outcome.code] = (totals.failed[outcome.code] ?? 0) + 1;
    }
  }
}

/** Begins with a state that has settled, if the setup says so. */
async function start(world: World): Promise<void> {
  const { start: filters } = world.setup;
  if (!filters) {
    return;
  }
  world.attachments.push(world.session.attach());
  for (const filter of filters) {
    world.subscribe(filter);
  }
  await settle(world);
}
