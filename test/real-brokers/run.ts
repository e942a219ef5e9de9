// Tries every behaviour at the real brokers of this machine and writes the table of docs/brokers.md: npm run docs:brokers.
import { writeResults } from '../docs/results.ts';
import { BEHAVIOURS, tryBehaviour } from './behaviours.ts';
import { SUBJECTS, type SubjectName } from './subjects.ts';

const row = (parts: readonly string[]): string => `| ${parts.join(' | ')} |`;

async function main(): Promise<void> {
  const names = (Object.keys(SUBJECTS) as SubjectName[]).filter((name) => SUBJECTS[name].isThere());
  const cells = new Map(BEHAVIOURS.map(({ name }): [string, string[]] => [name, []]));

  for (const name of names) {
    const broker = await SUBJECTS[name].start();
    try {
      for (const behaviour of BEHAVIOURS) {
        const outcome = await tryBehaviour(behaviour, broker, name, SUBJECTS[name].profile);
        const lack = behaviour.lacks?.[name] ?? String(outcome?.error);
        cells.get(behaviour.name)?.push(outcome === undefined ? '–' : outcome.works ? 'yes' : `no: ${lack}`);
      }
    } finally {
      await broker.stop();
    }
  }

  const table = [
    row(['behaviour', ...names]),
    row(['---', ...names.map(() => '---')]),
    ...[...cells].map(([name, results]) => row([name, ...results])),
  ];
  await writeResults('docs/brokers.md', table.join('\n'));
}

void main().then(() => process.exit());
