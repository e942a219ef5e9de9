// Queries of last values: what a flow gets is its own, and very many values hold nothing up.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { ServiceError } from '../../src/errors.ts';
import { reasonOfCode } from '../../src/mqtt/reasons.ts';
import { forbiddenRequest, refusedRequest, refusedResponses, unsent } from '../../src/mqtt/request-errors.ts';
import { LastValues } from '../../src/network/last-values.ts';
import { SharedReads } from '../../src/network/shared-reads.ts';
import { fromStored, toStored } from '../../src/network/stored-values.ts';
import type { ValueContext, ValueOptions, ValueResult } from '../../src/network/value-context.ts';
import { findFirstValues, findValue, findValues } from '../../src/network/value-query.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import { buildRead } from '../../src/protocol/operations/read.ts';
import type { Report } from '../../src/protocol/reports/index.ts';
import { itAtScale } from '../at-scale.ts';

const G = 'c0141f68fc3d';
const mac = (n: number) => `d${n.toString(16).padStart(11, '0')}`;

describe('a query of last values', () => {
  const catalogue = createCatalogue('[]');
  let values: LastValues;
  let closing: AbortController;
  let read: ValueContext['read'];
  let reads: SharedReads;
  let gatewayOf: ValueContext['gatewayOf'];
  let labelled: ReadonlySet<string>;
  let names: Record<string, string>;

  beforeEach(() => {
    reads = new SharedReads(100);
    gatewayOf = () => undefined;
    values = new LastValues(catalogue);
    closing = new AbortController();
    labelled = new Set([G]);
    names = {};
    read = () => assert.fail('nobody is asked');
  });

  const hear = (device: string, value: unknown, more: Partial<Report> = {}) =>
    values.recordReport({
      gateway: G,
      device,
      kind: 'measurement',
      form: 'decoded',
      identifier: 'motion',
      time: '2026-01-01T12:00:00.000Z',
      value,
      ...more,
    });

  const context = (): ValueContext => ({
    values,
    catalogue,
    nameOf: (device) => names[device],
    gatewaysWithLabels: async () => labelled,
    gatewayOf: (device, gateways) => gatewayOf(device, gateways),
    read: (input) => read(input),
    reads,
  });

  const options = (more: Partial<ValueOptions> = {}) =>
    ({ labels: [], maxAge: 0, tooOld: 'send', signal: closing.signal, ...more }) satisfies ValueOptions;

  it('is refused for an identifier that no topic could have, and finds every other', async () => {
    hear(mac(1), 5, { identifier: 'Own Name' });
    const isRefused = ({ code, cause }: ServiceError) =>
      code === 'INVALID_INPUT' && cause.field === 'identifier';
    const find = (identifier: unknown) => findValue(context(), { device: mac(1), identifier }, options());
    for (const identifier of ['a/b', 'a+', '#', 'a\0b', 'x'.repeat(201), 5, { a: 1 }]) {
      await assert.rejects(find(identifier), isRefused);
      await assert.rejects(findValues(context(), { identifier }, options()), isRefused);
    }
    assert.equal((await find(' own name ')).value, 5);
    assert.equal((await find('never-heard')).value, null);
  });

  const REFUSED_INPUTS: [input: object, field: string, text: string][] = [
    [{}, 'device', 'missing'],
    [{ gateway: G }, 'identifier', 'missing'],
    [{ device: mac(1) }, 'identifier', 'missing'],
    ...['gateway', 'device', 'identifier'].flatMap((field): typeof REFUSED_INPUTS =>
      [null, ''].map((value) => [{ gateway: G, device: mac(1), [field]: value }, field, 'missing']),
    ),
    [{ gateway: 'x' }, 'gateway', 'notMac'],
    [{ gateway: G, device: 'x' }, 'device', 'notMac'],
    [{ device: mac(1), identifier: ' ' }, 'identifier', 'notIdentifier'],
    [{ device: mac(1), identifier: 'a/b' }, 'identifier', 'notIdentifier'],
  ];
  for (const [input, field, text] of REFUSED_INPUTS) {
    it(`is refused for ${JSON.stringify(input)}: ${field}, ${text}`, async () => {
      const isRefused = (error: ServiceError) => {
        assert.deepEqual(
          [error.code, error.text.key, error.cause],
          ['INVALID_INPUT', `INVALID_INPUT.${text}`, { field, value: (input as never)[field] }],
        );
        return true;
      };
      await assert.rejects(findValue(context(), input, options()), isRefused);
      // Of many values what is not given is any.
      if (field in input) {
        await assert.rejects(findValues(context(), input, options()), isRefused);
        await assert.rejects(findFirstValues(context(), input, options(), 10), isRefused);
      }
    });
  }

  it('is told with the name that may be meant', async () => {
    const messages = await Promise.all(
      ['temprature', 'battery level', 'radon/level'].map((identifier) =>
        findValue(context(), { device: mac(1), identifier }, options({ tooOld: 'error' })).then(
          () => '',
          ({ message }: ServiceError) => message,
        ),
      ),
    );
    assert.deepEqual(messages, [
      `nothing has been reported of temprature (perhaps temperature is meant) of ${mac(1)}`,
      `nothing has been reported of battery level (perhaps battery-level is meant) of ${mac(1)}`,
      'identifier must be a hex identifier or a name: radon/level',
    ]);
  });

  describe('of a value that is too old', () => {
    const input = { device: mac(1), identifier: 'motion' };
    const old = (more: Partial<ValueOptions> = {}) => options({ maxAge: 60, tooOld: 'error', ...more });
    const isNoValue = (text: string, values: object, cause: object) => (error: ServiceError) => {
      assert.deepEqual([error.code, error.text], ['NO_VALUE', { key: `NO_VALUE.${text}`, values }]);
      assert.deepEqual(error.cause, cause);
      return true;
    };
    let heardAt: number;

    beforeEach(() => {
      hear(mac(1), 5);
      heardAt = performance.now();
      const at = heardAt + 100_400;
      mock.method(performance, 'now', () => at);
      hear(mac(2), 6);
    });
    afterEach(() => mock.reset());

    it('says how old it is', async () => {
      await assert.rejects(findValue(context(), input, old()), ({ text, cause }: ServiceError) => {
        assert.deepEqual(text, {
          key: 'NO_VALUE.tooOld',
          values: { device: mac(1), identifier: 'motion', age: 100 },
        });
        assert.deepEqual(cause, { ...input, age: 100.4 });
        return true;
      });
    });

    it('says that nothing is known, of the device by its name', async () => {
      names = { [mac(3)]: 'Hall' };
      await assert.rejects(
        findValue(context(), { ...input, device: mac(3) }, old()),
        isNoValue(
          'none',
          { device: 'Hall', identifier: 'motion', hint: '' },
          { device: mac(3), identifier: 'motion', age: undefined },
        ),
      );
    });

    it('brings the value where it is young enough, and asks nobody', async () => {
      for (const tooOld of ['send', 'read', 'error'] as const) {
        const young = await findValue(context(), { ...input, device: mac(2) }, old({ tooOld }));
        assert.deepEqual([young.value, young.age, young.source], [6, 0, 'report']);
        assert.equal((await findValue(context(), input, old({ tooOld, maxAge: 101 }))).value, 5);
      }
    });

    it('brings it all the same where that was chosen', async () => {
      const { report, ...found } = await findValue(context(), input, old({ tooOld: 'send' }));
      assert.deepEqual(found, { ...input, gateway: G, value: 5, age: 100.4, source: 'report' });
      assert.equal(report?.value, 5);
      const { rows, failure } = await findValues(context(), {}, old({ tooOld: 'send' }));
      assert.deepEqual([rows.map(({ value }) => value), failure], [[5, 6], undefined]);
    });

    it('leaves it out of many, and fails where none is left', async () => {
      const { rows } = await findValues(context(), {}, old());
      assert.deepEqual(
        rows.map(({ device }) => device),
        [mac(2)],
      );
      await assert.rejects(findValues(context(), input, old()), isNoValue('nothing', {}, input));
      assert.deepEqual((await findValues(context(), { device: mac(3) }, options())).rows, []);
    });

    it('asks the device itself, by no gateway where none is known', async () => {
      const asked: unknown[] = [];
      read = async (question) => {
        asked.push(question);
        return { value: 7, device: mac(3), identifier: 'motion' };
      };
      const found = await findValue(context(), { ...input, device: mac(3) }, old({ tooOld: 'read' }));
      assert.deepEqual(found, { value: 7, device: mac(3), identifier: 'motion' });
      assert.deepEqual(asked, [{ device: mac(3), identifier: 'motion' }]);
    });

    it('asks for a property of the user’s own by its id: no gateway knows the name', async () => {
      const asked: unknown[] = [];
      read = async (question) => {
        asked.push(question.identifier);
        return { value: 7, device: mac(3), identifier: 'ee8001' };
      };
      const own = createCatalogue([{ id: 'ee8001', name: 'co2', type: 'u16' }]);
      for (const identifier of ['co2', 'CO2', 'ee8001', 'motion', '8100']) {
        const query = { device: mac(3), identifier };
        await findValue({ ...context(), catalogue: own }, query, old({ tooOld: 'read' }));
      }
      assert.deepEqual(asked, ['ee8001', 'ee8001', 'ee8001', 'motion', '8100']);
    });
  });

  it('brings nothing of a device that is not known, and of a gateway its own values', async () => {
    const unknown = { device: mac(1), identifier: 'motion' };
    assert.deepEqual(await findValue(context(), unknown, options()), { ...unknown, value: null });
    hear(G, 8);
    assert.equal((await findValue(context(), { gateway: G, identifier: 'motion' }, options())).value, 8);
  });

  it('names devices and properties of rows as far as they have names', async () => {
    names = { [mac(1)]: 'Hall' };
    hear(mac(1), 20, { identifier: '8800' });
    hear(mac(2), 1, { identifier: '8810' });
    hear(mac(3), 2, { identifier: 'own' });
    const { rows } = await findValues(context(), {}, options());
    const row = { gateway: G, time: '2026-01-01T12:00:00.000Z', source: 'report' };
    const named = { deviceName: 'Hall', identifier: '8800', name: 'temperature', unit: '°C' };
    assert.deepEqual(
      rows.map(({ age, ...more }) => more),
      [
        { ...row, device: mac(1), ...named, value: 20 },
        { ...row, device: mac(2), identifier: '8810', name: 'motion', value: 1 },
        { ...row, device: mac(3), identifier: 'own', value: 2 },
      ],
    );
  });

  it('lets others have a turn after each 500 rows that take long', async () => {
    for (let n = 0; n < 2_000; n++) {
      hear(mac(n), n);
    }
    let now = performance.now();
    mock.method(performance, 'now', () => {
      now += 1;
      return now;
    });
    try {
      let turns = 0;
      let isDone = false;
      const found = findValues(context(), {}, options()).finally(() => {
        isDone = true;
      });
      for (; !isDone; turns++) {
        await turn();
      }
      assert.equal((await found).rows.length, 2_000);
      assert.ok(turns >= 4 && turns < 20, `${turns}`);
    } finally {
      mock.reset();
    }
  });

  it('brings values that the flow may change', async () => {
    hear(mac(1), { state: ['on'] });
    const one = () => findValue(context(), { device: mac(1), identifier: 'motion' }, options());
    const change = (value: unknown) => (value as { state: string[] }).state.push('changed by the flow');
    const first = await one();
    change(first.value);
    change(first.report?.value);
    const { rows } = await findValues(context(), {}, options());
    change(rows[0]!.value);
    const again = await one();
    assert.deepEqual([again.value, again.report?.value], [{ state: ['on'] }, { state: ['on'] }]);
    change(again.value);
    assert.deepEqual(again.report?.value, { state: ['on'] });
  });

  it('keeps a value that a read has brought, whatever its flow does with it', async () => {
    const value = { state: ['on'] };
    values.recordRead({ gateway: G, device: mac(1), identifier: 'motion', value, time: undefined });
    value.state.push('changed by the flow');
    const known = await findValue(context(), { device: mac(1), identifier: 'motion' }, options());
    assert.deepEqual(known.value, { state: ['on'] });
  });

  it('tells the age of what was heard before the start by a clock that is set only later', async () => {
    const hour = 3_600_000;
    const heard = Date.now();
    const place = { gateway: G, device: mac(1), identifier: 'motion' };
    const ask = (device: string) => findValue(context(), { ...place, device }, options());
    // Without a battery the clock goes on from where it was saved.
    const clock = mock.method(Date, 'now', () => heard - hour);
    try {
      values.restore(fromStored([{ ...place, value: 1, heard }]));
      hear(mac(2), 2, { retained: true, time: new Date(heard).toISOString() });
      assert.deepEqual([(await ask(mac(1))).age, (await ask(mac(2))).age], [0, 0]);
      clock.mock.mockImplementation(() => heard + hour);
      assert.deepEqual([(await ask(mac(1))).age, (await ask(mac(2))).age], [3_600, 3_600]);
      await assert.rejects(findValue(context(), place, options({ maxAge: 60, tooOld: 'error' })), {
        code: 'NO_VALUE',
      });
      assert.deepEqual(
        (await toStored(values.newest(9))).map((one) => one.heard),
        [heard, heard],
      );
    } finally {
      clock.mock.restore();
    }
  });

  it('lets a value of a clock that is ahead grow old from when it came', async () => {
    const ahead = Date.now() + 1_000_000_000;
    const place = { gateway: G, device: mac(1), identifier: 'motion' };
    values.restore(fromStored([{ ...place, value: 1, heard: ahead }]));
    hear(mac(2), 2, { retained: true, time: new Date(ahead).toISOString() });
    const start = performance.now();
    const clock = mock.method(performance, 'now', () => start + 3_600_000);
    try {
      for (const device of [mac(1), mac(2)]) {
        assert.equal((await findValue(context(), { ...place, device }, options())).age, 3_600);
      }
    } finally {
      clock.mock.restore();
    }
  });

  it('asks a device by the gateway that hears it now, not by the one that had its value', async () => {
    hear(mac(1), 1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    const asked: unknown[] = [];
    read = async ({ device, gateway }) => {
      asked.push(gateway);
      return { value: 1, device, identifier: 'motion' };
    };
    const old = (more: Partial<ValueOptions> = {}) => options({ tooOld: 'read', maxAge: 0.001, ...more });
    const one = { device: mac(1), identifier: 'motion' };
    const askBoth = async (input: object, more?: Partial<ValueOptions>) => {
      await findValue(context(), { ...one, ...input }, old(more));
      await findValues(context(), input, old(more));
    };
    await askBoth({});
    gatewayOf = (_, gateways) => (gateways && !gateways.has(mac(9)) ? undefined : mac(9));
    await askBoth({});
    await askBoth({ gateway: G });
    await askBoth({}, { labels: ['a'] });
    labelled = new Set([G, mac(9)]);
    await askBoth({}, { labels: ['a'] });
    assert.deepEqual(
      asked,
      [G, mac(9), G, G, mac(9)].flatMap((gateway) => [gateway, gateway]),
    );
  });

  it('asks a device by gateways that carry the label, and by no others', async () => {
    gatewayOf = () => G;
    read = async ({ device, gateway = '' }) => ({ value: gateway, device, identifier: 'motion' });
    const ask = (gateway?: string) =>
      findValue(
        context(),
        { device: mac(1), gateway, identifier: 'motion' },
        options({ labels: ['a'], tooOld: 'read' }),
      );
    assert.equal((await ask()).value, G);
    await assert.rejects(ask(mac(9)), { code: 'NO_VALUE' });
    labelled = new Set([mac(9)]);
    assert.equal((await ask(mac(9))).value, mac(9));
    await assert.rejects(ask(), { code: 'NO_VALUE' });
  });

  it('shows a person no more than a browser can take', async () => {
    for (let n = 0; n < 100; n++) {
      hear(mac(n), 'x'.repeat(500_000));
    }
    const { rows, total } = await findFirstValues(context(), {}, options(), 1_000);
    assert.equal(total, 100);
    assert.ok(rows.length > 0 && JSON.stringify(rows).length < 10_000_000, `${rows.length}`);
  });

  it('says of which gateway nothing is known, as 12 lowercase hex digits', async () => {
    const asked = { device: mac(1), gateway: 'C0:14:1F:68:FC:3D', identifier: 'humidity' };
    const known = await findValue(context(), asked, options());
    assert.deepEqual(known, { value: null, gateway: G, device: mac(1), identifier: 'humidity' });
  });

  describe('that asks for what is too old', () => {
    const old = () => options({ tooOld: 'read', maxAge: 0.001 });

    async function grow(count: number): Promise<void> {
      for (let n = 0; n < count; n++) {
        hear(mac(n), n);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }

    it('tells in one error how many devices are silent, and which', async () => {
      await grow(3_000);
      read = async ({ device }) => {
        throw new ServiceError('REQUEST_FAILED', 'message', { device }, { message: 'x'.repeat(1_000) });
      };
      const { rows, failure } = await findValues(context(), {}, old());
      assert.deepEqual([rows.length, failure?.code, failure?.cause.count], [3_000, 'NO_VALUE', 3_000]);
      const failures = failure?.cause.failures as Record<string, string>[];
      assert.equal(failures.length, 1_000);
      assert.deepEqual(Object.keys(failures[0]!), ['gateway', 'device', 'identifier', 'code', 'message']);
      assert.equal(failures[0]!.code, 'REQUEST_FAILED');
      assert.ok(JSON.stringify(failures).length < 400_000);
      assert.match(failure!.message, /^3000 values could not be read anew \(motion · d\w{11}, .*, …\): /);
    });

    it('tells nothing where every device answers', async () => {
      await grow(3);
      read = async ({ device }) => ({ value: 1, device, identifier: 'motion' });
      assert.equal((await findValues(context(), {}, old())).failure, undefined);
    });

    it('does not go on while the broker is away, since each read would wait for it', async () => {
      await grow(1_000);
      let asked = 0;
      read = async () => {
        asked++;
        await turn();
        throw new ServiceError('NOT_CONNECTED', 'unreachable', {}, { broker: 'b' });
      };
      const { rows, failure } = await findValues(context(), {}, old());
      assert.deepEqual([rows.length, failure?.cause.count], [1_000, 1_000]);
      assert.ok(asked <= 100, `${asked}`);
    });

    const ENDS: Record<string, () => ServiceError> = {
      'the broker is away': () => new ServiceError('NOT_CONNECTED', 'unreachable', {}, { broker: 'b' }),
      'there is no broker': () => new ServiceError('NOT_CONFIGURED', 'service'),
      'the session is closed': () => new ServiceError('CLOSED', 'stopped'),
    };
    for (const [what, makeError] of Object.entries(ENDS)) {
      it(`gives up all gateways when ${what}`, async () => {
        for (let n = 0; n < 300; n++) {
          hear(mac(n), n, { gateway: mac(1_000 + n) });
        }
        await new Promise((resolve) => setTimeout(resolve, 20));
        let asked = 0;
        read = async () => {
          asked++;
          await turn();
          throw makeError();
        };
        const { failure } = await findValues(context(), {}, old());
        assert.deepEqual([asked, failure?.cause.count], [100, 300]);
      });
    }

    it('asks for nothing that is young enough', async () => {
      await grow(2);
      const later = performance.now() + 10_000;
      const clock = mock.method(performance, 'now', () => later);
      try {
        hear(mac(1), 'new');
        const asked: string[] = [];
        read = async ({ device }) => {
          asked.push(device);
          return { value: 1, device, identifier: 'motion' };
        };
        await findValues(context(), {}, options({ tooOld: 'read', maxAge: 5 }));
        assert.deepEqual(asked, [mac(0)]);
      } finally {
        clock.mock.restore();
      }
    });

    it('asks for what is still too old when its turn comes, and for what was forgotten meanwhile', async () => {
      values = new LastValues(catalogue, { max: 4 });
      reads = new SharedReads(1);
      await grow(4);
      const later = performance.now() + 10_000;
      const clock = mock.method(performance, 'now', () => later);
      try {
        const asked: string[] = [];
        read = async ({ device }) => {
          asked.push(device);
          if (asked.length === 1) {
            hear(mac(1), 'new');
            // It takes the place of the oldest.
            hear(mac(9), 'new');
          }
          return { value: 1, device, identifier: 'motion' };
        };
        const { failure } = await findValues(context(), {}, options({ tooOld: 'read', maxAge: 5 }));
        assert.equal(failure, undefined);
        assert.deepEqual(asked, [mac(3), mac(2), mac(0)]);
      } finally {
        clock.mock.restore();
      }
    });

    it('asks one gateway after the other, and not all that one has first', async () => {
      for (let n = 0; n < 12; n++) {
        hear(mac(n), n, { gateway: n < 6 ? G : 'c0141f68fc3e' });
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
      const asked: (string | undefined)[] = [];
      read = async ({ device, gateway }) => {
        asked.push(gateway);
        return { value: 1, device, identifier: 'motion' };
      };
      await findValues(context(), {}, old());
      const [first] = asked;
      assert.deepEqual(
        asked.map((gateway) => gateway === first),
        Array.from({ length: 12 }, (_, n) => n % 2 === 0),
      );
    });

    it('names up to three devices, tells why the first has failed, and each error as short as may be', async () => {
      names = { [mac(1)]: 'Hall' };
      const errors = [
        () => new ServiceError('REQUEST_FAILED', 'message', {}, { message: 'x'.repeat(300) }),
        () => new Error('a defect'.padEnd(300, '!')),
        () => 'a text',
      ];
      for (const [begin, reason] of [
        [0, { key: 'error.REQUEST_FAILED.message', values: { message: 'x'.repeat(300) } }],
        [1, 'a defect'.padEnd(300, '!')],
        [2, 'a text'],
      ] as const) {
        for (const count of [3, 4]) {
          values = new LastValues(catalogue);
          await grow(count);
          let asked = begin;
          read = async () => {
            throw errors[asked++ % 3]!();
          };
          const { failure } = await findValues(context(), {}, old());
          const named = [mac(count - 1), mac(count - 2), mac(count - 3)].map(
            (device) => `motion · ${names[device] ?? device}`,
          );
          assert.deepEqual(failure?.text, {
            key: 'NO_VALUE.notRead',
            values: { count, values: `${named.join(', ')}${count > 3 ? ', …' : ''}`, reason },
          });
          const failures = failure.cause.failures as Record<string, string>[];
          assert.deepEqual(
            failures.map(({ code }) => code),
            Array.from({ length: count }, (_, n) => ((begin + n) % 3 === 0 ? 'REQUEST_FAILED' : 'UNKNOWN')),
          );
          assert.ok(failures.every(({ message = '' }) => message !== '' && message.length <= 200));
        }
      }
    });

    const REFUSED: Record<string, () => ServiceError> = {
      'responses the broker refuses': () => refusedResponses('b', `mt/gateway/${G}/response/#`, undefined),
      'responses the broker refuses with a reason': () =>
        refusedResponses('b', `mt/gateway/${G}/response/#`, reasonOfCode(0x87)),
      'responses the broker does not confirm': () => unsent('b', 'notGranted', 30_000),
      'requests the broker refuses': () => refusedRequest('b', 0x87),
      'requests end the connection': () =>
        forbiddenRequest('b', buildRead({ gateway: G, identifier: '8800' }, createCatalogue('[]')), 60_000),
    };
    for (const [what, refuse] of Object.entries(REFUSED)) {
      it(`gives up a gateway whose ${what}, and asks all others`, async () => {
        for (let n = 0; n < 200; n++) {
          hear(mac(n), n, { gateway: n % 2 === 0 ? G : 'c0141f68fc3e' });
        }
        await new Promise((resolve) => setTimeout(resolve, 20));
        let refused = 0;
        let answered = 0;
        read = async ({ device, gateway }) => {
          await turn();
          if (gateway === G) {
            refused++;
            throw refuse();
          }
          answered++;
          return { value: 1, device, identifier: 'motion' };
        };
        const { failure } = await findValues(context(), {}, old());
        assert.equal(answered, 100);
        const failures = failure?.cause.failures as Record<string, string>[];
        assert.deepEqual(
          failures.map(({ gateway, code }) => `${gateway} ${code}`),
          Array.from({ length: 100 }, () => `${G} NOT_CONNECTED`),
        );
        assert.ok(refused <= 8, `${refused}`);
      });
    }

    it('does not let other gateways wait for one that is silent', async () => {
      const silent = 'c0141f68fc3e';
      for (let n = 0; n < 50; n++) {
        hear(mac(n), n);
      }
      for (let n = 50; n < 400; n++) {
        hear(mac(n), n, { gateway: silent });
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
      let answered = 0;
      let end = (): void => {};
      const others = new Promise<void>((resolve) => {
        end = resolve;
      });
      read = async ({ device, gateway }) => {
        if (gateway === silent) {
          await others;
        } else if (++answered === 50) {
          end();
        }
        return { value: 1, device, identifier: 'motion' };
      };
      assert.equal((await findValues(context(), {}, old())).failure, undefined);
    });

    it('does not let queries about other gateways wait for those about one that is silent', async () => {
      const silent = 'c0141f68fc3e';
      for (let n = 0; n < 201; n++) {
        hear(mac(n), n, { gateway: n === 200 ? G : silent });
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
      let end = (): void => {};
      const others = new Promise<void>((resolve) => {
        end = resolve;
      });
      let asked = 0;
      read = async ({ device, gateway }) => {
        asked++;
        await (gateway === silent ? others : end());
        return { value: 1, device, identifier: 'motion' };
      };
      const queries = Array.from({ length: 201 }, (_, n) => findValues(context(), { device: mac(n) }, old()));
      await others;
      assert.equal(asked, 8 + 1);
      const found = await Promise.all(queries);
      assert.ok(found.every(({ failure }) => failure === undefined));
      assert.equal(asked, 201);
    });

    it('does not refuse queries about devices of other gateways while very many are about one that is silent', async () => {
      const silent = 'c0141f68fc3e';
      gatewayOf = (device) => (device === mac(1_000) ? G : silent);
      for (let n = 0; n <= 1_000; n++) {
        hear(mac(n), n, { gateway: n === 1_000 ? G : silent });
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
      let end = (): void => {};
      const others = new Promise<void>((resolve) => {
        end = resolve;
      });
      read = async ({ device, gateway }) => {
        await (gateway === silent ? others : undefined);
        return { value: 1, device, identifier: 'motion' };
      };
      const find = (n: number) => findValues(context(), { device: mac(n) }, old());
      const waiting = Array.from({ length: 1_000 }, (_, n) => find(n));
      await assert.rejects(find(0), { code: 'QUEUE_FULL' });
      assert.equal((await find(1_000)).failure, undefined);
      end();
      await Promise.all(waiting);
    });

    it('gives up a gateway that is away when eight have timed out, beginning with those heard last', async () => {
      const away = 'c0141f68fc3e';
      for (let n = 0; n < 200; n++) {
        hear(mac(n), n, { gateway: n % 2 === 0 ? G : away });
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
      const asked: string[] = [];
      read = async ({ device, gateway = '' }) => {
        await turn();
        if (gateway === away) {
          asked.push(device);
          throw new ServiceError('TIMEOUT', 'noAnswer', { device }, { timeout: 30_000 });
        }
        return { value: 1, device, identifier: 'motion' };
      };
      const { rows, failure } = await findValues(context(), {}, old());
      // Until the eighth has timed out, each that has makes room for one more.
      assert.deepEqual(
        asked,
        Array.from({ length: 15 }, (_, n) => mac(199 - 2 * n)),
      );
      const failures = failure?.cause.failures as Record<string, string>[];
      assert.deepEqual([rows.length, failures.length], [200, 100]);
      assert.deepEqual(
        new Set(failures.map(({ gateway, code }) => `${gateway} ${code}`)),
        new Set([`${away} TIMEOUT`]),
      );
      const unasked = `not asked, since gateway ${away} has answered none of 8 requests`;
      assert.equal(failures.filter(({ message }) => message === unasked).length, 85);
    });

    const ANSWERS: Record<string, () => ServiceError | undefined> = {
      'with a value': () => undefined,
      'that it cannot': () =>
        new ServiceError('REQUEST_FAILED', 'message', {}, { message: 'device unknown' }),
      'what nobody understands': () => new ServiceError('BAD_RESPONSE', 'notJson', {}, {}),
    };
    for (const [how, answer] of Object.entries(ANSWERS)) {
      it(`asks for everything at a gateway that has answered once, ${how}, however many devices are dead`, async () => {
        await grow(100);
        let asked = 0;
        read = async ({ device }) => {
          const error =
            ++asked === 8
              ? answer()
              : new ServiceError('TIMEOUT', 'noAnswer', { device }, { timeout: 30_000 });
          await turn();
          if (error) {
            throw error;
          }
          return { value: 1, device, identifier: 'motion' };
        };
        await findValues(context(), {}, old());
        assert.equal(asked, 100);
      });
    }

    it('asks for everything at a gateway whose requests do not leave', async () => {
      await grow(100);
      let asked = 0;
      read = async () => {
        asked++;
        await turn();
        throw new ServiceError('QUEUE_FULL', 'waiting', { limit: 1 }, { limit: 1 });
      };
      const { failure } = await findValues(context(), {}, old());
      assert.deepEqual([asked, failure?.cause.count], [100, 100]);
    });

    it('asks every device once for messages that come at the same time, and each gets all values', async () => {
      await grow(24);
      let asked = 0;
      read = async ({ device }) => {
        asked++;
        await turn();
        values.recordRead({ gateway: G, device, identifier: 'motion', value: 'new', time: undefined });
        return { value: 'new', device, identifier: 'motion' };
      };
      const young = () => options({ tooOld: 'read', maxAge: 1 });
      const later = performance.now() + 10_000;
      const clock = mock.method(performance, 'now', () => later);
      try {
        const found = await Promise.all(Array.from({ length: 5 }, () => findValues(context(), {}, young())));
        for (const { rows, failure } of found) {
          assert.equal(failure, undefined);
          assert.deepEqual(new Set(rows.map(({ value }) => value)), new Set(['new']));
        }
        assert.ok(new Set(found.flatMap(({ rows }) => rows)).size === 5 * 24, 'each has rows of its own');
        assert.equal(asked, 24);
      } finally {
        clock.mock.restore();
      }
    });

    it('asks a device once for messages about one property that come at the same time', async () => {
      await grow(1);
      const ask = () => findValue(context(), { device: mac(0), identifier: 'motion' }, old());
      let asked = 0;
      read = async ({ device }) => {
        asked++;
        await turn();
        if (asked === 3) {
          throw new ServiceError('REQUEST_FAILED', 'message', { device }, { message: 'silent' });
        }
        return { value: { n: asked }, device, identifier: 'motion', response: { status: 0, parts: [asked] } };
      };
      for (const round of [1, 2]) {
        const found = await Promise.all(Array.from({ length: 5 }, ask));
        for (const { value, response } of found) {
          assert.deepEqual([value, response], [{ n: round }, { status: 0, parts: [round] }]);
          // A flow may change what it gets, and no other message has that.
          Object.assign(value as object, { n: 'changed' });
          Object.assign(response?.parts as object, ['changed']);
        }
      }
      const failed = await Promise.allSettled(Array.from({ length: 5 }, ask));
      assert.ok(failed.every(({ status }) => status === 'rejected'));
      assert.equal(asked, 3);
    });

    it('lets only so many messages join one that is asked, and asks other devices all the same', async () => {
      let asked = 0;
      let end = (): void => {};
      const silent = new Promise<void>((resolve) => {
        end = resolve;
      });
      read = async ({ device }) => {
        asked++;
        await silent;
        return { value: 1, device, identifier: 'motion' };
      };
      const ask = (n: number) => findValue(context(), { device: mac(n), identifier: 'motion' }, old());
      const first = Array.from({ length: 1_001 }, (_, n) => ask(n));
      await turn();
      const joined = Array.from({ length: 1_000 }, () => ask(0));
      await turn();
      await assert.rejects(ask(0), { code: 'QUEUE_FULL', cause: { limit: 1_000 } });
      const other = ask(2_000);
      await turn();
      end();
      const { length } = await Promise.all([...first, ...joined, other]);
      assert.deepEqual([asked, length], [1_002, 2_002]);
    });

    it('does not ask for what a report has brought meanwhile', async () => {
      await grow(200);
      const young = options({ tooOld: 'read', maxAge: 1 });
      let asked = 0;
      const later = performance.now() + 10_000;
      const clock = mock.method(performance, 'now', () => later);
      try {
        read = async ({ device }) => {
          if (++asked === 1) {
            for (let n = 0; n < 200; n++) {
              hear(mac(n), 'new');
            }
          }
          return { value: 1, device, identifier: 'motion' };
        };
        const { rows } = await findValues(context(), {}, young);
        assert.ok(rows.every(({ value }) => value === 'new'));
        assert.ok(asked <= 8, `${asked}`);
      } finally {
        clock.mock.restore();
      }
    });

    it('lets only so many messages wait for silent devices, and tells each how it ends', async () => {
      await grow(24);
      let asked = 0;
      let end = (): void => {};
      const silent = new Promise<void>((resolve) => {
        end = resolve;
      });
      read = async ({ device }) => {
        asked++;
        await silent;
        throw new ServiceError('REQUEST_FAILED', 'message', { device }, { message: 'silent' });
      };
      // Of one device and of all: what two queries need is asked for once.
      const queries = [{}, { device: mac(23) }];
      const waiting = Array.from({ length: 1_000 }, (_, n) => findValues(context(), queries[n % 2]!, old()));
      await assert.rejects(findValues(context(), {}, old()), { code: 'QUEUE_FULL' });
      await turn();
      assert.equal(asked, 8);
      end();
      const failures = (await Promise.all(waiting)).map(({ failure }) => failure);
      assert.deepEqual(new Set(failures.map((failure) => failure?.cause.count)), new Set([24, 1]));
      assert.equal(new Set(failures).size, 1_000);
      assert.equal(asked, 24);
    });

    it('asks no more devices at a time than may wait, however many queries there are', async () => {
      await grow(30);
      reads = new SharedReads(5);
      let [underWay, most] = [0, 0];
      read = async ({ device }) => {
        most = Math.max(most, ++underWay);
        await turn();
        underWay--;
        return { value: 1, device, identifier: 'motion' };
      };
      const nodes = Array.from({ length: 10 }, () => ({ ...old(), signal: new AbortController().signal }));
      await Promise.all(nodes.map((node) => findValues(context(), {}, node)));
      assert.equal(most, 5);
    });
  });

  it('ends with CLOSED when its node closes while devices are asked, and asks no more', async () => {
    for (let n = 0; n < 500; n++) {
      hear(mac(n), n);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
    let asked = 0;
    read = async ({ device }): Promise<ValueResult> => {
      asked++;
      await turn();
      closing.abort();
      return { value: 1, device, identifier: 'motion' };
    };
    await assert.rejects(findValues(context(), {}, options({ tooOld: 'read', maxAge: 0.001 })), {
      code: 'CLOSED',
    });
    // What is under way goes on for two turns.
    await turn();
    await turn();
    assert.equal(asked, 8);
  });

  it('ends with CLOSED also when its node closes while the last device answers', async () => {
    hear(mac(1), 1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    read = async ({ device }): Promise<ValueResult> => {
      closing.abort();
      return { value: 1, device, identifier: 'motion' };
    };
    await assert.rejects(findValues(context(), {}, options({ tooOld: 'read', maxAge: 0.001 })), {
      code: 'CLOSED',
    });
  });

  it('shows a person no more than some 8 MB, whatever the values and the names in them are', async () => {
    const text = 'x'.repeat(300_000);
    for (const makeValue of [(n: number) => `${n}${text}`, (n: number) => ({ [`${n}${text}`]: 1 })]) {
      for (let n = 0; n < 100; n++) {
        hear(mac(n), makeValue(n));
      }
      const { rows, total } = await findFirstValues(context(), {}, options(), 100);
      assert.equal(total, 100);
      const { length } = JSON.stringify(rows);
      assert.ok(length > 2_000_000 && length < 8_500_000, `${length}`);
    }
  });

  describe('of 200 000 values', () => {
    /** How many turns of the event loop reports have meanwhile. */
    async function turnsOf(work: Promise<unknown>): Promise<number> {
      let turns = 0;
      let isDone = false;
      const end = () => {
        isDone = true;
      };
      const ended = work.then(end, end);
      for (; !isDone; turns++) {
        await turn();
      }
      await ended;
      return turns;
    }

    beforeEach(() => {
      for (let n = 0; n < 200_000; n++) {
        hear(mac((n * 7919) % 200_000), n);
      }
    });

    itAtScale('brings all in order, and does not hold reports up meanwhile', async () => {
      const query = findValues(context(), {}, options());
      const turns = await turnsOf(query);
      const { rows } = await query;
      assert.equal(rows.length, 200_000);
      assert.equal(
        rows.findIndex(({ device }, n) => device !== mac(n)),
        -1,
      );
      assert.ok(turns > 2, `${turns}`);
    });

    itAtScale(
      'makes what a store gets in portions, each value as it was, with reports in between',
      async () => {
        const storing = toStored(values.newest(200_000));
        const turns = await turnsOf(storing);
        const stored = await storing;
        assert.ok(turns > 2, `${turns}`);
        assert.equal(stored.length, 200_000);
        const [first] = stored;
        const known = structuredClone(first?.report);
        hear(first?.device as string, 'later');
        assert.deepEqual(first?.report, known);
      },
    );

    itAtScale('shows the first of them to a person without sorting all', async () => {
      const query = findFirstValues(context(), {}, options(), 8);
      const turns = await turnsOf(query);
      const all = await turnsOf(findValues(context(), {}, options()));
      assert.ok(turns < all, `${turns} turns, ${all} for all`);
      const { rows, total } = await query;
      assert.equal(total, 200_000);
      assert.deepEqual(
        rows.map(({ device }) => device),
        Array.from({ length: 8 }, (_, n) => mac(n)),
      );
    });
  });
});
