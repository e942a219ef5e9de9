// What differs from one sequence of the model test to the next: settings of the session, and manners of the broker.
import fc from 'fast-check';
import type { MqttSettings } from '../../src/settings.ts';
import type { BrokerOptions } from '../scripted-broker/options.ts';
import { type Filter, filters } from './arbitraries.ts';

export interface Setup {
  mqtt: Pick<
    MqttSettings,
    'protocolVersion' | 'persistent' | 'reportQos' | 'requestQos' | 'maxInFlight' | 'maxQueue' | 'sharedGroup'
  >;
  broker: Partial<BrokerOptions>;
  /** Who wants reports from the start; undefined: nobody yet, and the session is not connected. */
  start: readonly Filter[] | undefined;
}

export const setups: fc.Arbitrary<Setup> = fc.record({
  mqtt: fc.record({
    protocolVersion: fc.constantFrom(4 as const, 5 as const),
    persistent: fc.boolean(),
    reportQos: fc.constantFrom(1 as const, 1 as const, 0 as const, 2 as const),
    requestQos: fc.constantFrom(1 as const, 1 as const, 0 as const),
    maxInFlight: fc.constantFrom(8, 2, 1),
    maxQueue: fc.constantFrom(1_000, 2),
    sharedGroup: fc.constantFrom('', '', 'group'),
  }),
  broker: fc
    .record({
      delivery: fc.constantFrom('once' as const, 'per-subscription' as const),
      maxInFlight: fc.constantFrom(20, 1),
      maxGrantedQos: fc.constantFrom(2 as const, 2 as const, 0 as const),
    })
    // With the only place in flight taken, a report of QoS 0 comes between the copies of another, and nobody can
    // tell them from a repetition any more.
    .map((broker) => (broker.delivery === 'once' ? broker : { ...broker, maxInFlight: 20 })),
  start: fc.option(fc.array(filters, { maxLength: 3 }), { freq: 8, nil: undefined }),
});
