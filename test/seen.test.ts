// What reports have shown, in a network that is larger than what is kept.
import assert from 'node:assert/strict';
import { createCatalogue } from '../src/protocol/identifiers.ts';
import { readReportTopic } from '../src/protocol/reports/index.ts';
import { Seen } from '../src/seen.ts';

const G = 'c0141f68fc3d';
const G2 = 'c0141f68fc3e';
const LISTED = 10_000;

describe('what reports have shown', () => {
  const deviceAt = (i: number) => (0xd00000000000 + i).toString(16);

  function heard(seen: Seen, from: number, to: number, gateway = G): void {
    for (let i = from; i < to; i++)
      seen.note(readReportTopic('t', gateway, deviceAt(i), 'measurement/8800'), i);
  }

  const listed = (seen: Seen) => new Set(seen.devices().map(({ id }) => id));

  it('lists the devices that came last when they are too many, and knows the gateway of all', () => {
    const seen = new Seen(createCatalogue());
    heard(seen, 0, 15_000);
    const devices = listed(seen);
    assert.equal(devices.size, LISTED);
    assert.ok(devices.has(deviceAt(14_999)) && !devices.has(deviceAt(0)));
    assert.equal(seen.gatewayOf(deviceAt(0)), G);
    heard(seen, 0, 1, G2);
    assert.equal(seen.gatewayOf(deviceAt(0)), G2);
  });

  it('knows the last gateway of devices that were pushed out of the list, let back in and moved', () => {
    const seen = new Seen(createCatalogue());
    heard(seen, 0, 15_000);
    for (const gateway of [G2, G]) {
      for (let round = 0; round < 3; round++) heard(seen, 0, 15_000, gateway);
      const known = new Set(Array.from({ length: 15_000 }, (_, i) => seen.gatewayOf(deviceAt(i))));
      assert.deepEqual([...known], [gateway]);
      assert.equal(seen.devices({ gateway }).length, LISTED);
    }
  });

  it('knows the gateway of a device that is listed, however long it was silent', () => {
    const seen = new Seen(createCatalogue());
    const silent = 100_499;
    heard(seen, 0, silent + 1);
    for (let round = 0; round < 3; round++) heard(seen, 0, silent);
    assert.ok(listed(seen).has(deviceAt(silent)));
    assert.equal(seen.gatewayOf(deviceAt(silent)), G);
    heard(seen, silent, silent + 1, G2);
    assert.equal(seen.gatewayOf(deviceAt(silent)), G2);
    assert.equal(listed(seen).size, LISTED);
  });

  it('forgets the gateways of those that were silent longest, in a network beyond all bounds', () => {
    const seen = new Seen(createCatalogue());
    heard(seen, 0, 450_000);
    assert.equal(seen.gatewayOf(deviceAt(0)), undefined);
    assert.equal(seen.gatewayOf(deviceAt(449_999)), G);
    assert.equal(listed(seen).size, LISTED);
  });

  it('keeps most of the list when devices that were pushed out report again, and lets some of them back in', () => {
    const seen = new Seen(createCatalogue());
    heard(seen, 0, 15_000);
    const before = listed(seen);
    heard(seen, 0, 5_000);
    const after = listed(seen);
    const back = [...after].filter((id) => !before.has(id)).length;
    assert.equal(after.size, LISTED);
    assert.ok(back > 0 && back < LISTED / 10, `${back}`);
  });

  it('counts the reports of a device and of each of its properties', () => {
    const seen = new Seen(createCatalogue());
    for (const rest of ['measurement/8800', 'measurement/8800', 'property/8100', 'heartbeat'])
      seen.note(readReportTopic('t', G, deviceAt(1), rest), 0);
    assert.deepEqual(
      seen.devices().map(({ count }) => count),
      [4],
    );
    const counts = seen.identifiers({ device: deviceAt(1) }).map(({ id, count }) => [id, count]);
    assert.deepEqual(
      new Map(counts as [string, number][]),
      new Map([
        ['8800', 2],
        ['8100', 1],
      ]),
    );
  });
});
