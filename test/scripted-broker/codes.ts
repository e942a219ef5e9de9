// The reason codes of MQTT 5 that a scripted broker uses; in 3.1.1 a refused filter is 0x80, and other ends have no code.

export const REASON = {
  notAuthorized: 0x87,
  takenOver: 0x8e,
  receiveMaximumExceeded: 0x93,
  packetTooLarge: 0x95,
  quotaExceeded: 0x97,
  qosNotSupported: 0x9b,
  sharedSubscriptionsNotSupported: 0x9e,
} as const;

export const REFUSED_FILTER = 0x80;
