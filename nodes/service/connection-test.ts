// Tests settings that are typed but not saved; a stored password is sent only where it is deployed for.
import type { Node, NodeAPI } from 'node-red';
import {
  type BrokerProbe,
  MAX_ADDRESSES_LENGTH,
  type MqttSettings,
  probeBroker,
  probeRest,
  type RestSettings,
  type Session,
  type Settings,
  splitBrokers,
  withoutSlashes,
} from '../../src/index.ts';
import { asText, hasEnv, pickKnown } from '../shared/defaults.ts';
import { savedService } from '../shared/runtime/env.ts';
import { type HiddenVariables, hideVariables } from '../shared/runtime/hidden-variables.ts';
import { findForEditor } from '../shared/runtime/services.ts';
import { toFlowError, translate } from '../shared/runtime/texts.ts';
import { CREDENTIALS, DEFAULTS, type ServiceConfig, type ServiceCredentials } from './config.ts';
import { fillService, type Half, isOfHalf } from './filled.ts';
import { SessionHolder } from './session-holder.ts';
import { createSettings, type Deployed, deployedSettings, WITHOUT_OTHER } from './settings.ts';

export interface TestResult {
  ok: boolean;
  /** In the runtime's language. */
  message: string;
  ms: number;
  /** True: the half has no address, so there was nothing to test. */
  skipped?: true;
  /** True: it works, but perhaps not as it was meant. */
  doubtful?: true;
}

export interface TestResults {
  rest: TestResult;
  mqtt: TestResult;
}

/** What the editor sends for a password that was not changed. */
const UNCHANGED_PASSWORD = '__PWRD__';
const MAX_TEST_MS = 9_500;

/** What a connection begins with, and what its subscriptions and requests are made of. */
const CONNECTION_SETTINGS = [
  ...['brokerProfile', 'clientId', 'protocolVersion', 'keepalive', 'persistent', 'sessionExpiry', 'tls'],
  ...['topicPrefix', 'sharedGroup', 'reportQos', 'requestQos', 'maxSubscriptions', 'maxUnacknowledged'],
] as readonly (keyof ServiceConfig)[];

type Properties = Record<string, unknown>;

/**
 * @param body `{id, …properties, credentials}` as it is typed in the panel
 * @param mayReadVariables false: variables are filled only where they are deployed, and only for the deployed address,
 *   because what is tested goes to an address that the user types
 * @returns both results within 10 s; never rejects but for a body that is no object
 */
export async function testConnection(
  RED: NodeAPI,
  body: unknown,
  mayReadVariables: boolean,
): Promise<TestResults> {
  const { id, credentials: entered } = pickKnown(body, { id: '', credentials: {} });
  const service = findForEditor(RED, asText(id ?? ''));
  const node = service ?? ({ id: asText(id ?? '') } as Node);
  const deployed = service && deployedSettings(service);
  const typed = { ...pickKnown(body, DEFAULTS), ...pickKnown(entered, CREDENTIALS) };
  const { config, credentials, check } = fillService(RED, node, body, entered ?? {}, () => typed);
  const isSame = {
    rest: deployed !== undefined && isSameRest(config, deployed.config),
    mqtt: deployed !== undefined && isSameMqtt(config, deployed.config),
  };
  const run = (half: Half, password: 'password' | 'mqttPassword') => {
    const saved = isSame[half] && service ? savedService(RED, service) : undefined;
    const own = Object.fromEntries(Object.entries(typed).filter(([property]) => isOfHalf(property, half)));
    if (!mayReadVariables && findForeignVariable(own, saved)) {
      return { ok: false, message: translate(RED, 'check.mayNotFill'), ms: 0 };
    }
    const secrets = withStored(password, credentials, isSame[half] ? deployed : undefined);
    const create = (given: ServiceCredentials) => {
      const only = { ...config, ...WITHOUT_OTHER[half], identifiers: '[]' };
      check(half);
      return createSettings(RED, node.id, only, given);
    };
    const before = isSame[half] ? deployed : undefined;
    const running = before && { ...before, session: service?.session };
    const hidden = hideVariables(RED, node, own, { mayDeploy: mayReadVariables });
    const isSavedClient = saved !== undefined && asText(saved.clientId ?? '') === asText(own.clientId);
    return testHalf(RED, secrets, create, {
      half,
      service,
      hidden,
      config,
      credentials,
      running,
      mayReadVariables,
      mayNameTwin: mayReadVariables || isSavedClient,
    });
  };
  const [rest, mqtt] = await Promise.all([run('rest', 'password'), run('mqtt', 'mqttPassword')]);
  return { rest, mqtt };
}

/**
 * Whether a half names a variable that is not deployed there, in a credential too: in what it is told somebody could find
 * out what the variable holds.
 * @param saved the deployed service; undefined when the half has another address
 */
function findForeignVariable(typed: Properties, saved: Properties | undefined): boolean {
  return Object.entries(typed).some(
    ([property, value]) => hasEnv(asText(value)) && (!saved || asText(saved[property]) !== asText(value)),
  );
}

/**
 * The credentials with the stored password in its place; undefined when it must be entered again.
 * @param deployed undefined when the half has another address or another proxy
 */
function withStored(
  password: 'password' | 'mqttPassword',
  credentials: ServiceCredentials,
  deployed: Deployed | undefined,
): ServiceCredentials | undefined {
  if (credentials[password] !== UNCHANGED_PASSWORD) {
    return credentials;
  }
  return deployed && { ...credentials, [password]: deployed.credentials[password] };
}

const isSameRest = (config: ServiceConfig, before: ServiceConfig): boolean =>
  config.proxy === before.proxy &&
  (['authUrl', 'baseUrl'] as const).every((key) => trimAddress(config[key]) === trimAddress(before[key]));

/** One that is deployed may be left out, but none added. */
function isSameMqtt(config: ServiceConfig, before: ServiceConfig): boolean {
  if (config.brokerUrl.length > MAX_ADDRESSES_LENGTH) {
    return false;
  }
  const known = new Set(splitBrokers(before.brokerUrl));
  const brokers = splitBrokers(config.brokerUrl);
  return config.proxy === before.proxy && brokers?.every((url) => known.has(url)) === true;
}

const trimAddress = (url: string): string => withoutSlashes(url.trim());

interface Tested {
  half: Half;
  /** Undefined: it is not deployed. */
  service: Node | undefined;
  hidden: HiddenVariables;
  /** With every variable filled in. */
  config: ServiceConfig;
  credentials: ServiceCredentials;
  /** The deployed service, where this half has the same address there. */
  running: Running | undefined;
  mayReadVariables: boolean;
  /** False: the client id may be a guess, which would tell what a variable of another service holds. */
  mayNameTwin: boolean;
}

interface Running extends Deployed {
  session: Session | undefined;
}

async function testHalf(
  RED: NodeAPI,
  credentials: ServiceCredentials | undefined,
  create: (credentials: ServiceCredentials) => Settings,
  tested: Tested,
): Promise<TestResult> {
  const { half, hidden } = tested;
  try {
    const settings = create(credentials ?? {});
    if (!settings[half]) {
      return { ok: false, message: translate(RED, `status.unconfigured.${half}`), ms: 0, skipped: true };
    }
    if (!credentials) {
      return { ok: false, message: translate(RED, 'check.enterAgain'), ms: 0 };
    }
    return settings.mqtt
      ? await testBroker(RED, settings.mqtt, { ...tested, credentials })
      : await testRest(RED, settings.rest!, hidden);
  } catch (error) {
    return { ok: false, message: toFlowError(RED, hidden.inError(error)).message, ms: 0 };
  }
}

async function testRest(RED: NodeAPI, settings: RestSettings, hidden: HiddenVariables): Promise<TestResult> {
  const { ok, text, ms, proxies } = await probeRest(settings, AbortSignal.timeout(MAX_TEST_MS));
  const message = translate(RED, text.key, hidden.inValues(text.values));
  return { ok, message: withProxies(RED, message, proxies), ms };
}

/**
 * Where address, user and password are those of the connected service, it is asked over that connection: there are brokers
 * that take the user for the client, and would end the deployed connection.
 */
async function testBroker(RED: NodeAPI, settings: MqttSettings, tested: Tested): Promise<TestResult> {
  const { running, hidden } = tested;
  const isSameUser = running && isSameText('mqttUsername', running.credentials, tested.credentials);
  const isSameLogin = isSameUser && isSameText('mqttPassword', running.credentials, tested.credentials);
  const start = performance.now();
  const deployed = isSameLogin ? await running.session?.probe() : undefined;
  // A guess would tell what a variable in it holds; a refused filter is named, and a variable of a node may be in it.
  const isSamePrefix = tested.mayReadVariables && running?.config.topicPrefix === tested.config.topicPrefix;
  const filters = isSamePrefix ? running?.session?.reportFilters : [];
  const { ok, text, notes, ms, proxies, missed } =
    deployed ??
    (await probeBroker(settings, filters, {
      mayEndSession: !(isSameUser && running.config.persistent),
      spentMs: performance.now() - start,
    }));
  const untried = deployed && running ? findUntried(RED, tested, running) : [];
  const untriedNote =
    untried.length > 0 ? [translate(RED, 'check.untried', { names: untried.join(', ') })] : [];
  const found = [text, ...notes, ...noteOnTwin(settings, tested)];
  const told = found.map(({ key, values }) => translate(RED, key, hidden.inValues(values)));
  // A network that was heard before has the right prefix, and is quiet.
  const wasHeard = (deployed || isSamePrefix) && running?.session?.network.hasHeard;
  const asksForPrefix = text.key === 'check.silent' && !wasHeard;
  const question = asksForPrefix ? [translate(RED, 'check.prefix')] : [];
  const message = withProxies(RED, [...told, ...untriedNote, ...question].join('; '), proxies);
  const isDoubtful =
    asksForPrefix || missed > 0 || untried.length > 0 || found.some(({ key }) => key === 'check.sameClient');
  return { ok, message, ms, ...(isDoubtful && { doubtful: true }) };
}

/** Two with one client id take the connection from each other, which looks like a broker that ends it. */
function noteOnTwin(settings: MqttSettings, { service, mayNameTwin }: Tested): BrokerProbe['notes'] {
  const twin = mayNameTwin ? SessionHolder.twinOf(settings, service) : undefined;
  return twin === undefined ? [] : [{ key: 'check.sameClient', values: { service: twin } }];
}

/** Captions of what is typed and shows only with a connection of its own. */
function findUntried(RED: NodeAPI, { config }: Tested, running: Running): string[] {
  return CONNECTION_SETTINGS.filter((name) => String(config[name]) !== String(running.config[name])).map(
    (name) => translate(RED, `field.${name}`),
  );
}

const isSameText = (name: keyof ServiceCredentials, one: ServiceCredentials, other: ServiceCredentials) =>
  (one[name] ?? '') === (other[name] ?? '');

function withProxies(RED: NodeAPI, message: string, proxies: readonly string[]): string {
  const told = { message, proxies: proxies.join(', ') };
  return proxies.length > 0 ? translate(RED, 'check.through', told) : message;
}
