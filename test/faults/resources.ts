// What this process holds open: sockets, timers, servers, child processes.

import { setImmediate as turn } from 'node:timers/promises';

/** Streams, files and look-ups that come and go by themselves. */
const IGNORED = new Set([
  'TTYWrap',
  'PipeWrap',
  'FSReqCallback',
  'FSReqPromise',
  'CloseReq',
  'GetAddrInfoReqWrap',
  'Immediate',
]);

/**
 * How many of each kind; asked in a later turn, when mocha has set its own timer for the running test or hook, and what
 * was closed a moment ago has been let go, which happens at the end of a turn.
 */
export async function openResources(): Promise<Record<string, number>> {
  await turn();
  await turn();
  const counts: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) {
    if (!IGNORED.has(kind)) {
      counts[kind] = (counts[kind] ?? 0) + 1;
    }
  }
  return counts;
}
