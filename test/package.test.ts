// The package as the Flow Library and npm see it: its scorecard, its nodes' files, and what the tarball holds.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Range, satisfies } from 'semver';
import { packPackage } from './e2e/package.ts';
import { literalOf, registrationsOfScript } from './register-type.ts';

interface Manifest {
  name: string;
  version: string;
  license?: string;
  repository?: unknown;
  bugs?: unknown;
  keywords: string[];
  engines: { node: string };
  dependencies: Record<string, string>;
  scripts: Record<string, string>;
  'node-red': { version: string; nodes: Record<string, string> };
}

const readJson = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));
const manifest = readJson('package.json') as Manifest;
const nodes = Object.entries(manifest['node-red'].nodes).map(([type, js]) => ({
  type,
  js,
  folder: basename(dirname(js)),
}));

/** As the Flow Library finds them. */
const registrationsOf = (html: string) =>
  [...html.matchAll(/<script[^>]*type="text\/javascript"[^>]*>([\s\S]*?)<\/script>/g)].flatMap(
    ([, script = '']) => registrationsOfScript(script),
  );

const html = (js: string): string => readFileSync(js.replace('.js', '.html'), 'utf8');

function exampleTypes(): Set<string> {
  const files = readdirSync('examples', { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.json'),
  );
  const flows = files.map((file) => readJson(join('examples', file))).filter((flow) => Array.isArray(flow));
  return new Set(flows.flat().map(({ type }: { type: string }) => type));
}

describe('the scorecard of the Flow Library', () => {
  it('P01 P03: names its licence, repository and place for bugs', () => {
    assert.equal(manifest.license, 'Apache-2.0');
    assert.ok(manifest.repository && manifest.bugs);
  });

  it('P04 P05: has a scoped name and the keyword', () => {
    assert.match(manifest.name, /^@[a-z\d][\w-.]+\/[a-z\d][\w-.]*$/);
    assert.ok(manifest.keywords.includes('node-red'));
  });

  it('P06 P07: runs on both Node-RED lines and on their lowest Node.js', () => {
    for (const red of ['node-red', 'node-red-4']) {
      const { version } = readJson(`node_modules/${red}/package.json`) as Manifest;
      assert.ok(satisfies(version, manifest['node-red'].version), version);
    }
    assert.ok(satisfies('22.9.0', manifest.engines.node));
    assert.ok(new Range(manifest.engines.node).test('20.18.1'));
  });

  it('N01: registers each type of package.json with literals in its html', () => {
    for (const { type, js } of nodes) {
      const found = registrationsOf(html(js));
      assert.deepEqual(
        found.map((each) => each.type),
        [type],
      );
      const { category, icon } = found[0]?.settings ?? {};
      const isConfig = literalOf(category) === 'config';
      assert.equal(isConfig, type === 'mt-service');
      assert.ok(isConfig || literalOf(category) === 'mt gateway', type);
      assert.ok(
        isConfig || existsSync(join(dirname(js), 'icons', String(literalOf(icon)))),
        `icon of ${type}`,
      );
    }
  });

  it('N02: shows every flow node in an example', () => {
    const shown = exampleTypes();
    assert.deepEqual(
      nodes.filter(({ type }) => type !== 'mt-service' && !shown.has(type)),
      [],
    );
  });

  it('D01: depends on mqtt and undici only', () => {
    assert.deepEqual(Object.keys(manifest.dependencies), ['mqtt', 'undici']);
  });
});

describe('every node', () => {
  /** The node that the help of all travels with. */
  const HELPER = manifest['node-red'].nodes['mt-service'] as string;
  const FILES = [
    'node.ts',
    'config.ts',
    'editor.ts',
    'editor.html',
    'locales/en-US.json',
    'locales/en-US.md',
  ];

  for (const { type, folder, js } of nodes) {
    it(`${type} has the same six files, an icon, and every language that another has`, () => {
      const missing = [...FILES.map((file) => `nodes/${folder}/${file}`), `icons/${folder}.svg`];
      assert.deepEqual(
        missing.filter((file) => !existsSync(file)),
        [],
      );
      assert.deepEqual(
        readdirSync(`nodes/${folder}/locales`).sort(),
        readdirSync('nodes/service/locales').sort(),
      );
    });

    it(`${type} is built with its panel, icon, texts and help`, () => {
      const folders = readdirSync(join(dirname(js), 'locales'));
      assert.ok(folders.includes('en-US'));
      for (const lang of folders) {
        const help = readFileSync(join(dirname(HELPER), 'locales', lang, 'node.html'), 'utf8');
        assert.ok(help.includes(`data-help-name="${type}"`), lang);
        assert.equal(typeof readJson(join(dirname(js), 'locales', lang, 'node.json')), 'object');
      }
      // Node-RED shows the word "null" where it finds no file.
      assert.ok(existsSync(join(dirname(js), 'locales/en-US/node.html')));
      assert.ok(html(js).includes(`data-template-name="${type}"`));
    });
  }
});

describe('the tarball', function () {
  this.timeout(60_000);

  it('is small and holds what is needed to run, nothing else', async () => {
    const { report } = await packPackage();
    assert.ok(report.size < 492_000, `${report.size} bytes packed`);
    assert.ok(report.unpackedSize < 1_690_000, `${report.unpackedSize} bytes unpacked`);
    const allowed =
      /^(package\.json|README\.md|LICENSE|CHANGELOG\.md|dist\/|examples\/(dashboard\/|database\/)?[^/]+\.json$)/;
    const paths = report.files.map(({ path }) => path);
    assert.deepEqual(
      paths.filter((path) => !allowed.test(path)),
      [],
    );
    for (const { js } of nodes) {
      assert.ok(paths.includes(js) && paths.includes(js.replace('.js', '.html')), js);
    }
    for (const file of ['package.json', 'README.md', 'LICENSE', 'dist/runtime.js']) {
      assert.ok(paths.includes(file), file);
    }
  });
});

describe('the package of the simulator', function () {
  this.timeout(60_000);
  const simulator = readJson('simulator/package.json') as Manifest;
  const js = join('simulator', simulator['node-red'].nodes['mt-simulator'] as string);
  const locales = () => readdirSync('simulator/node/locales').sort();

  it('has the version, licence, engines and Node-RED lines of the other, and a scoped name with the keyword', () => {
    for (const field of ['version', 'license', 'engines', 'bugs'] as const) {
      assert.deepEqual(simulator[field], manifest[field], field);
    }
    assert.equal(simulator['node-red'].version, manifest['node-red'].version);
    assert.match(simulator.name, /^@[a-z\d][\w-.]+\/[a-z\d][\w-.]*$/);
    assert.ok(simulator.keywords.includes('node-red'));
    assert.equal(readFileSync('simulator/LICENSE', 'utf8'), readFileSync('LICENSE', 'utf8'));
  });

  it('depends on aedes only', () => {
    assert.deepEqual(Object.keys(simulator.dependencies), ['aedes']);
  });

  it('registers its node with literals that are the defaults of the runtime, and an icon that is there', async () => {
    const [found, ...more] = registrationsOf(html(js));
    assert.equal(more.length, 0);
    assert.equal(found?.type, 'mt-simulator');
    assert.equal(literalOf(found?.settings.category), 'mt gateway');
    assert.ok(existsSync(join(dirname(js), 'icons', String(literalOf(found?.settings.icon)))));
    const { DEFAULTS } = await import('../simulator/node/config.ts');
    const source = readFileSync('simulator/node/editor.ts', 'utf8');
    const literals = [...source.matchAll(/^ {4}(\w+): \{ value: ('[^']*'|\w+)/gm)].map(
      ([, name = '', value = '']) => [name, JSON.parse(value.replaceAll("'", '"'))],
    );
    assert.deepEqual(Object.fromEntries(literals), DEFAULTS);
  });

  it('has every text and the help in all languages of the other package', () => {
    assert.deepEqual(locales(), readdirSync('nodes/service/locales').sort());
    const keysOf = (value: unknown, path = ''): string[] =>
      typeof value === 'object' && value !== null
        ? Object.entries(value).flatMap(([key, part]) => keysOf(part, `${path}.${key}`))
        : [`${path} ${[...String(value).matchAll(/__\w+__/g)].sort().join()}`];
    const wanted = keysOf(readJson('simulator/node/locales/en-US.json')).sort();
    for (const file of locales().filter((name) => name.endsWith('.json'))) {
      assert.deepEqual(keysOf(readJson(`simulator/node/locales/${file}`)).sort(), wanted, file);
      const help = readFileSync(join(dirname(js), 'locales', file.replace('.json', ''), 'node.html'), 'utf8');
      assert.ok(help.includes('data-help-name="mt-simulator"'), file);
    }
  });

  it('styles nothing but its own panel', () => {
    const css = readFileSync('simulator/node/editor.css', 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '');
    const selectors = [...css.matchAll(/([^{}]+)\{/g)].flatMap(([, list = '']) => list.split(','));
    assert.deepEqual(
      selectors.filter((selector) => !selector.trim().startsWith('.mt-simulator-')),
      [],
    );
  });

  it('is small and holds what is needed to run, nothing else', async () => {
    const { report } = await packPackage('simulator');
    assert.ok(report.size < 60_000, `${report.size} bytes packed`);
    const allowed = /^(package\.json|README\.md|LICENSE|CHANGELOG\.md|dist\/|examples\/[^/]+\.json$)/;
    const paths = report.files.map(({ path }) => path);
    assert.deepEqual(
      paths.filter((path) => !allowed.test(path)),
      [],
    );
    const needed = ['LICENSE', 'README.md', 'dist/src/index.js', 'dist/src/main.js', 'dist/node/node.js'];
    assert.deepEqual(
      needed.filter((path) => !paths.includes(path)),
      [],
    );
  });
});
