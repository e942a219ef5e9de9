// docs/lifecycle.md against the tests: everything that it promises has a test that is there.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { DEFAULTS as REPORT_IN } from '../../nodes/report-in/config.ts';
import { DEFAULTS as SERVICE } from '../../nodes/service/config.ts';
import { type Holders, PROMISES } from './promises.ts';
import { type Statement, statementsOf } from './sentences.ts';

const PAGE = 'docs/lifecycle.md';
const TABLE = 'test/docs/promises.ts';
const page = readFileSync(PAGE, 'utf8');
const statements = statementsOf(page);
const fileOf = (name: string): string => `test/${name}.test.ts`;

const CALL = /\b(?:it\w*|describe\w*)(?:\.\w+)?\(\s*(?:(['"`])((?:\\.|(?!\1)[^\\])*)\1|(\w+),)/g;
const quote = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

interface Title {
  /** What mocha shows: fixed parts, and whatever fills the holes of a template or stands in a variable. */
  shown: RegExp;
  hasHoles: boolean;
}

function titlesOf(source: string): Title[] {
  return [...source.matchAll(CALL)].map(([, mark, text = '']) => {
    const parts = mark === undefined ? ['', ''] : mark === '`' ? partsOf(text) : [text];
    const plain = parts.map((part) => quote(part.replace(/\\(.)/g, '$1')));
    return { shown: new RegExp(`^${plain.join('(.*)')}$`), hasHoles: parts.length > 1 };
  });
}

/** What stands between the `${…}` of a template, which may have braces of their own. */
function partsOf(template: string): string[] {
  const parts: string[] = [];
  let part = '';
  let depth = 0;
  for (let at = 0; at < template.length; at++) {
    const isHole = depth === 0 && template.startsWith('${', at);
    if (isHole) {
      parts.push(part);
      part = '';
      at++;
      depth = 1;
    } else if (depth > 0) {
      depth += template[at] === '{' ? 1 : template[at] === '}' ? -1 : 0;
    } else {
      part += template[at];
    }
  }
  return [...parts, part];
}

/** What fills a hole stands in the source too, unless the table leaves it open. */
function isTitleOf(source: string, name: string): boolean {
  return titlesOf(source).some(({ shown }) => {
    const [whole, ...filled] = shown.exec(name) ?? [];
    return whole !== undefined && filled.every((text) => text === '…' || source.includes(text));
  });
}

/** Names of tests that are not there, with their file. */
function missingOf(holders: Holders): string[] {
  return Object.entries(holders).flatMap(([name, titles]) => {
    const file = fileOf(name);
    if (!existsSync(file)) {
      return [`${file} does not exist`];
    }
    const source = readFileSync(file, 'utf8');
    const missing = [titles].flat().filter((title) => !isTitleOf(source, title));
    return missing.map((title) => `${file} has no test "${title}"`);
  });
}

const told = (problems: readonly string[], advice: string): string => `${advice}\n${problems.join('\n')}\n`;
const show = ({ section, text }: Statement): string => `  ${section}: ${text}`;

describe(PAGE, () => {
  it('names a test for everything that it says', () => {
    const untested = statements.filter(({ section, text }) => PROMISES[section]?.[text] === undefined);
    const advice = `${PAGE} says what ${TABLE} does not know. Add each sentence there, under its heading, with the test that holds it (write one first), or with the reason why it promises nothing:`;
    assert.equal(untested.length, 0, told(untested.map(show), advice));
  });

  it('still says everything that is held by a test', () => {
    const said = new Set(statements.map(show));
    const rows = Object.entries(PROMISES).flatMap(([section, all]) =>
      Object.keys(all).map((text) => show({ section, text })),
    );
    const gone = rows.filter((row) => !said.has(row));
    const advice = `${TABLE} has sentences that ${PAGE} does not say any more. Delete them, or write them as they are now:`;
    assert.equal(gone.length, 0, told(gone, advice));
  });

  it('is held by tests that exist', () => {
    const rows = Object.values(PROMISES).flatMap((all) => Object.entries(all));
    const problems = rows.flatMap(([text, holders]) =>
      typeof holders === 'string' ? [] : missingOf(holders).map((problem) => `  ${problem}: ${text}`),
    );
    const advice = `${TABLE} names tests that are not there. Name the tests that hold these sentences now:`;
    assert.equal(problems.length, 0, told(problems, advice));
  });

  it('names settings as the panels and the flows do', () => {
    const labels = readdirSync('nodes')
      .map((folder) => `nodes/${folder}/locales/en-US.json`)
      .filter((file) => existsSync(file))
      .map((file) => JSON.stringify(JSON.parse(readFileSync(file, 'utf8'))));
    const named = [...page.matchAll(/\*([A-Z][^*]+)\* \(`(\w+)`/g)];
    const unknown = named.filter(
      ([, label, property]) => !labels.some((text) => text.includes(`"${property}":"${label}"`)),
    );
    assert.ok(named.length >= 5);
    assert.deepEqual(
      unknown.map(([text]) => text),
      [],
    );
    assert.match(page, /`persistent` is \*Keep reports while Node-RED is down\*/);
    assert.ok(labels.some((text) => text.includes('"persistent":"Keep reports while Node-RED is down"')));
  });

  it('gives the defaults of settings that it names', () => {
    const { maxInFlight, maxQueue, httpRetries, keepalive, reportQos, persistent } = SERVICE;
    for (const text of [
      `\`maxInFlight\` = ${maxInFlight} `,
      `(\`maxQueue\`, ${maxQueue} in all)`,
      `\`httpRetries\` = ${httpRetries} times`,
      `(\`keepalive\`, ${keepalive} seconds)`,
      `as installed: \`persistent\` ${persistent ? 'on' : 'off'}, QoS ${reportQos}`,
      `every ${REPORT_IN.labelRefresh} seconds (\`labelRefresh\`)`,
      `within ${REPORT_IN.duplicateWindow} seconds (\`duplicateWindow\`)`,
    ]) {
      assert.ok(page.includes(text), text);
    }
  });
});

describe('the comparison of a page with its tests', () => {
  it('takes a page apart into sentences and rows', () => {
    const text = [
      '# A page',
      'It says this. `That` is also said, e.g. here: right?',
      '',
      '- **Bold.** With its sentence. And one more.',
      '## A table',
      '| a | b |',
      '|---|---|',
      '| 1 | 2. Not two |',
    ].join('\n');
    assert.deepEqual(
      statementsOf(text).map((statement) => `${statement.section} | ${statement.text}`),
      [
        'A page | It says this.',
        'A page | `That` is also said, e.g. here: right?',
        'A page | **Bold.** With its sentence.',
        'A page | And one more.',
        'A table | 1 | 2. Not two',
      ],
    );
  });

  it('finds a title that a test fills in, when what fills it is in the file', () => {
    const source = [
      "it('does it\\'s work', () => {});",
      'for (const how of ["well", "badly"]) it(`works ${how}, ${nobody({ knows: why })}.`, () => {});',
      '// it says so',
    ].join('\n');
    const names = ["does it's work", 'works well, ….', 'works …, ….', 'works never, ….', 'does', 'says so'];
    assert.deepEqual(
      names.map((name) => isTitleOf(source, name)),
      [true, true, true, false, false, false],
    );
  });
});
