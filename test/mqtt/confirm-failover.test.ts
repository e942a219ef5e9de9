// Reports that flows confirm, where their broker has several addresses, and where a link dies before anybody notices.
import assert from 'node:assert/strict';
import net from 'node:net';
import type { Session } from '../../src/session.ts';
import { type ScriptedBroker, startScriptedBroker } from '../scripted-broker/broker.ts';
import { ALL, Collector, reached } from '../session.ts';
import { heartbeat, reportTopic, useScriptedBroker } from './scripted.ts';

/** An address of a broker. */
interface Address {
  url: string;
  /** Ends its connections, and refuses more until `open`. */
  close(): void;
  open(): void;
  /** Nothing passes any more on its connections, and nobody is told; new ones work. */
  mute(): void;
  stop(): Promise<void>;
}

async function startAddress(broker: ScriptedBroker): Promise<Address> {
  const { port } = new URL(broker.url);
  const links = new Set<{ client: net.Socket; broker: net.Socket }>();
  let isOpen = true;
  const server = net.createServer((client) => {
    if (!isOpen) {
      client.destroy();
      return;
    }
    const link = { client, broker: net.connect(Number(port), '127.0.0.1') };
    links.add(link);
    client.pipe(link.broker).pipe(client);
    for (const socket of [client, link.broker]) {
      socket.on('error', () => {});
      socket.on('close', () => {
        client.destroy();
        link.broker.destroy();
        links.delete(link);
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const end = () => {
    for (const { client } of links) {
      client.destroy();
    }
  };
  return {
    url: `mqtt://127.0.0.1:${(server.address() as net.AddressInfo).port}`,
    close() {
      isOpen = false;
      end();
    },
    open() {
      isOpen = true;
    },
    mute() {
      for (const link of links) {
        link.client.unpipe(link.broker).resume();
        link.broker.unpipe(link.client).resume();
      }
    },
    stop() {
      end();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

let count = 0;

describe('reports that a flow confirms, at another address', () => {
  const bench = useScriptedBroker();
  const ends: (() => Promise<void>)[] = [];
  let clientId: string;

  beforeEach(() => {
    clientId = `mt-failover-${process.pid}-${count++}`;
  });
  afterEach(async () => {
    await Promise.all(ends.splice(0).map((end) => end()));
  });

  async function addressOf(broker: ScriptedBroker): Promise<Address> {
    const address = await startAddress(broker);
    ends.push(() => address.stop());
    return address;
  }

  async function listen(
    addresses: Address[],
    keepalive = 60,
  ): Promise<{ session: Session; flow: Collector }> {
    const flow = Object.assign(new Collector(), {
      confirm: { timeoutMs: 300_000, maxAttempts: 20, count() {} },
    });
    const brokers = addresses.map(({ url }) => url);
    const session = bench.open({ clientId, brokers, keepalive, persistent: true });
    session.subscribe(ALL, flow, 'node');
    await reached(session, 'connected');
    return { session, flow };
  }

  const publish = (n: number, broker = bench.broker) =>
    broker.publish(reportTopic('heartbeat'), heartbeat(n));
  const acknowledged = (broker = bench.broker) => broker.packets('puback', clientId).length;
  const numbers = ({ reports }: Collector) => reports.map(({ n }) => n);
  const confirm = (session: Session, { reports }: Collector, n: number) =>
    session.confirm(String(reports.find((report) => report.n === n)?.delivery));
  const got = (flow: Collector, n: number) => flow.until(({ reports }) => reports.some((one) => one.n === n));

  /** The connection at this address is lost, and there is one at the other. */
  async function failOver(session: Session, from: Address): Promise<void> {
    const lost = reached(session, 'waiting');
    from.close();
    await lost;
    await reached(session, 'connected');
  }

  it('of the same broker are not given to the flow twice', async () => {
    const [first, second] = [await addressOf(bench.broker), await addressOf(bench.broker)];
    const { session, flow } = await listen([first, second]);
    for (const n of [1, 2, 3]) {
      publish(n);
    }
    await got(flow, 3);
    await failOver(session, first);
    publish(4);
    await got(flow, 4);
    assert.deepEqual(numbers(flow), [1, 2, 3, 4]);
    for (const n of [1, 2, 3, 4]) {
      confirm(session, flow, n);
    }
    await bench.broker.until(() => acknowledged() === 4);
  });

  it('of another broker and back are not given to the flow twice, open or confirmed meanwhile', async () => {
    const other = await startScriptedBroker();
    ends.push(() => other.stop());
    const [first, second] = [await addressOf(bench.broker), await addressOf(other)];
    const { session, flow } = await listen([first, second]);
    for (const n of [1, 2]) {
      publish(n);
    }
    await got(flow, 2);
    await failOver(session, first);
    publish(11, other);
    await got(flow, 11);
    confirm(session, flow, 1);
    first.open();
    await failOver(session, second);
    second.open();
    publish(3);
    await got(flow, 3);
    assert.deepEqual(numbers(flow), [1, 2, 11, 3]);
    await bench.broker.until(() => acknowledged() === 1);
    confirm(session, flow, 2);
    await bench.broker.until(() => acknowledged() === 2);
    await failOver(session, first);
    publish(12, other);
    await got(flow, 12);
    assert.deepEqual(numbers(flow), [1, 2, 11, 3, 12]);
  });

  for (const [what, addressAfter] of [
    ['takes an address of the same broker away', 0],
    ['gives the same broker another address alone', 2],
  ] as const) {
    it(`come again while they are open, and are not acknowledged unseen, when a deploy ${what}`, async () => {
      const addresses = await Promise.all([1, 2, 3].map(() => addressOf(bench.broker)));
      const [first, second] = addresses as [Address, Address];
      const { session, flow } = await listen([first, second]);
      await failOver(session, first);
      first.open();
      await failOver(session, second);
      second.open();
      for (const n of [1, 2, 3]) {
        publish(n);
      }
      await got(flow, 3);
      confirm(session, flow, 1);
      await bench.broker.until(() => acknowledged() === 1);
      const after = [addresses[addressAfter] as Address];
      await session.close(after.map(({ url }) => url));
      const next = await listen(after);
      publish(4);
      await got(next.flow, 4);
      assert.deepEqual([numbers(next.flow), acknowledged()], [[2, 3, 4], 1]);
    });
  }

  it('that are acknowledged on a link which is dead, and nobody knows, are not given to the flow twice', async () => {
    const address = await addressOf(bench.broker);
    const { session, flow } = await listen([address], 1);
    for (const n of [1, 2, 3]) {
      publish(n);
    }
    await got(flow, 3);
    address.mute();
    for (const n of [1, 2, 3]) {
      assert.equal(confirm(session, flow, n), true);
    }
    await reached(session, 'waiting');
    await reached(session, 'connected');
    publish(4);
    await got(flow, 4);
    assert.deepEqual(numbers(flow), [1, 2, 3, 4]);
    await bench.broker.until(() => acknowledged() === 3);
  });
});
