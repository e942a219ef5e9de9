// The MQTT half of "Test connection": over the deployed connection, or beside it without disturbing it.
import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { ErrorText, Phrase } from '../errors.ts';
import { SILENT } from '../log.ts';
import { isMac } from '../protocol/mac.ts';
import { oneLine } from '../protocol/text.ts';
import { createTopics, type Topics } from '../protocol/topics.ts';
import { proxiesOf } from '../proxy/choice.ts';
import type { MqttSettings } from '../settings.ts';
import { showBroker } from './address.ts';
import { MqttClient } from './client.ts';
import { besideId } from './client-id.ts';
import { ConnectionWatch, isFailure } from './connection-watch.ts';
import type { ReportHandler } from './report-subscriptions.ts';
import { askForSession, sessionStays } from './session-question.ts';
import type { GroupVerdict } from './shared-group.ts';
import type { MqttState } from './state.ts';
import type { SubscriptionCounts } from './subscription-budget.ts';

export interface BrokerProbe {
  ok: boolean;
  /** `key` is the whole key in the locale files: `check.…`. */
  text: ErrorText;
  /** What else was found, and what was not tried. */
  notes: ErrorText[];
  /** Milliseconds until the broker had answered. */
  ms: number;
  /** How many gateways were heard. */
  gateways: number;
  /** Host and port of the proxy that the broker was tried through. */
  proxies: string[];
  /** How many other addresses cannot be used, or were not tried. */
  missed: number;
}

/** How long reports are listened for once the broker is there; what else is tried has this time too. */
const LISTEN_MS = 3_000;
/** For connecting: all of it, and of several addresses the least that each has. What listening takes comes on top. */
const CONNECT_MS = 6_000;
const MIN_CONNECT_MS = 1_000;
const MAX_GATEWAYS = 10_000;

/**
 * Asks over a connection that is there, and listens to what it brings anyway.
 * @param countGateways how many were heard since then, in milliseconds of `performance.now()`
 * @returns undefined when it is not connected
 */
export async function probeConnected(
  client: Pick<MqttClient, 'ping' | 'state' | 'subscriptions' | 'reportFilters'>,
  topics: Topics,
  countGateways: (since: number) => number,
): Promise<BrokerProbe | undefined> {
  const start = performance.now();
  const ms = await client.ping(LISTEN_MS);
  const { state } = client;
  if (isAway(state)) {
    return undefined;
  }
  await wait(Math.max(0, start + LISTEN_MS - performance.now()));
  const gateways = countGateways(start);
  const notes: ErrorText[] = [
    noteOnSubscriptions(client.subscriptions),
    { key: 'check.deployed', values: {} },
  ];
  const found = { notes, ms: ms ?? LISTEN_MS, gateways, proxies: [], missed: 0 };
  if (ms === undefined) {
    return { ok: false, text: { key: 'check.noPing', values: {} }, ...found };
  }
  if (isFailure(client.state)) {
    return { ok: false, text: noBroker(client.state.reason), ...found };
  }
  const isListening = client.reportFilters.length > 0;
  return {
    ok: true,
    text: isListening ? heard(gateways, topics, client.reportFilters) : { key: 'check.idle', values: {} },
    ...found,
  };
}

/**
 * Connects beside the deployed connection, with its filters when it has any, listens for three seconds and leaves
 * nothing behind at the broker. Of several addresses the first that is there is listened to, the others are connected to.
 * Never rejects.
 *
 * The client id begins like that of the settings, since rules of brokers judge by it, but is another one: a broker throws
 * out the deployed client when its id comes again. It is no member of the group, since what a test hears would be missing
 * there.
 * @param filters of reports, without the group; empty: every report
 * @param mayEndSession false: the deployed service of this user is persistent, whatever these settings are; a broker that
 *   takes the user for the client would delete what waits for it; `spentMs`: that much of the
 *   time for connecting is over already
 */
export async function probeBroker(
  settings: MqttSettings,
  filters: readonly string[] = [],
  { mayEndSession = true, spentMs = 0 } = {},
): Promise<BrokerProbe> {
  const { brokers } = settings;
  const isPersistent = settings.persistent || !mayEndSession;
  const probes: BrokerProbe[] = [];
  let chosen: BrokerProbe | undefined;
  let left = Math.max(MIN_CONNECT_MS, CONNECT_MS - spentMs);
  // One after the other: a broker that takes the user for the client ends one connection with the next.
  for (const [i, url] of brokers.entries()) {
    const start = performance.now();
    const ms = Math.max(MIN_CONNECT_MS, left / (brokers.length - i));
    const probe = await tryAddress(settings, url, {
      ms,
      isPersistent,
      listensTo: chosen ? undefined : filters,
    });
    probes.push(probe);
    const listenedMs = chosen === undefined && isThere(probe) ? LISTEN_MS : 0;
    chosen ??= isThere(probe) ? probe : undefined;
    left -= performance.now() - start - listenedMs;
    // Each further question could interrupt the flows.
    if (probe.text.key === 'check.keptSession' || left < MIN_CONNECT_MS) {
      break;
    }
  }
  const main = chosen ?? probes[0]!;
  if (brokers.length === 1) {
    return main;
  }
  const untried = brokers.slice(probes.length).map(showBroker);
  return {
    ...main,
    missed: untried.length + probes.filter((probe) => !isThere(probe)).length,
    notes: [
      ...main.notes,
      ...probes.map((probe, i) => noteOnAddress(brokers[i]!, probe)),
      ...(untried.length > 0 ? [{ key: 'check.untried', values: { names: untried.join(', ') } }] : []),
    ],
  };
}

/** @param how `ms`: for connecting; `listensTo`: undefined: nothing */
async function tryAddress(
  service: MqttSettings,
  url: string,
  how: { ms: number; isPersistent: boolean; listensTo: readonly string[] | undefined },
): Promise<BrokerProbe> {
  const start = performance.now();
  const deadline = start + how.ms;
  const found = (ok: boolean, text: ErrorText): BrokerProbe => ({
    ...{ ok, text, notes: [], ms: Math.round(performance.now() - start), gateways: 0, missed: 0 },
    proxies: proxiesOf(service.proxy, [url]),
  });
  try {
    const settings = { ...service, brokers: [url] };
    const clientId = besideId(settings.clientId);
    if (how.isPersistent) {
      const asked = { ...settings, persistent: true };
      const kept = await askForSession(asked, url, deadline, { clientId });
      if (kept === 'kept') {
        return found(true, { key: 'check.keptSession', values: {} });
      }
      if (kept !== 'none') {
        return found(false, noBroker(kept));
      }
    }
    const trial = new Trial(settings, clientId, how.listensTo);
    const { hasConnected, ...probe } = await trial.run(start, deadline);
    if (how.isPersistent && !hasConnected) {
      sessionStays(settings, url, clientId);
    }
    return probe;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return found(false, noBroker({ key: 'reason.other', values: { message: oneLine(message) } }));
  }
}

/** One connection of its own for a test. */
class Trial {
  readonly #settings: MqttSettings;
  readonly #topics: Topics;
  readonly #client: MqttClient;
  readonly #gateways = new Set<string>();
  /** Nothing is asked for, only whether the broker takes the login. */
  readonly #onlyConnects: boolean;
  /** The filters are those of deployed nodes. */
  readonly #isOfNodes: boolean;
  #look: (state: MqttState) => void = () => {};

  constructor(settings: MqttSettings, clientId: string, filters: readonly string[] | undefined) {
    this.#settings = settings;
    this.#onlyConnects = filters === undefined;
    this.#topics = createTopics(settings.topicPrefix);
    this.#isOfNodes = filters !== undefined && filters.length > 0;
    const wanted = filters?.length === 0 ? [this.#topics.reportFilter({})] : [...(filters ?? [])];
    const own = { clientId, persistent: false, sharedGroup: '' };
    const events = { state: () => this.#look(this.#client.state), resumed() {} };
    this.#client = new MqttClient(
      { ...settings, ...own },
      this.#topics,
      this.#receiver(wanted),
      SILENT,
      events,
    );
  }

  /**
   * @param start and @param deadline in milliseconds of `performance.now()`
   * @returns `hasConnected`: the broker has ended a session that it had under this id
   */
  async run(start: number, deadline: number): Promise<BrokerProbe & { hasConnected: boolean }> {
    const { brokers, proxy, sharedGroup } = this.#settings;
    try {
      const failure = await this.#connect(deadline);
      const hasConnected = failure === undefined || this.#client.state.name === 'limited';
      const ms = Math.round(performance.now() - start);
      const found = { ms, gateways: 0, proxies: proxiesOf(proxy, brokers), missed: 0, hasConnected };
      if (failure !== undefined) {
        return { ok: false, text: noBroker(failure), notes: [], ...found };
      }
      if (this.#onlyConnects) {
        return { ok: true, text: { key: 'check.idle', values: {} }, notes: [], ...found };
      }
      const { subscriptions } = this.#client;
      const [responses, group] = await Promise.all([
        this.#tryResponses(),
        this.#tryGroup(sharedGroup),
        wait(LISTEN_MS),
      ]);
      const gateways = this.#gateways.size;
      const notes = [
        // Without deployed nodes nobody knows how many there will be.
        ...(this.#isOfNodes ? [noteOnSubscriptions(subscriptions)] : []),
        ...notesOnResponses(responses),
        ...notesOnGroup(group, sharedGroup),
      ];
      return {
        ok: group !== 'plain',
        text: heard(gateways, this.#topics, this.#client.reportFilters),
        notes,
        ...found,
        gateways,
      };
    } finally {
      await this.#client.close();
    }
  }

  #receiver(wanted: string[]): ReportHandler {
    return {
      needed: wanted.length,
      filters: () => wanted,
      previewFilters: () => [],
      deliverPreview() {},
      isWidened: () => false,
      isCovering: () => false,
      isFull: false,
      isConfirming: false,
      mayBeWanted: false,
      decide: () => false,
      connected() {},
      hasCaughtUp: () => true,
      settled() {},
      readOn() {},
      deliver: (topic) => {
        const gateway = this.#topics.parseReport(topic)?.gateway;
        if (gateway !== undefined && isMac(gateway) && this.#gateways.size < MAX_GATEWAYS) {
          this.#gateways.add(gateway);
        }
        return 'delivered';
      },
    };
  }

  /** @returns undefined when connected and subscribed, else why not */
  #connect(deadline: number): Promise<Phrase | undefined> {
    return new Promise((resolve) => {
      const watch = new ConnectionWatch(this.#settings, deadline, resolve);
      this.#look = (state) => watch.look(state);
      this.#client.attach();
      this.#client.updateFilters();
    });
  }

  /** `shared` where there is no group, or the broker is known to have them: a policy may forbid what is tried. */
  async #tryGroup(group: string): Promise<GroupVerdict> {
    const isKnown = this.#settings.limits.hasSharedGroups === true;
    return group === '' || isKnown ? 'shared' : this.#client.tryGroup(group, LISTEN_MS);
  }

  /** Whether the responses of a gateway may be received; undefined when the broker does not say in time. */
  #tryResponses(): Promise<boolean | undefined> {
    const nobody = `02${randomBytes(5).toString('hex')}`;
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(undefined), LISTEN_MS);
      this.#client.tryResponses(this.#topics.responseFilter(nobody), (refused) => {
        clearTimeout(timer);
        resolve(!refused);
      });
    });
  }
}

function isAway({ name }: MqttState): boolean {
  return name !== 'connected' && name !== 'limited' && name !== 'overloaded';
}

const isThere = ({ text }: BrokerProbe): boolean => text.key !== 'check.noBroker';

const noteOnAddress = (url: string, { text }: BrokerProbe): ErrorText => ({
  key: 'check.address',
  values: { broker: showBroker(url), reason: text.values.reason ?? { key: 'status.connected', values: {} } },
});

const noBroker = (reason: Phrase): ErrorText => ({ key: 'check.noBroker', values: { reason } });

/** @param filters that were listened to */
function heard(gateways: number, topics: Topics, filters: readonly string[]): ErrorText {
  if (gateways > 0) {
    return { key: 'check.heard', values: { gateways } };
  }
  // What a narrower one asks for may come seldom in a busy network: its silence says nothing about the root.
  return filters.includes(topics.reportFilter({}))
    ? { key: 'check.silent', values: { root: topics.root } }
    : { key: 'check.unheard', values: {} };
}

function noteOnSubscriptions({ needed, inUse, max }: SubscriptionCounts): ErrorText {
  const values = { needed, inUse, ...(max !== undefined && { max }) };
  return { key: max === undefined ? 'check.subscriptions' : 'check.subscriptionsOf', values };
}

function notesOnResponses(areGranted: boolean | undefined): ErrorText[] {
  return areGranted ? [] : [{ key: 'check.noResponses', values: {} }];
}

function notesOnGroup(verdict: GroupVerdict, group: string): ErrorText[] {
  switch (verdict) {
    case 'shared':
      return [];
    case 'plain':
      return [{ key: 'check.plainGroup', values: { group } }];
    case 'unknown':
      return [{ key: 'check.untriedGroup', values: { group } }];
  }
}
