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

/** Need neither broker nor session: the test file of their name judges them alone, in a twentieth of the time. */
const ALONE: readonly string[] = [
  'src/protocol/broker-list.ts',
  'src/protocol/broker-profiles.ts',
  'src/protocol/conditions.ts',
  'src/protocol/http-headers.ts',
  'src/protocol/http-methods.ts',
  'src/protocol/json.ts',
  'src/protocol/mac.ts',
  'src/protocol/port.ts',
  'src/protocol/text.ts',
  'src/protocol/topics.ts',
  'src/rest/device-directory.ts',
  'src/errors.ts',
  'src/mqtt/address.ts',
  'src/mqtt/backoff.ts',
  'src/reports/dispatch.ts',
  'src/reports/duplicates.ts',
  'src/mqtt/write-batch.ts',
  'src/mqtt/send-queue.ts',
  'src/reports/topic-filters.ts',
  'src/reports/report-filter.ts',
  'src/rest/abort.ts',
  'src/rest/addresses.ts',
  'src/rest/responses.ts',
  'src/rest/auth.ts',
  'src/rest/client.ts',
  'src/rest/client-state.ts',
  'src/rest/probe.ts',
  'src/rest/device-index.ts',
  'src/rest/device-names.ts',
  'src/rest/device-search.ts',
  'src/rest/first-list.ts',
  'src/rest/hold.ts',
  'src/rest/name-refresh.ts',
  'src/rest/order.ts',
  'src/rest/endpoints.ts',
  'src/rest/faults.ts',
  'src/rest/filters.ts',
  'src/rest/http.ts',
  'src/rest/inputs.ts',
  'src/rest/list.ts',
  'src/rest/pages.ts',
  'src/rest/progress.ts',
  'src/rest/retry.ts',
  'src/rest/secrets.ts',
  'src/rest/versions.ts',
  'src/reports/preview.ts',
];

/** The test files that judge these alone, where not just the one of their name does. */
const JUDGES: Readonly<Record<string, readonly string[]>> = {
  'src/rest/calls.ts': ['test/rest/calls.test.ts', 'test/rest/order.test.ts'],
  'src/rest/content-encoding.ts': ['test/rest/http.test.ts'],
  'src/rest/device-list-reader.ts': ['test/rest/device-directory.test.ts'],
  'src/rest/reasons.ts': ['test/rest/client-state.test.ts'],
  'src/rest/service-calls.ts': ['test/rest/changes.test.ts'],
};

/** Folders of which each source is judged alone by the test file of its name, where there is one. */
const JUDGED_ALONE = ['src/network/', 'src/collections/'];

/** Of these folders: what the tests of others notice in them is more than what their own do. */
const JUDGED_TOGETHER: readonly string[] = ['src/network/device-watch.ts'];

export function specsOf(file: string): readonly string[] {
  const own = file.replace(/^src/, 'test').replace(/\.ts$/, '.test.ts');
  const isOfFolder =
    JUDGED_ALONE.some((folder) => file.startsWith(folder)) && !JUDGED_TOGETHER.includes(file);
  const isAlone = ALONE.includes(file) || (isOfFolder && existsSync(own));
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
