// What `npm run test:mutants` changes, which tests have to notice, and how many of the changes they have to notice.

import { existsSync } from 'node:fs';

/** Sources, and the quick tests that judge them: such as run the sources directly and need no build, browser or Node-RED. */
export interface Room {
  folder: string;
  specs: readonly string[];
}

// The table in the docs first: it is quick and notices whatever changes in the catalogue.
const PROTOCOL = ['test/docs/protocol.test.ts', 'test/protocol/*.test.ts'];
const REST = ['test/rest/*.test.ts'];
const MQTT = ['test/mqtt/*.test.ts', 'test/reports/*.test.ts', 'test/session.test.ts'];

/** The first room whose folder a file lies in is its own. */
export const ROOMS: readonly Room[] = [
  { folder: 'src/protocol', specs: PROTOCOL },
  { folder: 'src/rest', specs: REST },
  { folder: 'src/mqtt', specs: MQTT },
  { folder: 'src/reports', specs: MQTT },
  { folder: 'src/network', specs: ['test/network/*.test.ts'] },
  { folder: 'src/collections', specs: ['test/collections/*.test.ts'] },
  { folder: 'src', specs: [...MQTT, ...REST] },
];

export function roomOf(file: string): Room {
  return ROOMS.find(({ folder }) => file.startsWith(`${folder}/`)) as Room;
}

/** The test files that judge these alone, where it is not the one of their name. */
const JUDGES: Readonly<Record<string, readonly string[]>> = {
  'src/mqtt/connection.ts': ['test/mqtt/one-connection.test.ts'],
  'src/mqtt/preview-connection.ts': [
    'test/mqtt/preview-times.test.ts',
    'test/mqtt/preview-asking.test.ts',
    'test/mqtt/preview-connection.test.ts',
    'test/mqtt/preview-session.test.ts',
  ],
  'src/mqtt/probe.ts': ['test/mqtt/probe.test.ts', 'test/proxy/broker.test.ts'],
  'src/network/device-watch.ts': [
    'test/network/device-watch.test.ts',
    'test/network/watch-deploys.test.ts',
    'test/network/watch-kinds.test.ts',
    'test/network/watch-labelled.test.ts',
    'test/network/watch-moved.test.ts',
    'test/network/watch-narrowed.test.ts',
    'test/network/watch-turns.test.ts',
    'test/network/stored-watches.test.ts',
  ],
  'src/network/network-pages.ts': ['test/network/network-pages.test.ts', 'test/network/near-devices.test.ts'],
  'src/network/network-sort.ts': ['test/network/network-pages.test.ts'],
  'src/network/network-state.ts': [
    'test/network/network-state.test.ts',
    'test/network/network-pages.test.ts',
    'test/network/near-devices.test.ts',
    'test/network/known-place.test.ts',
    'test/network/outages.test.ts',
    'test/network/watch-habits.test.ts',
    'test/network/stored-watches.test.ts',
  ],
  'src/network/old-values.ts': ['test/network/value-query.test.ts', 'test/network/shared-reads.test.ts'],
  'src/network/stored-watches.ts': [
    'test/network/stored-watches.test.ts',
    'test/network/watch-kinds.test.ts',
    'test/network/watch-labelled.test.ts',
    'test/network/watch-turns.test.ts',
  ],
  'src/network/watch-alarms.ts': [
    'test/network/watch-alarms.test.ts',
    'test/network/watch-kinds.test.ts',
    'test/network/watch-labelled.test.ts',
  ],
  'src/network/watch-judge.ts': ['test/network/watch-judge.test.ts', 'test/network/watch-kinds.test.ts'],
  'src/network/watch-kinds.ts': ['test/network/watch-kinds.test.ts', 'test/network/watch-labelled.test.ts'],
  'src/network/watch-scope.ts': ['test/network/watch-scope.test.ts', 'test/network/watch-labelled.test.ts'],
  'src/protocol/catalogue.ts': ['test/docs/protocol.test.ts', 'test/protocol/identifiers.test.ts'],
  'src/protocol/redaction.ts': ['test/protocol/redaction.test.ts', 'test/protocol/operations.test.ts'],
  'src/protocol/reports/index.ts': ['test/protocol/reports.test.ts'],
  'src/protocol/values.ts': ['test/docs/protocol.test.ts', 'test/protocol/identifiers.test.ts'],
  'src/proxy/environment.ts': ['test/proxy/choice.test.ts'],
  'src/reports/label-filter.ts': ['test/reports/label-filter.test.ts', 'test/reports/label-refresh.test.ts'],
  'src/reports/open-report.ts': ['test/reports/open-deliveries.test.ts'],
  'src/reports/open-reports.ts': [
    'test/reports/open-reports.test.ts',
    'test/reports/confirmation.test.ts',
    'test/reports/subscribers.test.ts',
    'test/reports/undecided.test.ts',
  ],
  'src/reports/reports.ts': ['test/reports/reports.test.ts', 'test/reports/undecided.test.ts'],
  'src/reports/unfiltered.ts': ['test/reports/subscribers.test.ts'],
  'src/rest/calls.ts': ['test/rest/calls.test.ts', 'test/rest/order.test.ts'],
  'src/rest/client.ts': ['test/rest/client.test.ts', 'test/rest/order.test.ts', 'test/rest/stopped.test.ts'],
  'src/rest/content-encoding.ts': ['test/rest/http.test.ts'],
  'src/rest/device-list-reader.ts': ['test/rest/device-directory.test.ts'],
  'src/rest/http.ts': ['test/rest/http.test.ts', 'test/proxy/rest.test.ts'],
  'src/rest/reasons.ts': ['test/rest/client-state.test.ts'],
  'src/rest/service-calls.ts': ['test/rest/changes.test.ts'],
  'src/session.ts': ['test/session/halves.test.ts', 'test/session/wiring.test.ts', 'test/session.test.ts'],
  'src/rest/pages.ts': ['test/rest/pages.test.ts', 'test/rest/list.test.ts'],
};

/** Their room notices more than the test file of their name does. */
const JUDGED_TOGETHER: readonly string[] = ['src/protocol/identifiers.ts', 'src/protocol/structures.ts'];

/** A source is judged by the test file of its name, where there is one: in a twentieth of the time that its room takes. */
export function specsOf(file: string): readonly string[] {
  const own = file.replace(/^src/, 'test').replace(/\.ts$/, '.test.ts');
  const isAlone = existsSync(own) && !JUDGED_TOGETHER.includes(file);
  return JUDGES[file] ?? (isAlone ? [own] : roomOf(file).specs);
}

/** Of 100 changes that mean something, so many have to make a test fail. */
export const MIN_SCORE = 92;

/** Kept between runs, so that the next one does only what is new; not in git. */
export const STATE = '.mutants';

/** Changes that change nothing, each with the reason. */
export const EQUIVALENTS = 'test/mutants/equivalent.json';

/** For each process that loads the runner of mocha's tests. */
export const NODE_ARGS = ['--require', './test/mutants/mocha-12.cjs'];

/** Settings of Stryker that are the same for every file: https://stryker-mutator.io/docs/stryker-js/configuration/ */
export const OPTIONS = {
  testRunner: 'mocha',
  plugins: ['@stryker-mutator/mocha-runner'],
  testRunnerNodeArgs: [...NODE_ARGS, '--import', 'tsx'],
  // There is none in this place: Stryker would read it with a function that TypeScript 7 does not have.
  tsconfigFile: 'none',
  coverageAnalysis: 'perTest',
  incremental: true,
  allowEmpty: true,
  reporters: [],
  ignorePatterns: ['dist', 'docs/images', '.build', '.demo', 'coverage', STATE],
  // What a test that failed left open is gone after so many mutants.
  maxTestRunnerReuse: 40,
  warnings: false,
  timeoutMS: 5000,
  // All of the broker's tests, one after the other.
  dryRunTimeoutMinutes: 30,
};
