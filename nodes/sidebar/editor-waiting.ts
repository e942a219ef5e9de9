// What stands above all: nodes of the flows whose device was not heard for long; a click shows the node.
import { parseMac } from '../../src/protocol/mac.ts';
import { nameOrAddress } from '../shared/editor/names.ts';
import { element, isOn } from '../shared/editor/panel.ts';
import type { EditorNode } from '../shared/editor/red.ts';
import { ask } from './editor-api.ts';
import { ageOf, say } from './editor-texts.ts';

/** Nobody falls silent from one moment to the next. */
const INTERVAL_MS = 10_000;
/** Of one question; the endpoint takes no more. */
const MAX_ASKED = 1_000;
const MAX_SHOWN = 50;

interface Waiting {
  node: EditorNode;
  mac: string;
  /** When the device was heard last; null: never. */
  lastSeen: string | null;
}

export class WaitingNodes {
  readonly element: HTMLElement;
  readonly #heading = element('button', 'mt-gateway-side-waiting-heading');
  readonly #words = element('span', '');
  readonly #list = element('ul', 'mt-gateway-side-waiting-list');
  #service = '';
  #askedAt = Number.NEGATIVE_INFINITY;
  #hasAsked = false;
  #waiting: readonly Waiting[] = [];
  #shown = '';

  constructor() {
    this.#heading
      .attr({ type: 'button', 'aria-expanded': 'true', 'aria-controls': 'mt-gateway-side-waiting' })
      .append('<i class="fa fa-caret-down" aria-hidden="true"></i> ', this.#words)
      .on('click', () => this.#fold());
    this.#list.attr('id', 'mt-gateway-side-waiting');
    this.element = element('div', 'mt-gateway-side-waiting').append(this.#heading, this.#list).hide()[0]!;
  }

  /** Milliseconds after which it wants to ask again; undefined: there is nothing to ask for. */
  get pauseMs(): number | undefined {
    return this.#hasAsked ? INTERVAL_MS : undefined;
  }

  /** Other nodes may be deployed now. */
  forget(): void {
    this.#askedAt = Number.NEGATIVE_INFINITY;
  }

  /** Time has passed. */
  tick(): void {
    this.#show(this.#waiting);
  }

  /** Asks now and then; where nothing is to be asked, or there is no response, nothing is shown. */
  async refresh(service: string): Promise<void> {
    const now = performance.now();
    if (service === this.#service && now - this.#askedAt < INTERVAL_MS) {
      return;
    }
    this.#service = service;
    this.#askedAt = now;
    const nodes = nodesOf(service);
    const macs = [...new Set(nodes.map(({ mac }) => mac))].slice(0, MAX_ASKED);
    this.#hasAsked = macs.length > 0;
    const silent = this.#hasAsked ? await fetchSilent(service, macs) : {};
    if (service === this.#service) {
      this.#show(nodes.flatMap((one) => (one.mac in silent ? [{ ...one, lastSeen: silent[one.mac]! }] : [])));
    }
  }

  hide(): void {
    this.#service = '';
    this.#show([]);
  }

  #fold(): void {
    const isOpen = this.#heading.attr('aria-expanded') !== 'true';
    this.#heading.attr('aria-expanded', String(isOpen));
    this.#heading.children('i').toggleClass('fa-caret-down', isOpen).toggleClass('fa-caret-right', !isOpen);
    this.#list.toggle(isOpen);
  }

  /** What has not changed is not touched: it may have the focus. */
  #show(waiting: readonly Waiting[]): void {
    this.#waiting = waiting;
    const rows = waiting.slice(0, MAX_SHOWN).map(({ node, mac, lastSeen }) => ({
      id: node.id,
      name: RED.utils.getNodeLabel(node, node.id),
      words: [
        // An address that nobody has named is said once.
        ...new Set([nameOrAddress(node, mac), mac]),
        lastSeen === null ? say('never') : say('heard', { age: ageOf(lastSeen) }),
      ].join(' · '),
    }));
    const shown = JSON.stringify([waiting.length, rows]);
    if (shown === this.#shown) {
      return;
    }
    this.#shown = shown;
    this.#words.text(say('waiting', { count: waiting.length }));
    const focused = document.activeElement?.getAttribute('data-node');
    this.#list.empty().append(rows.map(toEntry));
    if (waiting.length > rows.length) {
      this.#list.append(element('li', '', say('waitingMore', { count: waiting.length - rows.length })));
    }
    this.#list.find(`[data-node="${focused}"]`).trigger('focus');
    // Not `toggle`: what the style sheet hides beside a chosen device stays hidden.
    $(this.element).css('display', waiting.length > 0 ? '' : 'none');
  }
}

function toEntry({ id, name, words }: { id: string; name: string; words: string }): JQuery {
  const button = element('button', '')
    .attr({ type: 'button', 'data-node': id, title: say('reveal') })
    .append(element('span', 'mt-gateway-side-waiting-name', name), element('span', '', words))
    .on('click', () => RED.view.reveal(id));
  return element('li', '').append(button);
}

async function fetchSilent(service: string, macs: readonly string[]): Promise<Record<string, string | null>> {
  try {
    return (await ask<{ silent: Record<string, string | null> }>(service, 'silent', { body: { macs } }))
      .silent;
  } catch {
    // The list below says what is wrong.
    return {};
  }
}

/** Nodes that are deployed or about to be, with each fixed device of theirs. */
function nodesOf(service: string): { node: EditorNode; mac: string }[] {
  return RED.nodes
    .filterNodes({})
    .filter((node) => node.type.startsWith('mt-') && node.service === service && isOn(node))
    .flatMap((node) => devicesOf(node).map((mac) => ({ node, mac })));
}

function devicesOf({ device, deviceType, devices }: EditorNode): string[] {
  const given = [...(deviceType === 'str' ? [device] : []), ...(Array.isArray(devices) ? devices : [])];
  return given.map((one) => parseMac(one)).filter((mac) => mac !== undefined);
}
