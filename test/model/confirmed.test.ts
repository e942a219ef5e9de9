// Any order of what can happen to reports that flows confirm, in virtual time: each is acknowledged by all, and comes no more.
import assert from 'node:assert/strict';
import fc from 'fast-check';
// Loaded before time stands still.
import 'mqtt';
import { isLong, record, times } from '../faults/table.ts';
import { type ScriptedBroker, startScriptedBroker } from '../scripted-broker/broker.ts';
import { confirmedCommands } from './commands-confirmed.ts';
import { type Setup, setups } from './confirmed-settings.ts';
import { ConfirmedWorld } from './confirmed-world.ts';
import { explain, replays } from './replay.ts';
import { randomOf } from './virtual-time.ts';

const SEQUENCES = times(40, 10_000);
const MAX_COMMANDS = 60;
/** A failure that cannot be simplified any further by then is shown as it is. */
const SHORT_LIMIT_MS = 200_000;

describe('reports that flows confirm, in any order of events', function () {
  this.timeout(isLong ? 0 : 240_000);

  const totals = { commands: 0, connections: 0, reports: 0, deliveries: 0, acknowledged: 0 };
  const { random } = Math;
  let broker: ScriptedBroker;

  before(async () => {
    broker = await startScriptedBroker();
  });
  after(() => broker.stop());

  async function run(
    setup: Setup,
    sequence: Iterable<fc.AsyncCommand<{ world: ConfirmedWorld }, ConfirmedWorld>>,
  ) {
    const { delivery, maxInFlight } = setup;
    await broker.reset({ delivery, maxInFlight });
    Math.random = randomOf(1);
    const world = new ConfirmedWorld(broker, setup);
    try {
      await fc.asyncModelRun(() => ({ model: { world }, real: world }), sequence);
      await finish(world);
    } finally {
      await world.dispose();
      Math.random = random;
      const { ledger } = world;
      totals.commands += world.commands;
      totals.connections += ledger.connections;
      totals.reports += ledger.published.length;
      totals.deliveries += ledger.arrivals;
      totals.acknowledged += ledger.acknowledged;
    }
  }

  /** Everything is acknowledged, and comes no more: after a loss, and to a service that is started anew. */
  async function finish(world: ConfirmedWorld): Promise<void> {
    world.hear();
    await world.drain();
    world.check(true);
    world.lose();
    await world.drain();
    await world.restart(new Map(), () => {});
    await world.drain();
    world.check(true);
  }

  it(`are acknowledged by all and come no more in ${SEQUENCES} sequences of commands`, async () => {
    const [{ seed, path, replayPath }] = replays(1) as [ReturnType<typeof replays>[number]];
    const commands = fc.commands(confirmedCommands, {
      maxCommands: MAX_COMMANDS,
      size: 'max',
      ...(replayPath ? { replayPath } : {}),
    });
    const details = await fc.check(fc.asyncProperty(setups, commands, run), {
      numRuns: path ? 1 : SEQUENCES,
      seed,
      ...(path ? { path } : {}),
      ...(isLong ? {} : { interruptAfterTimeLimit: SHORT_LIMIT_MS }),
    });
    assert.ok(!details.failed, details.failed ? explain(details, 'test/model/confirmed.test.ts') : '');
    const { commands: events, connections, reports, deliveries, acknowledged } = totals;
    record({
      fault: 'model: reports that flows confirm',
      times: SEQUENCES,
      note: `${events} events, ${connections} connections, ${reports} reports given ${deliveries} times and acknowledged ${acknowledged} times`,
    });
  });
});
