// The broker connection: open, lose, back off, subscribe what is wanted, close with a deadline.
import type { Socket } from 'node:net';
import type { IClientOptions, IClientPublishOptions, MqttClient } from 'mqtt';
import { inEnglish } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { MqttSettings } from '../settings.ts';
import { findOwnFault } from '../tls/own-certificates.ts';
import { readBrokerAddress, showBroker } from './address.ts';
import { subscribeAvailable } from './available-filters.ts';
import { withResponseTimeout } from './broker-response.ts';
import { clientOptions } from './client-options.ts';
import type { ConnectionEvents } from './connection-events.ts';
import { type ConnectionLimits, readConnectionLimits } from './connection-limits.ts';
import { endClient } from './end-client.ts';
import { Exchanges } from './exchanges.ts';
import { type KeptSession, keptSession, mayHold, sessionName } from './kept-sessions.ts';
import { createLibraryClient, loadLibrary } from './library-client.ts';
import type { PingCounts } from './ping-counts.ts';
import { Pings } from './pings.ts';
import { PublishReader } from './publish-reader.ts';
import {
  brokenOffAgain,
  isBrokenOff,
  isNothingThere,
  isOverrun,
  isOwnEnd,
  type Loss,
  mayForbidTopic,
  type Reason,
  reasonOfLoss,
  reasonOfRefusals,
  UNRELEASED,
} from './reasons.ts';
import { type Receiver, receiveMessages } from './received-messages.ts';
import { REGAIN_MS, ReconnectWaits, wasGood } from './reconnect-waits.ts';
import type { MqttState } from './state.ts';
import { codesOfUnsuback } from './suback.ts';
import { Subscriptions } from './subscriptions.ts';
import { MANY_TAKEOVERS, Takeovers } from './takeovers.ts';
import { webSocketOptions } from './web-socket.ts';
import { batchWrites } from './write-batch.ts';

/** Of a SUBSCRIBE packet, beside its filters: header, length, packet id, properties. */
const SUBSCRIBE_BYTES = 16;

/**
 * One connection, made by `open()` and kept up until `close()`. Every attempt is a new MQTT.js client, so that
 * nothing which was sent before a loss is ever sent again by the library.
 */
export class Connection {
  readonly #settings: MqttSettings;
  readonly #log: Logger;
  readonly #events: ConnectionEvents;
  readonly subscriptions: Subscriptions;
  readonly pings: Pings;
  readonly #waits: ReconnectWaits;
  #client: MqttClient | undefined;
  /** Of that client. */
  #receiver: Receiver | undefined;
  #state: MqttState = { name: 'idle' };
  /** In milliseconds of `performance.now()`; undefined while there is no connection. */
  #connectedAt: number | undefined;
  /** The end of the last connection, likewise. */
  #lostAt = 0;
  #retry: NodeJS.Timeout | undefined;
  #wanted = false;
  #hasFailed = false;
  #hasToldExpiry = false;
  /** An end now is the doing of another connection of this process: this one comes back soon, to the same broker. */
  #isLent = false;
  #exchanges: Exchanges | undefined;
  /** The broker has sent more at once than it may: it did not count, and would do so again. */
  #isOverrun = false;
  readonly #takeovers = new Takeovers();

  constructor(settings: MqttSettings, log: Logger, events: ConnectionEvents) {
    this.#settings = settings;
    this.#log = log;
    this.#events = events;
    this.#waits = new ReconnectWaits(settings.brokers.length);
    this.pings = new Pings(() => events.isBlocked());
    this.subscriptions = new Subscriptions(settings.persistent, log, {
      refusing: (filter) => events.refusing(filter),
      refused: () => events.refused?.(),
      trying: (filter) => events.trying?.(filter),
      renewing: () => events.renewing?.(),
      makingRoom: () => events.makingRoom?.(),
      refusals: (refused, isSettled) => this.#showRefusals(refused, isSettled),
      mayGiveWay: (filter) => events.isReportFilter(filter),
      isCovering: (filter) => events.isCovering?.(filter) === true,
      synced: () => events.subscribed(),
      quota: (max) => events.quota(max),
      // With MQTT 5 the broker has said at the beginning what it takes.
      lowerQos: (max) => settings.protocolVersion === 4 && events.lowerQos(max),
    });
  }

  get state(): MqttState {
    return this.#state;
  }

  get connected(): boolean {
    return this.#client?.connected === true && this.#connectedAt !== undefined;
  }

  /** Since when somebody who came then has no connection, in milliseconds of `performance.now()`; undefined: there is one. */
  awaySince(came = performance.now()): number | undefined {
    return this.#connectedAt === undefined ? Math.max(came, this.#lostAt) : undefined;
  }

  /** The address in use or tried next, without credentials. */
  get broker(): string {
    return showBroker(this.url);
  }

  /** The same as it stands in the settings. */
  get url(): string {
    return this.#settings.brokers[this.#waits.broker] ?? '';
  }

  get #session(): string {
    return sessionName(this.broker, this.#settings.clientId);
  }

  /** Undefined: it ends with the connection. */
  get #keptSession(): KeptSession | undefined {
    return this.#settings.persistent ? keptSession(this.#session) : undefined;
  }

  /** Whether a broker still collects for subscriptions that this client has made under another connection. */
  get hasKeptSubscriptions(): boolean {
    const { brokers, clientId, persistent } = this.#settings;
    return (
      persistent &&
      brokers.some((url) => mayHold(keptSession(sessionName(showBroker(url), clientId))).length > 0)
    );
  }

  /** @param url of the settings: the first that is tried */
  open(url?: string): void {
    if (this.#wanted) {
      return;
    }
    this.#wanted = true;
    this.#hasFailed = false;
    if (url !== undefined) {
      this.#waits.startAt(this.#settings.brokers.indexOf(url));
    }
    void this.#attempt();
  }

  /** `done` is called when the broker has the message (QoS 0: when it is written), or with what prevented it. */
  publish(topic: string, payload: string, qos: 0 | 1 | 2, done?: (error?: Error) => void): void {
    const client = this.#client;
    if (!client) {
      return;
    }
    const options: IClientPublishOptions = { qos };
    client.publish(topic, payload, options, done);
  }

  /**
   * Leaves the broker; resolves when the socket is gone, at the latest after the deadline.
   * @param passing topic filters that a persistent session must not keep
   */
  async close(passing: readonly string[] = []): Promise<void> {
    this.#wanted = false;
    clearTimeout(this.#retry);
    this.pings.disconnected();
    const client = this.#client;
    this.#client = undefined;
    this.#connectedAt = undefined;
    this.#events.ended?.(false);
    this.subscriptions.offline(true);
    this.#setState({ name: 'closed' });
    if (client) {
      this.#exchanges?.ended(client);
      const given = this.#settings.persistent ? passing : [];
      await endClient(client, this.subscriptions.portionsOf(given));
    }
  }

  /** Flows run again. */
  resumed(): void {
    this.#receiver?.resumed();
  }

  /** Cuts the connection before anything more is answered; `close` follows. */
  drop(): void {
    this.#client?.stream.destroy();
  }

  /** Another connection of this process may be given the session, until `takeBack`. */
  lend(): void {
    this.#isLent = true;
  }

  /** @param isTaken the other one was given the session, and has left */
  takeBack(isTaken: boolean): void {
    // The end may not be noticed yet.
    this.#isLent = isTaken && this.#connectedAt !== undefined;
    if (isTaken && this.#state.name === 'waiting') {
      clearTimeout(this.#retry);
      this.#retry = setTimeout(() => void this.#attempt(), REGAIN_MS);
    }
  }

  /** As `close()`, but the connection can be opened again. */
  async disconnect(passing: readonly string[] = []): Promise<void> {
    await this.close(passing);
    if (!this.#wanted) {
      this.#setState({ name: 'idle' });
    }
  }

  async #attempt(): Promise<void> {
    // Trying again after a refusal is no news until it succeeds.
    if (this.#state.name !== 'refused') {
      this.#setState({ name: 'connecting', broker: this.broker });
    }
    try {
      const mqtt = await loadLibrary();
      if (!this.#wanted || this.#client) {
        return;
      }
      const { url } = this;
      const address = readBrokerAddress(url);
      this.#exchanges ??= new Exchanges(mqtt, () => this.#client?.emit('error', new Error(UNRELEASED)));
      const { isSecure, ...place } = address;
      const fault = isSecure ? findOwnFault(this.#settings.tls) : undefined;
      if (fault) {
        throw fault;
      }
      const tunnel = new AbortController();
      const reader = new PublishReader(this.#settings.protocolVersion);
      const client = createLibraryClient(mqtt, {
        // What reads before it is put in between first.
        manualConnect: true,
        ...place,
        wsOptions: webSocketOptions(
          this.#settings,
          url,
          isSecure,
          tunnel.signal,
        ) as IClientOptions['wsOptions'],
        ...clientOptions(this.#settings, isSecure, this.#isOverrun),
        ...this.#exchanges.optionsFor(this.#keptSession),
      });
      reader.attach(client);
      // It throws where TLS takes an option for wrong only now: there is no client then.
      client.connect();
      this.#client = client;
      client.stream.once('close', () => tunnel.abort());
      this.#listen(client, this.#exchanges, reader);
    } catch (error) {
      this.#lost(undefined, { error });
    }
  }

  #listen(client: MqttClient, exchanges: Exchanges, reader: PublishReader): void {
    const taker = receiveMessages({
      ...{ client, exchanges, pings: this.pings, events: this.#events, log: this.#log },
      isCurrent: () => client === this.#client,
    });
    this.#receiver = taker;
    // What is noticed first is the reason; the rest, such as a reset socket, only follows from it.
    let loss: Omit<Loss, 'wasConnected' | 'underWay'> | undefined;
    client.on('error', (error) => {
      loss ??= { error };
      // MQTT.js goes on after what it cannot read, without what came behind it: the broker sends that again only then. One
      // that is being closed still has packets to send.
      if (client === this.#client) {
        client.stream.destroy();
      }
    });
    // MQTT.js keeps to the time that a broker asks for only where it has one of its own.
    client.once('packetreceive', (packet) => {
      if (packet.cmd !== 'connack') {
        return;
      }
      if (client.options.keepalive === 0) {
        client.options.keepalive = packet.properties?.serverKeepAlive ?? 0;
      }
      if (packet.sessionPresent) {
        this.#events.kept?.();
      }
    });
    client.on('connect', ({ sessionPresent, properties }) => {
      if (client !== this.#client) {
        return;
      }
      exchanges.connected(client, sessionPresent, this.#keptSession);
      // Not that of the settings: MQTT.js ends the connection by this one.
      const counts = this.pings.connected(client, client.keepalive);
      reader.begin(taker);
      this.#connected(client, counts, sessionPresent, readConnectionLimits(this.#settings, properties));
      taker.goOn();
    });
    client.on('disconnect', (disconnect) => {
      loss ??= { disconnect };
      // The broker may not end the socket, or its end does not come through: nothing more comes from it.
      client.stream.destroy();
    });
    client.on('close', () => this.#lost(client, loss));
  }

  #connected(
    client: MqttClient,
    counts: PingCounts,
    sessionPresent: boolean,
    limits: ConnectionLimits,
  ): void {
    this.#connectedAt = performance.now();
    this.subscriptions.prepare(this.#session, {
      portions: {
        maxCount: limits.maxFiltersPerSubscribe,
        maxBytes: limits.maxPacketBytes - SUBSCRIBE_BYTES,
      },
      maxQos: limits.maxQos,
      maxCount: this.#settings.limits.maxSubscriptions,
    });
    this.#events.session(sessionPresent, limits);
    // Small packets that wait for each other's acknowledgement (Nagle's algorithm) cost 40 ms per request.
    (client.stream as Partial<Socket>).setNoDelay?.(true);
    batchWrites(client.stream);
    this.#log.info(`connected to ${this.broker}`);
    this.#tellExpiry(limits);
    const transport = {
      subscribe: (filters: Record<string, { qos: 0 | 1 | 2 }>) =>
        subscribeAvailable(filters, limits.support, (available) =>
          withResponseTimeout(client, counts, client.subscribeAsync(available)),
        ),
      unsubscribe: async (filters: string[]) =>
        codesOfUnsuback(await withResponseTimeout(client, counts, client.unsubscribeAsync(filters))),
    };
    this.#setState({ name: 'connected', broker: this.broker });
    // After it, since what the broker is known not to take is told at once.
    this.subscriptions.online(transport, !sessionPresent);
  }

  /** Once: what was asked for is not what the user gets. */
  #tellExpiry({ sessionExpiry }: ConnectionLimits): void {
    if (sessionExpiry !== undefined && !this.#hasToldExpiry) {
      this.#hasToldExpiry = true;
      const { sessionExpiry: wanted } = this.#settings;
      this.#log.warn(
        `${this.broker} keeps reports for ${sessionExpiry} s while Node-RED is down, not for ${wanted} s`,
      );
    }
  }

  #lost(client: MqttClient | undefined, loss: Omit<Loss, 'wasConnected' | 'underWay'> | undefined): void {
    if (client !== this.#client) {
      return;
    }
    this.#client = undefined;
    this.pings.disconnected();
    const { broker } = this;
    const { protocolVersion } = this.#settings;
    const connectedAt = this.#connectedAt;
    const wasConnected = connectedAt !== undefined;
    const underWay = this.#events.underWay();
    let isForRequest = false;
    if (wasConnected) {
      this.#lostAt = performance.now();
      isForRequest = this.#events.ended?.(!this.#isLent && mayForbidTopic(loss ?? {})) ?? false;
    }
    let reason = reasonOfLoss({ ...loss, wasConnected, underWay }, { broker, protocolVersion });
    this.#isOverrun ||= isOverrun(reason);
    const isGood = wasConnected && wasGood(connectedAt);
    const isUnrelated =
      reason.consequence !== 'retry' || this.#isLent || isForRequest || isOwnEnd(loss ?? {});
    const isSearch = (wasConnected && this.subscriptions.offline(isUnrelated, isGood)) || isForRequest;
    // What was asked for just then may be the reason, too.
    const mayBeTaken = isBrokenOff(reason) && !isSearch && !this.#isLent && underWay === 0;
    const count = this.#takeovers.noted(broker, mayBeTaken ? connectedAt : undefined);
    if (count >= MANY_TAKEOVERS) {
      reason = brokenOffAgain(reason, count);
    }
    this.#connectedAt = undefined;
    if (client) {
      this.#exchanges?.ended(client);
      // Ends what MQTT.js still keeps for this client, such as callbacks of unacknowledged messages.
      client.end(true);
    }
    if (!this.#wanted) {
      return;
    }
    if (isGood) {
      this.#waits.startOver();
    }
    const wait = this.#isLent ? REGAIN_MS : this.#waits.next(reason.consequence, isSearch);
    this.#isLent = false;
    // The broker may be about to start, as one in this Node-RED that is deployed, too.
    const mayStart = !this.#hasFailed && isNothingThere(reason) && broker === this.broker;
    this.#hasFailed = true;
    const text = `${broker}: ${inEnglish(reason)}; next attempt in ${Math.round(wait / 100) / 10} s`;
    this.#log[mayStart ? 'info' : 'warn'](text);
    this.#setState({ name: reason.consequence === 'refused' ? 'refused' : 'waiting', broker, reason });
    this.#retry = setTimeout(() => void this.#attempt(), wait);
  }

  #showRefusals(all: ReadonlyMap<string, Reason>, isSettled: boolean): void {
    // Requests that wait for the responses of a gateway say by themselves that these are refused.
    const refused = new Map([...all].filter(([filter]) => this.#events.isReportFilter(filter)));
    const { broker } = this;
    if (refused.size > 0) {
      this.#setState({ name: 'limited', broker, reason: reasonOfRefusals(refused), refused, isSettled });
    } else if (this.#state.name === 'limited') {
      this.#setState({ name: 'connected', broker });
    }
  }

  #setState(state: MqttState): void {
    this.#state = state;
    this.#events.state(state);
  }
}
