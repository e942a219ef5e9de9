// Installs the tarballs of both packages as the palette manager does, on every supported pair of Node.js and Node-RED or on the one pair that is given, and loads it there.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
// Node-RED 5 wants Node.js 22.9.
const PAIRS = [
  ['20', '4.0'],
  ['20', '4.1'],
  ['22', '4.0'],
  ['22', '4.1'],
  ['22', '5.0'],
  ['24', '4.0'],
  ['24', '4.1'],
  ['24', '5.0'],
];
const LIMIT = 5 * 60 * 1000;

const folder = mkdtempSync(join(tmpdir(), 'mt-versions-'));

/** A folder below the temporary one that npm takes for a project. */
function project(name) {
  const path = mkdtempSync(join(folder, name));
  // npm 12 runs the scripts of no package that is not named; that of node fetches the program.
  const manifest = {
    name: 'node-red-project',
    version: '0.0.1',
    private: true,
    allowScripts: { node: true },
  };
  writeFileSync(join(path, 'package.json'), JSON.stringify(manifest));
  return path;
}

/** Runs a program to its end; throws with its output when it fails. */
function run(command, args, cwd, path = process.env.PATH) {
  const env = { ...process.env, PATH: path };
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    env,
    encoding: 'utf8',
    timeout: LIMIT,
    shell: process.platform === 'win32',
  });
  if (status !== 0) {
    throw new Error(`${command} ${args.join(' ')}\n${stdout}${stderr}${error ?? ''}`);
  }
  return stdout;
}

function pack() {
  for (const name of ['.', 'simulator']) {
    run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], join(ROOT, name));
  }
  return readdirSync(folder)
    .filter((file) => file.endsWith('.tgz'))
    .map((file) => join(folder, file));
}

/** The folder of a Node.js of this major version: that of this process, or one from the registry. */
function nodeFolder(major) {
  if (process.versions.node.startsWith(`${major}.`)) {
    return dirname(process.execPath);
  }
  const path = project(`node-${major}-`);
  run('npm', ['install', '--no-audit', '--no-fund', `node@${major}`], path);
  return join(path, 'node_modules/node/bin');
}

function tryPair(tarballs, bin, red) {
  const path = `${bin}${delimiter}${process.env.PATH}`;
  const userDir = project('red-');
  const options = ['--engine-strict', '--omit=dev', '--no-audit', '--no-fund'];
  run('npm', ['install', ...options, `node-red@${red}`, ...tarballs], userDir, path);
  const said = run('node', [join(ROOT, 'scripts/load-nodes.mjs'), userDir], ROOT, path);
  const versions = [run('node', ['--version'], ROOT, path), said.match(/Node-RED version: (\S+)/)?.[1]];
  rmSync(userDir, { recursive: true, force: true });
  return `${versions.map((version) => version?.trim()).join(', Node-RED ')}: ${said.trim().split('\n').at(-1)}`;
}

try {
  const [node, red] = process.argv.slice(2);
  const pairs = node && red ? [[node, red]] : PAIRS;
  const tarballs = pack();
  const bins = new Map();
  for (const [major, line] of pairs) {
    try {
      if (!bins.has(major)) {
        bins.set(major, nodeFolder(major));
      }
      console.log(`✔ Node.js ${tryPair(tarballs, bins.get(major), line)}`);
    } catch (error) {
      process.exitCode = 1;
      console.log(`✘ Node.js ${major}, Node-RED ${line}: ${error.message}`);
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
