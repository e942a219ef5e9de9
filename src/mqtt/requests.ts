// Requests to gateways: wait for a place, leave by priority, are answered by id, and always end.
import { SignalGroups } from '../collections/signal-groups.ts';
import type { ServiceError } from '../errors.ts';
import { isObject, MAX_PAYLOAD_BYTES, parseJson } from '../protocol/json.ts';
import type { BuiltRequest } from '../protocol/operations/index.ts';
import type { ParsedTopic, Topics } from '../protocol/topics.ts';
import { AskedGateways, type ResponseFilters } from './asked-gateways.ts';
import type { GatewayRequests, Pending } from './gateway-requests.ts';
import { idOfLarge } from './large-response.ts';
import { PublishWindow } from './publish-window.ts';
import type { Reading } from './reading.ts';
import { isLackOfRoom, mayLackRoom, type Reason } from './reasons.ts';
import { closed, forbiddenRequest, refusedRequest, refusedResponses, tooLarge } from './request-errors.ts';
import { RequestTrials } from './request-trials.ts';
import type { TrafficClass } from './send-queue.ts';
import { SentRequests } from './sent-requests.ts';
import { WaitingRequests } from './waiting-requests.ts';

export interface RequestLimits {
  maxInFlight: number;
  maxQueue: number;
  qos: 0 | 1 | 2;
}

/** What a broker takes; infinite where nothing is known. */
export interface PublishLimits {
  /** Publishes of QoS 1 and 2 that are not acknowledged yet. */
  maxUnacknowledged: number;
  maxPacketBytes: number;
  maxQos: 0 | 1 | 2;
}

const NO_LIMITS: PublishLimits = {
  maxUnacknowledged: Number.POSITIVE_INFINITY,
  maxPacketBytes: Number.POSITIVE_INFINITY,
  maxQos: 2,
};
/** Of a PUBLISH packet, beside topic and payload: header, lengths, packet id, properties. */
const PACKET_OVERHEAD_BYTES = 12;
/** Of a payload: no broker ends a connection for so few characters, so it ends for the topic. */
const MAX_SMALL_LENGTH = 1_000;

/** What requests need of the broker connection. */
export interface RequestTransport extends ResponseFilters, Reading {
  readonly connected: boolean;
  readonly broker: string;
  publish(topic: string, payload: string, qos: 0 | 1 | 2, done: (error?: Error) => void): void;
  /** Why the broker has refused the filter, where it says more than that. */
  refusalOf(filter: string): Reason | undefined;
}

export interface RequestOptions {
  signal: AbortSignal;
  /** Milliseconds; the service's `requestTimeout` when left out. */
  timeout?: number | undefined;
  /** It has waited for its turn since then, in milliseconds of `performance.now()`: counts while the broker is away. */
  since?: number | undefined;
}

export interface SendOptions {
  /** Milliseconds: from sending to the response; while the broker is away, from arrival to sending. */
  timeout: number;
  /** Its arrival where that was earlier, in milliseconds of `performance.now()`. */
  since?: number | undefined;
  /** Ends the request with `CLOSED`. */
  signal: AbortSignal;
  trafficClass: TrafficClass;
  /** Called when it leaves the queue. */
  sent?: () => void;
  /** Called when the broker has the request. */
  delivered?: () => void;
  /** False: from then on it is not counted as in flight any more, since nobody waits for its response yet. */
  awaitResponse: boolean;
}

export class Requests {
  readonly #limits: RequestLimits;
  readonly #topics: Topics;
  readonly #transport: RequestTransport;
  readonly #gateways: AskedGateways;
  readonly #bySignal = new SignalGroups<Pending>((ended) => this.#abort(ended));
  readonly #window = new PublishWindow<GatewayRequests>(
    (gateway) => this.#sendNext(gateway),
    () => this.#transport.heldMs,
  );
  readonly #waiting: WaitingRequests;
  readonly #sent: SentRequests;
  readonly #trials = new RequestTrials(this.#window);
  readonly #warn: (text: string) => void;
  /** Others give their subscriptions back for these, which ask then. */
  readonly #needingRoom = new Set<GatewayRequests>();
  #closed = false;
  #broker: PublishLimits = NO_LIMITS;

  constructor(
    limits: RequestLimits,
    topics: Topics,
    transport: RequestTransport,
    warn: (text: string) => void = () => undefined,
  ) {
    this.#warn = warn;
    this.#limits = limits;
    this.#topics = topics;
    this.#transport = transport;
    this.#gateways = new AskedGateways(topics, limits.maxInFlight, transport, (gateway) => {
      gateway.isGrantPending = false;
      this.#requestGrant(gateway);
    });
    this.#waiting = new WaitingRequests(limits.maxQueue, this.#gateways, this.#window, transport);
    this.#sent = new SentRequests(transport, (gateway) => this.#sendNext(gateway));
  }

  /**
   * Resolves with the parsed body of the response. Rejects with `NOT_CONNECTED`, `TIMEOUT`, `BAD_RESPONSE` (not
   * JSON), `QUEUE_FULL` or `CLOSED`. A request that was sent is never sent again.
   */
  send(request: BuiltRequest, options: SendOptions): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#closed || options.signal.aborted) {
        reject(closed());
        return;
      }
      const { trafficClass, timeout, signal, sent, delivered, awaitResponse } = options;
      this.#enqueue({
        request,
        gateway: this.#gateways.of(request.gateway),
        trafficClass,
        priority: request.priority,
        timeout,
        group: this.#bySignal.of(signal),
        sent,
        delivered,
        awaitResponse,
        id: '',
        slot: -1,
        isRemoved: true,
        isCounted: false,
        isUnacknowledged: false,
        place: undefined,
        isLarge: false,
        index: -1,
        waitingSince: options.since ?? performance.now(),
        deadline: Number.POSITIVE_INFINITY,
        heldBefore: this.#transport.heldMs,
        resolve,
        reject,
      });
    });
  }

  /** How a request to this gateway ends that could not be sent in its time; undefined: it waits for its turn. */
  unsent(gateway: string, timeout: number): ServiceError | undefined {
    const found = this.#gateways.find(gateway);
    return found && !this.#waiting.isOpen(found) ? this.#waiting.unsent(timeout, false) : undefined;
  }

  /** Whether a gateway has left an acknowledgement without a response, and has answered none since that was sent. */
  ignoresAcks(gateway: string): boolean {
    return this.#gateways.find(gateway)?.ignoresAcks === true;
  }

  /** How many were sent and have no response yet. */
  get underWay(): number {
    return this.#sent.size;
  }

  /** True when nothing is waiting or in flight. */
  get idle(): boolean {
    return this.#sent.awaited === 0 && this.#waiting.isEmpty;
  }

  /** How many gateways were asked in the last hour or are being asked: without a limit each takes a subscription. */
  get gateways(): number {
    return this.#gateways.size;
  }

  /** Topic filters of the responses, of every gateway that was asked. */
  filters(): string[] {
    return [...new Set(Array.from(this.#gateways, ({ filter }) => filter))];
  }

  /** Takes a message of a response topic. False when it is of a gateway that was not asked. */
  receive({ gateway: gatewayId, device, rest }: ParsedTopic, payload: Buffer, retained: boolean): boolean {
    const gateway = this.#gateways.find(gatewayId);
    if (!gateway) {
      return false;
    }
    const body = parse(payload);
    const id = body ? body.id : idOfLarge(payload);
    if (id !== undefined && id !== null) {
      const pending = typeof id === 'string' ? this.#sent.find(id) : undefined;
      // Every gateway sees ids of ours, and none answers for another one.
      if (pending?.gateway === gateway) {
        this.#respond(pending, body ?? payload);
      } else if (!pending && !retained) {
        gateway.respondedLate(rest);
      }
      return true;
    }
    // A retained response is an old one: without an id it belongs to nobody.
    if (retained) {
      return true;
    }
    const only = gateway.onlySent(device, rest);
    if (only) {
      this.#respond(only, body ?? payload);
    }
    return true;
  }

  /**
   * @param isShared one subscription brings the responses of all gateways: the broker allows few
   * @param isTried also where it is known to end connections
   */
  shareFilter(isShared: boolean, isTried = true): void {
    const isNew = isShared ? this.#gateways.share(isTried) : this.#gateways.unshare();
    if (!isNew) {
      return;
    }
    this.#needingRoom.clear();
    for (const gateway of this.#gateways) {
      gateway.isGrantPending = false;
      this.#requestGrant(gateway);
    }
  }

  /** Call when a connection begins, before its state changes. */
  connected(limits: PublishLimits): void {
    this.#broker = limits;
    this.#trials.connected(this.#transport.broker, limits.maxUnacknowledged);
    for (const gateway of this.#takeNeedingRoom()) {
      gateway.isGrantPending = false;
    }
  }

  /**
   * Call when a connection has ended.
   * @param mayForbidTopic whether that may be for the topic of a request
   * @returns whether it is known to be for that, or likely as it is for others
   */
  lost(mayForbidTopic: boolean): boolean {
    const all = this.#sent.takeUnacknowledged();
    const unacknowledged = mayForbidTopic ? all : [];
    const culprit = this.#trials.lost(
      unacknowledged.map(({ request, deadline, timeout, isLarge }) => ({
        ...{ request, isLarge },
        sentAt: deadline - timeout,
      })),
    );
    if (culprit?.isNew) {
      const { operation, gateway } = culprit.request;
      this.#warn(
        `${this.#transport.broker} ends the connection at a request (${operation}) to gateway ${gateway}: the user may not ` +
          'send it',
      );
    }
    for (const pending of unacknowledged) {
      this.#endForbidden(pending);
    }
    return culprit !== undefined || (unacknowledged.length > 0 && this.#trials.isAny);
  }

  /** Call when the broker has nothing to subscribe or to give back any more. */
  subscribed(): void {
    for (const gateway of this.#takeNeedingRoom()) {
      gateway.isGrantPending = false;
      if (!this.#transport.isFilterActive(gateway.filter)) {
        // Else its refusal would hold on.
        this.#transport.releaseFilter(gateway.filter);
      }
      this.#requestGrant(gateway, false);
    }
  }

  /** The broker takes no higher QoS, as it has shown by what it granted. */
  limitQos(max: PublishLimits['maxQos']): void {
    this.#broker = { ...this.#broker, maxQos: Math.min(this.#broker.maxQos, max) as PublishLimits['maxQos'] };
  }

  /** Call when the connection came or went, or a response filter is asked for once more. */
  connectionChanged(): void {
    for (const gateway of this.#gateways) {
      this.#waiting.updateDeadlines(gateway);
      this.#requestGrant(gateway);
    }
  }

  close(): void {
    this.#closed = true;
    this.#trials.close();
    this.#bySignal.abortAll();
    this.#waiting.close();
    this.#sent.close();
    this.#gateways.close();
  }

  #respond(pending: Pending, body: unknown): void {
    this.#trials.answered(pending.request);
    this.#sent.respond(pending, body);
  }

  #enqueue(pending: Pending): void {
    const { gateway } = pending;
    // What cannot leave yet holds up no others.
    if (this.#waiting.isOpen(gateway)) {
      this.#trials.added(pending.request);
    }
    this.#waiting.add(pending);
    this.#sendNext(gateway);
    if (!pending.isRemoved && this.#waiting.stay(pending)) {
      this.#requestGrant(gateway);
    }
  }

  /**
   * Responses can only arrive once the broker has granted the response filter: nothing leaves before.
   * @param isFirst false: another one has given its place back for it
   */
  #requestGrant(gateway: GatewayRequests, isFirst = true): void {
    if (gateway.isGrantPending || gateway.waiting === 0 || !this.#transport.connected) {
      return;
    }
    gateway.isGrantPending = true;
    const { filter } = gateway;
    this.#transport.ensureFilter(filter, (refused) => {
      gateway.isGrantPending = false;
      if (refused) {
        this.#gateways.refused(filter);
      }
      if (filter !== gateway.filter) {
        this.#requestGrant(gateway);
      } else if (refused && this.#makeRoom(gateway, isFirst)) {
        this.#waiting.updateDeadlines(gateway);
      } else if (refused) {
        this.#rejectAllUnsent(gateway);
        this.#gateways.releaseIfIdle(gateway);
      } else {
        this.#waiting.updateDeadlines(gateway);
        for (const { request } of gateway.queue) {
          this.#trials.added(request);
        }
        this.#sendNext(gateway);
      }
    });
  }

  /**
   * One with nothing to do gives its place back, and this one asks again then: once where it may be refused for itself.
   * @returns whether there is one
   */
  #makeRoom(gateway: GatewayRequests, isFirst: boolean): boolean {
    const reason = this.#transport.refusalOf(gateway.filter);
    const needsRoom = reason && (isLackOfRoom(reason) || (isFirst && mayLackRoom(reason)));
    const hasRoom = needsRoom === true && gateway.waiting > 0 && this.#gateways.makeRoom();
    if (hasRoom) {
      gateway.isGrantPending = true;
      this.#needingRoom.add(gateway);
    }
    return hasRoom;
  }

  #takeNeedingRoom(): GatewayRequests[] {
    const gateways = [...this.#needingRoom];
    this.#needingRoom.clear();
    return gateways;
  }

  #sendNext(gateway: GatewayRequests): void {
    if (this.#closed || gateway.isSending || !this.#waiting.isOpen(gateway)) {
      return;
    }
    gateway.isSending = true;
    for (;;) {
      if (this.#window.isFull) {
        this.#window.wait(gateway);
        this.#waiting.windowIsFull();
        break;
      }
      // Nearly always nothing is forbidden.
      const trial = this.#trials.isAny ? this.#nextTrial(gateway) : undefined;
      if (trial) {
        this.#trials.begin(() => this.#sendTrial(trial));
        continue;
      }
      const pending = this.#waiting.next(gateway);
      if (!pending) {
        break;
      }
      this.#publish(pending);
    }
    gateway.isSending = false;
  }

  #nextTrial(gateway: GatewayRequests): Pending | undefined {
    const pending = this.#waiting.peek(gateway);
    const isTrial = pending && this.#trials.isTrial(pending.request);
    // One that will not leave is waited for by none.
    return isTrial && !this.#isTooLarge(...this.#packetOf(pending)) ? pending : undefined;
  }

  /** All that have left before have their responses, or none in their time. */
  #sendTrial(pending: Pending): void {
    if (this.#closed) {
      return;
    }
    if (!pending.isRemoved && this.#waiting.isOpen(pending.gateway)) {
      this.#waiting.take(pending);
      this.#publish(pending);
    }
    this.#trials.end();
    this.#sendNext(pending.gateway);
  }

  #publish(pending: Pending): void {
    const { request } = pending;
    this.#sent.add(pending);
    if (this.#endForbidden(pending)) {
      return;
    }
    const [topic, payload] = this.#packetOf(pending);
    const { maxPacketBytes, maxQos } = this.#broker;
    if (this.#isTooLarge(topic, payload)) {
      this.#sent.fail(pending, tooLarge(request, sizeOf(topic, payload), maxPacketBytes));
      return;
    }
    const qos = Math.min(this.#limits.qos, maxQos) as RequestLimits['qos'];
    this.#trials.sent(request);
    pending.place = qos === 0 ? undefined : this.#window.take();
    pending.isUnacknowledged = qos > 0;
    pending.isLarge = payload.length > MAX_SMALL_LENGTH;
    this.#transport.publish(topic, payload, qos, (error) => {
      // First what is known by it: others leave as soon as its place is free.
      this.#published(pending, error);
      pending.place?.acknowledged();
    });
  }

  #packetOf({ request, id }: Pending): [topic: string, payload: string] {
    const topic = this.#topics.request(request.gateway, request.device, request.suffix);
    // The id comes last: without ours no response could be told apart, whatever a template says.
    return [topic, JSON.stringify({ ...request.payload, id })];
  }

  #isTooLarge(topic: string, payload: string): boolean {
    const { maxPacketBytes } = this.#broker;
    // performance.md, P3: measured only where there is a limit.
    return maxPacketBytes !== Number.POSITIVE_INFINITY && sizeOf(topic, payload) > maxPacketBytes;
  }

  /** An error here may mean that the broker has the request all the same: only its own refusal ends it early. */
  #published(pending: Pending, error: Error | undefined): void {
    const code = (error as { code?: unknown } | undefined)?.code;
    const isRefused = typeof code === 'number' && code >= 0x80;
    // With QoS 0 it says nothing that a request was written.
    if (pending.isUnacknowledged && (isRefused || !error)) {
      this.#trials.acknowledged(pending.request);
    }
    if (isRefused) {
      pending.isUnacknowledged = false;
      this.#sent.fail(pending, refusedRequest(this.#transport.broker, code));
      return;
    }
    if (!error) {
      this.#sent.delivered(pending);
    }
  }

  /** @returns whether the request has ended: the broker would end the connection for it */
  #endForbidden(pending: Pending): boolean {
    const wait = this.#trials.waitOf(pending.request);
    if (wait > 0) {
      this.#sent.fail(pending, forbiddenRequest(this.#transport.broker, pending.request, wait));
    }
    return wait > 0;
  }

  #rejectAllUnsent(gateway: GatewayRequests): void {
    const { filter } = gateway;
    const reason = this.#transport.refusalOf(filter);
    for (const pending of [...gateway.queue]) {
      this.#waiting.reject(pending, refusedResponses(this.#transport.broker, filter, reason));
    }
  }

  #abort(ended: readonly Pending[]): void {
    // First what waits: what ends in flight makes room, and none of these may leave then.
    for (const pending of ended) {
      this.#waiting.reject(pending, closed());
    }
    for (const pending of ended) {
      this.#sent.fail(pending, closed());
    }
  }
}

/** Bytes of a PUBLISH packet, at most. */
function sizeOf(topic: string, payload: string): number {
  return Buffer.byteLength(topic) + Buffer.byteLength(payload) + PACKET_OVERHEAD_BYTES;
}

/** The JSON object of a response; undefined for anything else. */
function parse(payload: Buffer): Record<string, unknown> | undefined {
  const body = payload.length > MAX_PAYLOAD_BYTES ? undefined : parseJson(payload.toString());
  return isObject(body) ? body : undefined;
}
