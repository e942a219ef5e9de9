// Whether reports come: to flows, and to people who listen to all there are. Else nobody may be told silent.
import assert from 'node:assert/strict';
import type { Phrase } from '../../src/errors.ts';
import type { MqttState } from '../../src/mqtt/state.ts';
import { Recording } from '../../src/reports/recording.ts';
import { AllReports } from '../../src/session/all-reports.ts';

const broker = 'mqtt://broker';
const reason: Phrase = { key: 'reason.noSuback', values: {} };
const CONNECTED: MqttState = { name: 'connected', broker };
const CONNECTING: MqttState = { name: 'connecting', broker };

/** @param isSettled the broker has granted the rest */
function limited(isSettled: boolean): MqttState {
  return { name: 'limited', broker, reason, refused: new Map([['mt/a', reason]]), isSettled };
}

/** Each state, and whether what was granted before it comes in it. */
const STATES: [state: MqttState, isListening: boolean][] = [
  [CONNECTED, true],
  [{ name: 'overloaded', broker, lost: 1 }, true],
  [limited(true), true],
  [limited(false), false],
  [CONNECTING, false],
  [{ name: 'waiting', broker, reason: { ...reason, consequence: 'retry' } }, false],
  [{ name: 'refused', broker, reason: { ...reason, consequence: 'refused' } }, false],
  [{ name: 'invalid', problem: new Error('proxy') }, false],
  [{ name: 'idle' }, false],
  [{ name: 'closed' }, false],
  [{ name: 'unconfigured' }, false],
];

const nameOf = (state: MqttState): string =>
  state.name === 'limited' && !state.isSettled ? 'limited, and something is not granted yet' : state.name;

describe('all reports of a network', () => {
  let client: { state: MqttState; hearsOn: boolean };
  let open: { isHeldUp: boolean };
  let recording: Recording;
  let hearsEverything: boolean;
  let ended: () => void;
  /** What was told last: whether the reports that flows want come, all reports, and those of watches. */
  let told: boolean[];
  let reports: AllReports;

  beforeEach(() => {
    client = { state: CONNECTED, hearsOn: false };
    open = { isHeldUp: false };
    recording = new Recording(() => () => {});
    hearsEverything = true;
    ended = () => assert.fail();
    told = [];
    reports = new AllReports({
      ...{ client, open },
      subscribers: {
        recording,
        get hearsEverything() {
          return hearsEverything;
        },
        listenToEverything(whenOver) {
          ended = whenOver;
          return 15;
        },
      },
      network: {
        setListening(flows, everything) {
          told[0] = flows;
          told[1] = everything;
        },
      },
      watches: {
        setListening(isListening) {
          told[2] = isListening;
        },
      },
    });
  });
  afterEach(() => recording.close());

  for (const [state, isListening] of STATES) {
    it(`come while the connection is ${nameOf(state)}: ${isListening}`, () => {
      client.state = state;
      assert.equal(reports.update(), isListening);
      assert.deepEqual(told, [isListening, isListening, isListening]);
    });
  }

  it('come on while more is asked for, as long as the connection stays', () => {
    client.hearsOn = true;
    client.state = CONNECTING;
    assert.equal(reports.update(), false);
    client.state = CONNECTED;
    reports.update();
    client.hearsOn = true;
    client.state = CONNECTING;
    assert.equal(reports.update(), true);
    assert.equal(reports.update(), true);
    client.hearsOn = false;
    assert.equal(reports.update(), false);
    // A new connection has nothing that was granted before.
    client.hearsOn = true;
    assert.equal(reports.update(), false);
    assert.deepEqual(told, [false, false, false]);
    client.state = CONNECTED;
    assert.equal(reports.update(), true);
  });

  it('do not come while flows hold them up, and come again after it', () => {
    open.isHeldUp = true;
    assert.equal(reports.update(), false);
    assert.deepEqual(told, [false, false, false]);
    open.isHeldUp = false;
    client.hearsOn = true;
    client.state = CONNECTING;
    assert.equal(reports.update(), true);
  });

  it('come to flows alone where nobody listens, or the broker does not grant it', () => {
    hearsEverything = false;
    assert.equal(reports.update(), false);
    assert.deepEqual(told, [true, false, true]);
  });

  it('are listened to for some seconds, after which is told that they do not come', () => {
    assert.deepEqual(reports.listen(), { seconds: 15, isHearing: true });
    assert.deepEqual(told, [true, true, true]);
    hearsEverything = false;
    ended();
    assert.deepEqual(told, [true, false, true]);
    assert.deepEqual(reports.listen(), { seconds: 15, isHearing: false });
  });

  it('are recorded, and the state of that tells whether they come', () => {
    assert.equal(reports.recording, recording);
    assert.deepEqual(reports.recordState(), { ...recording.state(), isHearing: true });
    recording.start();
    hearsEverything = false;
    const { name, isHearing } = reports.recordState();
    assert.deepEqual([name, isHearing], ['running', false]);
  });
});
