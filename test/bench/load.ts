// The load process: publishes reports at a given rate and answers read requests, apart from what is measured.
import type { Socket } from 'node:net';
import { connectAsync } from 'mqtt';
import type { LoadOrder } from './load-client.ts';
import { reportsOf } from './traffic.ts';

const TICK = 5;

const [url = ''] = process.argv.slice(2);
const connected = connectAsync(url).then((client) => {
  (client.stream as Socket).setNoDelay(true);
  return client;
});

/** Publishes in small steps that follow the clock, so that every round meets the same traffic. */
async function publish({
  traffic,
  count,
  rate,
  numbered,
  qos,
}: Extract<LoadOrder, { do: 'publish' }>): Promise<void> {
  const client = await connected;
  const reports = reportsOf(traffic);
  const started = performance.now();
  let sent = 0;
  while (sent < count) {
    const due = Math.min(count, Math.ceil(((performance.now() - started) / 1000) * rate));
    for (; sent < due; sent++) {
      const { topic, payload } = reports[sent % reports.length] as (typeof reports)[number];
      const body = numbered === true ? `${payload.slice(0, -1)},"number":${sent}}` : payload;
      client.publish(topic, body, { qos: qos ?? (sent % 2 === 0 ? 0 : 1) });
    }
    await new Promise((resolve) => setTimeout(resolve, TICK));
  }
}

/** Answers every read at once, as a gateway that has the value would. */
async function respond(): Promise<void> {
  const client = await connected;
  client.on('message', (topic, payload) => {
    const { id } = JSON.parse(payload.toString()) as { id: string };
    const answer = {
      id,
      time: '2024-05-01T10:00:00.000Z',
      status: 0,
      responseTime: 20,
      origin: 0,
      value: '1234',
    };
    client.publish(topic.replace('/request/', '/response/'), JSON.stringify(answer), { qos: 1 });
  });
  await client.subscribeAsync('mt/gateway/+/request/#', { qos: 1 });
}

process.on('message', async (order: LoadOrder) => {
  await (order.do === 'publish' ? publish(order) : respond());
  process.send?.('done');
});
process.on('disconnect', () => process.exit());
void connected.then(() => process.send?.('ready'));
