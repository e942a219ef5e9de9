// What the numbers of one device have been while it was looked at, as small lines.
import { valueText } from '../shared/editor/quantities.ts';
import { say } from './editor-texts.ts';

/** Of one property; the oldest go first. */
const MAX_POINTS = 300;
const MAX_PROPERTIES = 200;
const WIDTH = 60;
const HEIGHT = 16;
const SVG = 'http://www.w3.org/2000/svg';

interface Series {
  /** Of the last reading, as the gateway gave it: what has not changed is no new reading. */
  time: string | null;
  points: number[];
}

export class Readings {
  readonly #series = new Map<string, Series>();

  /** @returns all readings of the property so far, oldest first */
  add(identifier: string, value: number, time: string | null): readonly number[] {
    const known = this.#series.get(identifier);
    const series = known ?? { time: '', points: [] };
    if (!known && this.#series.size < MAX_PROPERTIES) {
      this.#series.set(identifier, series);
    }
    if (series.time !== time || series.points.at(-1) !== value) {
      series.time = time;
      series.points.push(value);
      series.points.splice(0, series.points.length - MAX_POINTS);
    }
    return series.points;
  }
}

/** Draws a line through the readings; one alone is none. */
export function drawLine(points: readonly number[], into: HTMLElement): void {
  const key = `${points.length}:${points.at(-1)}`;
  if (points.length < 2 || into.dataset.drawn === key) {
    return;
  }
  into.dataset.drawn = key;
  const [min, max] = [Math.min(...points), Math.max(...points)];
  const x = (index: number) => (index / (points.length - 1)) * WIDTH;
  const y = (value: number) =>
    max === min ? HEIGHT / 2 : HEIGHT - 1 - ((value - min) / (max - min)) * (HEIGHT - 2);
  const line = document.createElementNS(SVG, 'polyline');
  line.setAttribute(
    'points',
    points.map((value, index) => `${x(index).toFixed(1)},${y(value).toFixed(1)}`).join(' '),
  );
  const words = say('chart', { count: points.length, min: valueText(min), max: valueText(max) });
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', `0 0 ${WIDTH} ${HEIGHT}`);
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', words);
  const title = document.createElementNS(SVG, 'title');
  title.textContent = words;
  svg.append(title, line);
  into.replaceChildren(svg);
}
