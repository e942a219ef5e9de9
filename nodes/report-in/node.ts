// mt-report-in: sends the reports of gateways and devices that pass its filters.
import type { Node, NodeAPI, NodeMessage } from 'node-red';
import type { HeldReport, LabelState, Report, Subscriber } from '../../src/index.ts';
import { type Interrupted, PassedOn } from '../shared/runtime/passed-on.ts';
import { registerSource } from '../shared/runtime/registration.ts';
import { ownState, type Status, statusOfLabels, statusOfSession } from '../shared/runtime/status.ts';
import { translate } from '../shared/runtime/texts.ts';
import { upgrade } from './config.ts';
import { confirmOf, filterOf } from './filter.ts';
import { LastReport, showAge } from './last-report.ts';
import { copyOf, copyOfValue, messageOf } from './message.ts';
import { registerPlay } from './play.ts';
import { registerPreview } from './preview.ts';
import { registerTestReport, takeTestReports } from './test-report.ts';

export default function registerReportIn(RED: NodeAPI): void {
  registerSource(RED, 'mt-report-in', {
    upgrade,
    confirms: ({ confirm }) => confirm === 'acknowledged',
    start({ node, config, session, show, fail }) {
      const payloadOf = config.output === 'value' ? copyOfValue : copyOf;
      let broker: Status | undefined;
      let labels: Status | undefined;
      let isWaiting = false;
      let heldUp: 'no' | 'untold' | 'told' = 'no';
      // Where nobody wants it shown a report costs nothing more.
      const last = config.statusShows === 'report' ? new LastReport(() => showBoth()) : undefined;
      let notStored: Status | undefined;
      const showBoth = () => {
        // While they wait for labels no flow has had what is open.
        const first = isWaiting ? labels : notStored;
        const status = broker?.style === 'ready' ? (first ?? labels ?? last?.status ?? broker) : broker;
        if (status) {
          show(status);
        }
      };
      const confirm = confirmOf(config, (open, oldestMs) => {
        if (open > 0 && heldUp === 'untold') {
          heldUp = 'told';
          node.warn(HELD_UP);
        }
        notStored = statusOfOpen(open, oldestMs);
        showBoth();
      });
      const notify = createLabelNotifier(RED, node, fail);
      const passedOn = new PassedOn<Buffer>(RED, node, (interrupted) =>
        session.keepInterrupted(node.id, interrupted.map(heldReportOf)),
      );
      // For the button and for previews. Variables, since every report passes here: an object would be made for each.
      let newestTopic = '';
      let newestPayload: Buffer | undefined;
      let isNewestRetained = false;
      const receiver: Subscriber = {
        report(report, topic, payload) {
          newestTopic = topic;
          newestPayload = payload;
          isNewestRetained = report.retained === true;
          last?.note(report);
          passedOn.send(messageOf(topic, payloadOf(report), report), payload);
        },
        error: fail,
        confirm,
        labels(state) {
          labels = statusOfLabels(state);
          isWaiting = state.name === 'waiting';
          if (!isWaiting) {
            heldUp = 'no';
          } else if (state.error && heldUp === 'no') {
            heldUp = 'untold';
          }
          showBoth();
          notify(state);
        },
      };
      const filter = filterOf(config);
      const unsubscribe = session.subscribe(filter, receiver, node.id);
      const stopWatching = session.onState((state) => {
        const own = ownState(state, () => session.refusalOf(filter));
        broker = statusOfSession(own, 'mqtt');
        showBoth();
      });
      const newest = () =>
        newestPayload && { topic: newestTopic, payload: newestPayload, retained: isNewestRetained };
      const send = (report: Report, topic: string) => node.send(messageOf(topic, payloadOf(report), report));
      const stopTests = takeTestReports(node, { send, newest, filter });
      return (removed) => {
        stopTests();
        last?.close();
        stopWatching();
        passedOn.close();
        unsubscribe(!removed);
      };
    },
  });
  registerPreview(RED);
  registerTestReport(RED);
  registerPlay(RED);
}

function heldReportOf({ message, source, sentAt }: Interrupted<Buffer>): HeldReport {
  const { topic = '', report } = message as NodeMessage & { report: Report & { delivery?: string } };
  // A payload of its own: a received one keeps the whole chunk alive that it came in.
  const payload = Buffer.from(source);
  return { topic, payload, retained: report.retained === true, heardAt: sentAt, delivery: report.delivery };
}

const HELD_UP =
  'unconfirmed reports wait for the list of devices and its labels: the broker will soon send nothing more to any node of the service';

/** A flow that stores at once has a few open all the time, which is no news. */
const MIN_OPEN_MS = 1_000;

function statusOfOpen(count: number, oldestMs: number): Status | undefined {
  return count > 0 && oldestMs >= MIN_OPEN_MS
    ? { style: 'waiting', key: 'status.notStored', values: { count, age: showAge(oldestMs) } }
    : undefined;
}

/** Warns once when reports are lost; their number is logged when the labels are there. An error is reported once until then. */
function createLabelNotifier(RED: NodeAPI, node: Node, fail: (error: unknown, msg: NodeMessage) => void) {
  let reportedLost = 0;
  let hasFailed = false;
  return ({ name, lost, error }: LabelState): void => {
    if (lost > reportedLost && (reportedLost === 0 || name === 'ready')) {
      const text = translate(RED, 'status.labels.lost', { lost });
      if (reportedLost === 0) {
        node.warn(text);
      } else {
        node.log(text);
      }
      reportedLost = lost;
    }
    if (error && !hasFailed) {
      fail(error, {});
    }
    hasFailed = name !== 'ready' && (hasFailed || error !== undefined);
  };
}
