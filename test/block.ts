// A thread that has no time, as while a flow computes, but leaves the processor to others.
const cell = new Int32Array(new SharedArrayBuffer(4));

/** Nothing else happens in this thread for so long. */
export const block = (milliseconds: number): void => void Atomics.wait(cell, 0, 0, milliseconds);
