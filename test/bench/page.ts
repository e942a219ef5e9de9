// Puts the results between the two marks of docs/performance.md; all other text of the page is written by hand.
import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import type { Row } from './compare.ts';
import type { Options } from './run.ts';

const ROOT = join(import.meta.dirname, '../..');
const PAGE = join(ROOT, 'docs/performance.md');
const MARKS = ['<!-- results -->', '<!-- end of results -->'] as const;

const COLUMNS = ['case', 'what', 'ours', 'against', 'ratio', 'reach', 'reached'] as const;

function verdict({ reach, reached }: Row): string {
  // Without a goal the figures speak for themselves.
  if (reach === '') return '';
  return reached === undefined ? 'not shown here' : reached ? 'yes' : '**no**';
}

export function tableOf(rows: Row[]): string {
  const lines = rows.map((row) => COLUMNS.map((name) => (name === 'reached' ? verdict(row) : row[name])));
  return [[...COLUMNS], COLUMNS.map(() => '---'), ...lines]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

async function versionOf(name: string): Promise<string> {
  const manifest: unknown = JSON.parse(
    await readFile(join(ROOT, `node_modules/${name}/package.json`), 'utf8'),
  );
  return (manifest as { version: string }).version;
}

async function circumstances({ pairs, scale }: Options): Promise<string> {
  const [red, node, mqtt] = await Promise.all(['node-red', 'node', 'mqtt'].map(versionOf));
  const machine = `${availableParallelism()} cores (${cpus()[0]?.model.trim() ?? 'unknown'})`;
  const date = new Date().toISOString().slice(0, 10);
  return `${date}, ${machine}, Node-RED ${red} on Node.js ${node}, MQTT.js ${mqtt}, ${pairs} pairs, ${scale === 1 ? 'all' : scale} of the messages.`;
}

export async function writePage(rows: Row[], options: Options): Promise<void> {
  const page = await readFile(PAGE, 'utf8');
  const [before, rest = ''] = page.split(MARKS[0]);
  const [, after = ''] = rest.split(MARKS[1]);
  const results = `${await circumstances(options)}\n\n${tableOf(rows)}`;
  await writeFile(PAGE, `${before}${MARKS[0]}\n\n${results}\n\n${MARKS[1]}${after}`);
}
