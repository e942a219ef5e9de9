// What becomes of one message after the other that a connection receives: taken, acknowledged, returned, or dropped.
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import mqtt, { type IPublishPacket, type MqttClient } from 'mqtt';
import { Exchanges } from '../../src/mqtt/exchanges.ts';
import { Pings } from '../../src/mqtt/pings.ts';
import type { Publish } from '../../src/mqtt/publish-reader.ts';
import { receiveMessages } from '../../src/mqtt/received-messages.ts';
import type { Deferrable, Deferral } from '../../src/protocol/deferral.ts';
import { mockTime, restoreTime } from './scripted.ts';

type Message = (
  done: (error?: Error) => void,
  deferrable: Deferrable | undefined,
  ...values: unknown[]
) => void;

const TOPIC = 'mt/gateway/c0141f68fc3d/device/d00000000001/heartbeat';
const NOBODY = { written() {}, settled() {} };
/** Seconds. */
const KEEPALIVE = 60;

const publish = (more: Partial<Publish> = {}): Publish => ({
  topic: TOPIC,
  payload: Buffer.from('{}'),
  qos: 0,
  retain: false,
  dup: false,
  ...more,
});

describe('messages of a connection', () => {
  let client: EventEmitter & Pick<MqttClient, 'handleMessage' | 'incomingStore'>;
  let pings: Pings;
  let taker: ReturnType<typeof receiveMessages>;
  let isCurrent: boolean;
  let isBlocked: boolean;
  let isPaused: (() => boolean) | undefined;
  let message: Message;
  /** What went to the broker, in hex. */
  let written: string[];
  let warnings: string[];
  /** How each was taken. */
  let outcomes: (string | undefined)[];

  beforeEach(() => {
    mockTime(1_000_000);
    [isCurrent, isBlocked, isPaused] = [true, false, undefined];
    [written, warnings, outcomes] = [[], [], []];
    message = (done) => done();
    client = Object.assign(new EventEmitter(), {
      stream: { writable: true, write: (bytes: Buffer) => void written.push(bytes.toString('hex')) },
      handleMessage() {},
      incomingStore: new mqtt.Store(),
      sendPing() {
        client.emit('packetsend', { cmd: 'pingreq' });
        written.push('ping');
      },
      reschedulePing() {},
    });
    pings = new Pings(() => isBlocked);
    pings.connected(client as unknown as MqttClient, KEEPALIVE);
    const exchanges = new Exchanges(mqtt, () => assert.fail());
    client.incomingStore = exchanges.optionsFor(undefined).incomingStore;
    taker = receiveMessages({
      ...{ client: client as unknown as MqttClient, exchanges, pings },
      events: {
        message: (topic, payload, qos, retained, done, deferrable) =>
          message(done, deferrable, topic, payload, qos, retained),
        get isPaused() {
          return isPaused;
        },
      },
      log: { info() {}, trace() {}, warn: (text) => void warnings.push(text) },
      isCurrent: () => isCurrent,
    });
  });
  afterEach(() => {
    pings.disconnected();
    restoreTime();
  });

  const tick = (ms: number) => mock.timers.tick(ms);
  const turns = async () => {
    for (let i = 0; i < 5; i++) {
      await turn();
    }
  };
  const take = (packet: Publish) => taker.take(packet, (error) => void outcomes.push(error?.message));
  const stored = (messageId: number | undefined) =>
    new Promise((resolve) => client.incomingStore.get({ messageId }, (_, packet) => resolve(packet)));

  it('are given on as they came, whoever has read them', () => {
    const given: unknown[] = [];
    message = (done, deferrable, ...values) => {
      given.push([...values, deferrable !== undefined]);
      done();
    };
    const payload = Buffer.from('1');
    take(publish({ payload, retain: true }));
    take(publish({ payload, qos: 1, messageId: 5 }));
    const packet = publish({ payload, qos: 2, messageId: 6 }) as IPublishPacket;
    client.handleMessage(packet, (error) => void outcomes.push(error?.message));
    assert.deepEqual(given, [
      [TOPIC, payload, 0, true, false],
      [TOPIC, payload, 1, false, true],
      [TOPIC, payload, 2, false, false],
    ]);
    assert.deepEqual(outcomes, [undefined, undefined, undefined]);
  });

  it('are acknowledged by their packet ids, together and once flows have them, whoever has read them', async () => {
    taker.acknowledge(258);
    const packet = publish({ qos: 1, messageId: 5 }) as IPublishPacket;
    client.handleMessage(packet, (error) => void outcomes.push(error?.message));
    assert.deepEqual([written, outcomes], [[], ['acknowledged with others']]);
    await turns();
    assert.deepEqual(written, ['4002010240020005']);
  });

  it('that MQTT.js has read are acknowledged by it where they have no packet id, and not at all where nobody took them', async () => {
    for (const [packet, error, expected] of [
      [{ qos: 1 }, undefined, undefined],
      [{ qos: 0, messageId: 5 }, undefined, undefined],
      [{ qos: 1, messageId: 5 }, new Error('not taken'), 'not taken'],
    ] as const) {
      message = (done) => done(error);
      client.handleMessage(publish(packet) as IPublishPacket, (error) => void outcomes.push(error?.message));
      await turns();
      assert.deepEqual([outcomes.splice(0), written], [[expected], []]);
    }
  });

  it('of QoS 1 are not acknowledged over a connection that has ended meanwhile', async () => {
    taker.acknowledge(1);
    isCurrent = false;
    await turns();
    isCurrent = true;
    Object.assign((client as unknown as MqttClient).stream, { writable: false });
    taker.acknowledge(2);
    await turns();
    assert.deepEqual(written, []);
  });

  it('of QoS 1 that come while flows are replaced are acknowledged when these run again', async () => {
    isPaused = () => true;
    taker.acknowledge(1);
    await turns();
    assert.deepEqual(written, []);
    isPaused = () => false;
    taker.resumed();
    await turns();
    assert.deepEqual(written, ['40020001']);
  });

  it('are not taken when the connection is given up', () => {
    message = () => assert.fail('given on');
    isCurrent = false;
    take(publish({ qos: 1, messageId: 5 }));
    assert.deepEqual(outcomes, ['the connection is being closed']);
    assert.deepEqual(written, []);
  });

  it('of QoS 1 can be acknowledged later, and are not given a second time meanwhile', () => {
    let deferral: Deferral | undefined;
    let count = 0;
    message = (_, deferrable) => {
      count++;
      deferral = deferrable?.defer(NOBODY);
      deferral?.readOn();
    };
    take(publish({ qos: 1, messageId: 5 }));
    take(publish({ qos: 1, messageId: 5, dup: true }));
    assert.deepEqual([count, written], [1, []]);
    // MQTT.js reads on after an error, and acknowledges nothing.
    assert.deepEqual(outcomes, ['acknowledged later', 'acknowledged later']);
    deferral?.acknowledge();
    assert.deepEqual(written, ['40020005']);
    take(publish({ qos: 1, messageId: 5, dup: true }));
    assert.equal(count, 2);
  });

  it('of QoS 1 that are acknowledged later are known to be when the broker has answered a ping', () => {
    const settled: number[] = [];
    message = (_, deferrable) =>
      deferrable?.defer({ written() {}, settled: (order) => settled.push(order) }).acknowledge();
    const answers = (cmd: string) => client.emit('packetreceive', { cmd });
    for (let messageId = 1; messageId <= 100; messageId++) {
      assert.equal(written.length, messageId - 1);
      client.emit('packetsend', { cmd: 'publish' });
      take(publish({ qos: 1, messageId }));
    }
    assert.deepEqual(written.slice(-2), ['40020064', 'ping']);
    answers('publish');
    assert.deepEqual(settled, []);
    answers('pingresp');
    assert.deepEqual(settled, [100]);
    // The ping that goes now has nothing to tell, and a response without one even less.
    take(publish({ qos: 1, messageId: 101 }));
    answers('pingresp');
    assert.deepEqual(settled, [100]);
  });

  it('of QoS 1 that are acknowledged later are not written to a connection that is given up', () => {
    let deferral: Deferral | undefined;
    message = (_, deferrable) => {
      deferral = deferrable?.defer(NOBODY);
    };
    take(publish({ qos: 1, messageId: 5 }));
    isCurrent = false;
    deferral?.acknowledge();
    assert.deepEqual(written, []);
  });

  it('of QoS 2 are not kept for MQTT.js when they are given on, and come again when nobody took them', async () => {
    const packet = { cmd: 'publish', ...publish({ qos: 2 }), messageId: 7 } as const;
    const given: unknown[] = [];
    const goOn = (error?: Error) => {
      message = (done, _, ...values) => {
        given.push(values);
        done(error);
      };
      taker.goOn();
      return given.splice(0);
    };
    const gone = new Error('the flows are gone');
    for (const [error, expected] of [
      [undefined, []],
      [gone, [[TOPIC, packet.payload, 2, false]]],
    ] as const) {
      await new Promise((resolve) => client.incomingStore.put(packet, resolve));
      let takes = (): void => {};
      message = (done) => {
        takes = () => done(error);
      };
      take(packet);
      assert.equal(await stored(7), undefined);
      assert.deepEqual(outcomes, []);
      takes();
      assert.deepEqual(outcomes.splice(0), [error?.message]);
      assert.equal(await stored(7), undefined);
      // Another one has its packet id meanwhile.
      await new Promise((resolve) => client.incomingStore.put(packet, resolve));
      assert.deepEqual([goOn(gone), goOn(gone)], [expected, expected]);
      isCurrent = false;
      assert.deepEqual(goOn(), []);
      isCurrent = true;
      assert.deepEqual([goOn(), goOn(), outcomes], [expected, [], []]);
      assert.deepEqual(await stored(7), packet);
    }
  });

  for (const [qos, messageId] of [
    [0, 8],
    [0, undefined],
    [1, undefined],
    [2, undefined],
  ] as const) {
    it(`of QoS ${qos} with packet id ${messageId} are not acknowledged later, nor looked up`, async () => {
      const other: IPublishPacket = { cmd: 'publish', ...publish(), messageId: 8 };
      await new Promise((resolve) => client.incomingStore.put(other, resolve));
      for (const error of [undefined, new Error('not taken')]) {
        message = (done, deferrable) => {
          assert.equal(deferrable, undefined);
          done(error);
        };
        take(publish({ qos, messageId }));
        assert.deepEqual(outcomes.splice(0), [error?.message]);
        assert.deepEqual(await stored(8), other);
        assert.equal(await stored(undefined), undefined);
      }
    });
  }

  it('that cannot be handled are told in the log, in one line, and taken all the same', () => {
    message = () => {
      throw new Error('a mistake of ours');
    };
    take(publish({ topic: 'mt/a\nb' }));
    take(publish({ qos: 1, messageId: 5 }));
    assert.deepEqual(outcomes, [undefined, undefined]);
    assert.deepEqual(
      warnings.map((text) => text.replace(/\s/g, ' ')),
      ['mt/a b: Error: a mistake of ours', `${TOPIC}: Error: a mistake of ours`],
    );
    assert.equal(warnings.join().includes('\n'), false);
  });

  it('let pings go out when they are due, before each one', () => {
    message = (done) => {
      written.push('given');
      done();
    };
    tick(31_000);
    take(publish());
    assert.deepEqual(written, ['ping', 'given']);
    isCurrent = false;
    tick(31_000);
    take(publish());
    assert.deepEqual(written, ['ping', 'given']);
  });

  it('let pings go out while one of them holds up the rest', () => {
    message = () => {
      isBlocked = true;
    };
    take(publish({ qos: 1, messageId: 5 }));
    tick(30_000);
    assert.deepEqual(written, ['ping']);
  });

  it('show that the broker is there, unless the connection is given up', () => {
    tick(10_000);
    taker.came();
    const { until } = pings.signs;
    assert.ok(until > performance.now());
    tick(10_000);
    isCurrent = false;
    taker.came();
    assert.equal(pings.signs.until, until);
  });
});
