// What a listed one is that nobody has heard: by its models and those that were heard.
import assert from 'node:assert/strict';
import { ListedKinds } from '../../src/network/listed-kinds.ts';
import type { ListedDevice } from '../../src/network/network-rows.ts';
import { NetworkState } from '../../src/network/network-state.ts';
import { readReportTopic } from '../../src/protocol/reports/index.ts';

const G = 'c0141f68fc3d';
const UNHEARD = 'c0141f68fc3f';
const [D1, D2, D3] = ['d00000000001', 'd00000000002', 'd00000000003'];

describe('a listed one that nobody has heard', () => {
  const listed = (mac: string, model: string): ListedDevice => ({
    ...{ id: `bmac-${mac}`, mac, name: mac, labels: [], connected: true, model },
  });
  const unheard = listed(UNHEARD, 'M');

  for (const [is, kind, others, heard] of [
    ['a gateway where nothing else is listed', 'gateway', [], [G, D1]],
    ['a device where two of its model are', 'device', [listed(D1, 'M'), listed(D2, 'M')], [D1, D2]],
    ['a device where three are', 'device', [D1, D2, D3].map((mac) => listed(mac, 'M')), [D1, D2, D3]],
    ['a gateway where one is', 'gateway', [listed(D1, 'M'), listed(D2, 'M')], [D1]],
    ['a gateway where two of other models are', 'gateway', [listed(D1, 'N'), listed(D2, 'N')], [D1, D2]],
    ['a gateway where each is of another model', 'gateway', [listed(D1, 'M'), listed(D2, 'N')], [D1, D2]],
    [
      'a gateway where a gateway is of the model, too',
      ...(['gateway', [listed(D1, 'M'), listed(D2, 'M'), listed(G, 'M')], [D1, D2]] as const),
    ],
  ] as const) {
    it(`is ${is}`, () => {
      const network = new NetworkState({ now: () => 1_000 });
      for (const device of heard) {
        network.record(readReportTopic('t', G, device, 'heartbeat'), 1_000);
      }
      const kinds = new ListedKinds({ network, allListed: () => [unheard, ...others] });
      assert.equal(kinds.look()(unheard), kind);
    });
  }

  it('is a gateway where it has no model, and a device where its id is none of a gateway', () => {
    const network = new NetworkState({ now: () => 1_000 });
    const devices = [listed(D1, ''), listed(D2, '')];
    for (const { mac } of devices) {
      network.record(readReportTopic('t', G, mac, 'heartbeat'), 1_000);
    }
    const kindOf = new ListedKinds({ network, allListed: () => devices }).look();
    assert.equal(kindOf(listed(UNHEARD, '')), 'gateway');
    assert.equal(kindOf(listed('', 'M')), 'device');
  });

  it('is a gateway where devices of its model were heard in an update only: gateways are updated, too', () => {
    const network = new NetworkState({ now: () => 1_000 });
    const others = [listed(D1, 'M'), listed(D2, 'M')];
    for (const { mac } of others) {
      network.record(readReportTopic('t', G, mac, 'dfu'), 1_000);
    }
    assert.equal(new ListedKinds({ network, allListed: () => others }).look()(unheard), 'gateway');
  });
});
