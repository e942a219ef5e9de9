// Waiting that a signal can end.
import { SignalGroups } from '../collections/signal-groups.ts';
import { ServiceError } from '../errors.ts';

/** What is waited for goes on; only this waiting ends, with CLOSED. */
export function unlessAborted<Result>(promise: Promise<Result>, signal?: AbortSignal): Promise<Result> {
  if (!signal) {
    return promise;
  }
  return new Promise((resolve, reject) => {
    const stop = () => reject(new ServiceError('CLOSED', 'stopped'));
    signal.addEventListener('abort', stop);
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
    if (signal.aborted) {
      stop();
    }
  });
}

/** What each signal aborts; nothing of one that has nothing to abort. */
const FOLLOWERS = new SignalGroups<AbortController>((followers) => {
  for (const follower of followers) {
    follower.abort();
  }
});

/**
 * Aborts the controller as soon as one of the signals is aborted. `AbortSignal.any` leaves a little at each signal for
 * every call on Node.js 20, and these may live for years.
 * @returns stops it, which leaves nothing behind at the signals
 */
export function abortWith(controller: AbortController, signals: readonly AbortSignal[]): () => void {
  if (signals.some(({ aborted }) => aborted)) {
    controller.abort();
    return () => undefined;
  }
  const groups = signals.map((signal) => ({ signal, followers: FOLLOWERS.of(signal) }));
  for (const { followers } of groups) {
    followers.add(controller);
  }
  return () => {
    for (const { signal, followers } of groups) {
      followers.delete(controller);
      FOLLOWERS.release(signal);
    }
  };
}

/** Waits with a signal that is aborted with the first of these; a signal of its own, because thousands may wait. */
export async function withFirstOf<Result>(
  signals: readonly AbortSignal[],
  wait: (first: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  const stop = abortWith(controller, signals);
  try {
    return await wait(controller.signal);
  } finally {
    stop();
  }
}
