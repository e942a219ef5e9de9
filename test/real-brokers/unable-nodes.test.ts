// A node that is there and cannot work: what a real broker has kept for it waits until it can, or is told to be lost.
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { connectAsync, type MqttClient } from 'mqtt';
import { SILENT } from '../../src/log.ts';
import { type ReportFilter, Session } from '../../src/session.ts';
import { type Mosquitto, startMosquitto } from '../mosquitto.ts';
import { requirePrograms } from '../requirements.ts';
import { ALL, Collector, mqttSettings, reached } from '../session.ts';

const G = 'c0141f68fc3d';
/** More than Mosquitto sends without an acknowledgement. */
const COUNT = 50;
const ITS_OWN: ReportFilter = { ...ALL, gateways: [G], kinds: ['property'] };
const OTHERS: ReportFilter = { ...ALL, kinds: ['heartbeat'] };

describe('a node that is there and cannot work', () => {
  let broker: Mosquitto;
  let field: MqttClient;
  let clientId: string;
  let session: Session;
  let clients = 0;
  const sessions: Session[] = [];
  const warnings: string[] = [];
  const warned = new EventEmitter();

  before(async function () {
    requirePrograms(this, 'mosquitto');
    broker = await startMosquitto();
    field = await connectAsync(broker.url);
  });
  after(async () => {
    await field?.endAsync();
    await broker?.stop();
  });
  beforeEach(() => {
    clientId = `unable-${clients++}`;
    warnings.length = 0;
  });
  afterEach(() => Promise.all(sessions.splice(0).map((one) => one.close())));

  /** As after a start of Node-RED: flows are about to say what they want. */
  const begin = (): Session => {
    const warn = (text: string) => {
      warnings.push(text);
      warned.emit('warning');
    };
    session = new Session(
      { mqtt: mqttSettings(broker.url, { clientId, persistent: true }) },
      { ...SILENT, warn },
    );
    sessions.push(session);
    session.pauseReports();
    return session;
  };
  const run = (...owners: string[]) => session.resumeReports((owner) => owners.includes(owner));
  const leave = () => sessions.pop()!.close([broker.url]);
  const told = async (pattern: RegExp): Promise<void> => {
    while (!warnings.some((text) => pattern.test(text))) {
      await once(warned, 'warning');
    }
  };
  const publish = async (from: number, to: number, kind = 'property') => {
    for (let n = from; n < to; n++) {
      const rest = kind === 'property' ? 'property/8001' : kind;
      const body = JSON.stringify({ time: 't', seq: n, value: '03040100' });
      await field.publishAsync(`mt/gateway/${G}/device/d00000000001/${rest}`, body, { qos: 1 });
    }
  };
  const confirming = () =>
    Object.assign(new Collector(), { confirm: { timeoutMs: 60_000, maxAttempts: 20, count() {} } });
  /** What came first is confirmed as it comes, as a flow does. */
  const storing = () => {
    const flow = confirming();
    const { report } = flow;
    flow.report = (one) => {
      report.call(flow, one);
      session.confirm((one as { delivery?: string }).delivery ?? '');
    };
    return flow;
  };
  const numbersOf = (flow: Collector) => flow.reports.map(({ seq }) => seq);
  const ALL_NUMBERS = Array.from({ length: COUNT }, (_, n) => n);
  /** A first life in which the node has worked, and the broker keeps reports for it since. */
  const leaveReports = async (others: boolean) => {
    begin();
    session.subscribe(ITS_OWN, new Collector(), 'node');
    if (others) {
      session.subscribe(OTHERS, new Collector(), 'other');
    }
    run('node', 'other');
    await reached(session, 'connected');
    await leave();
    await publish(0, COUNT);
  };

  /** A second life in which it cannot work, as the only node that asks for reports. @returns ends that */
  const beginAlone = async () => {
    await leaveReports(false);
    begin();
    session.attach();
    const end = session.waitFor('node', false);
    run('node');
    await told(/stay at the broker.*\(node\)/);
    return end;
  };
  /** A deploy after which it works. */
  const setRight = (end: () => void, flow: Collector, ...owners: string[]) => {
    session.pauseReports();
    end();
    session.subscribe(ITS_OWN, flow, 'node');
    run('node', ...owners);
  };

  it('has what the broker has kept when the next start finds it right, where no other node asks for reports', async () => {
    await beginAlone();
    await leave();
    begin();
    const flow = new Collector();
    session.subscribe(ITS_OWN, flow, 'node');
    run('node');
    await flow.until(({ reports }) => reports.length >= COUNT);
    assert.deepEqual(numbersOf(flow), ALL_NUMBERS);
  });

  it('has it when a deploy sets it right, each once', async () => {
    const end = await beginAlone();
    const flow = new Collector();
    setRight(end, flow);
    await publish(COUNT, COUNT + 1);
    await flow.until(({ reports }) => reports.length > COUNT);
    assert.deepEqual(numbersOf(flow), [...ALL_NUMBERS, COUNT]);
    assert.ok(!warnings.some((text) => /lost/.test(text)));
  });

  it('has it when it is set right without a deploy that begins and ends', async () => {
    const end = await beginAlone();
    end();
    const flow = new Collector();
    session.subscribe(ITS_OWN, flow, 'node');
    await flow.until(({ reports }) => reports.length >= COUNT);
    assert.deepEqual(numbersOf(flow), ALL_NUMBERS);
  });

  it('has it to confirm, where its flow confirms reports', async () => {
    const end = await beginAlone();
    const flow = confirming();
    setRight(end, flow);
    // Mosquitto sends no more of them.
    await flow.until(({ reports }) => reports.length > 0);
    session.pauseReports();
    run('node');
    await leave();
    begin();
    const next = storing();
    session.subscribe(ITS_OWN, next, 'node');
    run('node');
    await next.until(({ reports }) => reports.length >= COUNT);
    assert.deepEqual(numbersOf(next), ALL_NUMBERS);
  });

  it('is not alone where others cannot work either: each has what it asks for when it is set right', async () => {
    begin();
    session.subscribe(ITS_OWN, new Collector(), 'node');
    session.subscribe(OTHERS, new Collector(), 'other');
    run('node', 'other');
    await reached(session, 'connected');
    await leave();
    await publish(0, COUNT / 2);
    await publish(0, COUNT / 2, 'heartbeat');
    begin();
    session.attach();
    const ends = [session.waitFor('node', false), session.waitFor('other', true)];
    run('node', 'other');
    await told(/stay at the broker.*\(node, other\)/);
    session.pauseReports();
    const [flow, other] = [new Collector(), storing()];
    for (const end of ends) {
      end();
    }
    session.subscribe(ITS_OWN, flow, 'node');
    session.subscribe(OTHERS, other, 'other');
    run('node', 'other');
    await flow.until(({ reports }) => reports.length >= COUNT / 2);
    await other.until(({ reports }) => reports.length >= COUNT / 2);
    assert.deepEqual(numbersOf(flow), ALL_NUMBERS.slice(0, COUNT / 2));
    assert.deepEqual(numbersOf(other), ALL_NUMBERS.slice(0, COUNT / 2));
  });

  it('stops no node that a deploy adds: what was kept for it is told to be lost then', async () => {
    await beginAlone();
    session.pauseReports();
    const other = new Collector();
    session.subscribe(OTHERS, other, 'other');
    run('node', 'other');
    await reached(session, 'connected');
    await publish(0, 1, 'heartbeat');
    await other.until(({ reports }) => reports.length === 1);
    await told(/ are lost: .*\(node\)/);
  });

  for (const confirms of [false, true]) {
    it(`holds up none that work: how many reports are lost is told (${confirms ? 'Confirm' : 'without Confirm'})`, async () => {
      await leaveReports(true);
      begin();
      const other = new Collector();
      session.subscribe(OTHERS, other, 'other');
      session.waitFor('node', confirms);
      run('node', 'other');
      await told(new RegExp(`^${COUNT} reports .* are lost: .*\\(node\\)`));
      await publish(0, 1, 'heartbeat');
      await other.until(({ reports }) => reports.length === 1);
    });
  }

  it('stops none that work by what their filters bring beyond what they ask for', async () => {
    begin();
    const [one, other] = [new Collector(), new Collector()];
    // Two that are merged to one filter.
    session.subscribe({ ...ALL, gateways: [G], kinds: ['property'], devices: ['d00000000001'] }, one, 'one');
    session.subscribe({ ...ALL, gateways: [G], kinds: ['heartbeat'] }, other, 'other');
    session.waitFor('node', true);
    run('one', 'other', 'node');
    await reached(session, 'connected');
    for (let n = 0; n < COUNT; n++) {
      const topic = `mt/gateway/${G}/device/d0000000000${2 + (n % 2)}/property/8001`;
      await field.publishAsync(topic, JSON.stringify({ time: 't', seq: n, value: '03040100' }), { qos: 1 });
    }
    await publish(0, 1);
    await publish(0, 1, 'heartbeat');
    await one.until(({ reports }) => reports.length === 1);
    await other.until(({ reports }) => reports.length === 1);
    assert.deepEqual(warnings, []);
  });

  it('gives up what is open where it does not confirm any more, so that others go on', async () => {
    begin();
    const end = session.subscribe(ITS_OWN, confirming(), 'node');
    const other = new Collector();
    session.subscribe(OTHERS, other, 'other');
    run('node', 'other');
    await reached(session, 'connected');
    await publish(0, COUNT);
    session.pauseReports();
    end(true);
    session.waitFor('node', false);
    run('node', 'other');
    await told(/given up: node node /);
    await publish(0, 1, 'heartbeat');
    await other.until(({ reports }) => reports.length === 1);
  });

  it('leaves nothing behind when a deploy removes it: the broker collects no more for it', async () => {
    const end = await beginAlone();
    session.pauseReports();
    end();
    const other = new Collector();
    session.subscribe(OTHERS, other, 'other');
    run('other');
    await reached(session, 'connected');
    await publish(1, 2, 'heartbeat');
    await other.until(({ reports }) => reports.length === 1);
    await publish(2, 3, 'heartbeat');
    await other.until(({ reports }) => reports.length === 2);
    await leave();
    await publish(0, COUNT);
    begin();
    const all = new Collector();
    session.subscribe(OTHERS, all, 'other');
    session.subscribe(ITS_OWN, all, 'new');
    run('other', 'new');
    await reached(session, 'connected');
    await publish(3, 4, 'heartbeat');
    await all.until(({ reports }) => reports.some(({ seq }) => seq === 3));
    assert.ok(all.reports.every(({ kind }) => kind === 'heartbeat'));
    assert.ok(!warnings.some((text) => /lost/.test(text)));
  });
});
