// The shapes of the REST half: devices as the service gives them, the state of the service, and the clock.

/** An element of `items` in the device list, as received; fields that the interface does not show pass through. */
export interface Device {
  id: string;
  /** 12 lowercase hex digits, made from `id` by this package; absent when the id has another form. */
  mac?: string;
  friendlyName?: string | null;
  modelNumber?: string | null;
  labels?: string[] | null;
  connectivity?: { connected?: boolean; timestamp?: string } | null;
  firmwareVersion?: string | null;
  hardwareVersion?: string | null;
  [field: string]: unknown;
}

/**
 * - `idle`: nothing was called yet; `connecting`: logging in; `connected`: the last call was answered
 * - `waiting`: a call failed and is tried again after a while; `failing`: the last call failed after all retries
 * - `refused`: the service does not accept the login; `closed`: the client was closed
 * - `unconfigured`, `loginMissing`, `invalid`: no call can be made before the settings are changed
 *
 * `problem` is an INVALID_INPUT; `reason` is the same in every language: an HTTP status or the code of a network fault.
 */
export type RestState =
  | { name: 'unconfigured' | 'loginMissing' | 'idle' | 'connecting' | 'connected' | 'closed' }
  | { name: 'invalid'; problem: Error }
  | { name: 'waiting' | 'failing' | 'refused'; reason: string };

/** Time as the REST half sees it; given, so that tests need not wait. */
export interface Clock {
  /** Milliseconds since the epoch, as it was at start; never goes back when the system's clock is set. */
  now(): number;
  /** Ends after `ms` milliseconds, or rejects as soon as the signal is aborted. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}
