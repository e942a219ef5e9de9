// A timer that is late gives what has come meanwhile its turn: a flow, or the machine, may have held up everything.

/** More than a timer is late in a busy process where nothing holds it up. */
const LATE_MS = 20;
/** For what lies in the sockets then. */
const GRACE_MS = 1_000;

/** @param ms until `call` is called, and a second more at most after a hold-up @returns ends it */
export function startPatientTimer(call: () => void, ms: number): () => void {
  const due = performance.now() + ms;
  let turn: NodeJS.Immediate | undefined;
  let timer = setTimeout(() => {
    if (performance.now() - due > LATE_MS) {
      timer = setTimeout(call, GRACE_MS);
    } else {
      // Sockets are looked at before.
      turn = setImmediate(call);
    }
  }, ms);
  return () => {
    clearTimeout(timer);
    clearImmediate(turn);
  };
}
