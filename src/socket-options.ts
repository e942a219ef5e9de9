// How long one address of a name may take before the next one is tried: Node.js gives it 250 ms, too little over a mobile network.

/** An option of `net.connect` and of what passes its options on. A name with one address has all the time there is. */
export const SOCKET_OPTIONS = { autoSelectFamilyAttemptTimeout: 1_000 } as const;
