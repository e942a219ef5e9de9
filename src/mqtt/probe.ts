// The MQTT half of "Test connection": tries settings that are not in use yet, beside the deployed connection.
import { randomBytes } from 'node:crypto';
import type { ErrorText, Phrase } from '../errors.ts';
import { SILENT } from '../log.ts';
import { isMac } from '../protocol/mac.ts';
import { createTopics } from '../protocol/topics.ts';
import { proxiesOf } from '../proxy/choice.ts';
import type { MqttSettings } from '../settings.ts';
import { showBroker } from './address.ts';
import { MqttClient } from './client.ts';
import { type Place, reasonOfLoss } from './reasons.ts';
import type { ReportHandler } from './report-subscriptions.ts';
import type { MqttState } from './state.ts';

export interface BrokerProbe {
  ok: boolean;
  /** `key` is the whole key in the locale files: `check.…`. */
  text: ErrorText;
  /** Milliseconds until the broker had answered. */
  ms: number;
  /** How many gateways were heard. */
  gateways: number;
  /** Host and port of the proxies that the brokers were tried through. */
  proxies: string[];
}

/** How long reports are listened for once the broker is there. */
const LISTEN_MS = 3_000;
const CONNECT_MS = 5_500;
const MAX_GATEWAYS = 10_000;

/**
 * Connects, listens for three seconds and leaves nothing behind at the broker. Never rejects.
 *
 * The client id is another one, since a broker throws out the deployed client when its id comes again, and the group
 * is left out, since what a test hears would be missing there.
 */
export async function probeBroker(settings: MqttSettings): Promise<BrokerProbe> {
  const start = performance.now();
  const clientId = `mt-test-${randomBytes(6).toString('hex')}`;
  const own = { clientId, persistent: false, sharedGroup: '', reportQos: 0 } as const;
  const gateways = new Set<string>();
  const states = new EventTarget();
  const topics = createTopics(settings.topicPrefix);
  const everything: ReportHandler = {
    filters: () => ({ wanted: [topics.reportFilter({})], previewed: [] }),
    connected() {},
    settled() {},
    deliver(topic) {
      const gateway = topics.parseReport(topic)?.gateway;
      if (gateway !== undefined && isMac(gateway) && gateways.size < MAX_GATEWAYS) {
        gateways.add(gateway);
      }
      return 'delivered';
    },
  };
  const events = { state: () => states.dispatchEvent(new Event('state')), resumed() {} };
  const client = new MqttClient({ ...settings, ...own }, topics, everything, SILENT, events);
  let proxies = proxiesOf(settings.proxy, settings.brokers);
  try {
    client.attach();
    client.updateFilters();
    const failure = await connect(client, states, settings.brokers.length, {
      broker: showBroker(settings.brokers[0] ?? ''),
      protocolVersion: settings.protocolVersion,
    });
    const ms = Math.round(performance.now() - start);
    if (failure !== undefined) {
      return {
        ok: false,
        text: { key: 'check.noBroker', values: { reason: failure } },
        ms,
        gateways: 0,
        proxies,
      };
    }
    if (client.state.name === 'connected') {
      proxies = proxiesOf(settings.proxy, [client.state.broker]);
    }
    await new Promise((resolve) => setTimeout(resolve, LISTEN_MS));
    const key = gateways.size > 0 ? 'check.heard' : 'check.silent';
    return {
      ok: true,
      text: { key, values: { gateways: gateways.size } },
      ms,
      gateways: gateways.size,
      proxies,
    };
  } catch (error) {
    const ms = Math.round(performance.now() - start);
    const message = error instanceof Error ? error.message : String(error);
    const reason = { key: 'reason.other', values: { message } };
    return { ok: false, text: { key: 'check.noBroker', values: { reason } }, ms, gateways: 0, proxies };
  } finally {
    await client.close();
  }
}

/** @returns undefined when connected, else why not; each of several brokers is tried until the time is over */
function connect(
  client: MqttClient,
  states: EventTarget,
  brokers: number,
  place: Place,
): Promise<Phrase | undefined> {
  return new Promise((resolve) => {
    let reason: Phrase = reasonOfLoss({ error: { code: 'ETIMEDOUT' }, wasConnected: false }, place);
    let failures = 0;
    const end = (failure: Phrase | undefined) => {
      clearTimeout(timer);
      states.removeEventListener('state', look);
      resolve(failure);
    };
    const timer = setTimeout(() => end(reason), CONNECT_MS);
    const look = () => {
      const { state } = client;
      if (state.name === 'connected') {
        end(undefined);
      } else if (isFailure(state)) {
        reason = state.reason;
        failures++;
        if (failures >= brokers || state.name === 'limited') {
          end(reason);
        }
      }
    };
    states.addEventListener('state', look);
    look();
  });
}

function isFailure(state: MqttState): state is MqttState & { reason: Phrase } {
  return state.name === 'waiting' || state.name === 'refused' || state.name === 'limited';
}
