// Runs variants of one job in turn, so that every pair meets the same state of the machine, and takes medians.
import type { Options } from './run.ts';

/** A line of the result; figures in words, `reached` undefined where the machine cannot show it or, with an empty `reach`, there is no goal. */
export interface Row {
  case: string;
  what: string;
  ours: string;
  against: string;
  ratio: string;
  reach: string;
  reached: boolean | undefined;
}

export interface Goal {
  case: string;
  what: string;
  of: string;
  against: string;
  /** The highest ratio that is good enough; without it the figures are only shown. */
  atMost?: number;
}

export type Variants = Record<string, () => Promise<number>>;

export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  return ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2;
}

/**
 * Every variant once per pair, each pair in the other order. A quick run leaves out `core`: it takes longest, and says
 * least about a change of this package.
 */
export async function compare(
  variants: Variants,
  { pairs, quick }: Pick<Options, 'pairs' | 'quick'>,
): Promise<Record<string, number[]>> {
  const names = Object.keys(variants).filter((name) => !(quick && name === 'core'));
  const values: Record<string, number[]> = Object.fromEntries(names.map((name) => [name, []]));
  for (let pair = 0; pair < pairs; pair++) {
    for (const name of pair % 2 === 0 ? names : names.toReversed()) {
      const value = await (variants[name] as Variants[string])();
      values[name]?.push(value);
      process.stderr.write(`  ${name} ${value.toFixed(1)}\n`);
    }
  }
  return values;
}

/** The median of the pairs' ratios, behind it the lowest and the highest where there are several: `0.97 × (0.91–1.04)`. */
export function showRatios(ratios: number[]): string {
  const middle = median(ratios);
  const show = (value: number) => value.toFixed(middle < 0.1 ? 3 : 2);
  const spread = ratios.length > 1 ? ` (${show(Math.min(...ratios))}–${show(Math.max(...ratios))})` : '';
  return `${show(middle)} ×${spread}`;
}

/** Goals about values of `compare`, as far as they were measured; the ratio is the median of the pairs' ratios. */
export function judge(values: Record<string, number[]>, unit: string, goals: Goal[]): Row[] {
  const measured = goals.filter(({ against }) => against in values);
  return measured.map(({ of, against, atMost, ...row }) => {
    const [ours, theirs] = [values[of] ?? [], values[against] ?? []];
    const ratios = ours.map((value, i) => value / (theirs[i] ?? Number.NaN));
    return {
      ...row,
      ours: `${median(ours).toFixed(1)} ${unit}`,
      against: `${against}: ${median(theirs).toFixed(1)} ${unit}`,
      ratio: showRatios(ratios),
      reach: atMost === undefined ? '' : `≤ ${atMost} ×`,
      reached: atMost === undefined ? undefined : median(ratios) <= atMost,
    };
  });
}
