// Builds simulator/dist from simulator/src and simulator/node; called by the build of the whole repository.
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build, transform } from 'esbuild';

const HERE = import.meta.dirname;
const NODE = join(HERE, 'node');
const OUT = join(HERE, 'dist');
const TYPE = 'mt-simulator';

/** The library is one file; the command and the node load it, so that all share one copy. */
async function buildRuntime() {
  const options = {
    outbase: HERE,
    outdir: OUT,
    bundle: true,
    // aedes is a module that Node.js 20 cannot require: it stays a dynamic import, as do the two that are optional.
    external: ['aedes', 'mqtt', 'ws'],
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    minifySyntax: true,
    minifyWhitespace: true,
    lineLimit: 160,
  };
  const withLibrary = { plugins: [{ name: 'library', setup: useLibrary }] };
  await Promise.all([
    build({ ...options, entryPoints: [join(HERE, 'src/index.ts')] }),
    build({ ...options, ...withLibrary, entryPoints: [join(NODE, 'node.ts')] }),
    build({
      ...options,
      ...withLibrary,
      entryPoints: [join(HERE, 'src/main.ts')],
      banner: { js: '#!/usr/bin/env node' },
    }),
  ]);
}

function useLibrary({ onResolve }) {
  onResolve({ filter: /\/index\.ts$/ }, ({ path }) => ({
    path: path.replace(/\.ts$/, '.js'),
    external: true,
  }));
}

async function writeEditor() {
  const { outputFiles } = await build({
    entryPoints: [join(NODE, 'editor.ts')],
    bundle: true,
    write: false,
    format: 'iife',
    target: 'es2022',
    charset: 'utf8',
    minify: true,
  });
  const style = await transform(await readFile(join(NODE, 'editor.css'), 'utf8'), {
    loader: 'css',
    minify: true,
  });
  const form = (await readFile(join(NODE, 'editor.html'), 'utf8')).replace(/^ +/gm, '');
  const script = outputFiles[0].text.replaceAll('</script', '<\\/script');
  await write(
    'node/node.html',
    `<style>\n${style.code}</style>\n<script type="text/html" data-template-name="${TYPE}">\n${form}</script>\n<script type="text/javascript">\n${script}</script>\n`,
  );
  await write('node/icons/simulator.svg', await readFile(join(NODE, 'simulator.svg'), 'utf8'));
}

async function writeTexts() {
  const folder = join(NODE, 'locales');
  for (const file of await readdir(folder)) {
    const text = await readFile(join(folder, file), 'utf8');
    const [lang, kind] = file.split('.');
    if (kind === 'json') {
      await write(`node/locales/${lang}/node.json`, JSON.stringify(JSON.parse(text)));
    } else {
      const help = `<script type="text/markdown" data-help-name="${TYPE}">\n${text}</script>\n`;
      await write(`node/locales/${lang}/node.html`, help);
    }
  }
}

async function write(name, text) {
  const file = join(OUT, name);
  await mkdir(join(file, '..'), { recursive: true });
  await writeFile(file, text);
}

await rm(OUT, { recursive: true, force: true });
await Promise.all([buildRuntime(), writeEditor(), writeTexts()]);
