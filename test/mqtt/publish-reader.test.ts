// What is received, in whatever pieces: packets that are read here and packets that MQTT.js reads, in the order of all.
import assert from 'node:assert/strict';
import { Duplex, Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { MqttClient } from 'mqtt';
import { generate, type Packet } from 'mqtt-packet';
import { type Publish, PublishReader, type Taken } from '../../src/mqtt/publish-reader.ts';
import { MAX_PAYLOAD_BYTES } from '../../src/protocol/json.ts';

type Version = 4 | 5;

/** Of the event loop: far more than anything here takes, as all of it is in this process. */
const MAX_TURNS = 50_000;

const ALL = Number.POSITIVE_INFINITY;
/** The rest of a longer packet is not kept. */
const MAX_LENGTH = MAX_PAYLOAD_BYTES + 65_536 + 5;

/** A client of MQTT.js behind a stream whose pieces the test makes. */
class Line {
  /** What was received, and who has read it. */
  readonly log: string[] = [];
  readonly acknowledged: number[] = [];
  readonly stream: Duplex;
  readonly client: MqttClient;
  take: (packet: Publish, taken: Taken) => void = (_, taken) => taken();
  readonly #version: Version;

  constructor(version: Version) {
    this.#version = version;
    this.stream = new Duplex({ read() {}, write: (_piece, _encoding, done) => done() });
    this.client = new MqttClient(() => this.stream as never, {
      ...{ protocolVersion: version, manualConnect: true, reconnectPeriod: 0, keepalive: 0 },
      ...(version === 4 ? { protocolId: 'MQTT' } : {}),
    });
    this.client.on('error', () => {});
    this.client.handleMessage = (packet, taken) => {
      this.log.push(`MQTT.js: ${describePacket(packet as Publish)}`);
      taken();
    };
  }

  async open(): Promise<void> {
    const reader = new PublishReader(this.#version);
    reader.attach(this.client);
    this.client.connect();
    this.send([{ cmd: 'connack', returnCode: 0, reasonCode: 0, sessionPresent: false } as Packet]);
    await this.next('connect');
    this.client.on('packetreceive', ({ cmd }) => cmd !== 'publish' && this.log.push(cmd));
    reader.begin({
      came() {},
      take: (packet, taken) => {
        this.log.push(`own: ${describePacket(packet)}`);
        this.take(packet, taken);
      },
      acknowledge: (messageId) => this.acknowledged.push(messageId),
    });
  }

  bytesOf(packets: readonly Packet[]): Buffer {
    return Buffer.concat(packets.map((packet) => generate(packet, { protocolVersion: this.#version })));
  }

  send(packets: readonly Packet[], size = ALL): void {
    const bytes = this.bytesOf(packets);
    for (let at = 0; at < bytes.length; at += size) {
      this.stream.push(bytes.subarray(at, at + size));
    }
  }

  /** The types of MQTT.js are none of those that `once` of Node.js knows. */
  async next(event: 'connect' | 'close' | 'error'): Promise<void> {
    let isThere = false;
    this.client.once(event, () => {
      isThere = true;
    });
    await this.until(() => isThere);
  }

  async until(isReached: () => boolean): Promise<void> {
    for (let turns = 0; !isReached(); turns++) {
      assert.ok(turns < MAX_TURNS, `nothing comes after ${this.log.join(', ')}`);
      await turn();
    }
  }
}

function describePacket({ topic, payload, qos, retain, dup, messageId }: Publish): string {
  const text = payload.length > 50 ? `${payload.length} × ${payload.at(-1)}` : payload.toString();
  const flags = `${retain ? ' retained' : ''}${dup ? ' again' : ''}`;
  return `${topic.slice(-20)} ${text} ${qos}${flags} ${messageId ?? '-'}`;
}

const publish = (topic: string, payload: string | Buffer, more: object = {}): Packet =>
  ({ cmd: 'publish', topic, payload, qos: 0, retain: false, dup: false, ...more }) as Packet;

/** Of each kind that there is, beside and within others. */
const packets = (version: Version): Packet[] => [
  publish('a', '1'),
  publish('a/b', '2', { qos: 1, messageId: 258 }),
  { cmd: 'pingresp' },
  publish('a', '', { retain: true }),
  publish('a', '3', { qos: 2, messageId: 7 }),
  { cmd: 'pubrel', messageId: 7 },
  publish('ü€𝄞', '4', { qos: 1, messageId: 65_535, dup: true, retain: true }),
  publish('a', Buffer.alloc(70_000, 5)),
  ...(version === 5 ? [publish('a', '6', { properties: { contentType: 'text' } })] : []),
  publish('t'.repeat(300), Buffer.alloc(130, 7), { qos: 1, messageId: 1 }),
  // Lengths whose digits are 0.
  publish('a', Buffer.alloc(125, 8)),
  publish('a', Buffer.alloc(16_381, 9)),
  { cmd: 'pingresp' },
  { cmd: 'pingresp' },
  publish('a', '8'),
];

const expected = (version: Version): string[] => [
  'own: a 1 0 -',
  'own: a/b 2 1 258',
  'pingresp',
  'own: a  0 retained -',
  'pubrel',
  'MQTT.js: a 3 2 7',
  'own: ü€𝄞 4 1 retained again 65535',
  'own: a 70000 × 5 0 -',
  ...(version === 5 ? ['MQTT.js: a 6 0 -'] : []),
  `own: ${'t'.repeat(20)} 130 × 7 1 1`,
  'own: a 125 × 8 0 -',
  'own: a 16381 × 9 0 -',
  'pingresp',
  'pingresp',
  'own: a 8 0 -',
];

describe('packets that are received', () => {
  const lines: Line[] = [];
  const open = async (version: Version = 4) => {
    const line = new Line(version);
    lines.push(line);
    await line.open();
    return line;
  };

  afterEach(() => {
    for (const { client, stream } of lines.splice(0)) {
      client.end(true);
      stream.destroy();
    }
  });

  for (const version of [4, 5] as const) {
    for (const size of [...Array.from({ length: 16 }, (_, i) => i + 1), 64, 1_000, 65_536, ALL]) {
      it(`are read whole and in order in pieces of ${size} bytes (MQTT ${version})`, async () => {
        const line = await open(version);
        line.send(packets(version), size);
        await line.until(() => line.log.length >= expected(version).length);
        assert.deepEqual(line.log, expected(version));
        assert.deepEqual(line.acknowledged, [258, 65_535, 1]);
      });
    }
  }

  for (const version of [4, 5] as const) {
    for (const size of [1_000, 65_536, 2_000_000, ALL]) {
      it(`that are too large are kept by their beginning, what follows is read whole, in pieces of ${size} bytes (MQTT ${version})`, async () => {
        const line = await open(version);
        const large = Buffer.alloc(5_000_000, 7);
        const properties = version === 5 ? { properties: { contentType: 'text' } } : {};
        line.send([publish('a', large), publish('b', '1')], size);
        line.send([publish('a', large, { qos: 1, messageId: 3, ...properties }), { cmd: 'pingresp' }], size);
        line.send([publish('a', large, { qos: 2, messageId: 5, ...properties })], size);
        line.send([{ cmd: 'pubrel', messageId: 5 }], size);
        line.send([publish('b', '2', { qos: 1, messageId: 4 })], size);
        await line.until(() => line.log.length === 7);
        const isLarge = /^(own|MQTT\.js): a (\d+) × 7 /;
        assert.deepEqual(
          line.log.map((text) => text.replace(isLarge, '$1: large ')),
          [
            'own: large 0 -',
            'own: b 1 0 -',
            'own: large 1 3',
            'pingresp',
            'pubrel',
            'MQTT.js: large 2 5',
            'own: b 2 1 4',
          ],
        );
        for (const text of line.log.filter((one) => isLarge.test(one))) {
          const kept = Number(isLarge.exec(text)?.[2]);
          assert.ok(kept > MAX_PAYLOAD_BYTES && kept < 1.1 * MAX_PAYLOAD_BYTES, text);
        }
        assert.deepEqual(line.acknowledged, [3, 4]);
      });
    }
  }

  it('wait behind one that is not taken, and the stream with them', async () => {
    const line = await open();
    const waiting: Taken[] = [];
    line.take = (_, taken) => void waiting.push(taken);
    line.send([publish('a', '1', { qos: 1, messageId: 1 }), publish('a', '2'), { cmd: 'pingresp' }]);
    await line.until(() => waiting.length > 0 && line.stream.isPaused());
    line.send([publish('a', '3')], 1);
    await turn();
    assert.deepEqual(line.log, ['own: a 1 1 1']);
    assert.deepEqual(line.acknowledged, []);
    line.take = (_, taken) => taken();
    waiting[0]?.();
    // Not within the call of who has taken it.
    assert.equal(line.log.length, 1);
    await line.until(() => line.log.length === 4);
    assert.deepEqual(line.log.slice(1), ['own: a 2 0 -', 'pingresp', 'own: a 3 0 -']);
    assert.deepEqual(line.acknowledged, [1]);
    assert.equal(line.stream.isPaused(), false);
  });

  it('are acknowledged once, and not those that were not taken', async () => {
    const line = await open();
    line.take = ({ messageId }, taken) => {
      taken(messageId === 1 ? new Error('closing') : undefined);
      taken();
    };
    line.send([1, 2, 3].map((messageId) => publish('a', '', { qos: 1, messageId })));
    await line.until(() => line.log.length === 3);
    assert.deepEqual(line.acknowledged, [2, 3]);
  });

  it('are not read any more when the connection was given up', async () => {
    const line = await open();
    line.take = (_, taken) => {
      line.stream.destroy();
      taken();
    };
    line.send([publish('a', '1'), publish('a', '2'), { cmd: 'pingresp' }]);
    await line.next('close');
    assert.deepEqual(line.log, ['own: a 1 0 -']);
  });

  it('that are none of MQTT are an error at once, though they seem to be the beginning of a long one', async () => {
    const line = await open();
    const failed = line.next('error');
    line.stream.push(Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'));
    await failed;
  });

  it('that are too large by their properties are messages with a payload that is too large', async () => {
    const line = await open(5);
    const userProperties = Object.fromEntries(
      Array.from({ length: 30 }, (_, n) => [`name ${n}`, 'x'.repeat(60_000)]),
    );
    for (const qos of [1, 2] as const) {
      line.send([publish('a', '1', { qos, messageId: qos, properties: { userProperties } })]);
    }
    line.send([{ cmd: 'pubrel', messageId: 2 }, publish('b', '2')]);
    await line.until(() => line.log.length === 4);
    const lengths = line.log.map((text) => Number(/ a (\d+) × /.exec(text)?.[1] ?? 0));
    assert.deepEqual(
      lengths.map((length) => length > MAX_PAYLOAD_BYTES),
      [true, false, true, false],
    );
    assert.deepEqual([line.log[1], line.log[3]], ['pubrel', 'own: b 2 0 -']);
  });

  it('that are too large and no message end the connection with an error', async () => {
    const line = await open();
    const failed = line.next('error');
    line.stream.push(Buffer.from([0x90, 0xff, 0xff, 0xff, 0x7f, 0, 1]));
    await failed;
  });

  it('that are malformed end the connection with an error, as no answer to them could be sent', async () => {
    for (const bytes of [
      // A topic that is longer than the packet.
      [0x30, 0x04, 0x00, 0x09, 0x61, 0x62],
      // A length of five bytes.
      [0x30, 0x80, 0x80, 0x80, 0x80, 0x01],
      // Both QoS bits.
      [0x36, 0x02, 0x00, 0x00],
      // The same, before the rest of it has come.
      [0x36, 0xff, 0xff, 0x7f],
      // No packet id: QoS 1, QoS 2, and its release.
      [0x32, 0x03, 0x00, 0x01, 0x61],
      [0x34, 0x03, 0x00, 0x01, 0x61],
      [0x62, 0x00],
      [0x62, 0x01, 0x00],
    ]) {
      const line = await open();
      const failed = line.next('error');
      line.stream.push(Buffer.from([...bytes, 0xd0, 0x00]));
      await failed;
      assert.deepEqual(line.log, []);
    }
  });

  describe('at their two readers', () => {
    const PINGRESP = [0xd0, 0];
    const PUBACK = [0x40, 2, 0, 1];
    /** QoS 0, topic `a`, payload `1`, of MQTT 3.1.1. */
    const REPORT = [0x30, 4, 0, 1, 0x61, 0x31];
    let stream: Duplex;
    /** What each of them got, in their order; what MQTT.js has written to it waits for `written`. */
    let log: string[];
    let written: (() => void)[];
    let errors: string[];
    let reader: PublishReader;
    let take: (packet: Publish, taken: Taken) => void;

    const attach = (version: Version) => {
      [log, written, errors] = [[], [], []];
      take = (_, taken) => taken();
      stream = new Duplex({ read() {}, write: (_piece, _encoding, done) => done() });
      const user = {
        streamBuilder: (_client: unknown) => stream,
        emit: (_event: 'error', { message }: Error) => errors.push(message),
      };
      reader = new PublishReader(version);
      reader.attach(user);
      user.streamBuilder(user).pipe(
        new Writable({
          highWaterMark: 10_000_000,
          write(piece: Buffer, _encoding, done) {
            const isLong = piece.length > 50;
            log.push(isLong ? `${piece.toString('hex', 0, 14)} of ${piece.length}` : piece.toString('hex'));
            written.push(done);
          },
        }),
      );
    };
    const begin = (version: Version = 4) => {
      attach(version);
      reader.begin({
        came() {},
        take(packet, taken) {
          log.push(`own ${describePacket(packet)}`);
          take(packet, taken);
        },
        acknowledge() {},
      });
    };
    const send = async (...bytes: readonly (readonly number[])[]) => {
      stream.push(Buffer.from(bytes.flat()));
      await turn();
    };
    /** Of a length of 1 MB to 2 MB. */
    const digits = (length: number) => [(length & 0x7f) | 0x80, ((length >> 7) & 0x7f) | 0x80, length >> 14];
    const hex = (...bytes: readonly (readonly number[])[]) => Buffer.from(bytes.flat()).toString('hex');
    afterEach(() => stream?.destroy());

    it('wait until MQTT.js has taken what came before, but not for an acknowledgement', async () => {
      begin();
      await send(PUBACK, REPORT);
      assert.deepEqual(log, [hex(PUBACK), 'own a 1 0 -']);
      written.shift()?.();
      log.length = 0;
      await send(PINGRESP, PUBACK, REPORT);
      assert.deepEqual(log, [hex(PINGRESP, PUBACK)]);
      written.shift()?.();
      await turn();
      assert.deepEqual(log, [hex(PINGRESP, PUBACK), 'own a 1 0 -']);
      await send(PUBACK, REPORT);
      assert.deepEqual(log.slice(2), [hex(PUBACK), 'own a 1 0 -']);
    });

    it('that come while one is handed over are not read within that, nor before it is taken', async () => {
      begin();
      let isWithin = false;
      const waiting: Taken[] = [];
      take = (_, taken) => {
        assert.equal(isWithin, false);
        if (waiting.push(taken) === 1) {
          isWithin = true;
          // At once, as a stream may.
          stream.emit('data', Buffer.from(REPORT));
          taken();
          stream.emit('data', Buffer.from(REPORT));
          isWithin = false;
        }
      };
      await send(REPORT);
      assert.equal(waiting.length, 2);
      stream.emit('data', Buffer.from(PINGRESP));
      await turn();
      assert.equal(log.length, 2);
      waiting[1]?.();
      await turn();
      assert.equal(waiting.length, 3);
      waiting[2]?.();
      await turn();
      assert.deepEqual(log.slice(3), [hex(PINGRESP)]);
    });

    it('are all for MQTT.js before the connection is there, also such as are too large', async () => {
      for (const version of [4, 5] as const) {
        attach(version);
        await send(REPORT);
        written.shift()?.();
        await turn();
        const properties = version === 5 ? [1, 0] : [];
        const length = [0x80, 0x80, 0x80, 0x01];
        await send(
          [0x30, ...length, 0, 1, 0x61, ...properties],
          Array.from({ length: MAX_LENGTH }, () => 7),
        );
        // What were properties counts as payload, behind none.
        const [kept, start] =
          version === 5
            ? [MAX_LENGTH + 1, [0, 1, 0x61, 0, 1, 0, 7, 7, 7, 7]]
            : [MAX_LENGTH, [0, 1, 0x61, 7, 7, 7, 7, 7, 7, 7]];
        assert.deepEqual(log, [hex(REPORT), `${hex([0x30, ...digits(kept)], start)} of ${kept + 4}`]);
      }
    });

    it('keep their order where one is too large, and its rest is for nobody', async () => {
      begin(5);
      const rest = Buffer.alloc(1_000_000, 7);
      const large = Buffer.concat([
        // QoS 2, 2 MB and more, topic `a`, packet id 1, no properties.
        Buffer.from([...PINGRESP, 0x34, 0x86, 0x80, 0x80, 0x01, 0, 1, 0x61, 0, 1, 0]),
        ...[rest, rest, Buffer.alloc(97_152, 7)],
      ]);
      stream.push(Buffer.concat([large, Buffer.from(PINGRESP)]));
      await turn();
      assert.deepEqual(log, [hex(PINGRESP)]);
      for (const _ of [1, 2]) {
        written.shift()?.();
        await turn();
      }
      const kept = MAX_LENGTH + 1;
      const start = hex([0x34, ...digits(kept), 0, 1, 0x61, 0, 1, 0, 0, 7, 7, 7]);
      assert.deepEqual(log, [hex(PINGRESP), `${start} of ${kept + 4}`, hex(PINGRESP)]);
    });

    it('are kept by the beginning alone where they are reports that are too large', async () => {
      begin();
      stream.push(
        Buffer.concat([
          // QoS 0, 2 MB, topic `a`.
          Buffer.from([0x30, 0x80, 0x80, 0x80, 0x01, 0, 1, 0x61]),
          Buffer.alloc(2_097_149, 7),
          Buffer.from(PINGRESP),
        ]),
      );
      await turn();
      assert.deepEqual(log, [`own a ${MAX_LENGTH - 3} × 7 0 -`, hex(PINGRESP)]);
    });

    it('without a topic are for MQTT.js, which knows what they stand for', async () => {
      begin();
      await send([0x30, 2, 0, 0]);
      written.shift()?.();
      await send([0x30, 3, 0, 0, 0x31], REPORT);
      assert.deepEqual(log, [hex([0x30, 2, 0, 0]), hex([0x30, 3, 0, 0, 0x31])]);
    });

    it('that are no reports may be as long as what is kept of one', async () => {
      begin();
      const length = digits(MAX_LENGTH);
      await send([0x90, ...length, 0, 1]);
      assert.deepEqual([errors, log], [[], [hex([0x90, ...length, 0, 1])]]);
      stream.destroy();
      begin();
      await send([0x90, (length[0] as number) + 1, ...length.slice(1), 0, 1]);
      assert.deepEqual([errors, log, stream.destroyed], [['malformed packet'], [], true]);
    });

    for (const [what, ...bytes] of [
      ['PUBREL', 0x62, 0],
      ['PUBLISH', 0x30, 0],
      ['PUBLISH', 0x30, 1, 0],
      ['PUBLISH', 0x30, 2, 0, 1],
    ] as const) {
      it(`are called malformed by their name: ${hex(bytes)}`, async () => {
        begin();
        await send(bytes);
        assert.deepEqual([errors, log, stream.destroyed], [[`malformed ${what}`], [], true]);
      });
    }

    it('are left to a client that builds its stream in another way', () => {
      const other = { streamBuilder: 'none', emit: () => true };
      new PublishReader(4).attach(other);
      assert.equal(other.streamBuilder, 'none');
    });
  });
});
