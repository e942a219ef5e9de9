// The sample Store in PostgreSQL under traffic: Node-RED and PostgreSQL are killed, and every report is stored, each once.
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { type NodeConfig, type NodeRed, startNodeRed, VERSIONS } from '../e2e/node-red.ts';
import { isReady } from '../e2e/site.ts';
import { databases } from '../examples/canvas.ts';
import { listenTo } from '../examples/import.ts';
import {
  forInstalledNodes,
  type KeptRunning,
  keepRunning,
  POSTGRESQL_NODES,
} from '../examples/postgresql-node.ts';
import { limit } from '../limits.ts';
import { DURABLE, type Mosquitto, startMosquitto } from '../mosquitto.ts';
import { type PostgreSql, requirePostgreSql, startPostgreSql } from '../postgresql.ts';
import { requirePrograms } from '../requirements.ts';
import { everyKind, type Field, openField } from './field.ts';
import { kills, record, times } from './table.ts';

/** Reports per second. */
const RATE = 250;
/** The moment of the kill is random: it falls into what the broker kept, or into the traffic. */
const MAX_LIFE_MS = 2_000;
/** Behind that, what comes has to wait until a life has stored what the broker kept. */
const MAX_BEHIND = 1_500;
const KILLS = kills(3, 200);
const CRASHES = times(2, 50);
/** Nothing comes any more when nothing has come for so long: where the store was away for long, the flow waits as long again. */
const PATIENCE_MS = limit(30_000);
const POLL_MS = 200;

for (const version of VERSIONS) {
  describe(`reports that a flow stores in PostgreSQL (${version.name})`, function () {
    this.timeout(times(240_000, 0));
    let postgres: PostgreSql;
    let mosquitto: Mosquitto;
    let field: Field;
    const holder = {} as { red: NodeRed };
    let running: KeptRunning | undefined;
    const password = process.env.PGPASSWORD;

    before(async function () {
      requirePostgreSql(this);
      requirePrograms(this, 'mosquitto');
      postgres = await startPostgreSql();
      process.env.PGPASSWORD = postgres.password;
      mosquitto = await startMosquitto([...DURABLE, 'max_inflight_messages 100']);
      field = await openField(mosquitto.url, 1, everyKind);
      holder.red = await startNodeRed(version, POSTGRESQL_NODES);
      running = keepRunning(version, holder);
      await holder.red.deploy(sampleFor(mosquitto.url, postgres));
      await holder.red.status('sample-database-reports', isReady);
    });
    after(async () => {
      await running?.end();
      await holder.red?.stop();
      await field?.close();
      await mosquitto?.stop();
      await postgres?.stop();
      process.env.PGPASSWORD = password ?? '';
    });

    const count = async () =>
      (
        await postgres
          .query('SELECT count(*) AS rows, count(refused) AS refused FROM reports')
          .catch(() => [])
      )[0] ?? { rows: 0 };

    /** Publishes while something happens again and again, at random moments. */
    async function publishDuring(often: number, happen: () => Promise<unknown>): Promise<void> {
      for (let index = 0; index < often; index++) {
        await running?.started();
        field.setRate(field.sent - Number((await count()).rows) < MAX_BEHIND ? RATE : 0);
        await wait(Math.random() * MAX_LIFE_MS);
        await happen();
      }
      field.setRate(0);
      await field.settled();
    }

    /** All that were sent are there, each once: the tables of both tests are one. */
    async function assertStored(fault: string, often: number): Promise<void> {
      let rows = -1;
      for (let since = performance.now(); performance.now() - since < PATIENCE_MS; await wait(POLL_MS)) {
        const now = Number((await count()).rows);
        if (now !== rows) {
          [rows, since] = [now, performance.now()];
        }
        if (rows >= field.sent) {
          break;
        }
      }
      const number = "coalesce(payload->>'n', payload->'value'->>'n')";
      const [found] = await postgres.query(`SELECT count(DISTINCT ${number}) AS arrived FROM reports`);
      const arrived = Number(found?.arrived);
      const sent = field.sent;
      const { rows: written, refused } = await count();
      const duplicated = Number(written) - arrived;
      record({ fault, times: often, reports: { sent, arrived, lost: sent - arrived, duplicated } });
      assert.deepEqual({ arrived, duplicated, refused }, { arrived: sent, duplicated: 0, refused: 0 });
    }

    it('are all there, each once, wherever kills of Node-RED fall', async () => {
      await publishDuring(KILLS, () => holder.red.kill());
      await assertStored(`${version.name} killed (SIGKILL), sample stores in PostgreSQL`, KILLS);
    });

    it('are all there, each once, wherever PostgreSQL breaks off', async () => {
      await publishDuring(CRASHES, async () => {
        await postgres.kill();
        await wait(Math.random() * MAX_LIFE_MS);
        await postgres.start();
      });
      await assertStored(`PostgreSQL killed, sample stores in it, ${version.name}`, CRASHES);
    });
  });
}

/** As a user has filled it in, for all kinds of reports, and with less waiting. */
function sampleFor(brokerUrl: string, { port, user }: PostgreSql): NodeConfig[] {
  const flow = databases.find(({ label }) => label === 'Store in PostgreSQL')?.flow ?? [];
  const changes: Record<string, object> = {
    'mt-report-in': { kinds: [] },
    'mt-timestamped-ack': { retryAfter: 1 },
    inject: { repeat: '1' },
  };
  const quick = forInstalledNodes(flow).map((node) => ({ ...node, ...changes[node.type] }));
  return listenTo(quick, {
    env: { PG_HOST: '127.0.0.1', PG_PORT: `${port}`, PG_USER: user },
    service: { brokerUrl, persistent: true, clientId: 'mt-postgresql', keepalive: 5, names: false },
  });
}
