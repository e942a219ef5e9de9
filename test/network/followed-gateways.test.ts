// Which gateways a watch of listed devices asks for: each once, those that bring its devices, and no more than it may.
import assert from 'node:assert/strict';
import { FollowedGateways } from '../../src/network/followed-gateways.ts';
import { WatchScope } from '../../src/network/watch-scope.ts';
import { newWatched } from '../../src/network/watched.ts';
import { D, G, G2, SETTINGS, World } from './watched-world.ts';

describe('gateways that are followed', () => {
  let world: World;
  let asked: string[];
  const gatewayAt = (i: number) => (0xc00000000000 + i).toString(16);

  beforeEach(() => {
    world = new World();
    asked = [];
  });

  function open(lists: { devices?: string[]; gateways?: string[] }): FollowedGateways {
    const listener = {
      changed() {},
      counted() {},
      full() {},
      follow: (gateway: string) => void asked.push(gateway),
    };
    return new FollowedGateways(world.network, new WatchScope({ ...SETTINGS, ...lists }), listener);
  }

  it('are those that bring listed devices, and each is asked for once', () => {
    const followed = open({ devices: [D] });
    followed.heard(G);
    followed.heard(G2);
    followed.heard(G);
    assert.deepEqual(asked, [G, G2]);
  });

  it('are none where no device is listed, and none that is not chosen', () => {
    open({}).heard(G);
    open({ devices: [D], gateways: [G] }).heard(G2);
    assert.deepEqual(asked, []);
  });

  it('are also listed ones that are known to be gateways', () => {
    const followed = open({ devices: [D, G] });
    followed.noteListed(G);
    assert.deepEqual(asked, [], 'it has brought nothing yet');
    world.hear('heartbeat', {}, { gateway: G, device: D });
    world.hear('heartbeat', {}, { gateway: G2, device: D });
    followed.noteListed(G2);
    followed.noteListed(D);
    assert.deepEqual(asked, []);
    followed.noteListed(G);
    assert.deepEqual(asked, [G]);
  });

  it('are those that a listed device was heard by before, and itself where it is a gateway', () => {
    const watched = (id: string) => newWatched(id, 'device', { check() {} }, 0);
    const followed = open({ devices: [D, G] });
    followed.followThoseOf({ ...watched(D), storedGateway: G2 });
    assert.deepEqual(asked, [G2]);
    world.hear('heartbeat', {}, { gateway: G, device: D });
    followed.followThoseOf(watched(G));
    assert.deepEqual(asked, [G2, G]);
  });

  it('are a thousand at most', () => {
    const followed = open({ devices: [D] });
    for (let i = 0; i < 1_100; i++) {
      followed.heard(gatewayAt(i));
    }
    assert.equal(asked.length, 1_000);
    assert.equal(new Set(asked).size, 1_000);
  });
});
