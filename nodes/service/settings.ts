// Turns a saved mt-service, its credentials, its tls-config and its proxy node into the settings of a session.
import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import type { Node, NodeAPI, NodeDef } from 'node-red';
import {
  brokerLimits,
  createCatalogue,
  findHeaderProblem,
  findProfileProblem,
  fitsTopic,
  hasBadPort,
  hasControlCharacter,
  hasLogin,
  invalidInput,
  isWellFormed,
  MAX_ADDRESSES_LENGTH,
  type MqttSettings,
  PROFILED_SETTINGS,
  proxiesOf,
  type RestSettings,
  readAttachPath,
  readBaseAddress,
  type ServiceError,
  type Settings,
  showAddress,
  splitBrokers,
  type TlsSettings,
} from '../../src/index.ts';
import type { ServiceConfig, ServiceCredentials } from './config.ts';
import { type FilledService, type Half, isOfBoth } from './filled.ts';
import { readProxies } from './proxy.ts';

/** What a deployed service was made of, with every `${NAME}` filled in. */
export interface Deployed {
  config: ServiceConfig;
  credentials: ServiceCredentials;
}

const deployed = new WeakMap<Node, Deployed>();

/** Kept beside the node and not in it, where a debug output could show the secrets. */
export function rememberDeployed(node: Node, settings: Deployed): void {
  deployed.set(node, settings);
}

export function deployedSettings(node: Node): Deployed | undefined {
  return deployed.get(node);
}

/** A half looks like this when the other one has no addresses. */
export const WITHOUT_OTHER = {
  rest: { brokerUrl: '' },
  mqtt: { authUrl: '', baseUrl: '' },
} as const satisfies Record<Half, Partial<ServiceConfig>>;

/**
 * Each half by itself: what is wrong with one does not stop the other.
 * @param create as `createSettings`; its config has the addresses of one half
 * @returns with `problems` in place of a half that is wrong
 * @throws INVALID_INPUT with the property's name, where it is of both and no half is left
 */
export function createHalves(
  config: ServiceConfig,
  create: (config: ServiceConfig, half: Half) => Settings,
): Settings {
  const settings: Settings = {};
  const problems: NonNullable<Settings['problems']> = {};
  for (const half of ['rest', 'mqtt'] as const) {
    try {
      Object.assign(settings, create({ ...config, ...WITHOUT_OTHER[half] }, half));
    } catch (error) {
      problems[half] = error as Error;
    }
  }
  const [problem, other] = Object.values(problems);
  const isOnlyOne = other === undefined && !settings.rest && !settings.mqtt;
  // The other half is empty on purpose: a mistake that is of this one alone is no matter of it.
  const isShared = isOfBoth(String((problem as Partial<ServiceError> | undefined)?.cause?.field));
  if (problem && ((isOnlyOne && isShared) || problem.message === other?.message)) {
    throw problem;
  }
  return { ...settings, problems };
}

/**
 * Whether the broker half of a service that is to be deployed can be used, or is left empty: by its own properties, and by
 * whether its configuration nodes will be there. What these are made of shows only when they have started.
 */
export function isUsableAtBroker(RED: NodeAPI, id: string, filled: FilledService): boolean {
  const config = { ...filled.config, ...WITHOUT_OTHER.mqtt };
  try {
    filled.check('mqtt');
    checkAddressLengths(config);
    const brokers = readBrokers(config.brokerUrl);
    createCatalogue(config.identifiers);
    if (brokers.length === 0) {
      return true;
    }
    createMqtt(RED, id, brokers, config, filled.credentials);
    return [config.tls, config.proxy].every((used) => used === '' || isDeployed(RED, used));
  } catch {
    return false;
  }
}

/** Whether a node is in the flows, during a deploy in the new ones, and is not disabled. */
function isDeployed(RED: NodeAPI, id: string): boolean {
  let isFound = false;
  RED.nodes.eachNode((node: NodeDef & { d?: boolean }) => {
    isFound ||= node.id === id && !node.d;
  });
  return isFound;
}

/**
 * @param id the config node's id, which is part of a generated client id
 * @returns without a half whose addresses are empty
 * @throws INVALID_INPUT with the property's name
 */
export function createSettings(
  RED: NodeAPI,
  id: string,
  config: ServiceConfig,
  credentials: ServiceCredentials,
): Settings {
  checkAddressLengths(config);
  const hasRest = config.authUrl.trim() !== '' || config.baseUrl.trim() !== '';
  const brokers = readBrokers(config.brokerUrl);
  const { names, identifiers } = config;
  if (!hasRest && brokers.length === 0) {
    return { names, identifiers };
  }
  const tls = readTls(RED, config.tls);
  const proxy = readProxies(RED, config.proxy);
  // One of another kind is refused now, and not by every attempt to connect.
  proxiesOf(proxy, [config.authUrl, config.baseUrl, ...brokers]);
  return {
    ...(hasRest && { rest: { ...createRest(config, credentials, tls), proxy } }),
    ...(brokers.length > 0 && { mqtt: { ...createMqtt(RED, id, brokers, config, credentials, tls), proxy } }),
    ...{ names, identifiers },
  };
}

/** An address that is missing is told by the calls that need it. */
function createRest(config: ServiceConfig, credentials: ServiceCredentials, tls?: TlsSettings): RestSettings {
  for (const field of ['authUrl', 'baseUrl'] as const) {
    if (config[field].trim() !== '') {
      readBaseAddress(field, config[field]);
    }
  }
  const problem = findHeaderProblem(config.authHeader);
  if (problem) {
    throw invalidInput('authHeader', config.authHeader, problem);
  }
  checkPageParameter(config);
  const { username = '', password = '' } = credentials;
  checkLengths([
    ['username', username, MAX_LOGIN_LENGTH],
    ['password', password, MAX_LOGIN_LENGTH],
  ]);
  return {
    authUrl: config.authUrl.trim(),
    baseUrl: config.baseUrl.trim(),
    username,
    password,
    authHeader: config.authHeader,
    pageTokenParam: config.pageTokenParam,
    attachPath: readAttach(config.attachPath),
    timeout: config.httpTimeout,
    retries: config.httpRetries,
    tls,
  };
}

/** A path that cannot be sent is refused now, and not by every label. */
function readAttach(path: string): string {
  const template = path.trim();
  if (template !== '') {
    readAttachPath(template, 'x');
  }
  return template;
}

/** `MaxResults` would become the page token; half of a surrogate pair cannot stand in an address. */
function checkPageParameter({ pageTokenParam }: ServiceConfig): void {
  if (pageTokenParam === 'MaxResults') {
    throw invalidInput('pageTokenParam', pageTokenParam, 'ownParameter');
  }
  if (!isWellFormed(pageTokenParam)) {
    throw invalidInput('pageTokenParam', pageTokenParam, 'notText');
  }
}

function createMqtt(
  RED: NodeAPI,
  id: string,
  brokers: string[],
  config: ServiceConfig,
  credentials: ServiceCredentials,
  tls?: TlsSettings,
): MqttSettings {
  const { protocolVersion, keepalive, persistent, sessionExpiry, sharedGroup, topicPrefix } = config;
  const { reportQos, requestQos, requestTimeout, maxInFlight, maxQueue } = config;
  const { ackOperation, ackDecodedOperation } = config;
  brokers.forEach(checkBroker);
  checkTopicParts(config);
  checkPacketTexts(config, credentials);
  checkProfile(config);
  return {
    brokers,
    username: credentials.mqttUsername || undefined,
    password: credentials.mqttPassword || undefined,
    clientId: readClientId(config.clientId) || createClientId(RED, id),
    ...{ protocolVersion, keepalive, persistent, sessionExpiry, sharedGroup, topicPrefix },
    ...{ reportQos, requestQos, requestTimeout, maxInFlight, maxQueue },
    limits: brokerLimits(config.brokerProfile, config),
    ...{ ackOperation, ackDecodedOperation, ackPayload: readTemplate(config.ackTemplate) },
    tls,
  };
}

/** The secret of an address would be exported with the flow: that is what credentials are for. */
function checkBroker(url: string): void {
  const isBroker = /^(mqtts?|wss?):\/\/[^/?#]/i.test(url);
  if (isBroker && hasBadPort(url)) {
    throw invalidInput('brokerUrl', showAddress(url, '…@'), 'badPort');
  }
  if (!isBroker || !URL.canParse(url)) {
    throw invalidInput('brokerUrl', showAddress(url, '…@'), 'notBroker');
  }
  if (hasLogin(url)) {
    throw invalidInput('brokerUrl', showAddress(url, '…@'), 'secretInUrl');
  }
}

/** Characters of a user name or password of the service: errors are searched for all spellings of a password. */
const MAX_LOGIN_LENGTH = 10_000;
/** Bytes of a text in an MQTT packet; a longer one in the first packet would end the whole process. */
const MAX_TEXT_BYTES = 65_535;
/** Bytes of a prefix or a group, which share a topic filter with each other and more. */
const MAX_TOPIC_PART_BYTES = 30_000;

type LimitedText = readonly [name: string, text: string | undefined, limit: number];

/** @throws INVALID_INPUT without the text: it may be a secret, and nobody can read it at this length */
function checkLengths(
  texts: readonly LimitedText[],
  lengthOf: (text: string) => number = ({ length }) => length,
): void {
  for (const [name, text = '', limit] of texts) {
    if (lengthOf(text) > limit) {
      throw invalidInput(name, '…', 'tooLong', { limit });
    }
  }
}

/** Before anything looks through them. */
function checkAddressLengths(config: ServiceConfig): void {
  const names = ['authUrl', 'baseUrl', 'brokerUrl'] as const;
  checkLengths(names.map((name) => [name, config[name], MAX_ADDRESSES_LENGTH]));
}

/** By their bytes, as they are in a packet. */
function checkPacketTexts(config: ServiceConfig, credentials: ServiceCredentials): void {
  const texts: LimitedText[] = [
    ['clientId', config.clientId, MAX_TEXT_BYTES],
    ['mqttUsername', credentials.mqttUsername, MAX_TEXT_BYTES],
    ['mqttPassword', credentials.mqttPassword, MAX_TEXT_BYTES],
    ['topicPrefix', config.topicPrefix, MAX_TOPIC_PART_BYTES],
    ['sharedGroup', config.sharedGroup, MAX_TOPIC_PART_BYTES],
  ];
  checkLengths(texts, Buffer.byteLength);
}

/** What would make every subscription fail, without a broker saying why. */
function checkTopicParts({ topicPrefix, sharedGroup }: ServiceConfig): void {
  if (!fitsTopic(topicPrefix)) {
    throw invalidInput('topicPrefix', topicPrefix, 'notWildcard');
  }
  if (!fitsTopic(sharedGroup) || sharedGroup.includes('/')) {
    throw invalidInput('sharedGroup', sharedGroup, 'notGroup');
  }
}

/** What the broker of the profile would refuse, or take and do nothing with. */
function checkProfile(config: ServiceConfig): void {
  for (const setting of PROFILED_SETTINGS) {
    const found = findProfileProblem(config.brokerProfile, setting, config[setting]);
    if (found) {
      throw invalidInput(setting, config[setting], found.reason, found.values);
    }
  }
}

/**
 * The addresses of the list, to be tried in turn.
 * @throws INVALID_INPUT without the text, where a comma tears the query of an address
 */
function readBrokers(text: string): string[] {
  const brokers = splitBrokers(text);
  if (!brokers) {
    throw invalidInput('brokerUrl', '…', 'tornQuery');
  }
  return brokers;
}

/** A gateway's client id is its MAC: with the same id, the broker would disconnect the gateway and us in turn. */
function readClientId(text: string): string {
  const id = text.trim();
  if (/^[0-9a-f]{12}$/i.test(id)) {
    throw invalidInput('clientId', id, 'likeMac');
  }
  if (hasControlCharacter(id)) {
    throw invalidInput('clientId', id, 'control');
  }
  return id;
}

/** Two Node-RED instances that run the same flow differ; one instance keeps its id, and no MAC begins like this. */
function createClientId(RED: NodeAPI, id: string): string {
  const { userDir } = RED.settings as { userDir?: string };
  const digest = createHash('sha256')
    .update([id, hostname(), userDir ?? ''].join('\0'))
    .digest('hex');
  return `mt-${digest.slice(0, 18)}`;
}

function readTemplate(text: string): Record<string, unknown> {
  let template: unknown;
  try {
    template = JSON.parse(text);
  } catch {
    template = undefined;
  }
  if (typeof template !== 'object' || template === null || Array.isArray(template)) {
    throw invalidInput('ackTemplate', text, 'notJson');
  }
  return template as Record<string, unknown>;
}

/** What core's tls-config gives; one that cannot read its files gives its other options all the same. */
interface TlsNode extends Node {
  valid?: boolean;
  addTLSOptions?(options: object): object;
}

/** One that is named but not there or not valid is refused: its certificates would be left out silently. */
function readTls(RED: NodeAPI, id: string): TlsSettings | undefined {
  if (id === '') {
    return undefined;
  }
  const node = RED.nodes.getNode(id) as TlsNode | null;
  if (!node?.addTLSOptions) {
    throw invalidInput('tls', id, 'noTls');
  }
  if (node.valid === false) {
    throw invalidInput('tls', id, 'badTls');
  }
  return node.addTLSOptions({}) as TlsSettings;
}
