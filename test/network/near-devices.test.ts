// Which device a person has in the hand: what lights one up, for how long, and what that costs while nobody looks.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { NearDevices } from '../../src/network/near-devices.ts';
import { NetworkPages, type PageQuery } from '../../src/network/network-pages.ts';
import { NetworkState } from '../../src/network/network-state.ts';
import { wallTime } from '../../src/network/wall-time.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import { type Report, readReportTopic } from '../../src/protocol/reports/index.ts';

const G = 'c0141f68fc3d';
const G2 = 'c0141f68fc3e';
const TIME = '2026-01-02T03:04:05.678Z';

describe('a device in the hand', () => {
  let now: number;
  let network: NetworkState;
  let near: NearDevices;

  const deviceAt = (i: number) => (0xd00000000000 + i).toString(16);
  const [D, E] = [deviceAt(1), deviceAt(2)];

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    now = 1_000.5;
    network = new NetworkState({ now: () => now });
    network.setListening(true, false);
    near = new NearDevices(network);
  });
  afterEach(() => {
    near.close();
    mock.timers.reset();
  });

  function hear(rest: string, body: object = {}, { gateway = G, device = D } = {}): void {
    now += 100;
    network.record(readReportTopic('t', gateway, device, rest), now, { time: TIME, ...body } as Report);
  }
  const signal = (rssi: number, device = D, gateway = G, parent = gateway) =>
    hear('rssi', { rssi, parent }, { device, gateway });
  const lit = () =>
    [...near.look()].map(([id, { reason, rssi, usual }]) => [id, reason, rssi ?? null, usual ?? null]);

  it('is one that fires an event, for ten seconds, the newest first', () => {
    hear('event-decoded/motion');
    assert.deepEqual(lit(), [], 'before somebody looked');
    hear('event-decoded/motion');
    hear('event-decoded/motion', {}, { device: E });
    hear('measurement-decoded/motion', { value: 1 }, { device: deviceAt(3) });
    assert.deepEqual(lit(), [
      [E, 'event', null, null],
      [D, 'event', null, null],
    ]);
    hear('event-decoded/motion');
    assert.deepEqual(
      [...near.look().keys()],
      [E, D],
      'one that is lit already stays where it is, so that none jumps again and again',
    );
    now += 9_900;
    assert.deepEqual([...near.look().keys()], [D]);
    now += 100;
    assert.deepEqual([...near.look().keys()], [D]);
    now += 1;
    assert.deepEqual(lit(), []);
  });

  it('stays where it is as long as it is lit, and is the newest when it is lit anew', () => {
    lit();
    hear('event/8200');
    hear('event/8200', {}, { device: E });
    now += 9_800;
    hear('event/8200');
    assert.deepEqual([...near.look().keys()], [E, D]);
    now += 9_901;
    hear('event/8200');
    assert.deepEqual([...near.look().keys()], [D]);
    hear('event/8200', {}, { device: E });
    now += 9_850;
    hear('event/8200');
    assert.deepEqual([...near.look().keys()], [D, E]);
  });

  it('has no identifier that is too long for one', () => {
    lit();
    for (const [device, length] of [
      [D, 200],
      [E, 201],
    ] as const) {
      hear(`event/${'x'.repeat(length)}`, {}, { device });
    }
    assert.deepEqual(
      [...near.look()].map(([id, { identifier }]) => [id, identifier?.length]),
      [
        [E, undefined],
        [D, 200],
      ],
    );
  });

  it('is one that a gateway hears much better than usually', () => {
    signal(-80);
    signal(-60, E);
    lit();
    signal(-66);
    signal(-46, E);
    assert.deepEqual(lit(), [], 'fourteen dB are nothing');
    signal(-80, deviceAt(3));
    signal(-65, deviceAt(3));
    assert.equal(lit()[0]?.[0], deviceAt(3), 'fifteen are something, also where it was never heard before');
    now += 10_001;
    signal(-41);
    assert.deepEqual(
      lit().map(([id, reason, rssi]) => [id, reason, rssi]),
      [[D, 'louder', -41]],
    );
    const [[, , , usual] = []] = lit();
    assert.ok(Number(usual) < -75 && Number(usual) >= -80, String(usual));
    now += 9_000;
    signal(-42);
    now += 9_000;
    assert.equal(lit().length, 1, 'as long as it is held there');
    for (let i = 0; i < 20; i++) {
      signal(-42);
    }
    now += 10_001;
    signal(-42);
    assert.deepEqual(lit(), [], 'where it hangs now is usual');
  });

  it('is compared with what this gateway has heard, and else with the best that any has', () => {
    signal(-50, D, G);
    signal(-90, D, G2);
    signal(-80, E, G);
    lit();
    signal(-60, D, G2);
    assert.deepEqual(lit(), [[D, 'louder', -60, -90]]);
    signal(-70, E, G2);
    assert.equal(lit().length, 1, 'a further gateway that hears it alike');
    signal(-40, E, G2, 'e00000000001');
    assert.deepEqual(lit()[0], [E, 'louder', -40, -70]);
    now += 10_001;
    signal(-30, D, G, 'e00000000001');
    assert.deepEqual(lit(), [[D, 'louder', -30, -50]]);
  });

  it('is none whose signal was never heard before, or is none', () => {
    lit();
    signal(-30);
    signal(Number.NaN, E);
    hear('rssi', { rssi: 'loud' }, { device: E });
    signal(-90, E);
    signal(0, E);
    signal(127, E);
    assert.deepEqual(lit(), []);
    signal(-60, E);
    assert.deepEqual(lit(), [[E, 'louder', -60, -90]]);
    assert.deepEqual(near.size, { lit: 1, usual: 2 });
  });

  it('costs a report nothing from fifteen seconds after the last look on', () => {
    const counts = { heard: 0, signals: 0 };
    const { onHeard, onSignal } = network;
    network.onHeard = (listener) => {
      counts.heard++;
      const end = onHeard.call(network, listener);
      return () => {
        counts.heard--;
        return end();
      };
    };
    network.onSignal = (listener) => {
      counts.signals++;
      const end = onSignal.call(network, listener);
      return () => {
        counts.signals--;
        return end();
      };
    };
    lit();
    mock.timers.tick(14_999);
    hear('event/8200');
    assert.equal(lit().length, 1);
    mock.timers.tick(14_999);
    assert.deepEqual(counts, { heard: 1, signals: 1 });
    mock.timers.tick(1);
    assert.deepEqual(counts, { heard: 0, signals: 0 });
    assert.deepEqual(near.size, { lit: 0, usual: 0 });
  });

  it('is among a hundred that are lit at a time and ten thousand whose usual signal is known', () => {
    for (let i = 0; i < 10_100; i++) {
      signal(-80, deviceAt(i));
    }
    lit();
    for (let i = 0; i < 10_100; i++) {
      signal(-79, deviceAt(i));
    }
    assert.deepEqual(near.size, { lit: 0, usual: 10_000 });
    for (let i = 0; i < 150; i++) {
      now -= 99;
      hear('event/8200', {}, { device: deviceAt(i) });
    }
    assert.equal(near.size.lit, 100);
    assert.equal(lit()[0]?.[0], deviceAt(149));
  });

  describe('in the list', () => {
    let pages: NetworkPages;

    beforeEach(() => {
      pages = new NetworkPages({
        network,
        catalogue: createCatalogue(),
        nameOf: (id) => (id === E ? 'Boiler' : undefined),
        listed: () => undefined,
        allListed: () => [],
      });
    });
    afterEach(() => pages.close());

    const ask = (query: Partial<PageQuery> = {}) =>
      pages.page({
        ...{ parent: '*', text: '', sort: 'name', needs: false, near: true, offset: 0, limit: 50 },
        ...query,
      })!;
    const ids = (query: Partial<PageQuery> = {}) => ask(query).rows.map(({ id }) => id);

    it('stands at the top with why and when, and the others as they are sorted', () => {
      for (let i = 1; i <= 4; i++) {
        signal(-80, deviceAt(i));
      }
      assert.deepEqual(ids(), [E, D, deviceAt(3), deviceAt(4)]);
      signal(-40, deviceAt(4));
      const litAt = now;
      hear('event-decoded/motion', {}, { device: deviceAt(3) });
      const [first, second, third] = ask().rows;
      assert.deepEqual(
        [first?.id, first?.near],
        [
          deviceAt(3),
          {
            reason: 'event',
            identifier: 'motion',
            name: 'motion',
            rssi: null,
            usual: null,
            time: wallTime(now),
          },
        ],
      );
      assert.deepEqual(
        [second?.id, second?.near],
        [
          deviceAt(4),
          { reason: 'louder', identifier: null, name: null, rssi: -40, usual: -80, time: wallTime(litAt) },
        ],
      );
      assert.deepEqual([third?.id, third?.near, ask().total], [E, undefined, 4]);
      assert.deepEqual(ids({ offset: 1, limit: 2 }), [deviceAt(4), E], 'pages fit together');
      assert.equal(ask({ near: false }).rows[2]?.near, undefined);
    });

    it('is there at once when it was never heard before, and only where it is looked for', () => {
      signal(-80);
      assert.deepEqual(ids(), [D]);
      assert.deepEqual(ids({ text: 'boiler' }), []);
      hear('event/8200', {}, { device: E });
      hear('event/8200', {}, { device: deviceAt(3), gateway: G2 });
      assert.deepEqual(ids(), [deviceAt(3), E, D]);
      assert.deepEqual(ids({ text: 'boiler' }), [E]);
      assert.deepEqual(ids({ parent: G2 }), [deviceAt(3)]);
      assert.deepEqual(ids({ parent: '' }), [G, G2]);
      assert.deepEqual(ids({ needs: true }), []);
    });

    it('is no longer watched for once the list is closed', () => {
      signal(-80);
      ids();
      hear('event/8200');
      assert.equal(ask().rows[0]?.near?.reason, 'event');
      pages.close();
      hear('event/8200');
      assert.equal(ask().rows[0]?.near, undefined);
    });
  });
});
