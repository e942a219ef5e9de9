// Into the flow: a node that is set up for a gateway or device, by a drag onto the canvas or from a menu.

import { askedAs } from '../../src/protocol/identifiers.ts';
import type { NetworkRow } from '../../src/protocol/network-row.ts';
import { markNew } from '../shared/editor/new-node.ts';
import { element } from '../shared/editor/panel.ts';
import { currentCatalogue } from '../shared/editor/sources.ts';
import type { Chosen, DetailsPart } from './editor-details.ts';
import { openMenu, type Point } from './editor-menu.ts';
import { say } from './editor-texts.ts';

/** What is dragged; no text, which the editor would import as it is, without asking what it is to be. */
const DRAGGED = 'application/x-mt-gateway';
const CANVAS = '#red-ui-workspace-chart';
/** Half of a new node and its button, which lies to its left; the canvas cuts off what is left of it. */
const MIN_X = 50 + 30;

export interface Subject {
  service: string;
  row: NetworkRow;
}

type Settings = (id: string, isGateway: boolean, identifier: string | undefined) => Record<string, unknown>;

/** Without a gateway, the one that hears the device best: that of a message is often another device's. */
const fixed = (id: string, isGateway: boolean): Record<string, unknown> => ({
  ...{ gateway: isGateway ? id : '', gatewayType: 'str' },
  // Without a device it is asked itself.
  ...{ device: isGateway ? '' : id, deviceType: 'str' },
});

const listed = (id: string, isGateway: boolean): Record<string, unknown> =>
  isGateway ? { gateways: [id] } : { devices: [id] };

/** Without a property the node is shown as incomplete: no message of a flow is sure to bring one. */
const asked: Settings = (id, isGateway, identifier = '') => ({
  ...fixed(id, isGateway),
  ...{ identifier, identifierType: 'str' },
});

/** The nodes that can be made, and what is set in each; one whose type is not there is not offered. */
const NODES: readonly { key: string; type: string; settings: Settings }[] = [
  { key: 'report', type: 'mt-report-in', settings: listed },
  { key: 'read', type: 'mt-gw-read', settings: asked },
  // What was heard is seldom what is written.
  { key: 'write', type: 'mt-gw-write', settings: (id, isGateway) => asked(id, isGateway, undefined) },
  { key: 'last', type: 'mt-last-value', settings: asked },
  { key: 'watch', type: 'mt-device-watch', settings: listed },
];

/** Why nothing can come into the flow in sight; undefined: it can. */
function obstacle(): string | undefined {
  if (!RED.user.hasPermission('flows.write') || RED.workspaces.isLocked?.() === true) {
    return 'locked';
  }
  // Every tab may be hidden.
  return RED.workspaces.active() ? undefined : 'noFlow';
}

/** Offers the nodes for a gateway or device at a place of the screen; the one that is chosen is put there, or in the middle. */
export function offerNodes(subject: Subject, at: Point, isOnCanvas = false): void {
  const reason = obstacle();
  if (reason !== undefined) {
    RED.notify($('<span>').text(say(reason)), 'warning');
    return;
  }
  const choices = NODES.filter(({ type }) => RED.nodes.getType(type)).map(({ key, type, settings }) => ({
    label: say(`flow.${key}`),
    choose: () => addNode(type, settings, subject, isOnCanvas ? at : undefined),
  }));
  openMenu(say('addToFlow'), choices, at);
}

function addNode(type: string, settings: Settings, { service, row }: Subject, at: Point | undefined): void {
  const { defaults } = RED.nodes.getType(type) as { defaults: Record<string, { value: unknown }> };
  const values = Object.entries(defaults).map(([name, { value }]) => [name, value]);
  const node = {
    ...structuredClone(Object.fromEntries(values)),
    ...settings(row.id, row.kind === 'gateway', firstAsked(service, row)),
    ...{ id: RED.nodes.id(), type, z: RED.workspaces.active(), service, wires: [[]] },
    ...placeOnCanvas(at),
  };
  RED.view.importNodes([node], { generateIds: true, touchImport: true, notify: false });
  RED.nodes.dirty(true);
  // It got another id, and is what is selected now.
  RED.view.selection().nodes?.forEach(markNew);
}

function firstAsked(service: string, { values: [first] }: NetworkRow): string | undefined {
  const known = first && currentCatalogue(service).find(first.identifier);
  return known ? askedAs(known) : first?.identifier;
}

/** In the coordinates of the flow; without a place of the screen the middle of what is seen of it. */
function placeOnCanvas(at: Point | undefined): Point {
  const chart = $(CANVAS)[0]!;
  const box = chart.getBoundingClientRect();
  const { x, y } = at ?? { x: box.left + chart.clientWidth / 2, y: box.top + chart.clientHeight / 3 };
  const scale = RED.view.scale();
  return {
    x: Math.max(MIN_X, Math.round((x - box.left + chart.scrollLeft) / scale)),
    y: Math.round((y - box.top + chart.scrollTop) / scale),
  };
}

let dragged: AbortController | undefined;

/** A row is dragged: until it is let go, the canvas takes it. */
export function startDrag(event: DragEvent, subject: Subject): void {
  const { dataTransfer } = event;
  const chart = $(CANVAS)[0];
  if (!dataTransfer || !chart) {
    return;
  }
  dataTransfer.setData(DRAGGED, subject.row.id);
  dataTransfer.effectAllowed = 'copy';
  // A row that has gone from the list meanwhile says nowhere that it was let go.
  dragged?.abort();
  const end = new AbortController();
  dragged = end;
  const { signal } = end;
  chart.addEventListener('dragover', (over) => over.preventDefault(), { signal });
  chart.addEventListener(
    'drop',
    (drop) => {
      drop.preventDefault();
      end.abort();
      offerNodes(subject, { x: drop.clientX, y: drop.clientY }, true);
    },
    { signal },
  );
  document.addEventListener('dragend', () => end.abort(), { signal });
  event.target?.addEventListener('dragend', () => end.abort(), { signal });
}

/** The button of the details that puts a node into the flow. */
export class FlowPart implements DetailsPart {
  readonly element: HTMLElement;
  #chosen: Chosen | undefined;

  constructor() {
    const button = element('button', 'red-ui-button red-ui-button-small mt-gateway-side-add')
      .attr({ type: 'button', 'aria-haspopup': 'menu' })
      .append('<i class="fa fa-plus" aria-hidden="true"></i> ', element('span', '', say('addToFlow')));
    button.on('click', () => {
      const { service = '', row } = this.#chosen ?? {};
      const box = button[0]!.getBoundingClientRect();
      if (row) {
        offerNodes({ service, row }, { x: box.left, y: box.bottom });
      }
    });
    this.element = element('div', 'mt-gateway-side-section').append(button)[0]!;
  }

  choose(chosen: Chosen): void {
    this.#chosen = chosen;
  }

  /** What was reported since is offered, too. */
  show(row: NetworkRow): void {
    this.#chosen = this.#chosen && { ...this.#chosen, row };
  }
}
