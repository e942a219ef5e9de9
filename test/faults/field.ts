// A gateway in the field, for faults: publishes numbered reports at a rate until the broker has them, answers requests.
import { EventEmitter, once } from 'node:events';
import type { Socket } from 'node:net';
import { connectAsync, type MqttClient } from 'mqtt';

export const GATEWAY = 'c0141f68fc3d';
const DEVICES = 16;
/** A gateway waits when so many reports are not acknowledged; without it a broker that is busy storing them would drown. */
const MAX_UNACKNOWLEDGED = 1_000;
/** With QoS 2: a Mosquitto 2.0.11 acknowledges what comes beyond its `max_inflight_messages`, and loses some of it. */
export const MAX_UNACKNOWLEDGED_QOS_2 = 100;
const PUMP_INTERVAL_MS = 20;
const RESPONSE_DELAY_MS = 30;

interface Published {
  topic: string;
  payload: string;
}

/** What a gateway publishes the n-th time. */
export type MakeReport = (number: number) => Published;

/** Reports carry their number as their value, so that each can be told from every other. */
export const numberOf = (raw: unknown): number => Number.parseInt(String(raw), 16);

const hex = (number: number): string => number.toString(16).padStart(8, '0');

const topicOf = (number: number, rest: string): string =>
  `mt/gateway/${GATEWAY}/device/${(0xd00000000000 + (number % DEVICES)).toString(16)}/${rest}`;

const measurement: MakeReport = (number) => ({
  topic: topicOf(number, 'measurement/8801'),
  payload: JSON.stringify({ time: new Date().toISOString(), seq: number % 256, value: hex(number) }),
});

const KINDS = {
  heartbeat: { status: 0, lastCount: 3 },
  rssi: { parent: GATEWAY, rssi: -60, channel: 38 },
  'property/8001': { value: '03040100' },
  'property-decoded/battery-level': { value: 70 },
  'measurement/8800': { value: '0866' },
  'measurement-decoded/temperature': { value: 21.5 },
  'event/8113': { value: '01' },
  'event-decoded/alarm': { value: true },
  'timestamped/8800': { value: '0866', flags: '1b' },
  'weather/1': { value: { wind: [3] } },
};

/** All kinds in turn, raw and decoded; each carries its number as `n`. */
export const everyKind: MakeReport = (n) => {
  const kinds = Object.entries(KINDS);
  // Each device comes to each kind.
  const [rest, fields] = kinds[Math.floor(n / DEVICES) % kinds.length]!;
  const time = new Date(1.7e12 + n).toISOString();
  return { topic: topicOf(n, rest), payload: JSON.stringify({ time, seq: n % 256, ...fields, n }) };
};

export class Field {
  sent = 0;
  readonly #client: MqttClient;
  readonly #qos: 0 | 1 | 2;
  readonly #unacknowledged = new Set<number>();
  readonly #make: MakeReport;
  readonly #recent: (Published & { number: number })[] = [];
  readonly #events = new EventEmitter();
  #rate = 0;
  #credit = 0;
  #last = performance.now();
  readonly #pump: NodeJS.Timeout;

  constructor(client: MqttClient, qos: 0 | 1 | 2, make: MakeReport) {
    this.#client = client;
    this.#make = make;
    this.#qos = qos;
    client.on('error', () => {});
    client.on('connect', () => (client.stream as Partial<Socket>).setNoDelay?.(true));
    client.on('message', (topic, payload) => this.#answer(topic, payload));
    this.#pump = setInterval(() => this.#publishDue(), PUMP_INTERVAL_MS);
  }

  /** @param rate reports per second; 0: none */
  setRate(rate: number): void {
    this.#rate = rate;
    this.#credit = 0;
    this.#last = performance.now();
  }

  /** Resolves when the broker has acknowledged every report. */
  async settled(): Promise<void> {
    while (this.#unacknowledged.size > 0) {
      await once(this.#events, 'acknowledged');
    }
  }

  /** Publishes once more all from this number on: a broker that crashed may have acknowledged it without having it on disk. */
  again(first: number): void {
    for (const { topic, payload } of this.#recent.filter(({ number }) => number >= first)) {
      this.#client.publish(topic, payload, { qos: this.#qos });
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#pump);
    await this.#client.endAsync(true);
  }

  #publishDue(): void {
    const now = performance.now();
    this.#credit += (this.#rate * (now - this.#last)) / 1000;
    this.#last = now;
    const most = this.#qos === 2 ? MAX_UNACKNOWLEDGED_QOS_2 : MAX_UNACKNOWLEDGED;
    const room = Math.max(0, most - this.#unacknowledged.size);
    this.#credit = Math.min(this.#credit, room);
    for (; this.#credit >= 1; this.#credit--) {
      this.#publish(this.sent++);
    }
  }

  #publish(number: number): void {
    const report = this.#make(number);
    this.#recent.push({ number, ...report });
    if (this.#recent.length > 10_000) {
      this.#recent.splice(0, 5_000);
    }
    this.#unacknowledged.add(number);
    this.#client.publish(report.topic, report.payload, { qos: this.#qos }, () => {
      this.#unacknowledged.delete(number);
      this.#events.emit('acknowledged');
    });
  }

  #answer(topic: string, payload: Buffer): void {
    const { id } = JSON.parse(payload.toString()) as { id: string };
    const answer = JSON.stringify({ id, time: new Date().toISOString(), status: 0, value: '03040100' });
    setTimeout(() => {
      this.#client.publish(topic.replace('/request/', '/response/'), answer, { qos: 1 });
    }, RESPONSE_DELAY_MS);
  }
}

/** @param qos of its reports */
export async function openField(url: string, qos: 0 | 1 | 2 = 1, make = measurement): Promise<Field> {
  const client = await connectAsync(url, {
    clientId: GATEWAY,
    clean: false,
    keepalive: 5,
    reconnectPeriod: 200,
    connectTimeout: 2_000,
  });
  (client.stream as Partial<Socket>).setNoDelay?.(true);
  const field = new Field(client, qos, make);
  await client.subscribeAsync(`mt/gateway/${GATEWAY}/request/#`, { qos: 1 });
  return field;
}
