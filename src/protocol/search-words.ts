// What people type to find a device or a property: words, each of them a part of what is found.
import { macPart } from './mac.ts';

/**
 * Finds what has each word of a search somewhere in it, in any order; a MAC, or the beginning of one, however its bytes
 * are separated. Nothing typed finds all.
 * @returns looks through a text in lower case
 */
export function findWords(search: string): (text: string) => boolean {
  const words = search.toLowerCase().split(/\s/);
  const wanted = words.map((word) => ({ word, mac: macPart(word) ?? word }));
  return (text) => wanted.every(({ word, mac }) => text.includes(word) || text.includes(mac));
}
