// How the model's flows ask and its gateways answer: requests and acknowledgements as they are on the wire.
import type { AcknowledgeOptions } from '../../src/session.ts';
import { DEVICES, GATEWAYS, numberOf, type Place, timeOf } from './field.ts';
import type { AnswerKind, Asked, Question } from './requests.ts';
import type { World } from './world.ts';

/** They answer at once, whatever else the model does: what was sent before it has arrived. */
export const FENCES: readonly string[] = ['c000000000ff', 'c000000000fe', 'c000000000fd'];
/** Over before anything but a response that is on its way already can come. */
const SHORT_MS = 15;
/** Numbers of samples lie beyond those of all reports, so many for each session. */
const FIRST_SAMPLE = 1_000_000;
const SAMPLES = 2 * GATEWAYS.length;

export interface Acknowledgement {
  gateway: string;
  sample: number;
  wait: boolean;
  isShort: boolean;
}

/** Asks a gateway for a property; the number is in the payload, so that it can be told from all others. */
export function request(world: World, { gateway, device }: Place, isShort: boolean): void {
  const number = world.nextNumber();
  const topic = requestTopic(world, gateway, device, 'read/8801');
  const publicKey = number.toString(16).padStart(4, '0');
  ask(
    world,
    { lane: 'request', number, gateway, topic, isShort, awaitsAnswer: true, sample: undefined },
    (options) => world.session.request('read', { gateway, device, identifier: '8801', publicKey }, options),
  );
}

/** Acknowledges a sample of the one device that takes any. */
export function acknowledge(world: World, { gateway, sample, wait, isShort }: Acknowledgement): void {
  const [device] = DEVICES;
  // Another session knows nothing of what this one has acknowledged.
  const first = FIRST_SAMPLE + SAMPLES * world.sessions;
  const number = first + 2 * (GATEWAYS as readonly string[]).indexOf(gateway) + sample;
  const topic = requestTopic(world, gateway, device, 'ack/8801');
  const time = timeOf(number);
  const report = { kind: 'timestamped', ack: true, form: 'raw', gateway, device, identifier: '8801', time };
  ask(
    world,
    {
      ...{ lane: 'ack', number: world.nextNumber(), gateway, topic, isShort },
      ...{ awaitsAnswer: wait, sample: number },
    },
    (options) => world.session.acknowledge(report, { ...options, wait }),
  );
}

/** A gateway answers a request that it has got. */
export function answer(world: World, asked: Asked, kind: AnswerKind): void {
  const given = world.requests.answer(asked, kind);
  const payload = answerPayload(kind, asked.arrivals[0]?.id ?? '', `answer-${given.number}`);
  const copies = world.broker.publish(asked.topic.replace('/request/', '/response/'), payload);
  if (copies > 0) {
    world.requests.handed(given, world.connection);
  }
}

/** Notes what the session has sent to a gateway. */
export function arrive(world: World, topic: string, payload: string): void {
  const [, , , gateway, , , operation] = topic.split('/');
  const body = JSON.parse(payload) as { id: string; publicKey?: string; time?: string };
  if (gateway !== undefined && FENCES.includes(gateway)) {
    world.broker.publish(topic.replace('/request/', '/response/'), { id: body.id, status: 0 });
    return;
  }
  const lane = operation === 'ack' ? 'ack' : 'request';
  const number = lane === 'ack' ? numberOf(body.time) : Number.parseInt(body.publicKey ?? '', 16);
  world.requests.arrived(lane, number, { id: body.id, connection: world.connection });
}

/** Whether a request may end with this code now although nothing was answered. */
export function mayEnd(world: World, { isShort, session }: Asked, code: string): boolean {
  if (code === 'CLOSED') {
    return session <= world.closedSessions;
  }
  if (code === 'QUEUE_FULL') {
    return world.requests.open.length >= world.setup.mqtt.maxQueue;
  }
  if (code === 'TIMEOUT') {
    return isShort;
  }
  return code === 'NOT_CONNECTED' && (isShort || world.hasRefused);
}

const requestTopic = ({ prefix }: World, gateway: string, device: string, suffix: string): string =>
  `${prefix}/mt/gateway/${gateway}/request/${device}/${suffix}`;

function ask(
  world: World,
  question: Omit<Question, 'connections' | 'session'>,
  send: (options: Omit<AcknowledgeOptions, 'wait'>) => Promise<unknown>,
): void {
  const { signal } = world.abort;
  const promise = send({ signal, ...(question.isShort ? { timeout: SHORT_MS } : {}) });
  world.requests.watch({ ...question, connections: world.connections, session: world.sessions }, promise);
}

function answerPayload(kind: AnswerKind, id: string, mark: string): unknown {
  const body = { id, time: timeOf(0), status: 0, value: mark };
  const payloads: Record<AnswerKind, unknown> = {
    right: body,
    'status 1': { ...body, status: 1, errorMessage: mark },
    'no status': { id, note: mark },
    'wrong id': { ...body, id: `${id}0` },
    'number id': { ...body, id: 7 },
    'no id': { ...body, id: undefined },
    'null id': { ...body, id: null },
    'not JSON': `${mark} is no JSON`,
  };
  return payloads[kind];
}
