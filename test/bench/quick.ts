// What `npm run bench -- --quick` prints: ratios, and which of them are worse than recorded.
import { describeRun, readResults } from '../docs/results.ts';
import type { Row } from './compare.ts';
import { markdown, PAGE } from './page.ts';
import { type Comparison, compareWithRecorded } from './recorded.ts';

function changeOf({ change, isWorse }: Comparison): string {
  if (change === undefined) {
    return '';
  }
  const percent = Math.round((change - 1) * 100);
  const text = `${percent > 0 ? '+' : ''}${percent} %`;
  return isWorse ? `**worse: ${text}**` : text;
}

/** Prints Markdown; in GitHub's checks, what is worse is a warning at the pull request too. */
export async function printComparison(rows: Row[]): Promise<void> {
  const page = await readResults(PAGE);
  const found = compareWithRecorded(rows, page);
  const lines = found.map((each) => [
    ...[each.case, each.what, each.against, each.ratio],
    ...[each.recorded || 'not recorded', changeOf(each)],
  ]);
  console.log(`Now: ${await describeRun()}.\n\nRecorded in ${PAGE}: ${page.split('\n')[0]}\n`);
  console.log(markdown(['case', 'what', 'against', 'ratio', 'recorded', 'change'], lines));
  const worse = found.filter(({ isWorse }) => isWorse);
  console.log(
    worse.length === 0
      ? '\nNo ratio is 10 % worse than recorded.'
      : `\n${worse.length} of ${found.length} ratios are 10 % worse than recorded, or more. Measure them on a quiet machine: \`npm run bench -- ${[...new Set(worse.map((each) => `--case ${each.case}`))].join(' ')}\``,
  );
  if (process.env.GITHUB_ACTIONS !== undefined) {
    for (const { case: name, what, against, ratio, recorded } of worse) {
      console.error(`::warning title=Benchmark ${name}::${what}: ${ratio} ${against}, recorded ${recorded}`);
    }
  }
}
