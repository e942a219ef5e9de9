// Waiting that a signal can end.
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
