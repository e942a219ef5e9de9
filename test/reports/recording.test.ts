// What a recording keeps, how it ends, and that it costs nothing before and after.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { SILENT } from '../../src/log.ts';
import { NetworkState } from '../../src/network/network-state.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import { createTopics } from '../../src/protocol/topics.ts';
import { listenToAll } from '../../src/reports/everything.ts';
import { MAX_LINE_LENGTH, writeLine } from '../../src/reports/recorded-line.ts';
import { Recording } from '../../src/reports/recording.ts';
import { compileCriteria } from '../../src/reports/report-filter.ts';
import { Reports } from '../../src/reports/reports.ts';

const G = 'c0141f68fc3d';
const D = 'd00000000001';
const ALL = 'mt/gateway/+/device/+/#';
const EVENTS = { kinds: ['event'], form: 'both', gateways: [], devices: [], identifiers: [] } as const;
const NIGHT = Date.parse('2026-01-02T03:04:05.678Z');
const EVENT = `mt/gateway/${G}/device/${D}/event/8200`;
const EMPTY = { topic: EVENT, payload: Buffer.alloc(0), retained: false };
const EMPTY_LINE = writeLine({ kind: 'event', gateway: G, device: D }, EMPTY, new Date(NIGHT).toISOString());

describe('a recording', () => {
  const catalogue = createCatalogue();
  let reports: Reports;
  let recording: Recording;
  let create: () => Recording;
  let opened: number;
  let time: number;

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    [opened, time] = [0, NIGHT];
    reports = new Reports(createTopics(''), catalogue, new NetworkState(), SILENT);
    const open = () => {
      opened++;
      return () => void opened--;
    };
    create = () =>
      new Recording(
        (listener) => listenToAll(reports, catalogue, listener, open),
        () => time,
      );
    recording = create();
  });
  afterEach(() => {
    recording.close();
    mock.timers.reset();
  });

  /** Somebody looks every ten seconds. */
  const pass = (seconds: number) => {
    for (let left = seconds; left > 0; left -= 10) {
      const step = Math.min(10, left) * 1_000;
      time += step;
      mock.timers.tick(step);
      recording.state();
    }
  };
  const deliver = (rest: string, payload: string | Buffer = '{"time":"t","seq":1}', retained = false) =>
    reports.deliver(`mt/gateway/${G}/device/${D}/${rest}`, Buffer.from(payload as string), retained);
  const text = () => Buffer.concat([...(recording.file() ?? [])]).toString();
  const rows = () =>
    text()
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  it('asks for nothing and keeps nothing before it begins and after it has ended', () => {
    assert.equal(deliver('heartbeat'), 'unwanted');
    assert.deepEqual([recording.state().name, recording.file(), opened], ['none', undefined, 0]);
    recording.start();
    assert.deepEqual([reports.filters(), reports.previewFilters(), opened], [[], [ALL], 1]);
    assert.equal(deliver('heartbeat'), 'delivered');
    recording.stop();
    assert.deepEqual([reports.filters(), reports.previewFilters(), opened], [[], [], 0]);
    assert.equal(deliver('heartbeat'), 'unwanted');
    const { name, lines, end } = recording.state();
    assert.deepEqual([name, lines, end, rows().length], ['ended', 1, 'stopped', 1]);
  });

  it('keeps every report in its order with the time when it came, also what no flow can read', () => {
    recording.start();
    deliver('measurement/8800', '{"time":"t","seq":1,"value":"0866"}');
    time += 1_500;
    deliver('event/8200', 'no JSON', true);
    deliver('unheard-of/x/y', '{"time":"t"}', true);
    deliver('heartbeat', Buffer.from([0xff]));
    const place = { gateway: G, device: D };
    const at = (rest: string) => `mt/gateway/${G}/device/${D}/${rest}`;
    const later = new Date(NIGHT + 1_500).toISOString();
    assert.deepEqual(rows(), [
      {
        ...{
          time: new Date(NIGHT).toISOString(),
          topic: at('measurement/8800'),
          kind: 'measurement',
          ...place,
        },
        payload: { time: 't', seq: 1, value: '0866' },
      },
      { time: later, topic: at('event/8200'), kind: 'event', ...place, retained: true, text: 'no JSON' },
      {
        time: later,
        topic: at('unheard-of/x/y'),
        kind: 'other',
        ...place,
        retained: true,
        payload: { time: 't' },
      },
      { time: later, topic: at('heartbeat'), kind: 'heartbeat', ...place, base64: '/w==' },
    ]);
    const { lines, bytes, seconds, since } = recording.state();
    assert.deepEqual(
      [lines, bytes, seconds, since],
      [4, Buffer.byteLength(text()), 2, new Date(NIGHT).toISOString()],
    );
  });

  it('leaves what flows receive as it is', () => {
    const received: string[] = [];
    const criteria = compileCriteria(EVENTS, catalogue);
    assert.ok(criteria);
    reports.add(criteria, true, { report: ({ kind }) => received.push(kind), error() {} });
    recording.start();
    deliver('heartbeat');
    deliver('event/8200');
    recording.stop();
    deliver('event/8200');
    assert.deepEqual([received, recording.state().lines], [['event', 'event'], 2]);
  });

  it('ends after ten minutes, says so, and can be fetched for ten minutes more', () => {
    recording.start();
    deliver('heartbeat');
    pass(599);
    assert.deepEqual([recording.state().name, recording.state().seconds], ['running', 599]);
    pass(1);
    const { name, end, seconds } = recording.state();
    assert.deepEqual([name, end, seconds, opened], ['ended', 'time', 600, 0]);
    pass(599);
    assert.deepEqual([rows().length, recording.state().seconds], [1, 600]);
    pass(1);
    assert.deepEqual([recording.state().name, recording.file()], ['none', undefined]);
  });

  it('ends before the report with which it would have more than 20 MB, and says so', () => {
    recording.start();
    const payload = JSON.stringify({ time: 't', seq: 1, value: 'x'.repeat(900_000) });
    for (let count = 0; count < 30 && recording.state().name === 'running'; count++) {
      deliver('event/8200', payload);
    }
    const { name, end, lines, bytes } = recording.state();
    assert.deepEqual([name, end, lines, opened], ['ended', 'size', 22, 0]);
    assert.ok(bytes <= 20_000_000 && bytes + payload.length > 20_000_000);
    assert.equal(text().length, bytes);
  });

  it('counts the reports that are longer than a line may be, and goes on without them', () => {
    recording.start();
    deliver('event/8200', JSON.stringify({ time: 't', value: 'x'.repeat(MAX_LINE_LENGTH) }));
    deliver('event/8200', Buffer.alloc(MAX_LINE_LENGTH - 1, '\\'));
    deliver('event/8200');
    const { lines, tooLong, name } = recording.state();
    assert.deepEqual([lines, tooLong, name], [1, 2, 'running']);
  });

  /** Has a report come whose line has so many bytes, with its end. */
  const deliverLine = (bytes: number) => {
    const { bytes: before } = recording.state();
    deliver('event/8200', 'x'.repeat(bytes - 1 - EMPTY_LINE.length));
    return recording.state().bytes - before;
  };

  it('keeps a line that is as long as a line may be, and 20 MB of them', () => {
    recording.start();
    assert.equal(deliverLine(MAX_LINE_LENGTH + 1), MAX_LINE_LENGTH + 1);
    assert.equal(deliverLine(MAX_LINE_LENGTH + 2), 0);
    deliver('event/8200', 'é'.repeat(MAX_LINE_LENGTH / 2));
    deliver('event/8200', 'é'.repeat(MAX_LINE_LENGTH / 2 + 1));
    assert.deepEqual([recording.state().lines, recording.state().tooLong], [2, 2]);
    recording.stop();
    recording.start();
    for (let line = 1; line <= 20; line++) {
      assert.equal(deliverLine(MAX_LINE_LENGTH), MAX_LINE_LENGTH);
    }
    const { name, bytes } = recording.state();
    assert.deepEqual([name, bytes], ['running', 20_000_000]);
    deliver('heartbeat');
    assert.equal(recording.state().end, 'size');
  });

  it('is fetched in pieces of 64 kB, not of lines', () => {
    recording.start();
    for (let line = 1; line <= 9; line++) {
      deliverLine(16_384);
    }
    assert.deepEqual(
      recording.file()?.map(({ length }) => length),
      [65_536, 65_536, 16_384],
    );
  });

  it('ends when nobody has asked for its state for 90 seconds, and keeps what it has', () => {
    recording.start();
    deliver('heartbeat');
    mock.timers.tick(89_999);
    recording.state();
    mock.timers.tick(89_999);
    assert.equal(recording.isRunning, true);
    mock.timers.tick(1);
    const { name, end, lines } = recording.state();
    assert.deepEqual([name, end, lines, opened], ['ended', 'left', 1, 0]);
  });

  it('goes on where somebody else begins it again, and begins anew after its end', () => {
    recording.start();
    deliver('heartbeat');
    recording.start();
    assert.deepEqual([recording.state().lines, opened], [1, 1]);
    recording.stop();
    recording.start();
    assert.deepEqual([recording.state().lines, recording.state().end, opened], [0, null, 1]);
    pass(300);
    deliver('heartbeat');
    assert.deepEqual([recording.state().name, recording.state().lines], ['running', 1]);
  });

  it('ends once: to stop it then, or where there is none, changes nothing', () => {
    recording.stop();
    assert.equal(recording.state().name, 'none');
    recording.start();
    pass(900);
    recording.stop();
    assert.deepEqual([recording.state().end, recording.state().seconds], ['time', 600]);
    pass(300);
    assert.equal(recording.state().name, 'none');
  });

  it('has ten minutes of its own where it follows another one', () => {
    recording.start();
    pass(100);
    recording.stop();
    recording.start();
    pass(599);
    assert.deepEqual([recording.state().name, recording.state().seconds], ['running', 599]);
  });

  it('says since when by the clock', () => {
    const by = new Recording(() => () => {});
    by.start();
    assert.ok(Math.abs(Date.parse(by.state().since ?? '') - Date.now()) < 60_000);
    by.close();
  });

  it('leaves nothing behind when the service closes', () => {
    recording.start();
    deliver('heartbeat');
    recording.close();
    assert.deepEqual([recording.state().name, recording.file(), opened], ['none', undefined, 0]);
  });

  /** A deploy of its service: the recording from now on is that of the service that follows. */
  const deploy = (): Recording => {
    const former = recording;
    former.leave();
    assert.deepEqual([deliver('heartbeat'), opened], ['unwanted', 0]);
    recording = create();
    recording.takeOver(former);
    return former;
  };

  it('goes on with the service that follows, for the rest of its ten minutes, and is freed where it was', () => {
    recording.start();
    deliver('heartbeat');
    pass(400);
    const former = deploy();
    deliver('event/8200');
    assert.deepEqual([recording.state().name, recording.state().seconds, opened], ['running', 400, 1]);
    assert.deepEqual([former.state().name, former.file()], ['none', undefined]);
    pass(199);
    assert.equal(recording.isRunning, true);
    pass(1);
    const { name, end, lines, since } = recording.state();
    assert.deepEqual(
      [name, end, lines, since, opened],
      ['ended', 'time', 2, new Date(NIGHT).toISOString(), 0],
    );
    assert.deepEqual(
      rows().map(({ kind }) => kind),
      ['heartbeat', 'event'],
    );
  });

  it('goes on once, also where the one before has not left yet, or the one that follows has begun', () => {
    const former = recording;
    former.start();
    deliver('heartbeat');
    recording = create();
    recording.start();
    recording.takeOver(former);
    deliver('heartbeat');
    assert.deepEqual([recording.state().lines, former.file(), opened], [2, undefined, 1]);
  });

  it('is none where the service before had none', () => {
    const former = recording;
    recording = create();
    recording.takeOver(former);
    assert.deepEqual([recording.state().name, recording.file(), opened], ['none', undefined, 0]);
  });

  it('ends 90 seconds after a deploy when nobody asks the service that follows', () => {
    recording.start();
    deploy();
    mock.timers.tick(90_000);
    assert.deepEqual([recording.state().end, opened], ['left', 0]);
  });

  it('can be fetched from the service that follows, for no longer than from the one before', () => {
    recording.start();
    deliver('heartbeat');
    recording.stop();
    pass(400);
    deploy();
    assert.deepEqual([recording.state().end, rows().length, opened], ['stopped', 1, 0]);
    pass(199);
    assert.equal(recording.state().name, 'ended');
    pass(1);
    assert.deepEqual([recording.state().name, recording.file()], ['none', undefined]);
  });

  it('is freed also where no service follows', () => {
    recording.start();
    deliver('heartbeat');
    recording.leave();
    mock.timers.tick(90_000);
    assert.deepEqual([recording.state().end, rows().length], ['left', 1]);
    mock.timers.tick(600_000);
    assert.deepEqual([recording.state().name, recording.file()], ['none', undefined]);
  });
});
