// A message that is acknowledged to the broker later than it was received, and what becomes of one.

/**
 * What has become of a message of a report topic. `unwanted`: nobody asks for it. `copy`: the broker sends it for each of
 * several subscriptions, and it was delivered already; `repeat`: a subscription that is no more, or of an earlier process,
 * has brought it again; neither is delivered. `kept`: it is acknowledged later.
 */
export type Outcome = 'delivered' | 'kept' | 'unwanted' | 'copy' | 'repeat';

export interface Deferral {
  /** Lets the connection read what follows; as long as it is not called, nothing more is read. */
  readOn(): void;
  acknowledge(): void;
}

/** A message that may be acknowledged later. */
export interface Deferrable {
  /** The broker has marked it as sent before. */
  readonly isResent: boolean;
  /**
   * Of one that is marked so: which acknowledgement went out under its number over the connection that has brought it,
   * where the broker may not have had that (see `DeferralEvents`); 0: none.
   */
  readonly ackedOrder: number;
  /** The connection by which it came has ended: what is acknowledged there reaches nobody. */
  readonly isLost: boolean;
  /** What came before it is not acknowledged yet, so neither can this be. */
  readonly mustWait: boolean;
  defer(events: DeferralEvents): Deferral;
}

export interface DeferralEvents {
  /**
   * The acknowledgement is on its way to the broker.
   * @param order counts up over those of one connection; 0: it is not needed, and the message does not come again
   */
  written(order: number): void;
  /**
   * The broker has had all acknowledgements up to this one, and does not send these messages again. Told to one of the
   * messages for all of them, while the connection is there; not at all where that is never known.
   */
  settled(order: number): void;
}
