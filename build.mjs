// Builds dist/ from src/, nodes/ and icons/; the list of nodes is package.json -> "node-red".nodes.
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { build } from 'esbuild';

const manifest = JSON.parse(await readFile('package.json', 'utf8'));
const sets = Object.entries(manifest['node-red'].nodes).map(([type, js]) => ({
  type,
  folder: basename(dirname(js)),
  out: dirname(js),
}));
const runtimeDependencies = Object.keys(manifest.dependencies);

async function filesBelow(folder, wanted) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && wanted(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}

const readJson = async (file) => JSON.parse(await readFile(file, 'utf8').catch(() => '{}'));

/** File by file, so that every node shares one copy of the engine; helpers that are not runtime dependencies are inlined. */
async function transpileRuntime() {
  const isRuntime = (name) => name.endsWith('.ts') && !name.endsWith('.d.ts') && !name.startsWith('editor');
  await build({
    entryPoints: [...(await filesBelow('src', isRuntime)), ...(await filesBelow('nodes', isRuntime))],
    outbase: '.',
    outdir: 'dist',
    bundle: true,
    plugins: [{ name: 'keep-own-imports', setup: keepOwnImports }],
    external: runtimeDependencies.flatMap((name) => [name, `${name}/*`]),
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    sourcemap: true,
    sourcesContent: false,
  });
}

function keepOwnImports({ onResolve }) {
  onResolve({ filter: /^\.\.?\/.*\.ts$/ }, ({ path, importer, kind }) =>
    kind === 'entry-point' || importer.includes('node_modules')
      ? undefined
      : { path: path.replace(/\.ts$/, '.js'), external: true },
  );
}

/** What the editors share travels once, with mt-service, which is loaded first; the others borrow it from there. */
const shared = [
  ...(await filesBelow('nodes/shared', (name) => /^(editor.*|defaults)\.ts$/.test(name))),
  ...['identifiers', 'mac', 'reports/index'].map((name) => `src/protocol/${name}.ts`),
];
const LENDER = 'globalThis.mtGatewayEditor';

const lending = shared.map((file, i) => `import * as m${i} from './${file}';`).join('\n');
const lent = shared.map((file, i) => `${JSON.stringify(file)}: m${i}`).join(', ');

function borrowShared({ onResolve, onLoad }) {
  onResolve({ filter: /^\.\.?\/.*\.ts$/ }, ({ path, resolveDir }) => {
    const file = relative('.', resolve(resolveDir, path));
    return shared.includes(file) ? { path: file, namespace: 'borrowed' } : undefined;
  });
  onLoad({ filter: /.*/, namespace: 'borrowed' }, ({ path }) => ({
    contents: `module.exports = ${LENDER}[${JSON.stringify(path)}];`,
  }));
}

/** One html per node: the form's rows and the bundled editor script, where registerType stays readable as a literal. */
async function writeEditor({ type, folder, out }) {
  const source = `nodes/${folder}`;
  const entry = `import './${source}/editor.ts';`;
  const isLender = type === 'mt-service';
  const { outputFiles } = await build({
    stdin: {
      contents: isLender ? `${lending}\n${LENDER} = { ${lent} };\n${entry}` : entry,
      resolveDir: '.',
      sourcefile: `${folder}.js`,
    },
    plugins: isLender ? [] : [{ name: 'borrow-shared', setup: borrowShared }],
    bundle: true,
    write: false,
    format: 'iife',
    target: 'es2022',
    charset: 'utf8',
    minifyWhitespace: true,
    minifyIdentifiers: true,
    legalComments: 'none',
  });
  const script = outputFiles[0].text.replaceAll('</script', '<\\/script');
  const style = isLender ? `<style>\n${await readFile('nodes/shared/editor.css', 'utf8')}</style>\n` : '';
  const form = await readFile(`${source}/editor.html`, 'utf8');
  await mkdir(out, { recursive: true });
  await writeFile(
    join(out, 'node.html'),
    `${style}<script type="text/html" data-template-name="${type}">\n${form}</script>\n<script type="text/javascript">\n${script}</script>\n`,
  );
  await cp(`icons/${folder}.svg`, join(out, 'icons', `${folder}.svg`));
}

/** The strings that every node shares travel in the catalogue of mt-service. */
async function writeLocales({ type, folder, out }) {
  const source = `nodes/${folder}/locales`;
  for (const file of await readdir(source)) {
    const [lang, kind] = [basename(file).split('.')[0], file.split('.').pop()];
    await mkdir(join(out, 'locales', lang), { recursive: true });
    if (kind === 'md') {
      const help = await readFile(join(source, file), 'utf8');
      const html = `<script type="text/markdown" data-help-name="${type}">\n${help}</script>\n`;
      await writeFile(join(out, 'locales', lang, 'node.html'), html);
    } else {
      const strings = await readJson(join(source, file));
      if (type === 'mt-service') {
        Object.assign(
          strings,
          await readJson(`nodes/shared/locales/${file}`),
          await readJson(`src/locales/${file}`),
        );
      }
      await writeFile(join(out, 'locales', lang, 'node.json'), JSON.stringify(strings));
    }
  }
}

await rm('dist', { recursive: true, force: true });
await Promise.all([transpileRuntime(), ...sets.map(writeEditor), ...sets.map(writeLocales)]);
