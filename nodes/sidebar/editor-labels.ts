// The labels of the chosen device: each can be taken away, and another one attached.
import { deviceIdOfMac, parseMac } from '../../src/protocol/mac.ts';
import { asText } from '../shared/defaults.ts';
import { element } from '../shared/editor/panel.ts';
import { attachPicker, type Found } from '../shared/editor/picker.ts';
import { ask, type Problem } from './editor-api.ts';
import { say } from './editor-texts.ts';

const MAX_OFFERED = 50;

export interface LabelEvents {
  /** @param label empty: none was typed */
  attach(label: string): void;
  remove(label: string): void;
}

export class LabelEditor {
  readonly element: HTMLElement;
  readonly #events: LabelEvents;
  readonly #labels = element('div', 'mt-gateway-side-labels');
  readonly #input = element('input', '').attr({
    ...{ type: 'text', maxlength: 200 },
    ...{ placeholder: say('newLabel'), 'aria-label': say('newLabel'), title: say('attachMeans') },
  });
  readonly #attach: JQuery;
  #service = '';
  #attached: readonly string[] = [];
  #shown: string | undefined;

  constructor(events: LabelEvents) {
    this.#events = events;
    const button = element('button', 'red-ui-button red-ui-button-small', say('do.attach'))
      .attr({ type: 'button', title: say('attachMeans') })
      .on('click', () => this.#press());
    const press = () => this.#press();
    attachPicker(this.#input, { search: (query) => this.#offer(query), onPick: press, onTyped: press });
    this.#attach = element('div', 'mt-gateway-side-do').append(this.#input, button);
    this.element = element('div', '').append(this.#labels, this.#attach)[0]!;
  }

  choose(service: string): void {
    this.#service = service;
    this.#input.val('');
    this.#attach.toggle(attachPathOf(service) !== '');
  }

  show(labels: readonly string[]): void {
    this.#attached = labels;
    const shown = JSON.stringify(labels);
    if (shown !== this.#shown) {
      this.#shown = shown;
      this.#labels.empty().append(labels.map((label) => this.#chip(label)));
    }
  }

  /** What was typed is attached, and may be typed anew. */
  clear(): void {
    this.#input.val('');
  }

  #chip(label: string): JQuery {
    const words = say('removeLabel', { label });
    const remove = element('button', '')
      .attr({ type: 'button', title: words, 'aria-label': words })
      .append('<i class="fa fa-times" aria-hidden="true"></i>')
      .on('click', () => this.#events.remove(label));
    return element('span', 'mt-gateway-chip').append(element('span', '', label), remove);
  }

  #press(): void {
    const label = String(this.#input.val() ?? '').trim();
    if (label === '') {
      this.#input.trigger('focus');
    }
    this.#events.attach(label);
  }

  /** Labels that only other devices have; what is typed is one all the same, however like it they are. */
  async #offer(typed: string): Promise<Found> {
    const query = { q: typed.trim(), limit: MAX_OFFERED };
    try {
      const found = await ask<unknown>(this.#service, 'labels', { query });
      const known = Array.isArray(found) ? found.map(String) : [];
      const labels = known.filter((label) => !this.#attached.includes(label));
      return { choices: labels.map((label) => ({ value: label, title: label })), isComplete: true };
    } catch (problem) {
      return { choices: [], note: (problem as Problem).message };
    }
  }
}

/** As the service node has it; one that was saved before there was such a setting has the default. */
function attachPathOf(service: string): string {
  const { defaults } = RED.nodes.getType('mt-service') as { defaults: Record<string, { value: unknown }> };
  return asText(RED.nodes.node(service)?.attachPath ?? defaults.attachPath?.value ?? '').trim();
}

/** The message for a *service request* node that attaches the label. */
export function attachMessage(service: string, id: string, label: string): Record<string, unknown> {
  const mac = parseMac(id);
  const device = encodeURIComponent(mac === undefined ? id : deviceIdOfMac(mac));
  return {
    method: 'POST',
    path: attachPathOf(service).replaceAll('{device}', device),
    payload: { label },
  };
}
