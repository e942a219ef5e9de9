// Everything that is known of the chosen gateway or device, below the tree.
import type { LinkRow, NetworkDetails, NetworkRow } from '../../src/protocol/network-row.ts';
import { element } from '../shared/editor/panel.ts';
import { durationText, quantityText, valueText } from '../shared/editor/quantities.ts';
import { ask, type Problem } from './editor-api.ts';
import { drawLine, Readings } from './editor-chart.ts';
import { needOf, stateOf } from './editor-row.ts';
import { LiveTable, type TableRow } from './editor-table.ts';
import { ageOf, fullTime, say } from './editor-texts.ts';

export interface Chosen {
  service: string;
  id: string;
  /** Below it, more about the chosen one is shown. */
  row: NetworkRow | undefined;
}

/** A part of the view that follows what is chosen. */
export interface DetailsPart {
  readonly element: HTMLElement;
  /** Another one is chosen. */
  choose(chosen: Chosen): void;
  show(details: NetworkDetails): void;
}

export class DetailsView {
  readonly element: HTMLElement;
  readonly #name = element('span', 'mt-gateway-side-name');
  readonly #words = element('div', 'mt-gateway-side-words');
  readonly #problem = element('div', 'mt-gateway-side-problem').attr('role', 'status');
  readonly #values: LiveTable;
  readonly #heardBy = new LiveTable(say('heardBy'), CELLS);
  readonly #about = new LiveTable(say('about'), CELLS.slice(0, 2));
  readonly #parts: readonly DetailsPart[];
  #readings = new Readings();
  #chosen: Chosen | undefined;
  #isAwaited = false;
  #shown: NetworkDetails | undefined;
  /** The button that was pressed last, as long as the pointer is on it. */
  #pressed: Element | undefined;

  /**
   * @param left the view was closed
   * @param dragged its name is dragged, as a row of the tree is
   */
  constructor(
    parts: readonly DetailsPart[],
    left: () => void,
    dragged: (row: NetworkRow, event: DragEvent) => void,
  ) {
    this.#parts = parts;
    this.#name.attr('draggable', 'true').on('dragstart', ({ originalEvent }) => {
      const row = this.#shown ?? this.#chosen?.row;
      row && dragged(row, originalEvent as DragEvent);
    });
    this.#values = new LiveTable(say('values'), [...CELLS, 'mt-gateway-side-chart'], (row, key) =>
      this.#drawLine(row, key),
    );
    const close = element('button', 'red-ui-button red-ui-button-small')
      .attr({ type: 'button', 'aria-label': say('close'), title: say('close') })
      .append('<i class="fa fa-times" aria-hidden="true"></i>')
      .on('click', left);
    const view = element('div', 'mt-gateway-side-details').attr({
      role: 'region',
      tabindex: -1,
      'aria-label': say('details'),
    });
    view.append(element('div', 'mt-gateway-side-head').append(this.#name, close), this.#words, this.#problem);
    view.append(this.#values.element, ...parts.map((part) => part.element));
    view.append(this.#heardBy.element, this.#about.element);
    view.on('keydown', (event) => {
      if (event.key === 'Escape') {
        event.stopPropagation();
        left();
      }
    });
    view.on('mousedown mouseleave', 'button', ({ type, currentTarget }) => {
      this.#pressed = type === 'mousedown' ? (currentTarget as Element) : undefined;
    });
    this.element = view.hide()[0]!;
  }

  get isOpen(): boolean {
    return this.#chosen !== undefined;
  }

  /** There is no answer yet about what was chosen. */
  get isAwaited(): boolean {
    return this.#isAwaited;
  }

  close(): void {
    this.#chosen = undefined;
    this.#shown = undefined;
    this.#isAwaited = false;
    $(this.element).hide();
  }

  open(chosen: Chosen): void {
    const isSame = this.#chosen?.id === chosen.id && this.#chosen.service === chosen.service;
    this.#chosen = chosen;
    $(this.element).show();
    if (isSame) {
      return;
    }
    this.#readings = new Readings();
    this.#shown = undefined;
    this.#isAwaited = true;
    this.#name.text(chosen.row?.name ?? chosen.id);
    this.#words.empty();
    this.#problem.empty();
    for (const table of [this.#values, this.#heardBy, this.#about]) {
      table.show([]);
    }
    this.#chooseInParts(chosen);
    this.element.scrollTop = 0;
  }

  #chooseInParts(chosen: Chosen): void {
    for (const part of this.#parts) {
      part.choose(chosen);
    }
  }

  /** Time has passed. */
  tick(): void {
    if (this.#shown) {
      this.#fill(this.#shown);
    }
  }

  /** Asks what is known now; does nothing while the view is closed. @param query goes with the question */
  async refresh(query: Record<string, string>): Promise<void> {
    const chosen = this.#chosen;
    if (!chosen) {
      return;
    }
    try {
      const path = `network/${encodeURIComponent(chosen.id)}`;
      const details = await ask<NetworkDetails>(chosen.service, path, {
        query: { ...query, reports: 1 },
      });
      if (chosen === this.#chosen) {
        this.#isAwaited = false;
        this.#show(details);
      }
    } catch (problem) {
      const { message, status } = problem as Problem;
      if (chosen === this.#chosen) {
        this.#isAwaited = false;
        this.#problem.text(status === 404 ? say('gone') : message);
      }
    }
  }

  #show(details: NetworkDetails): void {
    this.#shown = details;
    if (this.#chosen?.row === undefined) {
      this.#chosen = { ...(this.#chosen as Chosen), row: details };
      this.#chooseInParts(this.#chosen);
    }
    this.#problem.empty();
    this.#fill(details);
    for (const part of this.#parts) {
      part.show(details);
    }
  }

  #fill(details: NetworkDetails): void {
    this.#name.text(details.name).attr('title', details.name);
    this.#words.text(words(details));
    const values = details.values.map(toValueRow);
    // A new line would move the button away that somebody is about to press; what that brings is seen.
    const isHeld = !this.#values.isEmpty && this.#isAboutToPress;
    this.#values.show(isHeld ? values.filter(({ key }) => this.#values.has(key)) : values);
    this.#heardBy.show(details.heardBy.map(toLinkRow));
    this.#about.show(aboutRows(details));
  }

  /** A button below the values. */
  get #isAboutToPress(): boolean {
    const pointed = this.element.querySelector('button:hover');
    const isBelow =
      pointed !== null &&
      this.#values.element.compareDocumentPosition(pointed) === Node.DOCUMENT_POSITION_FOLLOWING;
    return isBelow && pointed !== this.#pressed;
  }

  #drawLine(row: HTMLElement, identifier: string): void {
    const found = this.#shown?.values.find((value) => value.identifier === identifier);
    if (typeof found?.value === 'number') {
      drawLine(this.#readings.add(identifier, found.value, found.time), row.lastElementChild as HTMLElement);
    }
  }
}

const CELLS = ['mt-gateway-side-what', 'mt-gateway-side-value', 'mt-gateway-side-when'];

/** The state in words, and every condition. */
function words(details: NetworkDetails): string {
  const needs = details.conditions.map((condition) =>
    condition === 'error' && details.error
      ? say('errorOf', { what: errorWords(details.error) })
      : needOf(condition),
  );
  const age = ageOf(details.lastSeen);
  return [
    details.name === details.id ? '' : details.id,
    ...(needs.length > 0 ? needs : [say(`state.${stateOf(details)}`)]),
    age === '' ? say('never') : say('heard', { age }),
  ]
    .filter(Boolean)
    .join(' · ');
}

/** What it was of, and when: `vdd (5), 4 s ago`. */
function errorWords({ name, identifier, code, lastSeen }: NonNullable<NetworkDetails['error']>): string {
  const what = name ?? identifier;
  return `${what === null ? say('errorCode', { code }) : `${what} (${code})`}, ${agoOf(lastSeen)}`;
}

const agoOf = (time: string): string => say('ago', { age: ageOf(time) });

/** What is said in fewer words is in the title as it was reported. */
function toValueRow(row: NetworkDetails['values'][0]): TableRow {
  const { identifier, name, value, unit, time } = row;
  const shown = quantityText(row);
  const reported = `${valueText(value)} ${unit ?? ''}`.trim();
  return {
    key: identifier,
    cells: [name ?? identifier, shown, ageOf(time)],
    title: [name, identifier, reported !== shown && reported, fullTime(time)].filter(Boolean).join(' · '),
  };
}

function toLinkRow(link: LinkRow): TableRow {
  const { gateway, parent, name, gatewayName, rssi, channel, unreachable, lastSeen } = link;
  const signal = rssi === null ? '' : `${rssi} dBm`;
  const isBetween = parent !== gateway;
  const via = isBetween ? say('via', { gateway: gatewayName ?? gateway }) : '';
  return {
    key: `${gateway}/${parent}`,
    cells: [
      [name, via].filter(Boolean).join(' '),
      unreachable ? say('unreachable') : signal,
      ageOf(lastSeen),
    ],
    title: [
      ...[parent, isBetween && say('via', { gateway })],
      ...[channel !== null && say('channel', { channel }), fullTime(lastSeen)],
    ]
      .filter(Boolean)
      .join(' · '),
  };
}

function aboutRows({
  id,
  model,
  interval,
  count,
  devices,
  labels,
  event,
  error,
}: NetworkDetails): TableRow[] {
  const rows: [string, string | null][] = [
    ['address', id],
    ['model', model],
    ['labels', labels.length > 0 ? labels.join(', ') : null],
    ['interval', interval === null ? null : durationText(interval)],
    ['reports', String(count)],
    ['hears', devices === null ? null : String(devices)],
    ['event', event && `${event.name ?? event.identifier}, ${agoOf(event.lastSeen)}`],
    ['error', error && errorWords(error)],
  ];
  return rows.flatMap(([key, value]) =>
    value === null ? [] : [{ key, cells: [say(`aboutRow.${key}`), value], title: value }],
  );
}
