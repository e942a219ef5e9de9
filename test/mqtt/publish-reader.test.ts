// What is received, in whatever pieces: packets that are read here and packets that MQTT.js reads, in the order of all.
import assert from 'node:assert/strict';
import { Duplex } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { MqttClient } from 'mqtt';
import { generate, type Packet } from 'mqtt-packet';
import { type Publish, PublishReader, type Taken } from '../../src/mqtt/publish-reader.ts';
import { MAX_PAYLOAD_BYTES } from '../../src/protocol/json.ts';

type Version = 4 | 5;

/** Of the event loop: far more than anything here takes, as all of it is in this process. */
const MAX_TURNS = 50_000;

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

  send(packets: readonly Packet[], size = Number.POSITIVE_INFINITY): void {
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
    for (const size of [1, 2, 3, 5, 7, 64, 1_000, 65_536, Number.POSITIVE_INFINITY]) {
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
    for (const size of [1_000, 65_536, Number.POSITIVE_INFINITY]) {
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
});
