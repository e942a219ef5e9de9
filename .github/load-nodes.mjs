// Starts the Node-RED that is installed in a folder and asks it whether it has loaded every node of this package.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';

const folder = resolve(process.argv[2] ?? '.');
const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const wanted = Object.keys(manifest['node-red'].nodes);

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}

/** Resolves when Node-RED says that its flows run; what it prints is shown. */
function started(child) {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk) => {
      process.stdout.write(chunk);
      text += chunk;
      if (text.includes('Started flows')) resolve();
    });
    child.once('exit', (code) => reject(new Error(`Node-RED ended with ${code}`)));
  });
}

const port = await freePort();
const red = join(folder, 'node_modules/node-red/red.js');
const child = spawn(process.execPath, [red, '--userDir', folder, '--port', String(port)], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  await started(child);
  const answer = await fetch(`http://127.0.0.1:${port}/nodes`, { headers: { accept: 'application/json' } });
  const sets = (await answer.json()).filter(({ module }) => module === manifest.name);
  const loaded = sets.filter(({ enabled, err }) => enabled && !err).map(({ name }) => name);
  const missing = wanted.filter((name) => !loaded.includes(name));
  console.log(`${loaded.length} of ${wanted.length} nodes loaded`);
  if (missing.length > 0) throw new Error(`not loaded: ${missing.join(', ')}`);
} finally {
  child.removeAllListeners('exit');
  child.kill();
}
