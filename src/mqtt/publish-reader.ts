// Reads what nearly all traffic is, PUBLISH packets of QoS 0 and 1, before MQTT.js does, which takes longer for one than
// flows take for its report. All else goes to MQTT.js, in the order in which it came.
import type { Duplex, Writable } from 'node:stream';
import { MAX_PAYLOAD_BYTES } from '../protocol/json.ts';

/** A PUBLISH packet (MQTT 3.1.1 and 5, section 3.3), as far as anything of it is used. */
export interface Publish {
  topic: string;
  /** It keeps the memory alive that it was received in. Of a very large one only so much that it is seen to be too large. */
  payload: Buffer;
  qos: 0 | 1 | 2;
  retain: boolean;
  dup: boolean;
  /** Of QoS 1 and 2. */
  messageId?: number | undefined;
}

/** With an error: the packet was not taken, and is not acknowledged. */
export type Taken = (error?: Error) => void;

export interface PublishTaker {
  /** Something has come, or is read on. */
  came(): void;
  /** What comes behind it is read when `taken` is called. */
  take(packet: Publish, taken: Taken): void;
  /** A packet of QoS 1 was taken. */
  acknowledge(messageId: number): void;
}

type Stream = Pick<Duplex, 'on' | 'pause' | 'resume' | 'pipe' | 'destroyed' | 'destroy'>;

/** A client of MQTT.js. Where another version does not build its stream so, it reads everything itself. */
interface StreamUser {
  streamBuilder?: (client: unknown) => Stream;
  emit(event: 'error', error: Error): unknown;
}

const PUBLISH = 3;
/** No packet has both bits. */
const QOS_BITS = 6;
const PUBACK = 4;
const PUBREL = 6;
const PACKET_ID_BYTES = 2;
/** Type and flags, and up to four bytes of the length. */
const MAX_HEADER_BYTES = 5;
/** Behind the header. What is longer has a payload that is too large, whatever its topic is; the rest of it is not kept. */
const MAX_KEPT_BYTES = MAX_PAYLOAD_BYTES + 0x1_0000 + MAX_HEADER_BYTES;
const NOTHING = Buffer.alloc(0);

/** Stands between the stream of one connection and MQTT.js. */
export class PublishReader {
  readonly #hasProperties: boolean;
  #taker: PublishTaker | undefined;
  #client: StreamUser | undefined;
  #stream: Stream | undefined;
  #mqttjs: Writable | undefined;
  #chunks: Buffer[] = [];
  /** The chunk that is read, and how far. */
  #bytes: Buffer = NOTHING;
  #at = 0;
  /** From here to `#at` everything is for MQTT.js. */
  #passedAt = 0;
  /** So many bytes from `#at` on are, too. */
  #passing = 0;
  /** So many bytes from `#at` on are the rest of a packet that was too large. */
  #skipping = 0;
  /** What follows must not overtake it. */
  #isPassedFirst = false;
  /** Parts of a packet that has not come whole. */
  #parts: Buffer[] = [];
  #partsLength = 0;
  /** Of that packet; 0: not known yet. */
  #wholeLength = 0;
  #isReading = false;
  /** Something was given away and is not taken yet. */
  #isTaking = false;
  /** What is acknowledged then. */
  #messageId: number | undefined;
  #isPaused = false;

  /** @param protocolVersion 4: MQTT 3.1.1 */
  constructor(protocolVersion: 4 | 5) {
    this.#hasProperties = protocolVersion === 5;
  }

  /** Call before the client connects: what its stream would pipe to it comes here. */
  attach(client: object): void {
    const user = client as StreamUser;
    const build = user.streamBuilder;
    if (typeof build !== 'function') {
      return;
    }
    user.streamBuilder = (builder) => {
      const stream = build.call(user, builder);
      stream.pipe = <T extends NodeJS.WritableStream>(mqttjs: T): T => {
        this.#client = user;
        this.#stream = stream;
        this.#mqttjs = mqttjs as unknown as Writable;
        stream.on('data', (chunk: Buffer) => this.#receive(chunk));
        return mqttjs;
      };
      return stream;
    };
  }

  /** The client has connected: before, it reads everything. */
  begin(taker: PublishTaker): void {
    this.#taker = taker;
  }

  #receive(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#readOn();
  }

  readonly #readOn = (): void => {
    if (this.#isReading || this.#isTaking) {
      return;
    }
    this.#isReading = true;
    this.#taker?.came();
    while (this.#mayRead && (this.#at < this.#bytes.length || this.#nextChunk())) {
      this.#readPacket();
    }
    this.#isReading = false;
    if (this.#isTaking !== this.#isPaused) {
      this.#isPaused = this.#isTaking;
      this.#stream?.[this.#isPaused ? 'pause' : 'resume']();
    }
  };

  /** What came before the connection was given up is not read: the broker sends again what was not acknowledged. */
  get #mayRead(): boolean {
    return !this.#isTaking && this.#stream?.destroyed === false;
  }

  /** @returns false: nothing more has come that can be read */
  #nextChunk(): boolean {
    for (let chunk = this.#chunks.shift(); chunk !== undefined; chunk = this.#chunks.shift()) {
      if (this.#parts.length === 0) {
        this.#begin(chunk);
        return true;
      }
      this.#parts.push(chunk);
      this.#partsLength += chunk.length;
      if (this.#partsLength >= this.#wholeLength) {
        this.#join(chunk);
        return true;
      }
    }
    return false;
  }

  /** Only what is missing of the packet is copied, where that is known. @param last of the parts */
  #join(last: Buffer): void {
    const length = this.#wholeLength || this.#partsLength;
    const beyond = this.#partsLength - length;
    if (beyond > 0) {
      this.#chunks.unshift(last.subarray(last.length - beyond));
    }
    this.#begin(Buffer.concat(this.#parts, length));
    this.#parts = [];
  }

  #begin(bytes: Buffer): void {
    this.#bytes = bytes;
    this.#at = 0;
    this.#passedAt = 0;
  }

  #readPacket(): void {
    const bytes = this.#bytes;
    if (this.#passing > 0) {
      this.#pass(true);
      return;
    }
    if (this.#skipping > 0) {
      this.#skip();
      return;
    }
    const maxStart = Math.min(this.#at + MAX_HEADER_BYTES, bytes.length);
    let start = this.#at + 1;
    let length = 0;
    let isLengthWhole = false;
    for (let shift = 0; start < maxStart && !isLengthWhole; shift += 7) {
      const byte = bytes[start++] as number;
      length |= (byte & 0x7f) << shift;
      isLengthWhole = byte < 0x80;
    }
    const end = start + length;
    const keptEnd = start + Math.min(length, MAX_KEPT_BYTES);
    const first = bytes[this.#at] as number;
    const type = first >> 4;
    if (!isLengthWhole) {
      if (start < this.#at + MAX_HEADER_BYTES) {
        this.#keep(0);
      } else {
        // No length is longer: MQTT.js says so, and nothing behind it can be read.
        this.#passing = Number.POSITIVE_INFINITY;
      }
    } else if (type === PUBREL && length < PACKET_ID_BYTES) {
      this.#refuse('PUBREL');
    } else if (type !== PUBLISH && length > MAX_KEPT_BYTES) {
      // To read it takes seconds, and more with each attempt. Nothing but a PUBLISH can be so long, except one that means harm.
      this.#refuse('packet');
    } else if (type !== PUBLISH || (first & QOS_BITS) === QOS_BITS) {
      this.#passing = end - this.#at;
      this.#pass(type !== PUBACK);
    } else if (keptEnd > bytes.length) {
      this.#keep(keptEnd - this.#at);
    } else if (!this.#give(start, keptEnd, end - keptEnd)) {
      this.#skipping = end - keptEnd;
      this.#passing = this.#skipping > 0 ? this.#shorten(start, keptEnd) : end - this.#at;
    }
  }

  /**
   * Makes a packet of what is kept of a longer one: properties, which may be longer than that, become a part of its payload.
   * @returns its length
   */
  #shorten(start: number, end: number): number {
    this.#givePassed();
    const bytes = this.#bytes;
    const first = bytes[this.#at] as number;
    const idBytes = (first & QOS_BITS) === 0 ? 0 : PACKET_ID_BYTES;
    const behindId = start + 2 + bytes.readUInt16BE(start) + idBytes;
    const noProperties = Buffer.alloc(this.#hasProperties ? 1 : 0);
    const kept = [bytes.subarray(start, behindId), noProperties, bytes.subarray(behindId, end)];
    const header = [Buffer.from([first]), lengthBytes(end - start + noProperties.length)];
    this.#begin(Buffer.concat([...header, ...kept, bytes.subarray(end)]));
    return this.#bytes.length - (bytes.length - end);
  }

  #skip(): void {
    this.#givePassed();
    const count = Math.min(this.#skipping, this.#bytes.length - this.#at);
    this.#skipping -= count;
    this.#at += count;
    this.#passedAt = this.#at;
  }

  /** MQTT.js takes what has no packet id, and throws where nobody can catch it when it answers. */
  #refuse(what: string): undefined {
    this.#client?.emit('error', new Error(`malformed ${what}`));
    this.#stream?.destroy();
  }

  /** At once, as MQTT.js may see from its beginning that it is none. @param isFirst nothing behind it may overtake it */
  #pass(isFirst: boolean): void {
    const count = Math.min(this.#passing, this.#bytes.length - this.#at);
    this.#passing -= count;
    this.#at += count;
    this.#isPassedFirst ||= isFirst;
    if (this.#at === this.#bytes.length) {
      this.#givePassed();
    }
  }

  /** The rest is the beginning of a packet. @param length of that packet; 0: not known yet */
  #keep(length: number): void {
    const rest = this.#bytes.subarray(this.#at);
    this.#givePassed();
    this.#parts = [rest];
    this.#partsLength = rest.length;
    this.#wholeLength = length;
    this.#begin(NOTHING);
  }

  #givePassed(): void {
    if (this.#at === this.#passedAt) {
      return;
    }
    const passed = this.#bytes.subarray(this.#passedAt, this.#at);
    this.#passedAt = this.#at;
    if (this.#isPassedFirst) {
      this.#isPassedFirst = false;
      this.#isTaking = true;
      this.#messageId = undefined;
      this.#mqttjs?.write(passed, () => this.#taken());
    } else {
      this.#mqttjs?.write(passed);
    }
  }

  /**
   * Gives a PUBLISH packet to who takes it, when what comes before it has been read.
   * @param start behind its header
   * @param skipped so many bytes behind `end` are the rest of it
   * @returns false: it is for MQTT.js; undefined: nothing more is read
   */
  #give(start: number, end: number, skipped: number): boolean | undefined {
    const bytes = this.#bytes;
    const first = bytes[this.#at] as number;
    const qos = (first >> 1) & 3;
    const topicAt = start + 2;
    const topicEnd = topicAt + (((bytes[start] as number) << 8) | (bytes[start + 1] as number));
    const behindId = topicEnd + (qos === 0 ? 0 : PACKET_ID_BYTES);
    const payloadAt = this.#hasProperties ? behindId + 1 : behindId;
    if (payloadAt > end) {
      return this.#refuse('PUBLISH');
    }
    const taker = this.#taker;
    // Of what is too large they count as a part of the payload.
    const hasProperties = this.#hasProperties && bytes[behindId] !== 0 && skipped === 0;
    if (taker === undefined || qos > 1 || hasProperties || topicEnd === topicAt) {
      return false;
    }
    this.#givePassed();
    if (this.#isTaking) {
      return true;
    }
    const messageId =
      qos === 0 ? undefined : ((bytes[topicEnd] as number) << 8) | (bytes[topicEnd + 1] as number);
    this.#at = end;
    this.#passedAt = end;
    this.#skipping = skipped;
    this.#isTaking = true;
    this.#messageId = messageId;
    const packet = {
      topic: bytes.toString('utf8', topicAt, topicEnd),
      payload: bytes.subarray(payloadAt, end),
      qos: qos as 0 | 1,
      retain: (first & 1) !== 0,
      dup: (first & 8) !== 0,
      messageId,
    };
    taker.take(packet, this.#taken);
    return true;
  }

  readonly #taken: Taken = (error) => {
    if (!this.#isTaking) {
      return;
    }
    this.#isTaking = false;
    if (!error && this.#messageId !== undefined) {
      this.#taker?.acknowledge(this.#messageId);
    }
    if (!this.#isReading) {
      // Not at once: all that follows would be handled within the call of who took it.
      process.nextTick(this.#readOn);
    }
  };
}

/** MQTT, section 2.2.3: seven bits a byte, the lowest first. */
function lengthBytes(length: number): Buffer {
  const bytes: number[] = [];
  let rest = length;
  do {
    bytes.push((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
    rest >>= 7;
  } while (rest > 0);
  return Buffer.from(bytes);
}
