// Preloaded into an idle Node-RED: counts the timers that fire, by the package that started them.

const timers = require('node:timers');
const timersPromises = require('node:timers/promises');

const fired = {};

function startedBy() {
  const stack = new Error().stack ?? '';
  if (stack.includes('/@mt-gateway/')) {
    return 'ours';
  }
  return stack.includes('/node_modules/mqtt/') ? 'mqtt' : 'others';
}

for (const name of ['setTimeout', 'setInterval']) {
  const original = timers[name];
  const counting = (callback, ...rest) => {
    const owner = startedBy();
    const call = (...args) => {
      fired[owner] = (fired[owner] ?? 0) + 1;
      return callback(...args);
    };
    return original(call, ...rest);
  };
  Object.assign(counting, original);
  timers[name] = counting;
  globalThis[name] = counting;
}
const { setTimeout: wait } = timersPromises;
timersPromises.setTimeout = (...args) => {
  const owner = startedBy();
  return wait(...args).finally(() => {
    fired[owner] = (fired[owner] ?? 0) + 1;
  });
};

globalThis[Symbol.for('bench.timers')] = fired;
