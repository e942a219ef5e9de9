// What the broker is asked for because of what flows and people want, and what is known of it afterwards.
import assert from 'node:assert/strict';
import type { FilterVerdicts } from '../../src/protocol/filter-verdicts.ts';
import { createTopics, type TopicFilterParts } from '../../src/protocol/topics.ts';
import { RequestedFilters } from '../../src/reports/requested-filters.ts';

const [G, H] = ['c0141f68fc3d', 'c0141f68fc3e'];
const [D, E] = ['d00000000001', 'd00000000002'];
const topics = createTopics('');
const nameOf = topics.reportFilter;
const ALL = nameOf({});
const place = (gateway: string, device: string, segment = 'heartbeat') => ({
  ...{ gateway, device, segment, identifier: '' },
});

function verdicts(
  said: Partial<Record<'avoided' | 'refused' | 'granted', TopicFilterParts[]>>,
): FilterVerdicts {
  const isIn = (list: TopicFilterParts[] = []) => {
    const names = new Set(list.map(nameOf));
    return (filter: string) => names.has(filter);
  };
  return { isAvoided: isIn(said.avoided), isRefused: isIn(said.refused), isGranted: isIn(said.granted) };
}

function create(wants: TopicFilterParts[], { isShared = false, mayCross = true } = {}) {
  const requested = new RequestedFilters(topics, isShared, mayCross);
  const subscribers = wants.map((want) => {
    const subscriber = {};
    requested.add(subscriber, [want]);
    return subscriber;
  });
  const choose = (max = Number.POSITIVE_INFINITY, said?: FilterVerdicts) =>
    requested.choose(max, said).filters.sort();
  return { requested, subscribers, choose };
}
const names = (...filters: TopicFilterParts[]) => filters.map(nameOf).sort();

describe('what is asked for', () => {
  it('is what subscribers want, for as long as they do', () => {
    const { requested, subscribers, choose } = create([{ gateway: G }, { gateway: H }]);
    assert.equal(requested.needed, 2);
    assert.deepEqual(choose(), names({ gateway: G }, { gateway: H }));
    requested.delete(subscribers[0]!);
    assert.equal(requested.needed, 1);
    assert.deepEqual(choose(), names({ gateway: H }));
  });

  it('is told to be another than before only where it is', () => {
    const { requested, subscribers } = create([{ gateway: G }, { gateway: H }]);
    const isOther = (said?: FilterVerdicts) => requested.choose(Number.POSITIVE_INFINITY, said).isOther;
    assert.deepEqual([isOther(), isOther()], [true, false]);
    const refusal = verdicts({ refused: [{ gateway: G }] });
    assert.deepEqual([isOther(refusal), isOther(refusal), isOther()], [true, false, true]);
    requested.delete(subscribers[0]!);
    assert.equal(isOther(), true);
    requested.add(subscribers[0]!, [{ gateway: E }]);
    requested.delete(subscribers[1]!);
    assert.equal(isOther(), true);
  });

  it('is wider than what is wanted where there is no room, and known to be', () => {
    const { requested, choose } = create([
      { gateway: G, device: D },
      { gateway: G, device: E },
      { gateway: H },
    ]);
    assert.deepEqual(choose(2), names({ gateway: G }, { gateway: H }));
    const told = (filter: TopicFilterParts) => [
      requested.isWidened(nameOf(filter)),
      requested.isCovering(nameOf(filter)),
    ];
    assert.deepEqual(
      [told({ gateway: G }), told({ gateway: H })],
      [
        [true, true],
        [false, false],
      ],
    );
    choose();
    assert.deepEqual(told({ gateway: G }), [false, false]);
  });

  it('covers narrower wants also where it is wanted itself', () => {
    const { requested, choose } = create([{ gateway: G, device: D }, { gateway: G }]);
    assert.deepEqual(choose(), names({ gateway: G }));
    assert.deepEqual(
      [requested.isWidened(nameOf({ gateway: G })), requested.isCovering(nameOf({ gateway: G }))],
      [false, true],
    );
  });

  it('is not what the broker is known not to grant, where that would be wider', () => {
    const narrow = [{ gateway: G, device: D }, { gateway: G, device: E }, { gateway: H }];
    const { choose } = create(narrow);
    assert.deepEqual(choose(2, verdicts({ avoided: [{ gateway: G }] })), names(...narrow));
  });

  it('is asked for once more where it is refused, before what it covers', () => {
    const { requested } = create([{ gateway: G }, { gateway: G, device: D }, { gateway: H }]);
    const { filters } = requested.choose(10, verdicts({ refused: [{ gateway: G }] }));
    assert.equal(filters[0], nameOf({ gateway: G }));
    assert.deepEqual(filters.slice(1).sort(), names({ gateway: G, device: D }, { gateway: H }));
    assert.deepEqual(
      [place(G, D), place(G, E), place(H, D)].map((at) => [requested.isWanted(at), requested.isCertain(at)]),
      [
        [true, false],
        [false, false],
        [true, true],
      ],
    );
    assert.equal(requested.isCovering(nameOf({ gateway: G })), true);
    requested.choose(10);
    assert.deepEqual([requested.isWanted(place(G, E)), requested.isCertain(place(G, D))], [true, true]);
  });

  it('is not asked for once more where what is granted covers it', () => {
    const { choose } = create([
      { gateway: G, device: D },
      { gateway: G, device: E },
      { gateway: H, device: D },
    ]);
    const refused = verdicts({ refused: [{ gateway: G, device: D }] });
    assert.deepEqual(choose(10, refused).length, 3);
    const other = create([{ gateway: G, device: D }, { device: D }]);
    assert.deepEqual(other.choose(10, refused), names({ device: D }));
  });

  it('is not asked for once more where what is widened for want of room covers it', () => {
    const devices = [D, E, 'd00000000003'].map((device) => ({ gateway: G, device }));
    const { choose } = create(devices);
    assert.deepEqual(choose(1, verdicts({ refused: [{ gateway: G, device: D }] })), names({ gateway: G }));
  });

  it('is, of a shared group too, not wanted by what is refused', () => {
    const { requested } = create([{ gateway: G }, { gateway: H }], { isShared: true });
    const { filters } = requested.choose(10, verdicts({ refused: [{ gateway: G }] }));
    assert.deepEqual(filters, [nameOf({ gateway: G }), nameOf({ gateway: H })]);
    assert.deepEqual([requested.isWanted(place(G, D)), requested.isWanted(place(H, D))], [false, true]);
  });

  it('crosses where that brings less, but in a shared group', () => {
    const crossing = [{ segment: 'heartbeat', identifier: '' }, { gateway: G }];
    assert.deepEqual(create(crossing).choose(), names(...crossing));
    assert.deepEqual(create(crossing, { mayCross: false }).choose(), [ALL]);
    assert.deepEqual(create(crossing, { isShared: true }).choose(), [ALL]);
    assert.equal(create(crossing, { isShared: true }).requested.needed, 1);
  });

  it('is, in a shared group whose wide filter is refused, what works already, and the wide one once more', () => {
    const crossing = [{ segment: 'heartbeat', identifier: '' }, { gateway: G }];
    for (const granted of crossing) {
      const { requested } = create(crossing, { isShared: true });
      const { filters } = requested.choose(10, verdicts({ refused: [{}], granted: [granted] }));
      assert.deepEqual(filters, [ALL, nameOf(granted)]);
      assert.equal(requested.mayOverlap, true);
    }
  });
});

describe('what is known of what was asked for', () => {
  it('is how many subscriptions bring a report, also those of before until all is settled', () => {
    const { requested, subscribers, choose } = create([{ gateway: G }]);
    choose();
    assert.deepEqual(
      [requested.mayOverlap, requested.countOf(place(G, D)), requested.isSettled],
      [false, 1, false],
    );
    requested.settled();
    assert.equal(requested.isSettled, true);
    choose();
    assert.equal(requested.isSettled, true);
    requested.add(subscribers[0]!, [{ device: D }]);
    choose();
    assert.equal(requested.isSettled, false);
    assert.deepEqual(
      [place(G, D), place(H, D), place(G, E)].map((at) => requested.countOf(at)),
      [2, 1, 1],
    );
    assert.equal(requested.mayOverlap, true);
    requested.settled();
    assert.deepEqual([requested.mayOverlap, requested.countOf(place(G, D))], [false, 1]);
    requested.connected();
    assert.equal(requested.isSettled, false);
  });

  it('is nothing before anything was asked for', () => {
    const { requested } = create([{ gateway: G }]);
    assert.deepEqual([requested.isSettled, requested.mayOverlap], [false, false]);
    assert.deepEqual([requested.isWanted(place(G, D)), requested.isCertain(place(G, D))], [false, true]);
    assert.deepEqual(requested.serving([{ gateway: G }]), []);
  });

  it('is what was asked for before, of 10 000 filters at most', () => {
    const { requested, subscribers, choose } = create([{}]);
    const gateways = Array.from({ length: 12_000 }, (_, n) => `c${n.toString(16).padStart(11, '0')}`);
    const ask = (filters: TopicFilterParts[]) => {
      requested.add(subscribers[0]!, filters);
      choose();
    };
    ask(gateways.slice(0, 6_000).map((gateway) => ({ gateway })));
    ask(gateways.slice(6_000).map((gateway) => ({ gateway })));
    ask([{ device: D }]);
    assert.deepEqual(
      [0, 1_999, 2_000, 11_999].map((n) => requested.countOf(place(gateways[n]!, D))),
      [1, 1, 2, 2],
    );
  });

  it('is by which filters what somebody asks for comes', () => {
    const { requested, choose } = create([{ gateway: G }, { gateway: H, device: D }]);
    const end = requested.addPreview([{}], () => {});
    choose();
    assert.deepEqual(requested.serving([{ gateway: G, device: D }]), names({ gateway: G }));
    requested.choosePreviews(10);
    assert.deepEqual(requested.serving([{ gateway: G, device: D }]), [nameOf({ gateway: G }), ALL]);
    assert.deepEqual(requested.serving([{ gateway: H }, { device: E }]), [ALL, ALL]);
    end();
    requested.choosePreviews(10);
    assert.deepEqual(requested.serving([{ gateway: H }]), []);
    choose(10, verdicts({ refused: [{ gateway: G }] }));
    assert.deepEqual(requested.serving([{ gateway: G, device: E }]), names({ gateway: G }));
  });

  it('is of which gateways and devices anything may come', () => {
    const { requested, choose } = create([{ gateway: G, device: D }]);
    const brought = () => [
      requested.mayBring(G, D),
      requested.mayBring(G, undefined),
      requested.mayBring(H, E),
    ];
    assert.deepEqual(brought(), [true, true, true]);
    choose();
    assert.deepEqual(brought(), [true, true, false]);
  });

  it('is which devices flows ask for', () => {
    const { requested } = create([{ device: D }, { gateway: G, device: E }]);
    const { wantedDevices } = requested;
    assert.deepEqual([wantedDevices(D), wantedDevices(E), wantedDevices('f')], [true, true, false]);
    requested.add({}, [{ gateway: G }]);
    assert.equal(requested.wantedDevices('f'), true);
  });
});

describe('what previews ask for', () => {
  it('is what flows do not ask for, and no topic comes by two filters', () => {
    const { requested, choose } = create([{ gateway: G }]);
    requested.addPreview([{ gateway: G, device: D }, { gateway: H }], () => {});
    requested.addPreview([{ gateway: H, device: E }], () => {});
    choose();
    assert.deepEqual(requested.choosePreviews(10), names({ gateway: H }));
    requested.addPreview([{ device: D }], () => {});
    assert.deepEqual(requested.choosePreviews(10), [ALL]);
    assert.deepEqual(choose(), names({ gateway: G }));
  });

  it('is not what the broker refuses flows, and no more filters than there is room for', () => {
    const { requested, choose } = create([{ gateway: G }]);
    requested.addPreview([{ gateway: G }, { gateway: H, device: D }, { gateway: H, device: E }], () => {});
    choose(10, verdicts({ refused: [{ gateway: G }] }));
    assert.deepEqual(
      requested.choosePreviews(10).sort(),
      names({ gateway: H, device: D }, { gateway: H, device: E }),
    );
    assert.deepEqual(requested.choosePreviews(1), names({ gateway: H }));
  });

  it('comes by one filter also where there is room for few', () => {
    const { requested } = create([]);
    const wants: TopicFilterParts[] = [D, E].map((device) => ({ gateway: G, device }));
    requested.addPreview([...wants, { device: 'd00000000003', segment: 'rssi', identifier: '' }], () => {});
    requested.choose(10);
    assert.equal(requested.choosePreviews(3).length, 3);
    assert.deepEqual(requested.choosePreviews(2), [ALL]);
  });

  it('is nothing in a shared group', () => {
    const { requested, choose } = create([{ gateway: G }], { isShared: true });
    requested.addPreview([{}], () => {});
    choose();
    assert.deepEqual(requested.choosePreviews(10), []);
  });

  it('counts the messages that come for each of them, until it ends', () => {
    const { requested } = create([]);
    const received: string[] = [];
    const end = requested.addPreview([{ gateway: G }], () => received.push('one'));
    requested.addPreview([{ device: D }], () => received.push('other'));
    const come = (gateway: string, device: string) => {
      for (const count of requested.previewsOf(place(gateway, device))) {
        count();
      }
      return received.splice(0);
    };
    assert.deepEqual([come(G, D), come(G, E), come(H, E)], [['one', 'other'], ['one'], []]);
    end();
    assert.deepEqual(come(G, D), ['other']);
  });
});
