// The links of all devices: how many there may be of one, and how many devices each gateway hears.
import assert from 'node:assert/strict';
import { RecencyMap } from '../../src/collections/recency-map.ts';
import { type GatewayState, newDevice, newGateway } from '../../src/network/device-state.ts';
import { KnownLinks } from '../../src/network/known-links.ts';
import { isReplaced, MAX_LINKS_PER_DEVICE } from '../../src/network/links.ts';
import { itAtScale } from '../at-scale.ts';

const NOW = 1_000_000;
const NODE = 'e00000000001';

describe('known links', () => {
  const gatewayAt = (i: number) => (0xc00000000000 + i).toString(16);
  const deviceAt = (i: number) => newDevice((0xd00000000000 + i).toString(16), NOW);
  let gateways: RecencyMap<GatewayState>;
  let links: KnownLinks;

  beforeEach(() => {
    gateways = new RecencyMap<GatewayState>(100);
    for (let i = 0; i < MAX_LINKS_PER_DEVICE + 2; i++) {
      gateways.add(newGateway(gatewayAt(i), NOW));
    }
    links = new KnownLinks(gateways);
  });
  const heardBy = (i: number) => gateways.get(gatewayAt(i))?.devices;

  it('count for a gateway the devices that it hears itself, until they are forgotten', () => {
    const [one, other] = [deviceAt(1), deviceAt(2)];
    links.add(one, gatewayAt(0), gatewayAt(0), NOW);
    links.add(one, gatewayAt(0), NODE, NOW);
    links.add(one, 'c0ffee000000', 'c0ffee000000', NOW);
    links.add(other, gatewayAt(0), gatewayAt(0), NOW);
    assert.deepEqual([heardBy(0), heardBy(1), one.links.length], [2, 0, 3]);
    links.remove(one);
    assert.equal(heardBy(0), 1);
  });

  it('count for a gateway that was forgotten meanwhile only what it hears since then', () => {
    const device = deviceAt(1);
    links.add(device, gatewayAt(0), gatewayAt(0), NOW);
    gateways.delete(gateways.get(gatewayAt(0)) as GatewayState);
    gateways.add(newGateway(gatewayAt(0), NOW));
    links.remove(device);
    assert.equal(heardBy(0), 0);
  });

  it('of a device are so many at most: a further one takes the place of another, which says so', () => {
    const device = deviceAt(1);
    const added = Array.from({ length: MAX_LINKS_PER_DEVICE }, (_, i) =>
      links.add(device, gatewayAt(i), gatewayAt(i), NOW + i),
    );
    assert.deepEqual(device.links, added);
    const before = device.links;
    links.add(device, gatewayAt(MAX_LINKS_PER_DEVICE), gatewayAt(MAX_LINKS_PER_DEVICE), NOW + 100);
    assert.equal(device.links, before, 'in its place');
    assert.equal(device.links.length, MAX_LINKS_PER_DEVICE);
    assert.deepEqual(
      added.map((link) => isReplaced(link)),
      added.map((_, i) => i === 0),
    );
    assert.deepEqual([heardBy(0), heardBy(1), heardBy(MAX_LINKS_PER_DEVICE)], [0, 1, 1]);
  });

  itAtScale('are so many at most of all devices: beyond it each has one, until others are forgotten', () => {
    const many = Array.from({ length: 25_000 }, (_, i) => deviceAt(i));
    for (const device of many) {
      for (let i = 0; i < MAX_LINKS_PER_DEVICE; i++) {
        links.add(device, gatewayAt(i), gatewayAt(i), NOW);
      }
    }
    const late = deviceAt(many.length);
    const add = (i: number) => links.add(late, gatewayAt(i), gatewayAt(i), NOW);
    add(0);
    add(1);
    assert.deepEqual(
      late.links.map(({ gateway }) => gateway),
      [gatewayAt(1)],
    );
    links.remove(many[0] as (typeof many)[number]);
    for (let i = 2; i < MAX_LINKS_PER_DEVICE; i++) {
      add(i);
    }
    assert.equal(late.links.length, MAX_LINKS_PER_DEVICE - 1);
    const last = deviceAt(many.length + 1);
    links.add(last, gatewayAt(0), gatewayAt(0), NOW);
    links.add(last, gatewayAt(1), gatewayAt(1), NOW);
    assert.equal(last.links.length, 1, 'there are as many again');
  });
});
