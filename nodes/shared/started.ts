// When the flows of a deploy run: before that, Catch nodes and receivers may not exist.
import type { NodeAPI } from 'node-red';

interface Listener {
  calls: Set<() => void>;
  callAll: () => void;
}

const listeners = new WeakMap<object, Listener>();

/**
 * Calls back after every start and deploy. One listener serves all nodes, because Node-RED's emitter warns of a leak
 * after ten, and it goes with the last of them.
 * @returns stops it
 */
export function onStarted({ events }: NodeAPI, call: () => void): () => void {
  const { calls, callAll } = listeners.get(events) ?? createListener(events);
  if (calls.size === 0) {
    events.on('flows:started', callAll);
  }
  calls.add(call);
  return () => {
    if (calls.delete(call) && calls.size === 0) {
      events.removeListener('flows:started', callAll);
    }
  };
}

function createListener(events: NodeAPI['events']): Listener {
  const calls = new Set<() => void>();
  const callAll = () => {
    for (const call of [...calls]) {
      call();
    }
  };
  const listener = { calls, callAll };
  listeners.set(events, listener);
  return listener;
}

/** Calls back once, after the deploy that is going on. @returns takes the call back */
export function onceStarted(RED: NodeAPI, call: () => void): () => void {
  const stop = onStarted(RED, () => {
    stop();
    call();
  });
  return stop;
}
