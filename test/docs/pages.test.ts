// The pages for people: paths, links and commands that they name exist, and no status or error code is missing.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { ERROR_CODES } from '../../src/errors.ts';

const PAGES = [
  ...['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', '.github/pull_request_template.md'],
  ...['simulator/README.md', 'simulator/CHANGELOG.md'],
  ...readdirSync('docs')
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`),
];
const read = (file: string): string => readFileSync(file, 'utf8');
const strip = (text: string): string => text.replace(/^```[\s\S]*?^```$/gm, '');

/** Paths in backticks, such as `src/reports/topic-filters.ts` or `icons/`. */
function pathsOf(text: string): string[] {
  const spans = [...strip(text).matchAll(/`([^`\n]+)`/g)].map((match) => match[1] as string);
  return spans.filter((span) =>
    /^(src|nodes|simulator|test|docs|examples|icons|scripts|\.github|\.ci)\/[\w./-]*$/.test(span),
  );
}

/** Targets of links and pictures that lie in this repository, from the project's folder. */
function targetsOf(page: string): string[] {
  return [...strip(read(page)).matchAll(/\]\(([^)\s]+)\)/g)]
    .map((match) => (match[1] as string).split('#')[0] as string)
    .filter((target) => target !== '' && !/^[a-z]+:/.test(target))
    .map((target) => posix.join(posix.dirname(page), target));
}

/** `npm run x`, `npm x` and `npx mocha file` of a page. */
const scriptsOf = (text: string): string[] =>
  [...text.matchAll(/npm run ([\w:-]+)|npm (start|test)\b/g)].map(
    (match) => (match[1] ?? match[2]) as string,
  );

/** Texts of the statuses as the pages write them: placeholders become an ellipsis. */
function statusTexts(part: object): string[] {
  return Object.values(part).flatMap((value: unknown) =>
    typeof value === 'string' ? [value.replace(/__\w+__/g, '…')] : statusTexts(value as object),
  );
}

/** Texts that stand for something else: the status of a half (`no service` …) or none at all. */
const NEVER_SHOWN = new Set(['not configured', 'bad report']);
const ALL_IS_WELL = new Set(['connected', 'ready', 'working on …', '… devices', 'devices found: …']);

describe('the pages', () => {
  for (const page of PAGES) {
    it(`${page} names paths, links and commands that exist`, () => {
      const text = read(page);
      const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
      const missing = [...pathsOf(text), ...targetsOf(page)].filter((path) => !existsSync(path));
      const unknown = scriptsOf(text).filter((name) => !(name in scripts));
      assert.deepEqual([...missing, ...unknown], []);
    });
  }

  it('README.md and docs/lifecycle.md explain every status', () => {
    const shown = statusTexts(JSON.parse(read('nodes/shared/locales/en-US.json')).status);
    const texts = shown.filter((text) => !NEVER_SHOWN.has(text));
    const missing = (page: string, wanted: string[]) =>
      wanted.filter((text) => !read(page).includes(`\`${text}\``)).map((text) => `${page}: ${text}`);
    const problems = texts.filter((text) => !ALL_IS_WELL.has(text));
    assert.deepEqual([...missing('docs/lifecycle.md', texts), ...missing('README.md', problems)], []);
  });

  it('README.md explains every error code and lists every node', () => {
    const { 'node-red': red } = JSON.parse(read('package.json')) as {
      'node-red': { nodes: Record<string, string> };
    };
    const names = [...Object.keys(ERROR_CODES), ...Object.keys(red.nodes)];
    assert.deepEqual(
      names.filter((name) => !read('README.md').includes(`| \`${name}\` |`)),
      [],
    );
  });

  it('docs/security.md lists every endpoint with its permission', () => {
    const routes = read('nodes/service/admin.ts').matchAll(/httpAdmin\.(\w+)\('\/([^']+)', may(Read|Write)/g);
    const rows = [...routes].map(
      ([, method = '', path = '', may = '']) =>
        `| \`${method.toUpperCase()} ${path}\` | \`mt-service.${may.toLowerCase()}\` |`,
    );
    assert.ok(rows.length > 3);
    assert.deepEqual(
      rows.filter((row) => !read('docs/security.md').includes(row)),
      [],
    );
  });

  it('names the fields of the panels as the panels do', () => {
    const labels = JSON.stringify(
      readdirSync('nodes').flatMap((folder) => {
        const file = `nodes/${folder}/locales/en-US.json`;
        return existsSync(file) ? [JSON.parse(read(file))] : [];
      }),
    );
    const fields = ['Login header', 'Page parameter', 'Shared group', 'Topic prefix', 'Own properties'];
    const more = ['Ack (raw)', 'Ack (decoded)', 'Ack (body)', 'Broker address', 'Test connection'];
    const panel = [
      'Reports that pass now',
      'only its value',
      'Use a fixed value',
      'Repeats',
      'Refresh labels',
    ];
    const service = ['Keep reports while Node-RED is down', 'Keep alive', 'Client id', 'Waiting', 'Keep for'];
    assert.deepEqual(
      [...fields, ...more, ...panel, ...service].filter((field) => !labels.includes(`"${field}"`)),
      [],
    );
  });

  it('is right that nothing in the dependency tree runs a script when it is installed', () => {
    const { packages } = JSON.parse(read('package-lock.json')) as {
      packages: Record<string, { dev?: boolean; devOptional?: boolean; hasInstallScript?: boolean }>;
    };
    const scripted = Object.entries(packages).filter(
      ([path, { dev, devOptional, hasInstallScript }]) =>
        path !== '' && !dev && !devOptional && hasInstallScript === true,
    );
    assert.deepEqual(scripted, []);
  });
});
