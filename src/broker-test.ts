// The MQTT half of "Test connection": tries settings that are not in use yet, beside the deployed connection.
import { randomBytes } from 'node:crypto';
import type { ErrorText } from './errors.ts';
import { SILENT } from './log.ts';
import { Session } from './session.ts';
import type { MqttSettings } from './settings.ts';

export interface BrokerTest {
  ok: boolean;
  /** `key` is the whole key in the locale files: `check.…`. */
  text: ErrorText;
  /** Milliseconds until the broker had answered. */
  ms: number;
  /** How many gateways were heard. */
  gateways: number;
}

/** How long reports are listened for once the broker is there. */
const LISTEN_MS = 3_000;
const CONNECT_MS = 5_500;

const EVERYTHING = {
  kinds: [],
  form: 'both',
  gateways: [],
  devices: [],
  identifiers: [],
  labels: [],
  labelRefresh: 300,
  decode: false,
  duplicates: 'keep',
  duplicateWindow: 10,
} as const;

/**
 * Connects, listens for three seconds and leaves nothing behind at the broker. Never rejects.
 *
 * The client id is another one, since a broker throws out the deployed client when its id comes again, and the group
 * is left out, since what a test hears would be missing there.
 */
export async function testBroker(settings: MqttSettings): Promise<BrokerTest> {
  const start = performance.now();
  const clientId = `mt-test-${randomBytes(6).toString('hex')}`;
  const own = { clientId, persistent: false, sharedGroup: '', reportQos: 0 } as const;
  const session = new Session({ mqtt: { ...settings, ...own } }, SILENT);
  const gateways = new Set<string>();
  try {
    session.subscribe(EVERYTHING, { report: ({ gateway }) => void gateways.add(gateway), error() {} });
    const failure = await connect(session, settings.brokers.length);
    const ms = Math.round(performance.now() - start);
    if (failure !== undefined) {
      return { ok: false, text: { key: 'check.noBroker', values: { reason: failure } }, ms, gateways: 0 };
    }
    await new Promise((resolve) => setTimeout(resolve, LISTEN_MS));
    const key = gateways.size > 0 ? 'check.heard' : 'check.silent';
    return { ok: true, text: { key, values: { gateways: gateways.size } }, ms, gateways: gateways.size };
  } catch (error) {
    const ms = Math.round(performance.now() - start);
    const reason = error instanceof Error ? error.message : String(error);
    return { ok: false, text: { key: 'check.noBroker', values: { reason } }, ms, gateways: 0 };
  } finally {
    await session.close();
  }
}

/** @returns undefined when connected, else why not; with several brokers each gets its turn until the time is over */
function connect(session: Session, brokers: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    let reason = 'ETIMEDOUT';
    let failures = 0;
    let forget = (): void => undefined;
    const end = (failure: string | undefined) => {
      clearTimeout(timer);
      queueMicrotask(() => forget());
      resolve(failure);
    };
    const timer = setTimeout(() => end(reason), CONNECT_MS);
    forget = session.onState(({ mqtt }) => {
      if (mqtt.name === 'connected') {
        end(undefined);
      } else if (mqtt.name === 'waiting' || mqtt.name === 'refused' || mqtt.name === 'limited') {
        reason = mqtt.reason;
        if (++failures >= brokers || mqtt.name !== 'waiting') {
          end(reason);
        }
      }
    });
  });
}
