// Publishes reports of QoS 0 as fast as it is told to, in a process of its own.
import { connectAsync } from 'mqtt';
import { GATEWAY } from './field.ts';

const [url = '', rate = '0', seconds = '0'] = process.argv.slice(2);
const PUMP_INTERVAL_MS = 10;

async function run(): Promise<void> {
  const client = await connectAsync(url);
  const time = new Date().toISOString();
  const total = Number(rate) * Number(seconds);
  const start = performance.now();
  for (let sent = 0; sent < total; ) {
    const due = Math.min(total, ((performance.now() - start) * Number(rate)) / 1000);
    for (; sent < due; sent++) {
      const topic = `mt/gateway/${GATEWAY}/device/d0000000000${sent % 10}/measurement/8801`;
      const value = sent.toString(16).padStart(8, '0');
      client.publish(topic, `{"time":"${time}","seq":${sent % 256},"value":"${value}"}`, { qos: 0 });
    }
    await new Promise((resolve) => setTimeout(resolve, PUMP_INTERVAL_MS));
  }
  await client.endAsync();
  process.send?.({ sent: total });
}

void run();
