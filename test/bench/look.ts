// Somebody who looks at the sidebar: asks what the editor asks, as soon as the runtime says that something has changed.
import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { Bench } from './measure.ts';
import { deviceMac, gatewayMac } from './traffic.ts';

/** As the sidebar does while its switch is on. */
const LISTEN_INTERVAL_MS = 8_000;
/** Rows in sight, with those that the sidebar asks for on either side. */
const ROWS = 70;

/**
 * Begins to look, with *Listen to everything* on, one gateway opened and one device chosen.
 * @returns what ends it
 */
export async function look({ red }: Bench): Promise<() => Promise<void>> {
  const service = 'mt-service/service';
  const listen = () => red.call('POST', `${service}/listen`, { all: true });
  const comms = new WebSocket(`${red.url.replace(/^http/, 'ws')}/comms`);
  await once(comms, 'open');
  comms.send(JSON.stringify({ subscribe: 'mt-gateway/changed' }));
  const { watch } = (await red.call('POST', `${service}/watch`, {})) as { watch: string };
  comms.send(JSON.stringify({ topic: 'mt-gateway/watch', data: { watch } }));

  const page = (parent: string) =>
    red.call('GET', `${service}/network?parent=${parent}&sort=name&offset=0&limit=${ROWS}&watch=${watch}`);
  const ask = () =>
    Promise.all([
      page(''),
      page(gatewayMac(0)),
      red.call('GET', `${service}/network/${deviceMac(0)}?reports=1&watch=${watch}`),
    ]);
  // One question after the other, however often something changes.
  let asking: Promise<unknown> = Promise.all([listen(), ask()]);
  comms.on('message', (data) => {
    if (`${data as Buffer}`.includes(watch)) {
      asking = asking.then(ask);
    }
  });
  const listening = setInterval(() => {
    asking = asking.then(listen);
  }, LISTEN_INTERVAL_MS);
  await asking;
  return async () => {
    clearInterval(listening);
    comms.terminate();
    await asking;
  };
}
