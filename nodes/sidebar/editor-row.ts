// One row of the tree: how a gateway or device looks, and how a screen reader says it.

import type { Condition } from '../../src/protocol/conditions.ts';
import type { NetworkRow, ValueRow } from '../../src/protocol/network-row.ts';
import { element } from '../shared/editor/panel.ts';
import { isOfTime, quantityText, valueText } from '../shared/editor/quantities.ts';
import type { Item } from './editor-model.ts';
import { nearWords } from './editor-near.ts';
import { ageOf, say, secondsSince } from './editor-texts.ts';

/** In pixels; as the style sheet has it. */
export const ROW_HEIGHT = 42;
const INDENT = 14;
const MAX_BARS = 4;
/** From here on a signal has one bar more. */
const BAR_LIMITS = [-90, -80, -70, -60];

export type State = 'fine' | 'unsure' | 'silent' | 'error' | 'dfu' | 'unasked' | 'unknown';

/** Without a usual interval nobody can tell after this whether it is silent. */
const UNSURE_AFTER_S = 600;

export function stateOf({ conditions, silent, lastSeen, interval, isUnasked }: NetworkRow): State {
  if (conditions.includes('error')) {
    return 'error';
  }
  if (conditions.includes('dfu')) {
    return 'dfu';
  }
  if (silent) {
    return 'silent';
  }
  if (lastSeen === null) {
    return 'unknown';
  }
  if (isUnasked) {
    return 'unasked';
  }
  return interval === null && (secondsSince(lastSeen) ?? 0) > UNSURE_AFTER_S ? 'unsure' : 'fine';
}

/** A value as it stands in a row: the unit says what it is, else its name does. */
export const briefValue = (value: ValueRow): string =>
  value.unit && !isOfTime(value.unit) ? quantityText(value) : fullValue(value);

const fullValue = (value: ValueRow): string => `${value.name ?? value.identifier} ${quantityText(value)}`;

/** Why somebody is needed, in words. */
export const needOf = (condition: Condition): string => say(`conditions.${condition}`);

const needsOf = ({ conditions }: NetworkRow): string[] => conditions.map(needOf);

/** The row in words. */
function describe(row: NetworkRow): string {
  const age = ageOf(row.lastSeen);
  const needs = needsOf(row);
  return [
    row.name,
    row.near && nearWords(row.near),
    ...(needs.length > 0 ? needs : [say(`state.${stateOf(row)}`)]),
    row.rssi !== null && say('signal', { rssi: row.rssi }),
    row.battery !== null && say('battery', { level: valueText(row.battery) }),
    age === '' ? say('never') : say('heard', { age }),
    row.devices !== null && say('devices', { count: row.devices }),
    row.inNeed !== undefined && say('devicesInNeed', { count: row.inNeed }),
    ...row.values.map(fullValue),
  ]
    .filter(Boolean)
    .join(', ');
}

let lastId = 0;

/** The elements of a row, which are filled again whenever it changes. */
export class RowView {
  readonly element: HTMLElement;
  readonly #arrow = element('span', 'mt-gateway-item-arrow');
  readonly #dot = element('span', 'mt-gateway-item-dot');
  readonly #name = element('span', 'mt-gateway-item-name');
  readonly #bars = element('span', 'mt-gateway-item-bars');
  readonly #battery = element('span', 'mt-gateway-item-battery');
  readonly #age = element('span', 'mt-gateway-item-age');
  readonly #needs = element('span', 'mt-gateway-item-needs');
  readonly #values = element('span', 'mt-gateway-item-values');
  /** Of what it was filled. */
  #shown: unknown[] = [];
  #content = '';

  constructor() {
    const made = element('div', 'mt-gateway-item').attr({
      role: 'treeitem',
      draggable: 'true',
      id: `mt-gateway-item-${++lastId}`,
    });
    for (let bar = 0; bar < MAX_BARS; bar++) {
      element('i', '').appendTo(this.#bars);
    }
    const first = element('div', 'mt-gateway-item-line').append(
      ...[this.#dot, this.#name, this.#bars, this.#battery, this.#age],
    );
    const second = element('div', 'mt-gateway-item-line').append(this.#needs, this.#values);
    made.append(this.#arrow, element('div', 'mt-gateway-item-body').append(first, second));
    this.element = made[0]!;
  }

  get id(): string {
    return this.element.id;
  }

  /** @param position in the tree */
  show(item: Item, position: number, isSelected: boolean): void {
    this.element.style.top = `${position * ROW_HEIGHT}px`;
    const { key, row, isOpen, index, setSize } = item;
    const seconds = row ? secondsSince(row.lastSeen) : undefined;
    const shown = [key, row, seconds, isOpen, isSelected, index, setSize];
    if (shown.every((part, i) => part === this.#shown[i])) {
      return;
    }
    this.#shown = shown;
    const words = row ? describe(row) : say('loading');
    // Most rows that were asked for again are as they were: what is not touched does not flicker.
    const content = JSON.stringify([words, key, row?.labels, isOpen, isSelected, index, setSize]);
    if (content === this.#content) {
      return;
    }
    this.#content = content;
    this.#mark(item, isSelected, words);
    this.#fill(row, item.level);
  }

  #mark({ level, index, setSize, isOpen, key }: Item, isSelected: boolean, words: string): void {
    this.element.style.paddingLeft = `${2 + (level - 1) * INDENT}px`;
    $(this.element)
      .attr({
        'data-key': key,
        'aria-level': level,
        'aria-posinset': index + 1,
        'aria-setsize': setSize,
        'aria-selected': String(isSelected),
        'aria-label': words,
        // The native tooltip shows what is cut off.
        title: words,
      })
      .attr('aria-expanded', isOpen === undefined ? null : String(isOpen));
    this.#arrow.attr('class', `mt-gateway-item-arrow${isOpen === undefined ? '' : ' fa fa-caret-right'}`);
    this.#arrow.toggleClass('mt-gateway-item-open', isOpen === true);
  }

  #fill(row: NetworkRow | undefined, level: number): void {
    this.#dot.attr('class', `mt-gateway-item-dot mt-gateway-state-${row ? stateOf(row) : 'unknown'}`);
    this.#name.text(row?.name ?? '…');
    const { rssi = null, battery = null, devices = null, values = [], inNeed, near } = row ?? {};
    // jQuery's `toggle` has the style of each row computed.
    this.#bars.css('display', rssi === null ? 'none' : '');
    this.#bars.toggleClass('mt-gateway-weak', rssi !== null && rssi < -85);
    const count = BAR_LIMITS.filter((limit) => rssi !== null && rssi >= limit).length;
    this.#bars.attr('data-bars', count);
    this.#battery
      .text(battery === null ? '' : `${Math.round(battery)} %`)
      .toggleClass('mt-gateway-weak', row?.conditions.includes('battery-low') === true);
    this.#age.text(ageOf(row?.lastSeen ?? null));
    const parts = values.map(briefValue);
    const counted = devices !== null && level === 1 ? [say('devices', { count: devices })] : [];
    if (row?.lastSeen === null) {
      counted.push(say('never'));
    }
    if (inNeed !== undefined && level === 1) {
      counted.push(say('devicesInNeed', { count: inNeed }));
    }
    this.#needs.text(near || !row ? '' : needsOf(row).join(', '));
    this.#values.text(near ? nearWords(near) : [...counted, ...parts].join(' · '));
    $(this.element).toggleClass('mt-gateway-item-lit', near !== undefined);
  }
}
