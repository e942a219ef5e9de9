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

const cpu = process.cpuUsage();
const since = performance.now();
for (const js of Object.values(nodes)) {
  const set = require(join(dirname(file), js));
  (set.default ?? set)(RED);
}
const wall = performance.now() - since;
const { user, system } = process.cpuUsage(cpu);
const foreign = ['mqtt', 'undici'].filter((name) =>
  Object.keys(require.cache).some((path) => path.includes(`/node_modules/${name}/`)),
);
process.stdout.write(JSON.stringify({ wall, cpu: (user + system) / 1000, foreign }));
