// Every kind's fixtures: a topic and a payload become exactly this report, or this error.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { ServiceError } from '../../src/errors.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import { DeepText } from '../../src/protocol/json.ts';
import {
  copyReport,
  isFailed,
  KIND_NAMES,
  type Report,
  readReport,
  readReportTopic,
} from '../../src/protocol/reports/index.ts';
import { createTopics } from '../../src/protocol/topics.ts';
import { usedMemory } from '../memory.ts';

interface Fixture {
  title: string;
  topic: string;
  payload: unknown;
  decode?: boolean;
  retained?: boolean;
  report?: Report;
  error?: { code: string; reason: string };
}

const FOLDER = 'test/fixtures/reports';
const catalogue = createCatalogue();
const topics = createTopics('');

function read(
  topic: string,
  payload: unknown,
  decode = true,
  retained = false,
  nameOf?: (mac: string) => string | undefined,
): Report {
  const parsed = topics.parseReport(topic);
  assert.ok(parsed);
  const at = readReportTopic(topic, parsed.gateway, parsed.device, parsed.rest, nameOf);
  return readReport(at, payload, catalogue, decode, retained);
}

/** The value itself and everything below it that could be shared. */
function objectsIn(value: unknown): object[] {
  if (typeof value !== 'object' || value === null) {
    return [];
  }
  return [value, ...Object.values(value).flatMap(objectsIn)];
}

const fixturesOf = (file: string): Fixture[] => JSON.parse(readFileSync(join(FOLDER, file), 'utf8'));

describe('reports', () => {
  it('have fixtures for every kind', () => {
    const files = readdirSync(FOLDER).sort();
    assert.deepEqual(files, [...KIND_NAMES, 'other'].map((kind) => `${kind}.json`).sort());
  });

  /** As the contract has it: what a person reads first. */
  const ORDER = [
    ...['name', 'value', 'unit', 'deviceName', 'device', 'gatewayName', 'gateway'],
    ...['kind', 'form', 'identifier', 'time'],
  ];

  for (const [who, named] of [
    ['nobody', []],
    ['the gateway', ['gateway']],
    ['the device', ['device']],
    ['both', ['device', 'gateway']],
  ] as const) {
    it(`begin in the same order, whatever their kind, with a name for ${who}`, () => {
      for (const { title, topic, payload, decode, retained, report } of readdirSync(FOLDER).flatMap(
        fixturesOf,
      )) {
        if (!report) {
          continue;
        }
        const names: Record<string, string> = Object.fromEntries(
          named.map((place) => [report[place], `the ${place}`]),
        );
        const made = read(topic, payload, decode, retained, (mac) => names[mac]);
        const { [report.device]: deviceName, [report.gateway]: gatewayName } = names;
        const expected = {
          ...report,
          ...(deviceName && { deviceName }),
          ...(gatewayName && { gatewayName }),
        };
        assert.deepEqual(made, expected, title);
        const known = ORDER.filter((field) => field in made);
        assert.deepEqual(Object.keys(made).slice(0, known.length), known, title);
      }
    });
  }

  for (const file of readdirSync(FOLDER)) {
    describe(file.replace('.json', ''), () => {
      for (const { title, topic, payload, decode, retained, report, error } of fixturesOf(file)) {
        if (report) {
          it(title, () => assert.deepEqual(read(topic, payload, decode, retained), report));
        } else if (error) {
          it(`is refused: ${title}`, () => assertRefused(topic, payload, error));
        }
      }
    });
  }

  function assertRefused(topic: string, payload: unknown, error: { code: string; reason: string }): void {
    assert.throws(
      () => read(topic, payload),
      (thrown) => {
        assert.ok(thrown instanceof ServiceError);
        assert.equal(thrown.text.key, `${error.code}.${error.reason}`);
        assert.deepEqual(thrown.cause, { topic, payload });
        assert.notEqual(thrown.message, error.code);
        return true;
      },
    );
  }

  const MEASUREMENT = 'mt/gateway/c0141f68fc3d/device/d0141f00a1b2/measurement/8800';

  it('begin with what a person reads first: name, value and unit, then where, kind and time', () => {
    const topicOf = (rest: string) => `mt/gateway/c0141f68fc3d/device/d0141f00a1b2/${rest}`;
    const keys = (rest: string, payload: object) => Object.keys(read(topicOf(rest), payload));
    const place = ['device', 'gateway', 'kind', 'form'];
    const time = '2020-12-08T08:10:08.880Z';
    assert.deepEqual(keys('measurement/8800', { time, value: '0866', seq: 3, extra: 1 }).slice(0, 9), [
      ...['name', 'value', 'unit', ...place, 'identifier', 'time'],
    ]);
    assert.deepEqual(keys('heartbeat', { time, seq: 1, status: 0 }), [...place, 'time', 'seq', 'status']);
    assert.deepEqual(keys('weather/x', { time }), ['value', ...place, 'identifier', 'time', 'topicKind']);
    assert.deepEqual(keys('event/8802', { time }), ['name', 'unit', ...place, 'identifier', 'time']);
    assert.deepEqual(keys('measurement-error/8810', { time }), ['name', ...place, 'identifier', 'time']);
    assert.deepEqual(keys('property/ffff01', { time, value: '01' }).slice(0, 5), ['value', ...place]);
  });

  const place = { gateway: 'c0141f68fc3d', device: 'd0141f00a1b2', time: 't' };
  const sample: Report = { ...place, kind: 'timestamped', form: 'raw', value: 1, flags: '00' };
  const samples: [fields: Record<string, unknown>, failed: boolean][] = [
    [{}, false],
    [{ errorCode: null }, false],
    [{ errorCode: 3 }, true],
    [{ errorCode: 3, value: null }, true],
    [{ errorCode: 0 }, false],
    [{ errorCode: 0, value: null }, true],
    [{ errorCode: 0, value: undefined }, true],
    [{ flags: '04' }, true],
    [{ flags: 'fb' }, false],
    [{ flags: undefined }, false],
    [{ flags: 4 }, false],
    [{ flags: '04', form: 'decoded' }, false],
    [{ flags: '04', kind: 'measurement' }, false],
  ];
  for (const [fields, failed] of samples) {
    it(`bring ${failed ? 'an error' : 'a value'}: ${JSON.stringify(fields)}`, () => {
      assert.equal(isFailed({ ...sample, ...fields }), failed);
    });
  }

  it('are named as the user has named a property of the interface, raw and decoded', () => {
    const own = createCatalogue([{ id: '8100', name: 'akku', type: 'u8', unit: '%' }]);
    const payload = (value: unknown) => ({ time: '2026-01-01T00:00:00Z', value });
    const [g, d] = ['c0141f68fc3d', 'd00000000001'];
    const reports = [
      readReport(readReportTopic('t', g, d, 'property/8100'), payload('05'), own, true, false),
      readReport(readReportTopic('t', g, d, 'property-decoded/battery-level'), payload(5), own, true, false),
    ];
    assert.deepEqual(
      reports.map(({ name, value, unit, identifier }) => [name, value, unit, identifier]),
      [
        ['akku', 5, '%', '8100'],
        ['akku', 5, '%', 'battery-level'],
      ],
    );
  });

  it('have their unit where their name is that of another property', () => {
    const own = createCatalogue([{ id: 'ff01', name: 'humidity', type: 'u8' }]);
    const at = readReportTopic('t', 'c0141f68fc3d', 'd00000000001', 'measurement/8802');
    const { name, value, unit } = readReport(at, { time: 't', seq: 1, value: '0123' }, own, true, false);
    assert.deepEqual([name, value, unit], [undefined, 29.1, '%']);
  });

  it('are neither named nor marked as a test or a delivery by what a device sends', () => {
    const marks = { test: true, delivery: 1, redelivered: true, deviceName: 'Door', gatewayName: 'Hall' };
    const report = read(MEASUREMENT, { time: 't', value: '0866', ...marks });
    assert.deepEqual(
      Object.keys(marks).filter((mark) => mark in report),
      [],
    );
  });

  it('keep a key __proto__ of a payload as a key, in the copy too', () => {
    const payload = JSON.parse('{"time":"t","__proto__":{"polluted":1},"constructor":1}');
    for (const report of [read(MEASUREMENT, payload), copyReport(read(MEASUREMENT, payload))]) {
      assert.equal(Object.getPrototypeOf(report), Object.prototype);
      assert.equal(report.polluted, undefined);
      assert.deepEqual(Object.getOwnPropertyDescriptor(report, '__proto__'), {
        value: { polluted: 1 },
        writable: true,
        enumerable: true,
        configurable: true,
      });
      assert.equal(report.constructor, 1);
    }
  });

  it('are copied so deeply that changing the copy leaves the first receiver alone', () => {
    const at = MEASUREMENT.replace('measurement/8800', 'weather');
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const report = read(at, JSON.parse(JSON.stringify({ time: 't', value })));
        const copy = copyReport(report);
        assert.deepEqual(copy, report);
        const own = new Set(objectsIn(report));
        assert.ok(objectsIn(copy).every((object) => !own.has(object)));
      }),
    );
  });

  /** What is read of a topic is kept, so these are ones that nobody had before. */
  it('are of the kind that their topic tells, also when it is the first of its kind', () => {
    const name = `own-${randomUUID()}`;
    const tails: [rest: string, kind: string, form: string, identifier: string | undefined][] = [
      [`measurement/${name}`, 'measurement', 'raw', name],
      [`measurement-decoded/${name}`, 'measurement', 'decoded', name],
      [`heartbeat/${name}`, 'other', 'raw', name],
      [`measurement/${name}/more`, 'other', 'raw', `${name}/more`],
      [`${name}-decoded/x`, 'other', 'decoded', 'x'],
      [`-decoded-${name}/x`, 'other', 'raw', 'x'],
      [name, 'other', 'raw', undefined],
      [`/${name}`, 'other', 'raw', name],
      [`${name}/`, 'other', 'raw', ''],
    ];
    for (const [rest, ...expected] of tails) {
      for (let again = 0; again < 2; again++) {
        const { kind, form, segment, identifier } = readReportTopic('t', 'g', 'd', rest);
        assert.deepEqual([kind, form, identifier], expected, rest);
        assert.equal(segment, rest.split('/')[0]);
      }
    }
  });

  it('keep nothing of long topics', () => {
    const before = usedMemory();
    for (let i = 0; i < 1_000; i++) {
      const tail = `property/identifier-of-a-device-${i}`;
      assert.ok(topics.parseReport(`mt/gateway/${'g'.repeat(60_000)}${i}/device/d/${tail}`));
      const parsed = topics.parseReport(`mt/gateway/${'g'.repeat(60_000)}${i}/device/d/${tail}`);
      readReportTopic('', 'g', 'd', parsed?.rest ?? '');
    }
    assert.ok(usedMemory() - before < 10_000_000);
  });

  it('say that they are nested too deep only where their topic is well-formed, with the text that came', () => {
    for (const [gateway, words] of [
      ['c0141f68fc3d', /^the payload is nested deeper than 500 levels$/],
      ['C0141F68FC3D', /^the topic has a malformed MAC address$/],
    ] as const) {
      const topic = `mt/gateway/${gateway}/device/d0141f00a1b2/heartbeat`;
      assert.throws(() => read(topic, new DeepText('{…}')), {
        ...{ code: 'BAD_REPORT', message: words, cause: { topic, payload: '{…}' } },
      });
    }
  });

  it('can be copied whatever their depth', () => {
    const deep = `{"time":"t","value":${'['.repeat(50_000)}${']'.repeat(50_000)}}`;
    assert.ok(copyReport(read(MEASUREMENT.replace('measurement', 'weather'), JSON.parse(deep))));
  });

  it('never come from anything but a well-formed message, and a bad one never ends in another error', () => {
    const tail = fc.oneof(
      fc.constantFrom('heartbeat', 'rssi', 'timestamped/8800', 'event/8810', 'property/8005'),
      fc.string(),
    );
    const field = fc.constantFrom('time', 'seq', 'value', 'flags', 'ext', '__proto__');
    const body = fc.oneof(fc.jsonValue(), fc.dictionary(field, fc.oneof(fc.string(), fc.jsonValue())));
    fc.assert(
      fc.property(tail, body, (rest, payload) => {
        try {
          const report = read(`mt/gateway/c0141f68fc3d/device/d0141f00a1b2/${rest}`, payload);
          assert.equal(typeof report.time, 'string');
        } catch (error) {
          assert.ok(error instanceof ServiceError && error.code === 'BAD_REPORT', String(error));
        }
      }),
      { numRuns: 2000 },
    );
  });
});
