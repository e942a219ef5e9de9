// Runs the fault and fuzz tests and prints their table; `--long` repeats them as often as the promises say.
import { readdirSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import Mocha from 'mocha';

async function run(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { long: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  process.env.MT_FAULTS = values.long ? 'long' : 'short';
  const mocha = new Mocha({ timeout: values.long ? 0 : 60_000 });
  for (const file of positionals.length > 0 ? positionals : allTests()) mocha.addFile(file);
  const failures = await new Promise<number>((resolve) => mocha.run(resolve));
  const { formatTable } = await import('./table.ts');
  console.log(`Node.js ${process.version}, ${cpus().length} × ${cpus()[0]?.model}\n\n${formatTable()}\n`);
  process.exit(failures > 0 ? 1 : 0);
}

function allTests(): string[] {
  const files = ['test/faults', 'test/fuzz'].flatMap((folder) =>
    readdirSync(folder).map((file) => `${folder}/${file}`),
  );
  return files.filter((file) => file.endsWith('.test.ts')).sort();
}

void run();
