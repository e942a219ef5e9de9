// What brokers still hold for the persistent sessions of this process: it outlives a redeploy.

/** By broker and client id. */
const KEPT_BY_BROKER = new Map<string, Set<string>>();
const NONE: ReadonlySet<string> = new Set();

/** The name of a client's session at a broker. */
export function sessionName(broker: string, clientId: string): string {
  return `${broker} ${clientId}`;
}

/** Topic filters that a broker may hold for such a session, as far as this process has made them. */
export function keptBy(session: string): ReadonlySet<string> {
  return KEPT_BY_BROKER.get(session) ?? NONE;
}

/** Notes that the broker may hold these filters from now on. */
export function noteKept(session: string, filters: Iterable<string>): void {
  const kept = KEPT_BY_BROKER.get(session) ?? new Set();
  for (const filter of filters) {
    kept.add(filter);
  }
  if (kept.size > 0) {
    KEPT_BY_BROKER.set(session, kept);
  }
}

/** The broker holds this filter no longer; all of them when left out. */
export function forgetKept(session: string, filter?: string): void {
  if (filter === undefined) {
    KEPT_BY_BROKER.delete(session);
  } else {
    KEPT_BY_BROKER.get(session)?.delete(filter);
  }
}
