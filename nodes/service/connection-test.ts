// Tests settings that are typed but not saved; a stored password is sent only to the address that it is deployed for.
import type { Node, NodeAPI } from 'node-red';
import { type ErrorText, probeBroker, probeRest, type Settings } from '../../src/index.ts';
import { asText, pickKnown } from '../shared/defaults.ts';
import { findForEditor } from '../shared/runtime/services.ts';
import { toFlowError, translate } from '../shared/runtime/texts.ts';
import type { ServiceConfig, ServiceCredentials } from './config.ts';
import { fillService } from './filled.ts';
import { createSettings, type Deployed, deployedSettings, readBrokers } from './settings.ts';

export interface TestResult {
  ok: boolean;
  /** In the runtime's language. */
  message: string;
  ms: number;
  /** True: the half has no address, so there was nothing to test. */
  skipped?: true;
}

export interface TestResults {
  rest: TestResult;
  mqtt: TestResult;
}

/** What the editor sends for a password that was not changed. */
const UNCHANGED_PASSWORD = '__PWRD__';
const MAX_TEST_MS = 9_500;

/**
 * @param body `{id, …properties, credentials}` as it is typed in the panel
 * @returns both results within 10 s; never rejects but for a body that is no object
 */
export async function testConnection(RED: NodeAPI, body: unknown): Promise<TestResults> {
  const { id, credentials: entered } = pickKnown(body, { id: '', credentials: {} });
  const service = findForEditor(RED, asText(id ?? ''));
  const node = service ?? ({ id: asText(id ?? '') } as Node);
  const deployed = service && deployedSettings(service);
  const { config, credentials, check } = fillService(
    RED,
    node,
    body,
    entered ?? {},
    () => body as Record<string, unknown>,
  );
  const create = (half: Partial<ServiceConfig>) => (secrets: ServiceCredentials) => {
    const only = { ...config, ...half, identifiers: '[]' };
    check(only);
    return createSettings(RED, node.id, only, secrets);
  };
  const forRest = withStored('password', credentials, deployed, (before) => isSameRest(config, before));
  const forMqtt = withStored('mqttPassword', credentials, deployed, (before) => isSameMqtt(config, before));
  const [rest, mqtt] = await Promise.all([
    testHalf(RED, 'rest', forRest, create({ brokerUrl: '' })),
    testHalf(RED, 'mqtt', forMqtt, create({ authUrl: '', baseUrl: '' })),
  ]);
  return { rest, mqtt };
}

/** The credentials with the stored password in its place; undefined when it must be entered again. */
function withStored(
  password: 'password' | 'mqttPassword',
  credentials: ServiceCredentials,
  deployed: Deployed | undefined,
  isSameAddress: (before: ServiceConfig) => boolean,
): ServiceCredentials | undefined {
  if (credentials[password] !== UNCHANGED_PASSWORD) {
    return credentials;
  }
  return deployed && isSameAddress(deployed.config)
    ? { ...credentials, [password]: deployed.credentials[password] }
    : undefined;
}

const isSameRest = (config: ServiceConfig, before: ServiceConfig): boolean =>
  (['authUrl', 'baseUrl'] as const).every((key) => trimAddress(config[key]) === trimAddress(before[key]));

/** One that is deployed may be left out, but none added. */
function isSameMqtt(config: ServiceConfig, before: ServiceConfig): boolean {
  const known = new Set(readBrokers(before.brokerUrl));
  return readBrokers(config.brokerUrl).every((url) => known.has(url));
}

function trimAddress(url: string): string {
  return url.trim().replace(/\/+$/, '');
}

async function testHalf(
  RED: NodeAPI,
  half: 'rest' | 'mqtt',
  credentials: ServiceCredentials | undefined,
  create: (credentials: ServiceCredentials) => Settings,
): Promise<TestResult> {
  try {
    const settings = create(credentials ?? {});
    if (!settings[half]) {
      return { ok: false, message: translate(RED, `status.unconfigured.${half}`), ms: 0, skipped: true };
    }
    if (!credentials) {
      return { ok: false, message: translate(RED, 'check.enterAgain'), ms: 0 };
    }
    const { ok, text, ms } = settings.rest
      ? await probeRest(settings.rest, AbortSignal.timeout(MAX_TEST_MS))
      : await probeBroker(settings.mqtt!);
    return { ok, message: translateText(RED, text), ms };
  } catch (error) {
    return { ok: false, message: toFlowError(RED, error).message, ms: 0 };
  }
}

function translateText(RED: NodeAPI, { key, values }: ErrorText): string {
  return translate(RED, key, values);
}
