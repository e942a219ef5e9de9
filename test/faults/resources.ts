// What this process holds open: sockets, timers, servers, child processes.

import { setImmediate as turn } from 'node:timers/promises';

/** Streams and look-ups that come and go by themselves. */
const IGNORED = new Set([
  'TTYWrap',
  'PipeWrap',
  'FSReqCallback',
  'FSReqPromise',
  'GetAddrInfoReqWrap',
  'Immediate',
]);

/** How many of each kind; asked in a later turn, when mocha has set its own timer for the running test or hook. */
export async function openResources(): Promise<Record<string, number>> {
  await turn();
  const counts: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo())
    if (!IGNORED.has(kind)) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}
