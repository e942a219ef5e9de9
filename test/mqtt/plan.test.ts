import assert from 'node:assert/strict';
import fc from 'fast-check';
import { planWants, type Want } from '../../src/mqtt/plan.ts';

describe('planning of subscriptions', () => {
  it('subscribes only to heartbeats when only heartbeats are wanted', () => {
    assert.deepEqual(planWants([{ segment: 'heartbeat', identifier: '' }]), [
      { segment: 'heartbeat', identifier: '' },
    ]);
  });

  it('asks once for what several subscribers want', () => {
    assert.equal(planWants([{ device: 'd' }, { device: 'd' }]).length, 1);
  });

  it('drops a filter that a wider one covers', () => {
    assert.deepEqual(
      planWants([{ segment: 'rssi', identifier: '' }, {}, { device: 'd', segment: 'event' }]),
      [{}],
    );
  });

  it('replaces two filters that cross by what they have in common', () => {
    const crossing = [
      { gateway: 'g', segment: 'property' },
      { gateway: 'g', device: 'd' },
    ];
    assert.deepEqual(planWants(crossing), [{ gateway: 'g' }]);
  });

  it('keeps filters apart that cannot match the same topic', () => {
    const apart: Want[] = [
      { segment: 'heartbeat', identifier: '' },
      { identifier: '8800' },
      { segment: 'rssi', identifier: '' },
    ];
    assert.equal(planWants(apart).length, 3);
  });

  const part = (...values: string[]) => fc.option(fc.constantFrom(...values), { nil: undefined });
  const want = fc.record({
    gateway: part('g1', 'g2'),
    device: part('d1', 'd2', 'd3'),
    segment: part('property', 'event'),
    identifier: part('8800', '8802'),
  });
  const matches = (filter: Want, topic: Want) =>
    (Object.keys(topic) as (keyof Want)[]).every(
      (key) => filter[key] === undefined || filter[key] === topic[key],
    );

  it('serves every want by exactly one filter, whatever is wanted', () => {
    const topic = fc.record({
      gateway: fc.constantFrom('g1', 'g2', 'g3'),
      device: fc.constantFrom('d1', 'd2', 'd3', 'd4'),
      segment: fc.constantFrom('property', 'event', 'heartbeat'),
      identifier: fc.constantFrom('8800', '8802', '8803'),
    });
    fc.assert(
      fc.property(fc.array(want, { maxLength: 12 }), topic, (wants, message) => {
        const serving = planWants(wants).filter((filter) => matches(filter, message)).length;
        assert.ok(serving <= 1, 'two filters overlap');
        if (wants.some((wanted) => matches(wanted, message))) assert.equal(serving, 1);
      }),
      { numRuns: 2000 },
    );
  });
});
