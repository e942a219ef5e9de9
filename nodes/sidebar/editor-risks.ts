// Which writes are asked about before they are sent, since the device may be out of reach by them; here and nowhere else.
import { type Catalogue, createCatalogue } from '../../src/protocol/catalogue.ts';
import { isHexBytes } from '../../src/protocol/hex.ts';
import { type Identifier, isOwn } from '../../src/protocol/identifiers.ts';

const DEVICE_MODE = '8110';
const RISKY_MODES = new Map<unknown, string>([
  ['dfu', 'reallyUpdate'],
  ['storage', 'reallyStore'],
]);

/** Resets, what changes the mode of another device, and commands of which is only known that they are of a firmware update. */
const RISKY_COMMANDS = /^(830[01]|81(11|2\d|3\d))$/;

/**
 * By the ids: an entry of the user's own may give each of them another name, and another type to its value. Of what the
 * interface does not know, the name is all there is.
 * @returns the key of the question's words; undefined: it is written without one
 */
export function questionOf(row: Identifier, value: unknown, catalogue: Catalogue): string | undefined {
  if (row.id === DEVICE_MODE) {
    return RISKY_MODES.get(modeOf(value, catalogue));
  }
  const isReset = isOwn(row) && /(^|-)reset/i.test(row.name);
  return isReset || RISKY_COMMANDS.test(row.id) ? 'reallyReset' : undefined;
}

/** The mode that is written so, as the interface calls it; undefined: it is none. */
function modeOf(value: unknown, catalogue: Catalogue): unknown {
  try {
    const isRaw = typeof value === 'string' && isHexBytes(value);
    const hex = isRaw ? value : catalogue.encode(DEVICE_MODE, value);
    return createCatalogue().decode(DEVICE_MODE, hex)?.value;
  } catch {
    // It is not written: the node refuses it.
    return undefined;
  }
}
