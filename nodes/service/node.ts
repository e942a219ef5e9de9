// mt-service: the connection to one device management service, shared by the nodes that use it.
import type { NodeAPI, NodeDef } from 'node-red';
import { type Logger, ServiceError, Session, type SessionState } from '../../src/index.ts';
import { onceStarted, onStarted, onStopping } from '../shared/runtime/deploys.ts';
import { savedNode } from '../shared/runtime/env.ts';
import type { ServiceNode } from '../shared/runtime/services.ts';
import { rememberInstance } from '../shared/runtime/services.ts';
import { toFlowError } from '../shared/runtime/texts.ts';
import { registerAdmin } from './admin.ts';
import { CREDENTIALS } from './config.ts';
import { fillService } from './filled.ts';
import { createSettings, rememberDeployed } from './settings.ts';

export default function registerService(RED: NodeAPI): void {
  function Service(this: ServiceNode, saved: NodeDef): void {
    RED.nodes.createNode(this, saved);
    this.users = {};
    rememberInstance(this);
    const filled = fillService(RED, this, saved, this.credentials ?? {}, () => savedNode(RED, saved));
    const { config, credentials } = filled;
    rememberDeployed(this, { config, credentials });
    try {
      filled.check();
      this.session = new Session(createSettings(RED, this.id, config, credentials), loggerOf(this));
      connect(RED, this, this.session);
    } catch (error) {
      const problem = toFlowError(RED, error);
      this.problem = problem;
      this.on(
        'close',
        onceStarted(RED, () => this.error(problem, {})),
      );
    }
  }
  RED.nodes.registerType('mt-service', Service as never, { credentials: CREDENTIALS });
  registerAdmin(RED);
}

/** Reports wait while nodes are replaced, receivers or those after them, and after a start until all flows run. */
function connect(RED: NodeAPI, node: ServiceNode, session: Session): void {
  session.pauseReports();
  const ignoreStops = onStopping(RED, () => session.pauseReports());
  const ignoreStarts = onStarted(RED, () => session.resumeReports());
  const ignoreStates = session.onState(createWatcher(RED, node));
  node.on('close', (done: () => void) => {
    ignoreStops();
    ignoreStarts();
    ignoreStates();
    session.close().then(done, done);
  });
}

/** A refusal by the broker belongs to no message, so the config node reports it to the Catch nodes, once per refusal. */
function createWatcher(RED: NodeAPI, node: ServiceNode): (state: SessionState) => void {
  let before = '';
  return ({ mqtt }) => {
    const isRefusal = mqtt.name === 'refused' || mqtt.name === 'limited';
    if (isRefusal && mqtt.name !== before) {
      const { broker, reason } = mqtt;
      const error = new ServiceError('NOT_CONNECTED', mqtt.name, { broker }, { broker, reason });
      node.error(toFlowError(RED, error), {});
    }
    // Trying again in between is not another refusal.
    before = isRefusal || mqtt.name === 'connected' ? mqtt.name : before;
  };
}

function loggerOf(node: ServiceNode): Logger {
  return {
    info: (text) => node.log(text),
    warn: (text) => node.warn(text),
    trace: (text) => node.trace(text),
  };
}
