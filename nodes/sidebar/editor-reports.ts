// The last reports of the chosen device, the newest first, as they come while it is looked at.
import type { NetworkDetails, ReportLine } from '../../src/protocol/network-row.ts';
import { quantityText } from '../shared/editor/quantities.ts';
import type { DetailsPart } from './editor-details.ts';
import { LiveTable, type TableRow } from './editor-table.ts';
import { clockTime, fullTime, kindText, say } from './editor-texts.ts';

const CELLS = ['when', 'what', 'value', 'gateway', 'signal'].map((name) => `mt-gateway-side-report-${name}`);

export class ReportsPart implements DetailsPart {
  readonly element: HTMLElement;
  readonly #table = new LiveTable(say('reports'), CELLS);

  constructor() {
    this.element = this.#table.element;
    this.element.classList.add('mt-gateway-side-reports');
    // It scrolls by itself, so the keys must get there.
    this.element.querySelector('[role=table]')?.setAttribute('tabindex', '0');
    this.#table.show([]);
  }

  choose(): void {
    this.#table.show([]);
  }

  show({ reports = [] }: NetworkDetails): void {
    this.#table.show(reports.map(toRow));
  }
}

function toRow(report: ReportLine): TableRow {
  const { id, heard, time, identifier, gateway, gatewayName, parent, parentName, rssi } = report;
  const titles = [
    fullTime(heard),
    time !== null && say('gatewayTime', { time }),
    identifier,
    gatewayName !== null && gateway,
    parent,
  ];
  return {
    key: String(id),
    cells: [
      clockTime(heard),
      whatOf(report),
      howMuch(report),
      [gatewayName ?? gateway, parentName ?? parent].filter(Boolean).join(' · '),
      rssi === null ? '' : `${rssi} dBm`,
    ],
    title: titles.filter(Boolean).join(' · '),
  };
}

const whatOf = ({ kind, name, identifier }: ReportLine): string =>
  [kind === null ? say('remembered') : kindText(kind), name ?? identifier].filter(Boolean).join(' · ');

/** A text has no unit: the catalogue could not read it. */
function howMuch({ identifier, value, unit, error }: ReportLine): string {
  if (error !== null) {
    return say('errorCode', { code: error });
  }
  const own = typeof value === 'number' ? unit : null;
  return value === null ? '' : quantityText({ identifier: identifier ?? '', value, unit: own });
}
