// How Mocha runs the whole suite: several files at a time, those that compute beside those that wait.
const { readdirSync } = require('node:fs');
const { join } = require('node:path');
const one = require('../.mocharc.cjs');

/** These start browsers and Node-RED; the others wait most of their time, for a broker or for what has to come too late. */
const COMPUTING = /^(demo|e2e|editor|examples)\b/;
/** They take a minute and more, so none of them begins when all others have ended. */
const LONG =
  /^(editor.(panels|untouched|looks|sidebar-changes|preview|simulator)|examples.harm-(labels|reports|influx)|e2e.try-the-nodes|mqtt.connection-count)\.test/;

process.env.MT_LIMITS = '3';

const files = readdirSync(__dirname, { recursive: true })
  .filter((file) => file.endsWith('.test.ts'))
  .sort((a, b) => Number(LONG.test(b)) - Number(LONG.test(a)) || a.localeCompare(b));

/** Takes from both, so that both end together. */
function merge(first, second) {
  const places = (list) => list.map((file, index) => ({ file, place: index / list.length }));
  return [...places(first), ...places(second)].sort((a, b) => a.place - b.place).map(({ file }) => file);
}

const computing = files.filter((file) => COMPUTING.test(file));
const waiting = files.filter((file) => !COMPUTING.test(file));

module.exports = {
  ...one,
  parallel: true,
  jobs: 6,
  spec: merge(computing, waiting).map((file) => join(__dirname, file)),
};
