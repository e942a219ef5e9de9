// Loads every node of an installed package as Node-RED does, in a fresh process, and prints what that took.

const { dirname, join } = require('node:path');

const [file] = process.argv.slice(2);
const { nodes } = require(file)['node-red'];
const nothing = () => {};
const RED = {
  nodes: { createNode: nothing, registerType: nothing, getNode: nothing },
  httpAdmin: { get: nothing, post: nothing },
  auth: { needsPermission: () => nothing },
  events: { on: nothing, off: nothing, once: nothing },
  log: { info: nothing, warn: nothing, trace: nothing },
  settings: {},
  util: {},
  _: (key) => key,
};

// Node-RED has these in use before it loads any node.
for (const builtin of [
  'crypto',
  'events',
  'fs',
  'http',
  'https',
  'net',
  'os',
  'stream',
  'timers/promises',
  'tls',
  'url',
]) {
  require(`node:${builtin}`);
}

const before = process.threadCpuUsage();
for (const js of Object.values(nodes)) {
  const set = require(join(dirname(file), js));
  (set.default ?? set)(RED);
}
const { user, system } = process.threadCpuUsage(before);
const foreign = ['mqtt', 'undici'].filter((name) =>
  Object.keys(require.cache).some((path) => path.includes(`/node_modules/${name}/`)),
);
process.stdout.write(JSON.stringify({ milliseconds: (user + system) / 1000, foreign }));
