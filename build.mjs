// Builds dist/ from src/, nodes/ and icons/, with the texts of all panels, and simulator/dist; the list of nodes is package.json -> "node-red".nodes.
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { build, transform } from 'esbuild';

const manifest = JSON.parse(await readFile('package.json', 'utf8'));
const sets = Object.entries(manifest['node-red'].nodes).map(([type, js]) => ({
  type,
  folder: basename(dirname(js)),
  out: dirname(js),
}));
const runtimeDependencies = Object.keys(manifest.dependencies);

async function sourcesBelow(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Comes into the editor with mt-service, too. */
const SIDEBAR = 'nodes/sidebar';
const SHARED_EDITOR = join('nodes', 'shared', 'editor');
const RUNTIME = join('dist', 'runtime.js');

const readJson = async (file) => JSON.parse(await readFile(file, 'utf8').catch(() => '{}'));

/** What a property means is for readers of the sources and for the docs: panels have it in each language. */
const WITHOUT_DESCRIPTIONS = {
  name: 'without-descriptions',
  setup: ({ onLoad }) =>
    onLoad({ filter: /src.protocol.identifiers\.ts$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replace(/description: '(?:[^'\\]|\\.)+'/g, "description: ' '"),
      loader: 'ts',
    })),
};

/** The English texts, which the runtime has for what is not translated, are those that the editor has of mt-service. */
const TEXTS = './nodes/service/locales/en-US/node.json';
const WITH_TEXTS_OF_EDITOR = {
  name: 'with-texts-of-editor',
  setup: ({ onResolve }) =>
    onResolve({ filter: /\/locales\/en-US\.json$/ }, () => ({ path: TEXTS, external: true })),
};

/**
 * Engine and nodes become one file, because two hundred small ones weigh more than what is in them; the file that Node-RED
 * loads for a node takes the node from there. What is not a runtime dependency is built in. In stacks, names of classes'
 * public methods are left; all others weigh a quarter of it.
 */
async function buildRuntime() {
  await build({
    stdin: {
      contents: sets
        .map(
          ({ type, folder }) =>
            `export { default as ${JSON.stringify(type)} } from './nodes/${folder}/node.ts';`,
        )
        .join('\n'),
      resolveDir: '.',
      sourcefile: 'nodes.js',
    },
    outfile: RUNTIME,
    plugins: [WITHOUT_DESCRIPTIONS, WITH_TEXTS_OF_EDITOR],
    bundle: true,
    external: runtimeDependencies.flatMap((name) => [name, `${name}/*`]),
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    minifySyntax: true,
    minifyWhitespace: true,
    minifyIdentifiers: true,
    // A thrown error shows the line it came from.
    lineLimit: 8000,
    // The code does not name the maps: the tarball is without them.
    sourcemap: 'external',
    sourcesContent: false,
  });
  for (const { type, out } of sets) {
    await mkdir(out, { recursive: true });
    const file = relative(out, RUNTIME).replaceAll('\\', '/');
    await writeFile(join(out, 'node.js'), `'use strict';\nmodule.exports = require('${file}')['${type}'];\n`);
  }
}

/** What the panels share is bundled once, in the html of mt-service, which is loaded first; the others use it from there. */
const shared = [
  ...(await sourcesBelow(SHARED_EDITOR)),
  'nodes/shared/defaults.ts',
  ...['catalogue', 'identifiers', 'mac', 'reports/index'].map((name) => `src/protocol/${name}.ts`),
];
const SHARED_GLOBAL = 'globalThis.mtGatewayEditor';

const sharedImports = shared.map((file, i) => `import * as m${i} from './${file}';`).join('\n');
const sharedEntries = shared.map((file, i) => `${JSON.stringify(file)}: m${i}`).join(', ');

function useShared({ onResolve, onLoad }) {
  onResolve({ filter: /^\.\.?\/.*\.ts$/ }, ({ path, resolveDir }) => {
    const file = relative('.', resolve(resolveDir, path));
    return shared.includes(file) ? { path: file, namespace: 'shared-editor' } : undefined;
  });
  onLoad({ filter: /.*/, namespace: 'shared-editor' }, ({ path }) => ({
    contents: `module.exports = ${SHARED_GLOBAL}[${JSON.stringify(path)}];`,
  }));
}

/** One html per node: the form's rows and the bundled editor script, where registerType stays readable as a literal. */
async function writeEditor({ type, folder, out }) {
  const source = `nodes/${folder}`;
  const holdsShared = type === 'mt-service';
  const entry = [...(holdsShared ? [SIDEBAR] : []), source].map(
    (folder) => `import './${folder}/editor.ts';`,
  );
  const { outputFiles } = await build({
    stdin: {
      contents: holdsShared
        ? `${sharedImports}\n${SHARED_GLOBAL} = { ${sharedEntries} };\n${entry.join('')}`
        : entry.join(''),
      resolveDir: '.',
      sourcefile: `${folder}.js`,
    },
    plugins: [WITHOUT_DESCRIPTIONS, ...(holdsShared ? [] : [{ name: 'use-shared', setup: useShared }])],
    bundle: true,
    write: false,
    format: 'iife',
    target: 'es2022',
    charset: 'utf8',
    minifySyntax: true,
    minifyWhitespace: true,
    minifyIdentifiers: true,
    legalComments: 'none',
  });
  const script = outputFiles[0].text.replaceAll('</script', '<\\/script');
  const style = holdsShared
    ? `<style>\n${await minifiedStyle('nodes/shared/editor/panel.css')}${await minifiedStyle(`${SIDEBAR}/sidebar.css`)}</style>\n`
    : '';
  const rows = (await readFile(`${source}/editor.html`, 'utf8')).replace(/^ +/gm, '');
  // mt-service finds these texts in its own catalogue.
  const form = holdsShared ? rows : withSharedTexts(rows);
  await mkdir(out, { recursive: true });
  await writeFile(
    join(out, 'node.html'),
    `${style}<script type="text/html" data-template-name="${type}">\n${form}</script>\n<script type="text/javascript">\n${script}</script>\n`,
  );
  await cp(`icons/${folder}.svg`, join(out, 'icons', `${folder}.svg`));
}

async function minifiedStyle(file) {
  return (await transform(await readFile(file, 'utf8'), { loader: 'css', minify: true })).code;
}

/** Captions and other texts that several panels show are in the catalogue of mt-service, which the others have to name. */
function withSharedTexts(form) {
  return form.replace(/(data-i18n="(?:\[\w+\])?)(?=(?:field|editor)\.)/g, `$1${manifest.name}/mt-service:`);
}

/** The texts that all nodes share are in the catalogue of mt-service. */
async function writeStrings({ type, folder, out }) {
  const source = `nodes/${folder}/locales`;
  for (const file of (await readdir(source)).filter((name) => name.endsWith('.json'))) {
    const strings = await readJson(join(source, file));
    if (type === 'mt-service') {
      Object.assign(
        strings,
        await readJson(`nodes/shared/locales/${file}`),
        await readJson(`src/locales/${file}`),
        await readJson(`${SIDEBAR}/locales/${file}`),
      );
    }
    await writeLocale(out, file.replace('.json', ''), 'node.json', JSON.stringify(strings));
  }
}

/**
 * The help of all nodes is in the files of mt-service, by language: side by side, texts in one language pack into half the size.
 * The other nodes have a file without help, because Node-RED would show the word "null" where there is none at all.
 */
async function writeHelp() {
  const [service, ...others] = sets.map(({ out }) => out);
  for (const file of (await readdir('nodes/service/locales')).filter((name) => name.endsWith('.md'))) {
    const texts = sets.map(async ({ type, folder }) => {
      const help = await readFile(join('nodes', folder, 'locales', file), 'utf8');
      return `<script type="text/markdown" data-help-name="${type}">\n${help}</script>\n`;
    });
    await writeLocale(service, file.replace('.md', ''), 'node.html', (await Promise.all(texts)).join(''));
  }
  for (const out of others) {
    await writeLocale(out, 'en-US', 'node.html', '<!-- With mt-service. -->\n');
  }
}

async function writeLocale(out, lang, name, text) {
  await mkdir(join(out, 'locales', lang), { recursive: true });
  await writeFile(join(out, 'locales', lang, name), text);
}

await rm('dist', { recursive: true, force: true });
await Promise.all([buildRuntime(), ...sets.map(writeEditor), ...sets.map(writeStrings), writeHelp()]);
// The other package of this repository.
await import('./simulator/build.mjs');
