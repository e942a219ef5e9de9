// A broker that turns the client away: a clear state, few attempts, and recovery without a deploy when it heals.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import type { AedesOptions } from 'aedes';
import { connectAsync } from 'mqtt';
import type { Session, SessionState } from '../../src/session.ts';
import { type Broker, startAedes } from '../brokers.ts';
import { freePort } from '../mosquitto.ts';
import { openSession, reached } from '../session.ts';
import { isLong, record } from './table.ts';
import { Arrivals } from './tally.ts';

type State = SessionState['mqtt']['name'];

/** How many attempts a fault may see: with a storm there would be thousands. */
const FEW = 8;

describe('a broker that', function () {
  this.timeout(isLong ? 0 : 60_000);
  const ends: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) {
      await end();
    }
  });

  /** A broker, and how often somebody connected. */
  async function start(options: AedesOptions): Promise<{ broker: Broker; attempts: string[] }> {
    const attempts: string[] = [];
    const broker = await startAedes({
      ...options,
      preConnect: (_, { clientId }, done) => {
        attempts.push(clientId);
        done(null, true);
      },
    });
    ends.push(() => broker.stop());
    return { broker, attempts };
  }

  function open(...args: Parameters<typeof openSession>): Session {
    const session = openSession(...args);
    ends.push(() => session.close());
    return session;
  }

  async function heals(fault: string, session: Session, away: State, attempts: unknown[], heal: () => void) {
    await reached(session, away);
    const before = attempts.length;
    heal();
    const start = performance.now();
    await reached(session, 'connected');
    record({ fault, times: 1, recovered: performance.now() - start, note: `${attempts.length} attempts` });
    assert.ok(before <= FEW && attempts.length <= before + FEW, `${before}, then ${attempts.length}`);
  }

  it('refuses the login is asked again when it has changed its mind', async () => {
    let isAllowed = false;
    const { broker, attempts } = await start({
      authenticate: (_, __, ___, done) =>
        done(isAllowed ? null : Object.assign(new Error('no'), { returnCode: 5 }), isAllowed),
    });
    const session = open(broker.url);
    session.attach();
    await heals('login refused', session, 'refused', attempts, () => {
      isAllowed = true;
    });
  });

  it('refuses a subscription is asked again on the same connection', async () => {
    let isAllowed = false;
    const { broker, attempts } = await start({
      authorizeSubscribe: (_, subscription, done) => done(null, isAllowed ? subscription : null),
    });
    const session = open(broker.url);
    new Arrivals().listen(session);
    await heals('subscription refused (0x80)', session, 'limited', attempts, () => {
      isAllowed = true;
    });
    assert.equal(attempts.length, 1);
  });

  it('closes at once after CONNECT is left alone for longer each time', async () => {
    const port = await freePort();
    const attempts: number[] = [];
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => {
        attempts.push(performance.now());
        socket.destroy();
      });
    }).listen(port, '127.0.0.1');
    await once(server, 'listening');
    const session = open(`mqtt://127.0.0.1:${port}`);
    session.attach();
    while (attempts.length < 2) {
      await once(server, 'connection');
    }
    server.close();
    const { broker } = await start({});
    const healthy = await forward(port, Number(new URL(broker.url).port));
    ends.push(healthy.close);
    await heals('closed after CONNECT', session, 'waiting', attempts, () => {});
  });

  it('hands the client id to another client gets it back without a fight', async () => {
    const { broker, attempts } = await start({});
    const session = open(broker.url, { clientId: 'mt-contested' });
    session.attach();
    await reached(session, 'connected');
    const other = await connectAsync(broker.url, { clientId: 'mt-contested', reconnectPeriod: 0 });
    await heals('client id taken over', session, 'waiting', attempts, () => {});
    await other.endAsync(true);
    assert.equal(attempts.length, 3);
  });

  it('dies is replaced by the next one of the list', async () => {
    const [first, second] = [await start({}), await start({})];
    const session = open(first.broker.url, { brokers: [first.broker.url, second.broker.url] });
    session.attach();
    await reached(session, 'connected');
    const dead = reached(session, 'waiting');
    await first.broker.kill();
    await dead;
    await heals('failover over two URLs', session, 'waiting', second.attempts, () => {});
    assert.ok(session.state.mqtt.name === 'connected' && session.state.mqtt.broker === second.broker.url);
    await first.broker.start();
  });
});

/** Passes bytes on to another port. */
async function forward(port: number, to: number) {
  const { connect } = await import('node:net');
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const other = connect(to, '127.0.0.1');
    for (const one of [socket, other]) {
      sockets.add(one);
      one.on('error', () => {}).once('close', () => sockets.delete(one));
    }
    socket.pipe(other).pipe(socket);
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    close: async () => {
      for (const socket of sockets) {
        socket.destroy();
      }
      server.close();
    },
  };
}
