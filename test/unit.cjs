// How Mocha runs the tests of the engine alone: without those that reach its largest bounds, quick enough to wait for.
const { readdirSync } = require('node:fs');
const { join } = require('node:path');
const one = require('../.mocharc.cjs');

process.env.MT_UNIT = 'true';

const ENGINE = /^((collections|mqtt|network|protocol|proxy|reports|rest|session|tls)\b.*|errors)\.test\.ts$/;
/** They wait for half a minute, so they begin first. */
const LONG =
  /^mqtt.(confirm|confirm-silent|connection|connection-count|forbidding-brokers|probe-deployed|slow-flow)\./;

const files = readdirSync(__dirname, { recursive: true })
  .filter((file) => ENGINE.test(file))
  .sort((a, b) => Number(LONG.test(b)) - Number(LONG.test(a)) || a.localeCompare(b));

module.exports = { ...one, parallel: true, jobs: 16, spec: files.map((file) => join(__dirname, file)) };
