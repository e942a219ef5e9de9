// The gateways' side of the broker: each gateway has a connection of its own, publishes reports and answers requests.

import { setMaxListeners } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { keptBody, parseBody } from './bodies.ts';
import type { Fleet, Gateway } from './fleet.ts';
import type { GatewayLink, OpenLink } from './gateway-link.ts';
import { GatewayAwayError } from './input-error.ts';
import type { OperationRequest } from './operations.ts';
import { between, type Random } from './random.ts';
import { isObject } from './steering-fields.ts';
import type { Publication } from './traffic.ts';

/** Faults of the answers; set at any time. */
export interface AnswerFaults {
  /** Share of requests that are carried out but not answered. */
  lostAnswers: number;
  /** Share of requests that never arrive. */
  lostRequests: number;
  /** Milliseconds until the response: half to one and a half of it. */
  delay: number;
  /** Every request is refused with this `status` and not carried out; 0: none is. */
  refuseWith: number;
  /** Answers come twice. */
  twice: boolean;
  /** What the response looks like. */
  form: 'normal' | 'not-json' | 'not-object' | 'without-id' | 'wrong-id' | 'without-status';
}

/** A request as a gateway received it, and what became of it. */
export interface OperationCall {
  gateway: string;
  device: string;
  operation: string;
  identifier: string | undefined;
  /** The JSON object; undefined when it was none. A long one is not remembered: the event `request` alone has it. */
  payload: Record<string, unknown> | undefined;
  /** As it came: parsed when it was JSON, else the text; undefined when empty. Of a long one the beginning of the text. */
  body: unknown;
  topic: string;
  /** With which it reached the gateway: at most that of its subscription. */
  qos: number;
  /** Absent: not answered. */
  response?: Record<string, unknown>;
}

interface Ground {
  openLink: OpenLink;
  fleet: Fleet;
  topicPrefix: string;
  random: Random;
  now: () => number;
  faults: AnswerFaults;
  answer(request: OperationRequest): Record<string, unknown>;
  /** Called as soon as a request is there, and again with the same object when it has been answered. */
  received(call: OperationCall): void;
  answered(call: OperationCall): void;
  /** Called when a request could not be handled at all. */
  failed(error: Error): void;
}

function disguise(response: Record<string, unknown>, form: AnswerFaults['form']): string {
  const { id, status, ...rest } = response;
  switch (form) {
    case 'normal':
      return JSON.stringify(response);
    case 'not-json':
      return '{"time":';
    case 'not-object':
      return '[1]';
    case 'without-id':
      return JSON.stringify({ status, ...rest });
    case 'wrong-id':
      return JSON.stringify({ ...response, id: `not-${id}` });
    case 'without-status':
      return JSON.stringify({ id, ...rest });
  }
}

export class Network {
  readonly #ground: Ground;
  readonly #prefix: string;
  /** Those that are being opened, too: a gateway has one at most. */
  readonly #links = new Map<string, Promise<GatewayLink>>();
  readonly #stop = new AbortController();

  constructor(ground: Ground) {
    this.#ground = ground;
    // Each response that is under way listens.
    setMaxListeners(0, this.#stop.signal);
    this.#prefix = ground.topicPrefix ? `${ground.topicPrefix}/` : '';
  }

  /** Connects every gateway; resolved when all of them listen to requests. */
  async open(): Promise<void> {
    await Promise.all(this.#ground.fleet.gateways.map((gateway) => this.connect(gateway)));
  }

  /** Lets a gateway come (back) to the broker; one that is there or on its way stays as it is. */
  async connect(gateway: Gateway): Promise<void> {
    const link = this.#links.get(gateway.mac) ?? this.#open(gateway);
    this.#links.set(gateway.mac, link);
    try {
      await link;
    } catch (error) {
      this.#forget(gateway, link);
      throw error;
    }
    if (this.#links.get(gateway.mac) === link) {
      gateway.online = true;
    }
  }

  #open(gateway: Gateway): Promise<GatewayLink> {
    const filters = [`${this.#prefix}mt/gateway/${gateway.mac}/request/#`, `${this.#prefix}mt/gateways/#`];
    return this.#ground.openLink(gateway.mac, filters, (topic, payload, qos) => {
      void this.#receive(gateway, topic, payload, qos);
    });
  }

  #forget(gateway: Gateway, link: Promise<GatewayLink>): void {
    if (this.#links.get(gateway.mac) === link) {
      this.#links.delete(gateway.mac);
    }
  }

  /** Lets a gateway go away without a word. */
  async disconnect(gateway: Gateway): Promise<void> {
    gateway.online = false;
    const link = this.#links.get(gateway.mac);
    this.#links.delete(gateway.mac);
    // One that could not be opened has told so to who opened it.
    await link?.then(
      (opened) => opened.close(),
      () => {},
    );
  }

  /** The whole topic of a report. */
  topicOf({
    gateway,
    device,
    kind,
    identifier,
  }: Pick<Publication, 'gateway' | 'device' | 'identifier'> & { kind: string }): string {
    const tail = identifier === undefined ? '' : `/${identifier}`;
    return `${this.#prefix}mt/gateway/${gateway.mac}/device/${device}/${kind}${tail}`;
  }

  /** Publishes for a gateway; resolved when the broker has it. */
  async publish(gateway: Gateway, topic: string, payload: string | Buffer, retain = false): Promise<void> {
    const link = this.#links.get(gateway.mac);
    if (!link) {
      throw new GatewayAwayError(gateway.mac);
    }
    await (await link).publish(topic, payload, retain);
  }

  async #receive(gateway: Gateway, topic: string, payload: Buffer, qos: number): Promise<void> {
    try {
      await this.#carryOut(gateway, topic, payload, qos);
    } catch (error) {
      this.#ground.failed(error as Error);
    }
  }

  async #carryOut(gateway: Gateway, topic: string, payload: Buffer, qos: number): Promise<void> {
    const { random, faults, now } = this.#ground;
    const start = `${this.#prefix}mt/gateway/${gateway.mac}/request/`;
    if (!topic.startsWith(start)) {
      return;
    }
    const [device = '', operation = '', ...tail] = topic.slice(start.length).split('/');
    const identifier = tail.length ? tail.join('/') : undefined;
    const text = payload.toString();
    const content = parseBody(text);
    const body = isObject(content) ? content : undefined;
    const address = { gateway: gateway.mac, device, operation, identifier };
    const call: OperationCall = { ...address, payload: body, body: keptBody(text, content), topic, qos };
    this.#ground.received(call);
    if (call.body !== content) {
      call.payload = undefined;
    }
    if (!body || random() < faults.lostRequests) {
      return;
    }
    const result = faults.refuseWith
      ? { id: body.id, status: faults.refuseWith, errorMessage: 'refused', origin: 32 }
      : this.#ground.answer({ gateway, device, operation, identifier, payload: body });
    if (random() < faults.lostAnswers) {
      return;
    }
    const responseTime = Math.round(faults.delay * between(random, 0.5, 1.5));
    try {
      if (responseTime > 0) {
        await wait(responseTime, undefined, { signal: this.#stop.signal });
      }
      call.response = { time: new Date(now()).toISOString(), responseTime, ...result };
      const text = disguise(call.response, faults.form);
      const responseTopic = topic.replace('/request/', '/response/');
      for (let left = faults.twice ? 2 : 1; left > 0; left--) {
        await this.publish(gateway, responseTopic, text);
      }
      this.#ground.answered(call);
    } catch {
      call.response = undefined; // Closed or gone away meanwhile: a gateway that is off does not answer.
    }
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#ground.fleet.gateways.map((gateway) => this.disconnect(gateway)));
  }
}
