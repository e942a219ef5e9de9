// A session for tests: fast timeouts, everything that it reports collected, and events to wait for.
import { EventEmitter, once } from 'node:events';
import { SILENT } from '../src/log.ts';
import { brokerLimits } from '../src/protocol/broker-profiles.ts';
import type { Report } from '../src/protocol/reports/index.ts';
import { UNFILTERED } from '../src/reports/unfiltered.ts';
import { type ReportFilter, Session, type SessionState, type Subscriber } from '../src/session.ts';
import type { MqttSettings } from '../src/settings.ts';

export const ALL: ReportFilter = UNFILTERED;

let count = 0;

export function mqttSettings(url: string, changes: Partial<MqttSettings> = {}): MqttSettings {
  return {
    brokers: [url],
    clientId: `mt-engine-test-${process.pid}-${count++}`,
    protocolVersion: 4,
    keepalive: 60,
    persistent: false,
    sessionExpiry: 86_400,
    sharedGroup: '',
    topicPrefix: '',
    reportQos: 1,
    requestQos: 1,
    requestTimeout: 2_000,
    maxInFlight: 8,
    maxQueue: 1_000,
    limits: brokerLimits('any', { maxSubscriptions: 0, maxUnacknowledged: 0 }),
    ackOperation: 'ack',
    ackDecodedOperation: 'ack-decoded',
    ackPayload: { time: '{{time}}' },
    ...changes,
  };
}

export function openSession(url: string, changes: Partial<MqttSettings> = {}): Session {
  return new Session({ mqtt: mqttSettings(url, changes) }, SILENT);
}

/** Resolves when the broker connection is in this state. */
export function reached(session: Session, name: SessionState['mqtt']['name']): Promise<void> {
  return new Promise((resolve) => {
    let stop = (): void => {};
    let isThere = false;
    stop = session.onState(({ mqtt }) => {
      if (mqtt.name !== name || isThere) {
        return;
      }
      isThere = true;
      queueMicrotask(() => stop());
      resolve();
    });
  });
}

/** Collects what a subscription brings. */
export class Collector implements Subscriber {
  readonly reports: Report[] = [];
  readonly errors: { code: string; topic: string; payload: unknown }[] = [];
  readonly #events = new EventEmitter();

  report(report: Report): void {
    this.reports.push(report);
    this.#events.emit('change');
  }

  error({ code }: { code: string }, { topic, payload }: { topic: string; payload: unknown }): void {
    this.errors.push({ code, topic, payload });
    this.#events.emit('change');
  }

  /** Resolves when this holds. */
  async until(condition: (collector: this) => boolean): Promise<void> {
    while (!condition(this)) {
      await once(this.#events, 'change');
    }
  }
}
