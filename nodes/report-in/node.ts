// mt-report-in: sends the reports of gateways and devices that pass its filters.
import type { Node, NodeAPI, NodeMessage } from 'node-red';
import type { LabelState, Subscriber } from '../../src/index.ts';
import { registerSource } from '../shared/runtime/registration.ts';
import { type View, viewOfLabels, viewOfSession } from '../shared/runtime/status.ts';
import { translate } from '../shared/runtime/texts.ts';
import { upgrade } from './config.ts';
import { filterOf } from './filter.ts';
import { copyOf, copyOfValue, messageOf } from './message.ts';
import { registerPreview } from './preview.ts';

export default function registerReportIn(RED: NodeAPI): void {
  registerSource(RED, 'mt-report-in', {
    upgrade,
    open({ node, config, session, show, fail }) {
      const payloadOf = config.output === 'value' ? copyOfValue : copyOf;
      let broker: View | undefined;
      let labels: View | undefined;
      const tell = createTeller(RED, node, fail);
      const showBoth = () => {
        const view = broker?.look === 'ready' ? (labels ?? broker) : broker;
        if (view) {
          show(view);
        }
      };
      const receiver: Subscriber = {
        report: (report, topic) => node.send(messageOf(topic, payloadOf(report), report)),
        error: fail,
        labels(state) {
          labels = viewOfLabels(state);
          showBoth();
          tell(state);
        },
      };
      const unsubscribe = session.subscribe(filterOf(config), receiver, node.id);
      const forget = session.onState((state) => {
        broker = viewOfSession(state, 'mqtt');
        showBoth();
      });
      return (removed) => {
        forget();
        unsubscribe(!removed);
      };
    },
  });
  registerPreview(RED);
}

/** What the label filter cannot do is told once, until it can again; then the number of lost reports is known. */
function createTeller(RED: NodeAPI, node: Node, fail: (error: unknown, msg: NodeMessage) => void) {
  let told = 0;
  let hasFailed = false;
  return ({ name, lost, error }: LabelState): void => {
    if (lost > told && (told === 0 || name === 'ready')) {
      told = lost;
      node.warn(translate(RED, 'status.labels.lost', { lost }));
    }
    if (error && !hasFailed) {
      fail(error, {});
    }
    hasFailed = name !== 'ready' && (hasFailed || error !== undefined);
  };
}
