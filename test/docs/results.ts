// Results of a run in a page of docs/: put between its two marks; all other text of the page is written by hand.
import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const MARKS = ['<!-- results -->', '<!-- end of results -->'] as const;

async function versionOf(name: string): Promise<string> {
  const manifest: unknown = JSON.parse(
    await readFile(join(ROOT, `node_modules/${name}/package.json`), 'utf8'),
  );
  return (manifest as { version: string }).version;
}

/** When, on what machine, and with which versions; without a full stop. */
export async function describeRun(): Promise<string> {
  const [red, node, mqtt] = await Promise.all(['node-red', 'node', 'mqtt'].map(versionOf));
  const machine = `${availableParallelism()} cores (${cpus()[0]?.model.trim() ?? 'unknown'})`;
  const date = new Date().toISOString().slice(0, 10);
  return `${date}, ${machine}, Node-RED ${red} on Node.js ${node}, MQTT.js ${mqtt}`;
}

async function split(file: string): Promise<{ before: string; results: string; after: string }> {
  const [before = '', rest = ''] = (await readFile(file, 'utf8')).split(MARKS[0]);
  const [results = '', after = ''] = rest.split(MARKS[1]);
  return { before, results: results.trim(), after };
}

/** What the last run wrote. @param page path below the project's root */
export async function readResults(page: string): Promise<string> {
  return (await split(join(ROOT, page))).results;
}

/** @param page path below the project's root */
export async function writeResults(page: string, results: string): Promise<void> {
  const file = join(ROOT, page);
  const { before, after } = await split(file);
  await writeFile(file, `${before}${MARKS[0]}\n\n${results}\n\n${MARKS[1]}${after}`);
}
