// Starts the Node-RED that is installed in a folder: every node of both packages has to load there, and every sample to run.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';

const folder = resolve(process.argv[2] ?? '.');
const readJson = (file) => JSON.parse(readFileSync(file, 'utf8'));
const names = ['../package.json', '../simulator/package.json'].map(
  (file) => readJson(new URL(file, import.meta.url)).name,
);
const installed = names.map((name) => join(folder, 'node_modules', name));
const wanted = installed.flatMap((path) =>
  Object.keys(readJson(join(path, 'package.json'))['node-red'].nodes),
);

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}

/** Resolves when Node-RED has said so many times that its flows run. */
function started(child, log, times) {
  return new Promise((resolve, reject) => {
    const look = () => {
      if (log.text.split('Started flows').length > times) {
        resolve();
      }
    };
    child.stdout.on('data', look);
    child.once('exit', (code) => reject(new Error(`Node-RED ended with ${code}`)));
    look();
  });
}

/** All samples as one flow; their service is one that is not there, so that no broker nearby gets their requests. */
function samples() {
  const folders = installed.map((path) => join(path, 'examples'));
  const files = folders.flatMap((path) => readdirSync(path).map((file) => join(path, file)));
  const nodes = files.filter((file) => file.endsWith('.json')).flatMap((file) => readJson(file));
  // Several simulators at once need ports of their own.
  for (const simulator of nodes.filter(({ type }) => type === 'mt-simulator')) {
    Object.assign(simulator, { mqttPort: 0, restPort: 0 });
  }
  for (const broker of nodes.filter(({ type }) => type === 'mqtt-broker')) {
    Object.assign(broker, { broker: '127.0.0.1', port: '9' });
  }
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const text = JSON.stringify([...byId.values()]);
  return JSON.parse(text.replaceAll(/localhost:\d+/g, '127.0.0.1:9'));
}

function check(isTrue, problem) {
  if (!isTrue) {
    throw new Error(problem);
  }
}

async function checkNodes(ask) {
  const sets = (await (await ask('nodes')).json()).filter(({ module }) => names.includes(module));
  const loaded = sets.filter(({ enabled, err }) => enabled && !err).map((set) => set.name);
  const missing = wanted.filter((type) => !loaded.includes(type));
  check(missing.length === 0, `not loaded: ${missing.join(', ')}`);
  const page = await (await ask('nodes', { headers: { accept: 'text/html' } })).text();
  const helpless = wanted.filter((type) => !page.includes(`data-help-name="${type}"`));
  check(helpless.length === 0, `without help: ${helpless.join(', ')}`);
  return loaded.length;
}

async function checkSamples(ask, running) {
  const flow = samples();
  const headers = { 'content-type': 'application/json' };
  const deployed = await ask('flows', { method: 'POST', headers, body: JSON.stringify(flow) });
  check(deployed.ok, `the samples were not deployed: ${deployed.status}`);
  await running();
  for (const { id } of flow.filter(({ type }) => type === 'mt-service')) {
    const seen = await ask(`mt-service/${id}/seen?what=gateways`);
    check(seen.ok, `the service ${id} answers its panel with ${seen.status}`);
  }
  return flow.length;
}

const port = await freePort();
const ask = (path, { headers, ...options } = {}) =>
  fetch(`http://127.0.0.1:${port}/${path}`, {
    headers: { accept: 'application/json', ...headers },
    ...options,
  });
const log = { text: '' };
const red = join(folder, 'node_modules/node-red/red.js');
const child = spawn(process.execPath, [red, '--userDir', folder, '--port', String(port)], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
child.stdout.setEncoding('utf8').on('data', (chunk) => {
  process.stdout.write(chunk);
  log.text += chunk;
});
try {
  await started(child, log, 1);
  const loaded = await checkNodes(ask);
  const nodes = await checkSamples(ask, () => started(child, log, 2));
  check(!log.text.includes('[error]'), 'Node-RED logged an error');
  console.log(`${loaded} nodes loaded, samples with ${nodes} nodes run`);
} finally {
  child.removeAllListeners('exit');
  child.stdout.removeAllListeners('data');
  child.kill();
}
