// Which writes are asked about before they are sent, since the device may be out of reach by them; here and nowhere else.
import type { Identifier } from '../../src/protocol/identifiers.ts';

const DEVICE_MODE = '8110';
const RISKY_MODES = new Map<unknown, string>([
  ['dfu', 'reallyUpdate'],
  ['storage', 'reallyStore'],
]);

/** What changes the mode of another device, and commands of which is only known that they are of a firmware update. */
const RISKY_COMMANDS = /^81(11|2\d|3\d)$/;

/** @returns the key of the question's words; undefined: it is written without one */
export function questionOf({ id, name }: Identifier, value: unknown): string | undefined {
  if (id === DEVICE_MODE) {
    return RISKY_MODES.get(value);
  }
  return /reset/.test(name) || RISKY_COMMANDS.test(id) ? 'reallyReset' : undefined;
}
