// How Mocha runs tests; `test/whole.cjs` adds how it runs all of them.
module.exports = {
  'node-option': ['import=tsx'],
  extension: ['ts'],
  require: ['./test/run-folder.ts', './test/limits.ts', './test/assert-ok.ts', './test/e2e/running.ts'],
  // Only ends what hangs: beside other tests, on a machine that is busy, the slowest takes many times as long as alone.
  timeout: 60_000,
  // Two Node-RED runtimes live in the test process, and they keep timers of their own.
  exit: true,
};
