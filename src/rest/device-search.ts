// What a search in the list of devices finds: devices and labels, no more than people look at.
import { findWords } from '../protocol/search-words.ts';
import { type DeviceIndex, type DirectoryEntry, textLength } from './device-index.ts';

const MAX_SHOWN = 1_000;
/** Characters of all that a search finds. */
const MAX_SHOWN_LENGTH = 4_000_000;

/**
 * Devices whose name, MAC, id and labels have what `findWords` finds by `q`, in order of their names; at most 1 000, and no
 * more than 4 million characters.
 */
export function findDevices({ searchable }: DeviceIndex, q: string, limit: number): DirectoryEntry[] {
  const { texts, entries } = searchable;
  const most = mostShown(limit);
  const fits = findWords(q);
  const found: DirectoryEntry[] = [];
  let room = MAX_SHOWN_LENGTH;
  for (let i = 0; i < texts.length && found.length < most; i++) {
    if (!fits(texts[i]!)) {
      continue;
    }
    room -= textLength(entries[i]!);
    if (room < 0) {
      break;
    }
    found.push(entries[i]!);
  }
  return found;
}

/**
 * Every label that contains `q` in any case, sorted; at most 1 000.
 * @param isWanted by the MACs of those that carry it
 */
export function findLabels(
  { macsByLabel }: DeviceIndex,
  q: string,
  limit: number,
  isWanted: (macs: ReadonlySet<string>) => boolean,
): string[] {
  const wanted = q.trim().toLowerCase();
  return [...macsByLabel]
    .filter(([label, macs]) => label.toLowerCase().includes(wanted) && isWanted(macs))
    .map(([label]) => label)
    .sort()
    .slice(0, mostShown(limit));
}

function mostShown(limit: number): number {
  return Math.min(MAX_SHOWN, Math.max(0, Math.trunc(limit) || 0));
}
