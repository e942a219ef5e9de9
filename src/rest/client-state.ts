// The state of the service, as the outcomes of calls show it.
import { ServiceError } from '../errors.ts';
import { reasonOf } from './reasons.ts';
import { isFailing } from './responses.ts';
import type { RestState } from './types.ts';

export class ClientState {
  #current: RestState;
  /** The newest state that is not about a call under way. */
  #lasting: RestState;
  readonly #listeners = new Set<(state: RestState) => void>();

  constructor(first: RestState) {
    this.#current = first;
    this.#lasting = first;
  }

  get current(): RestState {
    return this.#current;
  }

  /** Calls the listener at every change. @returns stops it */
  onChange(listener: (state: RestState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Takes the state from the error that a call ended with; one that says nothing of the service leaves it. */
  failed(error: unknown): void {
    if (!(error instanceof ServiceError)) {
      return;
    }
    if (error.code === 'LOGIN_FAILED') {
      this.set({ name: 'refused', reason: reasonOf(error) });
    } else if (error.code === 'NETWORK') {
      this.set({ name: 'failing', reason: reasonOf(error) });
    } else if (error.code === 'HTTP_ERROR') {
      this.#answered(error);
    } else if (error.code === 'BAD_RESPONSE') {
      this.set({ name: 'connected' });
    }
  }

  /** "No such device" is a response of a service in good order; 429 and 5xx are not. */
  #answered(error: ServiceError): void {
    const status = Number(error.cause.statusCode);
    this.set(isFailing(status) ? { name: 'failing', reason: reasonOf(error) } : { name: 'connected' });
  }

  /** Nothing is under way: what was told of a call that has ended without an outcome is taken back. */
  settled(): void {
    this.set(this.#lasting);
  }

  set(state: RestState): void {
    if (state.name !== 'connecting' && state.name !== 'waiting') {
      this.#lasting = state;
    }
    const reason = 'reason' in state ? state.reason : undefined;
    const before = 'reason' in this.#current ? this.#current.reason : undefined;
    if (this.#current.name === 'closed' || (this.#current.name === state.name && before === reason)) {
      return;
    }
    this.#current = state;
    for (const listener of this.#listeners) {
      listener(state);
    }
  }
}
