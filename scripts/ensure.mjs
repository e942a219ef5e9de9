// Installs and builds what is missing, or older than its sources, and does nothing otherwise; needs nothing but Node.js and npm.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const SOURCES = ['src', 'nodes', 'icons', 'build.mjs', 'package.json'];
const SIMULATOR = ['src', 'node', 'build.mjs', 'package.json'].map((name) => `simulator/${name}`);

const readJson = (file) => JSON.parse(readFileSync(join(ROOT, file), 'utf8'));
const manifest = readJson('package.json');

function requireNode() {
  const wanted = manifest.engines.node
    .match(/[\d.]+/)[0]
    .split('.')
    .map(Number);
  const have = process.versions.node.split('.').map(Number);
  const first = wanted.findIndex((part, at) => part !== have[at]);
  if (first >= 0 && have[first] < wanted[first]) {
    throw new Error(`Node.js ${manifest.engines.node} is needed, this is ${process.versions.node}.`);
  }
}

/** True when every package that the lock file wants is there in its version; optional ones depend on the machine, own ones are folders here. */
function isInstalled() {
  if (!existsSync(join(ROOT, 'node_modules/.package-lock.json'))) {
    return false;
  }
  const wanted = readJson('package-lock.json').packages;
  const have = readJson('node_modules/.package-lock.json').packages;
  return Object.entries(wanted).every(
    ([path, { version, optional, devOptional, extraneous, link }]) =>
      !path.startsWith('node_modules/') ||
      optional ||
      devOptional ||
      extraneous ||
      link ||
      have[path]?.version === version,
  );
}

/** The latest change below a path; folders count too, so that a file that went away is noticed. */
function newest(path) {
  const stat = statSync(path);
  if (!stat.isDirectory()) {
    return stat.mtimeMs;
  }
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}

function isBuilt() {
  const simulator = readJson('simulator/package.json');
  const nodes = [
    ...Object.values(manifest['node-red'].nodes),
    ...Object.values(simulator['node-red'].nodes).map((js) => `simulator/${js}`),
  ];
  const built = nodes.flatMap((js) => [js, js.replace(/\.js$/, '.html')]);
  const files = built.map((file) => join(ROOT, file));
  if (!files.every((file) => existsSync(file))) {
    return false;
  }
  const oldest = Math.min(...files.map((file) => statSync(file).mtimeMs));
  return [...SOURCES, ...SIMULATOR].every((source) => newest(join(ROOT, source)) <= oldest);
}

/** Runs a command, its output to be seen; ends this process with its code when it fails. */
function run(what, command, args) {
  process.stdout.write(`${what} …\n`);
  const { status, error } = spawnSync(command, args, {
    cwd: ROOT,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (error) {
    throw error;
  }
  if (status !== 0) {
    process.exit(status ?? 1);
  }
}

/**
 * The development dependency `node` is there for Node-RED 5 on older machines. Its link would come before the
 * developer's own Node.js in all scripts of npm, and in every editor that looks into node_modules first.
 */
function removeLinksToPinnedNode() {
  for (const name of ['node', 'node.cmd', 'node.ps1']) {
    rmSync(join(ROOT, 'node_modules/.bin', name), { force: true });
  }
}

/** npm by the Node.js that runs npm: the one in node_modules goes away while npm installs. */
function install() {
  const { npm_execpath: npm, npm_node_execpath: node } = process.env;
  if (npm && node) {
    run('Installing', node, [npm, 'ci', '--no-audit', '--no-fund']);
  } else {
    run('Installing', 'npm', ['ci', '--no-audit', '--no-fund']);
  }
}

try {
  requireNode();
  if (!isInstalled()) {
    install();
  }
  removeLinksToPinnedNode();
  if (!isBuilt()) {
    run('Building', process.env.npm_node_execpath ?? process.execPath, ['build.mjs']);
  }
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
