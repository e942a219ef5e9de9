// How much memory this process needs, without what nobody holds any more.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Bytes on the heap after everything that nobody holds was thrown away. */
export function usedMemory(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

/** Bytes of buffers, which are not on the heap. */
export function usedBuffers(): number {
  collect();
  // Those of the first time are freed while the second one begins.
  collect();
  return process.memoryUsage().arrayBuffers;
}

/** Those of these that somebody holds: they must not be held where this is called. */
export function heldOf<Thing extends object>(things: readonly WeakRef<Thing>[]): Thing[] {
  collect();
  return things.flatMap((thing) => thing.deref() ?? []);
}

function collect(): void {
  setFlagsFromString('--expose_gc');
  (runInNewContext('gc') as () => void)();
}
