// MAC addresses: every spelling that users and the service have, and the one that we send.

const SPELLINGS = /^(?:bmac-)?([0-9a-f]{12})$|^[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\2){4}[0-9a-f]{2}$/i;
const DEVICE_ID = /^bmac-([0-9a-f]{12})$/i;
const LENGTH = 12;

/**
 * Reads a MAC address in any accepted spelling: 12 hex digits in any case, with `:` or `-` between the bytes,
 * or a REST id `bmac-…`.
 * @returns 12 lowercase hex digits, or undefined for anything else
 */
export function parseMac(value: unknown): string | undefined {
  if (typeof value !== 'string') {
    return undefined;
  }
  // The usual case, without the cost of the pattern.
  if (isMac(value)) {
    return value;
  }
  const match = SPELLINGS.exec(value);
  if (!match) {
    return undefined;
  }
  return (match[1] ?? value.replaceAll(match[2] as string, '')).toLowerCase();
}

/** Whether a topic level is a MAC address: exactly 12 lowercase hex digits. */
export function isMac(text: string): boolean {
  if (text.length !== LENGTH) {
    return false;
  }
  for (let i = 0; i < LENGTH; i++) {
    const code = text.charCodeAt(i);
    const isDigit = code >= 0x30 && code <= 0x39;
    if (!isDigit && !(code >= 0x61 && code <= 0x66)) {
      return false;
    }
  }
  return true;
}

/** The gateway's MAC address in a REST device id `bmac-<12 hex>`; undefined for an id of another form. */
export function macOfDeviceId(id: string): string | undefined {
  return DEVICE_ID.exec(id)?.[1]?.toLowerCase();
}

/** The REST id of the gateway with this MAC address (12 lowercase hex digits). */
export function deviceIdOfMac(mac: string): string {
  return `bmac-${mac}`;
}

/** Of the lower-case text of a search: a MAC, or the beginning of one, is found however its bytes are separated. */
export function macPart(text: string): string | undefined {
  return /^[0-9a-f]{2}([:-][0-9a-f]{0,2})+$/.test(text) ? text.replace(/[:-]/g, '') : undefined;
}
