// The least of a broker that can be, for one client: delivers reports of QoS 1 over TCP as fast as they are taken.
import { EventEmitter, once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { GATEWAY } from './field.ts';

const DEVICES = 1_000;
/** Reports that the client has not acknowledged yet; also the range of the packet identifiers. */
const WINDOW = 2_000;
/** Written at once. */
const BATCH = 200;
/** Every so many reports one comes twice. */
const REPEAT_INTERVAL_MS = 10;

/** Types of MQTT's fixed header. */
const [CONNECT, PUBACK, SUBSCRIBE, UNSUBSCRIBE, PINGREQ] = [1, 4, 8, 10, 12];
const CONNACK = Buffer.from([0x20, 2, 0, 0]);
const PINGRESP = Buffer.from([0xd0, 0]);

/** What a device reports, its kinds in turn: raw and decoded, known and unknown, and one that cannot be read. */
const KINDS: ((time: string, number: number) => [rest: string, payload: string])[] = [
  (time, n) => ['heartbeat', `{"time":"${time}","seq":${n % 256},"status":0,"lastCount":${n % 9}}`],
  (time, n) => ['measurement/8800', `{"time":"${time}","seq":${n % 256},"value":"${hex(n % 65_536, 4)}"}`],
  (time, n) => ['measurement/8801', `{"time":"${time}","seq":${n % 256},"value":"${hex(n, 8)}"}`],
  (time, n) => ['measurement-decoded/temperature', `{"time":"${time}","seq":${n % 256},"value":${n / 100}}`],
  (time, n) => ['rssi', `{"time":"${time}","parent":"a0141f000001","rssi":${-(n % 100)},"channel":38}`],
  (time, n) => ['property/8001', `{"time":"${time}","value":"${hex(n, 8)}","seq":${n % 256}}`],
  (time, n) => ['event/8113', `{"time":"${time}","seq":${n % 256}}`],
  (time, n) => ['timestamped/8800', `{"time":"${time}","value":"${hex(n % 65_536, 4)}","flags":"1b"}`],
  (time, n) => [`weather/${n % 50}`, `{"time":"${time}","value":{"wind":[${n}]}}`],
  (_, n) => ['measurement/8800', `{"value":"${n}"}`],
];

const hex = (number: number, digits: number): string => number.toString(16).padStart(digits, '0');

export class Flood {
  readonly url: string;
  /** Reports that the client has acknowledged. */
  acknowledged = 0;
  readonly #server: Server;
  readonly #events = new EventEmitter();
  #socket: Socket | undefined;
  #sent = 0;

  constructor(server: Server) {
    this.#server = server.on('connection', (socket) => this.#serve(socket));
    this.url = `mqtt://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** Resolves when the client has subscribed. */
  async subscribed(): Promise<void> {
    await once(this.#events, 'subscribed');
  }

  /** Resolves when so many further reports were taken. */
  async deliver(count: number): Promise<void> {
    const end = this.#sent + count;
    while (this.#sent < end) {
      while (this.#sent - this.acknowledged > WINDOW - BATCH) {
        await once(this.#events, 'acknowledged');
      }
      const batch = Array.from({ length: Math.min(BATCH, end - this.#sent) }, () => publish(this.#sent++));
      if (!this.#socket?.write(Buffer.concat(batch))) {
        await once(this.#socket as Socket, 'drain');
      }
    }
    while (this.acknowledged < end) {
      await once(this.#events, 'acknowledged');
    }
  }

  async close(): Promise<void> {
    this.#socket?.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #serve(socket: Socket): void {
    this.#socket = socket.setNoDelay(true).on('error', () => {});
    let rest: Buffer = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      rest = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
      for (let packet = firstOf(rest); packet; packet = firstOf(rest)) {
        this.#answer(socket, packet);
        rest = rest.subarray(packet.length);
      }
      this.#events.emit('acknowledged');
    });
  }

  #answer(socket: Socket, packet: Buffer): void {
    const type = (packet[0] as number) >> 4;
    if (type === PUBACK) {
      this.acknowledged++;
    } else if (type === CONNECT) {
      socket.write(CONNACK);
    } else if (type === PINGREQ) {
      socket.write(PINGRESP);
    } else if (type === UNSUBSCRIBE) {
      socket.write(Buffer.from([0xb0, 2, ...idOf(packet)]));
    } else if (type === SUBSCRIBE) {
      const granted = Array.from({ length: filtersIn(packet) }, () => 1);
      socket.write(Buffer.from([0x90, 2 + granted.length, ...idOf(packet), ...granted]));
      this.#events.emit('subscribed');
    }
  }
}

export async function startFlood(): Promise<Flood> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  return new Flood(server);
}

function publish(number: number): Buffer {
  const told = number % REPEAT_INTERVAL_MS === 0 ? Math.max(0, number - 1) : number;
  const device = (0xd00000000000 + (told % DEVICES)).toString(16);
  const kind = Math.floor(told / DEVICES) % KINDS.length;
  const [rest, payload] = KINDS[kind]!(new Date(1.7e12 + told).toISOString(), told);
  const topic = `mt/gateway/${GATEWAY}/device/${device}/${rest}`;
  const size = 2 + topic.length + 2 + payload.length;
  const length = size < 128 ? [size] : [(size & 0x7f) | 0x80, size >> 7];
  const packet = Buffer.allocUnsafe(1 + length.length + size);
  packet.set([0x32, ...length]);
  let at = packet.writeUInt16BE(topic.length, 1 + length.length);
  at += packet.write(topic, at, 'latin1');
  at = packet.writeUInt16BE((number % WINDOW) + 1, at);
  packet.write(payload, at, 'latin1');
  return packet;
}

/** The first whole packet; undefined when more has to come. */
function firstOf(bytes: Buffer): Buffer | undefined {
  let [size, at] = [0, 1];
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at++];
    if (byte === undefined) {
      return undefined;
    }
    size += (byte & 0x7f) << shift;
    if (byte < 0x80) {
      break;
    }
  }
  return bytes.length < at + size ? undefined : bytes.subarray(0, at + size);
}

/** Where the part after the fixed header begins: its length fits into one byte or two. */
const bodyOf = (packet: Buffer): number => ((packet[1] as number) < 0x80 ? 2 : 3);

const idOf = (packet: Buffer): Buffer => packet.subarray(bodyOf(packet), bodyOf(packet) + 2);

function filtersIn(packet: Buffer): number {
  let count = 0;
  for (let at = bodyOf(packet) + 2; at < packet.length; count++) {
    at += 2 + packet.readUInt16BE(at) + 1;
  }
  return count;
}
