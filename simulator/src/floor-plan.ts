// Where things stand: each gateway in the middle of a floor of its own, its devices around it, and how loud they hear each other.
import { between, type Random } from './random.ts';

/** Metres from a corner of the building; floors are numbered from 0. */
export interface Place {
  x: number;
  y: number;
  floor: number;
}

const WIDTH = 40;
const DEPTH = 20;
const FLOOR_HEIGHT = 3;

export const placeIn = (random: Random, floor: number): Place => ({
  x: between(random, 0, WIDTH),
  y: between(random, 0, DEPTH),
  floor,
});

export const middleOf = (floor: number): Place => ({ x: WIDTH / 2, y: DEPTH / 2, floor });

/** Math.hypot takes ten times as long, and it is asked for every device and every extender. */
export const distanceOf = (a: Place, b: Place): number =>
  Math.sqrt((a.x - b.x) ** 2 + (a.y - b.y) ** 2 + ((a.floor - b.floor) * FLOOR_HEIGHT) ** 2);

/** Somebody carries it a few steps. */
export function move(random: Random, place: Place): void {
  const step = (): number => between(random, -2, 2);
  place.x = Math.min(WIDTH, Math.max(0, place.x + step()));
  place.y = Math.min(DEPTH, Math.max(0, place.y + step()));
}

/** dBm: log-distance path loss with fading, and 12 dB for each ceiling; the nearer one hears it louder, though not always. */
export function rssiBetween(random: Random, a: Place, b: Place): number {
  const loss = 22 * Math.log10(Math.max(0.5, distanceOf(a, b))) + 12 * Math.abs(a.floor - b.floor);
  return Math.max(-99, Math.round(-48 - loss + between(random, -4, 4)));
}
