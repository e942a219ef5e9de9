// What of the last values outlives a deploy and a restart, whatever the context store does.
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { NodeAPI } from 'node-red';
import { DEFAULTS } from '../../nodes/service/config.ts';
import { isSameNetwork, networkOf } from '../../nodes/service/network-name.ts';
import { type KeptMemories, ValueMemory } from '../../nodes/service/value-memory.ts';
import type { ServiceNode } from '../../nodes/shared/runtime/services.ts';
import { Session } from '../../src/index.ts';
import { type Report, readReportTopic } from '../../src/protocol/reports/index.ts';
import { json, settingsFor, startServer } from '../rest/server.ts';

const G = 'c0141f68fc3d';
const mac = (n: number) => `d${n.toString(16).padStart(11, '0')}`;

type Callback = (error?: unknown, value?: unknown) => void;

/** A context store as another package may have made it; what it is asked waits for the test. */
class Store {
  content: unknown;
  /** Undefined: calls back at once. */
  held: (() => void)[] | undefined;
  fault: Error | undefined;
  #number = 0;

  get(_key: string, _store: string, callback: Callback): void {
    this.#answer(() => callback(this.fault, this.fault ? undefined : this.content));
  }

  set(_key: string, value: unknown, _store: string, callback: Callback): void {
    this.#answer(() => {
      if (!this.fault) {
        this.content = JSON.parse(JSON.stringify(value));
        this.#number++;
      }
      callback(this.fault);
    });
  }

  /** How often it was written. */
  get written(): number {
    return this.#number;
  }

  get values(): { device: string; heard: number }[] {
    return (this.content as { values: { device: string; heard: number }[] } | undefined)?.values ?? [];
  }

  get devices(): string[] {
    return this.values.map(({ device }) => device).sort();
  }

  #answer(call: () => void): void {
    if (this.held) {
      this.held.push(call);
    } else {
      call();
    }
  }
}

describe('what is remembered of last values', () => {
  let store: Store;
  let warnings: string[];
  let id = '';
  let number = 0;

  beforeEach(() => {
    store = new Store();
    warnings = [];
    id = `memory${number++}`;
  });

  const settings = { contextStorage: { file: { module: 'localfilesystem' } } };
  const events = new EventEmitter();
  /** Services that Node-RED has. */
  const nodes = new Set<string>();
  /** What is in the flows, also of what is disabled. */
  let inFlows: readonly object[] = [];
  const RED = {
    settings,
    events,
    nodes: {
      getNode: (name: string) => (nodes.has(name) ? {} : null),
      eachNode(call: (node: object) => void) {
        inFlows.forEach(call);
      },
    },
    _: (key: string) => key,
  };

  let kept: KeptMemories = new Map();

  const memoryOf = (remember: string) => {
    const node = { id, context: () => store, warn: (text: string) => warnings.push(text) };
    const options = { kept, portal: '', store: remember };
    return new ValueMemory(RED as unknown as NodeAPI, node as unknown as ServiceNode, options);
  };

  async function open(
    remember = 'file',
    network = 'one',
    identifiers: unknown = '[]',
  ): Promise<{ memory: ValueMemory; session: Session }> {
    const memory = memoryOf(remember);
    const session = new Session({ names: false, identifiers }, { info() {}, warn() {}, trace() {} });
    memory.open(session, network);
    await turn();
    return { memory, session };
  }

  const hear = ({ lastValues }: Session, device: string, value: unknown = 1) =>
    lastValues.recordRead({ gateway: G, device, identifier: 'temperature', value, time: undefined });

  const hearReport = ({ lastValues }: Session, device: string, value: unknown) =>
    lastValues.recordReport({
      gateway: G,
      device,
      kind: 'event',
      form: 'decoded',
      identifier: 'motion',
      time: '2026-01-01T12:00:00.000Z',
      ...(value !== undefined && { value }),
    });

  function watchSilence({ watches }: Session) {
    const conditions = ['silent' as const, 'gateway-silent' as const];
    const scope = { gateways: [], devices: [mac(1)], labels: [], conditions };
    const limits = { silentAfter: 0, batteryBelow: 20, batteryFine: 0, signalBelow: -85 };
    const listener = { changed() {}, counted() {}, full() {}, follow() {} };
    return watches.open('watch', { ...scope, ...limits }, listener);
  }

  const known = ({ lastValues }: Session) => lastValues.all().map(({ device }) => device);

  /** Of the store of before. */
  async function fill(...devices: string[]): Promise<void> {
    const { memory, session } = await open();
    for (const device of devices) {
      hear(session, device);
    }
    await memory.close(false);
    assert.deepEqual(store.devices, devices);
    // Another process, some time ago.
    id += 'x';
    for (const one of store.values) {
      one.heard -= 60_000;
    }
  }

  it('comes back after a restart, as stored', async () => {
    await fill(mac(1));
    const { session } = await open();
    assert.deepEqual(
      session.lastValues.all().map(({ device, source }) => [device, source]),
      [[mac(1), 'stored']],
    );
  });

  it('keeps the list of devices while the settings of the portal are wrong', async () => {
    const server = await startServer((_, response) => json(response, { items: [{ id: `bmac-${mac(1)}` }] }));
    const log = { info() {}, warn() {}, trace() {} };
    const started = (settings: object) => {
      const memory = memoryOf('');
      const session = new Session({ names: false, identifiers: '[]', ...settings }, log);
      memory.open(session, 'one');
      return { memory, session };
    };
    const rest = settingsFor(server.url, { retries: 0 });
    const first = started({ rest });
    await first.session.devices?.search('', 1, new AbortController().signal);
    await first.memory.close(false);
    await first.session.close();
    const wrong = started({ problems: { rest: new Error('wrong') } });
    await wrong.memory.close(false);
    const right = started({ rest });
    assert.equal(right.session.devices?.hasList, true);
    await right.session.close();
    await server.stop();
  });

  it('is not replaced by the few values that came before the store was read', async () => {
    await fill(mac(1), mac(2));
    store.held = [];
    const { memory, session } = await open();
    hear(session, mac(3));
    await memory.close(false);
    store.held = undefined;
    assert.deepEqual(store.devices, [mac(1), mac(2)]);
    const next = await open();
    assert.deepEqual(known(next.session), [mac(1), mac(2), mac(3)]);
    await next.memory.close(false);
    assert.deepEqual(store.devices, [mac(1), mac(2), mac(3)]);
  });

  it('is not replaced while the store cannot be read, which is told once', async () => {
    await fill(mac(1));
    store.fault = new Error('EIO');
    const { memory, session } = await open();
    store.fault = undefined;
    hear(session, mac(2));
    await memory.close(false);
    assert.deepEqual(store.devices, [mac(1)]);
    assert.equal(warnings.length, 1);
    assert.match(warnings[0]!, /EIO/);
  });

  it('is the newest where the store calls back twice and late', async () => {
    await fill(mac(1));
    store.held = [];
    const { session } = await open();
    hear(session, mac(1), 'new');
    for (const answer of [...store.held, ...store.held]) {
      answer();
    }
    await turn();
    assert.deepEqual(
      session.lastValues.all().map(({ value }) => value),
      ['new'],
    );
  });

  it('does not keep a deploy waiting for a store that never calls back', async () => {
    const { memory, session } = await open();
    hear(session, mac(1));
    store.held = [];
    const began = performance.now();
    await memory.close(false);
    assert.ok(performance.now() - began < 5_000);
    assert.match(warnings.join(), /ETIMEDOUT/);
    store.held = undefined;
    const next = await open();
    assert.deepEqual(known(next.session), [mac(1)]);
  });

  it('is what the session knew at its end, also where a slow store writes it when the next one has it', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      const { memory, session } = await open();
      const watch = watchSilence(session);
      store.held = [];
      hear(session, mac(1));
      mock.timers.tick(30_000);
      await turn();
      assert.equal(store.held.length, 1, 'a write is under way');
      hear(session, mac(2));
      session.watches.setPaused(true);
      watch.close(true);
      const closed = memory.close(false);
      mock.timers.tick(1_500);
      await closed;
      const next = await open();
      next.session.watches.setPaused(false);
      const [under] = store.held;
      store.held = undefined;
      under?.();
      await turn();
      await turn();
      assert.deepEqual(store.devices, [mac(1), mac(2)]);
      assert.deepEqual(Object.keys((store.content as { watches: object }).watches), ['watch']);
    } finally {
      mock.timers.reset();
    }
  });

  it('holds with a watch what that has learnt until the end', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      const { memory, session } = await open();
      watchSilence(session);
      session.network.setListening(true, false);
      let now = performance.now();
      const hearAfter = (...pauses: number[]) => {
        for (const ms of pauses) {
          now += ms;
          session.network.record(readReportTopic('t', G, mac(1), 'heartbeat'), now);
        }
      };
      const stored = () => (store.content as { watches: { watch: { interval: number }[] } }).watches.watch;
      hearAfter(10_000, 10_000, 10_000, 10_000, 10_000);
      mock.timers.tick(30_000);
      await turn();
      assert.deepEqual(
        stored().map(({ interval }) => interval),
        [10_000, 10_000],
        'of the gateway and of the device',
      );
      hearAfter(11_000, 11_000);
      await memory.close(false);
      assert.ok(stored().every(({ interval }) => interval > 10_900));
    } finally {
      mock.timers.reset();
    }
  });

  it('is written a second after a watch has told something, and later where the last write took long', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      const { session } = await open();
      const tellAfter = async (ms: number) => {
        session.watches.onTold?.();
        mock.timers.tick(ms);
        await turn();
        await turn();
        return store.written;
      };
      hear(session, mac(1));
      assert.equal(await tellAfter(999), 0);
      assert.equal(await tellAfter(1), 1, 'the second one waits no longer');
      store.held = [];
      assert.equal(await tellAfter(1_000), 1);
      await tellAfter(1_000);
      assert.deepEqual(warnings, [], 'a write that has just begun is not slow');
      const until = performance.now() + 100;
      while (performance.now() < until) {
        await turn();
      }
      store.held.shift()?.();
      store.held = undefined;
      await turn();
      assert.equal(await tellAfter(1_500), 2, 'twenty times as long as the last one took');
      assert.equal(await tellAfter(30_000), 3);
    } finally {
      mock.timers.reset();
    }
  });

  const templates = [
    { id: 'sf', type: 'subflow' },
    { id: 'sf-of-it', type: 'subflow' },
    { id: 'inner', type: 'subflow:sf-of-it', z: 'sf' },
    { id: 'template', type: 'mt-service', z: 'sf-of-it' },
  ];
  for (const [what, flows, left] of [
    ['is emptied when a deploy removes the instance of its subflow', templates, []],
    [
      'stays in the store while the instance of its subflow is disabled',
      [...templates, { id: 'outer', type: 'subflow:sf', z: 'tab', d: true }],
      [mac(1)],
    ],
  ] as const) {
    it(what, async () => {
      id = 'outer-inner-template';
      const { memory, session } = await open();
      hear(session, mac(1));
      await memory.close(false);
      assert.deepEqual(store.devices, [mac(1)]);
      inFlows = flows;
      events.emit('flows:started');
      await turn();
      await turn();
      assert.deepEqual(store.devices, left);
    });
  }

  it('goes to the store that a deploy names', async () => {
    const { memory, session } = await open('');
    hear(session, mac(1));
    await memory.close(false);
    assert.equal(store.written, 0);
    const next = await open('file');
    await next.memory.close(false);
    assert.deepEqual(store.devices, [mac(1)]);
  });

  it('is forgotten with a service that is removed, also where that had a problem', async () => {
    const { memory, session } = await open();
    hear(session, mac(1));
    await memory.close(false);
    await memoryOf('file').close(true);
    assert.deepEqual(store.devices, []);
    const { session: again } = await open();
    assert.deepEqual(known(again), []);
  });

  it('is forgotten with the instance of a subflow, and kept where a deploy makes the service anew', async () => {
    for (const isBack of [true, false]) {
      const { memory, session } = await open('');
      hear(session, mac(1));
      await memory.close(false);
      nodes.clear();
      if (isBack) {
        nodes.add(id);
      }
      events.emit('flows:started');
      const next = await open('');
      assert.deepEqual(known(next.session), isBack ? [mac(1)] : []);
      await next.memory.close(true);
      events.emit('flows:started');
    }
    assert.equal(events.listenerCount('flows:started'), 0);
  });

  it('is in a store for the network that it is of, and replaced by another', async () => {
    await fill(mac(1));
    const { memory, session } = await open('file', 'another');
    assert.deepEqual(known(session), []);
    hear(session, mac(2));
    await memory.close(false);
    assert.deepEqual(store.devices, [mac(2)]);
    assert.deepEqual(known((await open('file', 'another')).session), [mac(2)]);
  });

  it('is decoded anew by other own properties, and forgotten where it was read, as with a deploy', async () => {
    const co2 = { id: '8a00', name: 'co2', type: 'u16', unit: 'ppm' };
    const record = ({ lastValues }: Session) => {
      for (const [device, identifier] of [
        [mac(1), '8a00'],
        [mac(2), 'temperature'],
        [mac(3), '8800'],
      ] as const) {
        lastValues.recordRead({ gateway: G, device, identifier, value: 3_000, time: undefined });
      }
      lastValues.recordReport({
        ...{ gateway: G, device: mac(4), kind: 'property', form: 'raw', identifier: '8a00' },
        ...{ time: '2026-01-01T12:00:00.000Z', value: 3_000, raw: '0bb8' },
      } as Report);
    };
    const { memory, session } = await open('file', 'one', [co2]);
    record(session);
    await memory.close(false);
    const content = store.content as object;
    for (const [entries, more, values] of [
      [[co2], {}, [3_000, 3_000, 3_000, 3_000]],
      [[{ ...co2, divisor: 10 }], {}, [undefined, 3_000, 3_000, 300]],
      [[], {}, [undefined, 3_000, 3_000, '0bb8']],
      [[co2, { id: '8800', name: 'heat', type: 'u8' }], {}, [3_000, 3_000, undefined, 3_000]],
      [[{ ...co2, divisor: 10 }], { identifiers: undefined }, [3_000, 3_000, 3_000, 300]],
      [[{ ...co2, divisor: 10 }], { identifiers: [{ id: 5 }] }, [3_000, 3_000, 3_000, 300]],
    ] as const) {
      kept = new Map();
      store.content = { ...content, ...more };
      const next = await open('file', 'one', entries);
      const shownOf = (device: string) => next.session.lastValues.all({ device })[0]?.value;
      assert.deepEqual(
        [1, 2, 3, 4].map((n) => shownOf(mac(n))),
        values,
      );
      await next.memory.close(true);
    }
  });

  it('is of the same network as long as one address of the broker stays, with the same topic prefix', async () => {
    const network = (brokerUrl: string, topicPrefix = '') =>
      networkOf({ ...DEFAULTS, brokerUrl, topicPrefix });
    for (const [isSame, before, after] of [
      [true, network('mqtt://a'), network('mqtt://b, mqtt://a')],
      [true, network('mqtt://b, mqtt://a?token=1'), network('mqtt://a?token=2')],
      [true, network(''), network('')],
      [false, network('mqtt://a'), network('mqtt://b')],
      [false, network('mqtt://a'), network('mqtt://a', 'x/')],
      [false, network(''), network('mqtt://a')],
    ] as const) {
      assert.equal(isSameNetwork(before, after), isSame, `${before} ${after}`);
      const { memory, session } = await open('file', before);
      hear(session, mac(2));
      await memory.close(false);
      kept = new Map();
      const next = await open('file', after);
      assert.deepEqual(known(next.session), isSame ? [mac(2)] : []);
      await next.memory.close(true);
    }
    for (const unreadable of [undefined, 1, 'no list', '{}', '[]', '[["a"]]', '[1,""]', 'null']) {
      assert.equal(isSameNetwork(unreadable, network('mqtt://a')), false);
    }
  });

  it('is nothing where a store holds something else', async () => {
    for (const content of [null, 7, [{ device: mac(1) }], { network: 'one', values: { device: mac(1) } }]) {
      store.content = content;
      assert.deepEqual(known((await open()).session), []);
      id += 'x';
    }
  });

  it('is of one network, and of one Node-RED', async () => {
    const { memory, session } = await open('');
    hear(session, mac(1));
    session.network.record(readReportTopic('t', G, mac(1), 'heartbeat'), performance.now());
    await memory.close(false);
    const same = await open('');
    assert.deepEqual([known(same.session), same.session.network.gatewayOf(mac(1))], [[mac(1)], G]);
    await same.memory.close(false);
    const other = await open('', 'another');
    assert.deepEqual([known(other.session), other.session.network.gatewayOf(mac(1))], [[], undefined]);
    hear(other.session, mac(2));
    await other.memory.close(false);
    kept = new Map();
    assert.deepEqual(known((await open('', 'another')).session), []);
  });

  it('is ten thousand values, and no more than a store can take', async () => {
    const { memory, session } = await open();
    for (let n = 0; n < 10_050; n++) {
      hear(session, mac(n));
    }
    await memory.close(false);
    assert.equal(store.devices.length, 10_000);
    assert.equal(store.devices.at(-1), mac(10_049));
    const next = await open();
    for (let n = 0; n < 100; n++) {
      hear(next.session, mac(n), 'x'.repeat(500_000));
    }
    await next.memory.close(false);
    assert.ok(JSON.stringify(store.content).length < 20_000_000);
    assert.ok(store.devices.length >= 10, `${store.devices.length}`);
  });

  it('is no more than a store can take, also where reports have long values and long names in them', async () => {
    const text = 'x'.repeat(200_000);
    const numbers = Array.from({ length: 10_000 }, (_, n) => 1 / (n + 3));
    for (const makeValue of [
      (n: number) => `${n}${text}`,
      (n: number) => ({ [`${n}${text}`]: [n] }),
      () => numbers,
    ]) {
      const { memory, session } = await open();
      for (let n = 0; n < 200; n++) {
        hearReport(session, mac(n), makeValue(n));
      }
      await memory.close(false);
      const { length } = JSON.stringify(store.content);
      assert.ok(length > 5_000_000 && length < 18_000_000, `${length}`);
      id += 'x';
    }
  });

  it('is no more than a store can take that indents it, however deep it is nested', async () => {
    const [depth, count] = [480, 300_000];
    const deep = JSON.parse(`${'['.repeat(depth)}${'1,'.repeat(count)}1${']'.repeat(depth)}`) as unknown;
    const { memory, session } = await open();
    hearReport(session, mac(1), deep);
    hear(session, mac(2), deep);
    await memory.close(false);
    const { length } = JSON.stringify(store.content, null, 4);
    assert.ok(length < 2_000_000, `${length}`);
    id += 'x';
    const next = await open();
    assert.deepEqual(
      next.session.lastValues.all().map(({ device, value }) => [device, JSON.stringify(value)]),
      [mac(1), mac(2)].map((device) => [device, JSON.stringify(deep)]),
    );
  });

  it('is all that has room beside a value that has none', async () => {
    const { memory, session } = await open();
    hear(session, mac(1));
    hear(session, mac(2), 'x'.repeat(9_000_000));
    hearReport(
      session,
      mac(3),
      Array.from({ length: 300_000 }, () => []),
    );
    hear(session, mac(4));
    await memory.close(false);
    assert.deepEqual(store.devices, [mac(1), mac(4)]);
  });

  it('is the value with its report, which the store holds once, also of a store of before', async () => {
    const first = await open();
    hearReport(first.session, mac(1), { text: 'long'.repeat(9) });
    hearReport(first.session, mac(2), undefined);
    await first.memory.close(false);
    assert.equal(JSON.stringify(store.content).split('longlong').length, 1 + 4);
    const ofBefore = structuredClone(store.content) as {
      values: { value?: unknown; report: Report | string }[];
    };
    for (const one of ofBefore.values) {
      one.report = typeof one.report === 'string' ? (JSON.parse(one.report) as Report) : one.report;
      one.value = one.report.value ?? null;
    }
    for (const content of [store.content, ofBefore]) {
      store.content = structuredClone(content);
      id += 'x';
      const { session } = await open();
      assert.deepEqual(
        session.lastValues.all().map(({ value, report }) => [value, report?.value]),
        [
          [{ text: 'long'.repeat(9) }, { text: 'long'.repeat(9) }],
          [null, undefined],
        ],
      );
    }
  });
});
