// picker: what a picker's question costs when the service lists few devices, and when it lists very many.
import { setTimeout as delay } from 'node:timers/promises';
import { startService } from '../../simulator/src/service.ts';
import type { NodeConfig } from '../e2e/node-red.ts';
import { median, type Row } from './compare.ts';
import { type Bench, startBench } from './measure.ts';
import type { Options } from './run.ts';

const LISTED = [20, 20_000, 50_000];
const QUESTIONS = 200;
const WARM_UP = 50;
const MAX_TRIES = 100;

/** Sought in the whole list, because it is not there; and found at once, so that only the response counts. */
const SOUGHT = { 'nothing found': 'no such device', 'found at once': 'floor' } as const;

const nodes = (url: string, credentials: Record<string, string>): NodeConfig[] => [
  { id: 'service', type: 'mt-service', authUrl: url, baseUrl: url, credentials },
];

/** Asks until the deployed service answers, which it does when it has the list. */
async function firstList({ red }: Bench): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      await red.call('GET', 'mt-service/service/devices?limit=1');
      return;
    } catch (error) {
      if (tries === MAX_TRIES) {
        throw error;
      }
      await delay(50);
    }
  }
}

/** Milliseconds of one question after the other. */
async function ask({ red }: Bench, text: string, count: number): Promise<number[]> {
  const times: number[] = [];
  const path = `mt-service/service/devices?q=${encodeURIComponent(text)}&limit=50`;
  for (let i = 0; i < count; i++) {
    const start = performance.now();
    await red.call('GET', path);
    times.push(performance.now() - start);
  }
  return times;
}

/** The median time of each question, once the first list is there. */
async function measure(listed: number): Promise<number[]> {
  const box = await startService({ mqtt: false, listed });
  try {
    const bench = await startBench(nodes(box.urls.base, box.credentials));
    try {
      await firstList(bench);
      const medians: number[] = [];
      for (const text of Object.values(SOUGHT)) {
        await ask(bench, text, WARM_UP);
        medians.push(median(await ask(bench, text, QUESTIONS)));
      }
      return medians;
    } finally {
      await bench.stop();
    }
  } finally {
    await box.close();
  }
}

async function picker({ scale }: Options): Promise<Row[]> {
  const counts = LISTED.map((count, i) => (i === 0 ? count : Math.max(1, Math.round(count * scale))));
  const times: number[][] = [];
  for (const count of counts) {
    times.push(await measure(count));
  }
  const few = times[0] ?? [];
  return counts.flatMap((count, i) =>
    Object.keys(SOUGHT).map((title, k) => {
      const [ours, least] = [times[i]?.[k] ?? Number.NaN, few[k] ?? Number.NaN];
      return {
        case: 'picker',
        what: `a question to ${count} devices, ${title}`,
        ours: `${ours.toFixed(2)} ms`,
        against: i === 0 ? '' : `${counts[0]} devices: ${least.toFixed(2)} ms`,
        ratio: i === 0 ? '' : `${(ours / least).toFixed(2)} ×`,
        reach: '',
        reached: undefined,
      };
    }),
  );
}

export const pickerCases = { picker };
