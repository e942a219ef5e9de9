// Starts the load process and gives it orders.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { startMosquitto } from '../mosquitto.ts';
import type { Traffic } from './traffic.ts';

export type LoadOrder =
  /** `numbered`: each report carries its number in a field of its own. `qos`: of all reports, instead of half of them. */
  | {
      do: 'publish';
      traffic: Traffic;
      count: number;
      rate: number;
      numbered?: boolean;
      qos?: 0 | 1 | undefined;
    }
  | { do: 'respond' };

export interface Load {
  /** Resolves when the order is carried out: everything is published, or requests are being answered. */
  order(order: LoadOrder): Promise<void>;
  stop(): void;
}

export async function startLoad(url: string): Promise<Load> {
  const child = fork(join(import.meta.dirname, 'load.ts'), [url], { execArgv: ['--import', 'tsx'] });
  await once(child, 'message');
  return {
    order: async (order) => {
      child.send(order);
      await once(child, 'message');
    },
    stop: () => void child.kill('SIGKILL'),
  };
}

/** Nothing is dropped, whoever is slow, and no response waits for a delayed TCP acknowledgement. */
const BROKER = ['max_queued_messages 0', 'max_inflight_messages 0', 'set_tcp_nodelay true'];

/** Runs `act` beside a Mosquitto of its own and the load process. */
export async function withLoad<T>(act: (broker: string, load: Load) => Promise<T>): Promise<T> {
  const mosquitto = await startMosquitto(BROKER);
  const load = await startLoad(mosquitto.url);
  try {
    return await act(mosquitto.url, load);
  } finally {
    load.stop();
    await mosquitto.stop();
  }
}
