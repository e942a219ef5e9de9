// What can be done with the chosen gateway or device: read, write, command, rename, attach and remove labels.
import { askedAs, type Identifier, isCalled } from '../../src/protocol/identifiers.ts';
import type { NetworkDetails } from '../../src/protocol/network-row.ts';
import { renewName } from '../shared/editor/names.ts';
import { element, errorText } from '../shared/editor/panel.ts';
import { quantityText } from '../shared/editor/quantities.ts';
import { describeIdentifier } from '../shared/editor/request.ts';
import { currentCatalogue, meaningOf } from '../shared/editor/sources.ts';
import { ask, mayDo, type Problem } from './editor-api.ts';
import type { Chosen, DetailsPart } from './editor-details.ts';
import { attachMessage, LabelEditor } from './editor-labels.ts';
import { questionOf } from './editor-risks.ts';
import { say } from './editor-texts.ts';
import { type ValueField, valueField } from './editor-value.ts';

/** Longer than a request takes that the runtime gives up. */
const TIMEOUT_MS = 65_000;

type Message = Record<string, unknown>;

export class Actions implements DetailsPart {
  readonly element: HTMLElement;
  readonly #property = element('select', 'mt-gateway-side-property');
  readonly #about = element('div', 'mt-gateway-side-hint');
  readonly #value = element('span', 'mt-gateway-side-input');
  readonly #valueRow = element('div', 'mt-gateway-side-do');
  readonly #read = button('read', () => void this.#doRead());
  readonly #write = button('write', () => this.#doWrite());
  readonly #name = element('input', '').attr({ type: 'text', 'aria-label': say('newName'), maxlength: 200 });
  /** What stood in the field before anybody typed. */
  #offeredName = '';
  readonly #listed = element('div', '');
  readonly #labels = new LabelEditor({
    attach: (label) => void this.#doAttach(label),
    remove: (label) => this.#askRemoval(label),
  });
  /** Stands below what was done last. */
  readonly #result = element('div', 'mt-gateway-side-result').attr('role', 'status');
  #field: ValueField | undefined;
  #chosen: Chosen | undefined;
  /** What was done has not been seen in the values above yet, which may move the result out of sight. */
  #isFresh = false;
  /** Of another one that is chosen not all values are known at once. */
  #isNew = false;
  /** The property that was asked for last is wanted of the next one, too. */
  #asked: string | undefined;
  readonly #acted: () => void;

  /** @param acted something was done: what is shown may be old */
  constructor(acted: () => void) {
    this.#acted = acted;
    const section = element('div', 'mt-gateway-side-section');
    const heading = element('div', 'mt-gateway-side-heading', say('actions'));
    heading.attr({ role: 'heading', 'aria-level': 3 });
    this.#property.attr('aria-label', say('property')).on('change', () => this.#shape());
    const rename = button('rename', () => void this.#doRename());
    onEnter(this.#name, rename);
    onEnter(this.#value, this.#write);
    this.#listed.append(
      element('div', 'mt-gateway-side-do').append(this.#name, rename),
      this.#labels.element,
    );
    section.append(heading, element('div', 'mt-gateway-side-do').append(this.#property, this.#read));
    section.append(this.#about, this.#valueRow.append(this.#value, this.#write));
    section.append(this.#listed, this.#result);
    this.element = section.toggle(mayDo('write'))[0]!;
  }

  choose(chosen: Chosen): void {
    this.#chosen = chosen;
    this.#isFresh = false;
    this.#isNew = true;
    this.#listed.hide();
    this.#labels.choose(chosen.service);
    this.#offeredName = chosen.row?.name ?? '';
    this.#name.val(this.#offeredName);
    const properties = currentCatalogue(chosen.service).rows.filter(isUsable).sort(byName);
    this.#property.empty().append(properties.map(toOption));
    this.#property.val(this.#asked ?? firstProperty(chosen) ?? DEFAULT_PROPERTY);
    this.#shape();
  }

  /** Names and labels are those of the service's list of devices. */
  show(details: NetworkDetails): void {
    const { name, connected, labels } = details;
    // It may have another name now.
    this.#chosen = this.#chosen && { ...this.#chosen, row: details };
    if (this.#isNew) {
      // Once: a choice must not change below the hand that is about to write it.
      this.#isNew = false;
      this.#offerKnown();
    }
    this.#listed.toggle(connected !== null);
    this.#offerName(name);
    this.#labels.show(labels);
    if (this.#isFresh) {
      this.#isFresh = false;
      this.#reveal();
    }
  }

  /** What somebody types stays. */
  #offerName(name: string): void {
    const isTouched = this.#name.is(':focus') || this.#name.val() !== this.#offeredName;
    if (!isTouched) {
      this.#name.val(name);
    }
    if (this.#name.val() === name) {
      this.#offeredName = name;
    }
  }

  get #identifier(): Identifier | undefined {
    return currentCatalogue(this.#chosen?.service).find(String(this.#property.val() ?? ''));
  }

  /** Makes the field that the property needs; what was done before was of another one. */
  #shape(): void {
    this.#result.empty();
    const identifier = this.#identifier;
    const access = identifier?.access ?? [];
    const isCommand = access.includes('command');
    const isWritten = access.includes('write');
    this.#read.toggle(access.includes('read'));
    this.#write.toggle(isCommand || isWritten).text(say(`do.${writeAction(identifier)}`));
    const about = identifier && [
      meaningOf(identifier),
      describeIdentifier(identifier, isWritten || isCommand),
    ];
    this.#about.text(about?.filter(Boolean).join(' · ') ?? '');
    const hasValue = identifier !== undefined && (isWritten || isCommand) && identifier.type !== 'void';
    this.#field = hasValue ? valueField(identifier) : undefined;
    this.#value.empty().append(this.#field?.element ?? []);
    this.#offerKnown();
  }

  #offerKnown(): void {
    const row = this.#identifier;
    const values = this.#chosen?.row?.values ?? [];
    this.#field?.offer(row && values.find(({ identifier }) => isCalled(row, identifier))?.value);
  }

  /** What every request begins with: a gateway is asked itself. */
  #target(): Message {
    const { id = '', row } = this.#chosen ?? {};
    const at = row?.kind === 'gateway' ? { gateway: id } : { device: id };
    const identifier = this.#identifier;
    return { ...at, identifier: identifier ? askedAs(identifier) : this.#property.val() };
  }

  async #doRead(): Promise<void> {
    this.#valueRow.after(this.#result);
    this.#asked = String(this.#property.val());
    const field = this.#field;
    const done = await this.#send('read', this.#target());
    field?.offer((done?.response as Message | undefined)?.payload);
  }

  #doWrite(): void {
    this.#valueRow.after(this.#result);
    const read = this.#field?.read(currentCatalogue(this.#chosen?.service)) ?? { value: null };
    if ('problem' in read) {
      this.#say(read.problem, true);
      const said = this.#result.children();
      this.#field?.element.one('input', () => said.remove());
      return;
    }
    const message = { ...this.#target(), payload: read.value };
    const identifier = this.#identifier;
    const question =
      identifier && questionOf(identifier, read.value, currentCatalogue(this.#chosen?.service));
    const write = () => void this.#writeAndRead(message);
    if (question === undefined) {
      write();
      return;
    }
    const words = say(question, { command: this.#property.val(), name: this.#nameOfChosen });
    this.#askFirst(words, question === 'reallyReset' ? 'command' : 'write', write);
  }

  /** The device reports what was written later, or never: above stands what it had until it is asked. */
  async #writeAndRead(message: Message): Promise<void> {
    const { service = '', id } = this.#chosen ?? {};
    const target = this.#target();
    const { access = [] } = this.#identifier ?? {};
    // A command has no value of its own, and a device that updates its firmware does not answer.
    const isRead = access.includes('write') && access.includes('read');
    if (!(await this.#send('write', message)) || !isRead) {
      return;
    }
    const said = this.#result.children().first();
    try {
      await ask(service, 'read', { body: target, timeout: TIMEOUT_MS });
      this.#acted();
    } catch (problem) {
      // Something else may have been done meanwhile, or another device been chosen.
      if (id === this.#chosen?.id && said[0]?.isConnected) {
        said.after(element('div', '', say('notReadBack', { reason: (problem as Problem).message })));
      }
    }
  }

  get #nameOfChosen(): string {
    return this.#chosen?.row?.name ?? this.#chosen?.id ?? '';
  }

  /** @param yesKey of the button's words */
  #askFirst(words: string, yesKey: string, go: () => void): void {
    const before = document.activeElement as HTMLElement | null;
    const close = () => {
      this.#result.empty();
      before?.focus();
    };
    const yes = button(yesKey, go);
    const no = button('cancel', close);
    // A text of the language file is taken as HTML nowhere, so a name stays text.
    const answers = element('div', 'mt-gateway-side-do').append(yes, no);
    answers.on('keydown', (event) => {
      if (event.key === 'Escape') {
        // Only the question closes, not the device with it.
        event.stopPropagation();
        close();
      }
    });
    this.#result.empty().append(element('div', '', words), answers);
    // The whole question: the focus alone would bring no more than the button into sight.
    no[0]?.focus({ preventScroll: true });
    this.#result[0]?.scrollIntoView({ block: 'nearest' });
  }

  async #doRename(): Promise<void> {
    this.#listed.after(this.#result);
    const name = String(this.#name.val() ?? '');
    if (name.trim() === '') {
      this.#say(errorText('name', 'missing', {}), true);
      return;
    }
    const { service = '', id = '' } = this.#chosen ?? {};
    if (await this.#send('rename', { device: id, payload: name })) {
      renewName(service, id);
    }
  }

  #askRemoval(label: string): void {
    this.#listed.after(this.#result);
    const words = say('reallyRemove', { label, name: this.#nameOfChosen });
    const message = { action: 'remove', device: this.#chosen?.id, payload: label };
    this.#askFirst(words, 'remove', () => void this.#send('label', message));
  }

  async #doAttach(label: string): Promise<void> {
    this.#listed.after(this.#result);
    if (label === '') {
      this.#say(errorText('label', 'missing', {}), true);
      return;
    }
    const { service = '', id = '' } = this.#chosen ?? {};
    const shown = attachMessage(service, id, label);
    if (await this.#send('label', { action: 'attach', device: id, payload: label }, shown)) {
      this.#labels.clear();
    }
  }

  /**
   * @param shown what a flow would send to the node that does the same
   * @returns undefined where it was not done
   */
  async #send(
    endpoint: string,
    message: Message,
    shown = message,
  ): Promise<{ response: unknown } | undefined> {
    const chosen = this.#chosen;
    if (!chosen) {
      return undefined;
    }
    const what = subjectOf(chosen.service, endpoint, message);
    this.#say(say('working'), false);
    try {
      const response = await ask<unknown>(chosen.service, endpoint, {
        body: message,
        query: { full: 1 },
        timeout: TIMEOUT_MS,
      });
      this.#acted();
      if (chosen.id === this.#chosen?.id) {
        const words =
          endpoint === 'read' ? readText(response) : say('outcome', { what, outcome: say('done') });
        this.#say(words, false, shown);
        this.#isFresh = true;
      }
      return { response };
    } catch (problem) {
      const { message: words, status } = problem as Problem;
      if (chosen.id === this.#chosen?.id) {
        const outcome = status === 401 || status === 403 ? say('mayNotWrite') : words;
        this.#say(say('outcome', { what, outcome }), true, shown);
      }
      return undefined;
    }
  }

  #say(words: string, isBad: boolean, message?: Message): void {
    this.#result.empty().append(element('div', isBad ? 'mt-gateway-side-problem' : '', words));
    if (message) {
      const content = JSON.stringify(message, undefined, 1);
      const copy = button('copy', () => RED.clipboard.copyText(content, copy));
      this.#result.append(element('div', 'mt-gateway-side-hint', say('asMessage')));
      this.#result.append(element('pre', 'mt-gateway-side-message', content), copy);
    }
    this.#reveal();
  }

  /** The words; the message below them may be longer than the view. */
  #reveal(): void {
    this.#result[0]?.firstElementChild?.scrollIntoView({ block: 'nearest' });
  }
}

/** Not in a field of several lines, and not again while the key is held. */
function onEnter(field: JQuery, done: JQuery): void {
  field.on('keydown', ({ key, target, originalEvent }) => {
    const { isComposing, repeat } = originalEvent as KeyboardEvent;
    if (key === 'Enter' && !isComposing && !repeat && !$(target).is('textarea')) {
      done.trigger('click');
    }
  });
}

/** Every device has it. */
const DEFAULT_PROPERTY = 'firmware-version';

const nameOf = ({ name, id }: Identifier): string => name || id;

/** Few look for one that has no name. */
const byName = (one: Identifier, other: Identifier): number =>
  Number(one.name === '') - Number(other.name === '') || (nameOf(one) < nameOf(other) ? -1 : 1);

/** A name says what it is; of a bare hex id its meaning does. */
function toOption(row: Identifier): JQuery {
  const { name, id } = row;
  const meaning = meaningOf(row);
  return $('<option>')
    .val(nameOf(row))
    .text(name || `${id} · ${meaning}`)
    .attr('title', meaning);
}

const isUsable = ({ access }: Identifier): boolean =>
  access.some((one) => one !== 'report' && one !== 'event');

/** What the device reports can be read of it. */
function firstProperty({ service, row }: Chosen): string | undefined {
  const catalogue = currentCatalogue(service);
  const reported = (row?.values ?? []).map(({ identifier }) => catalogue.find(identifier));
  const found = reported.find((one) => one?.access.includes('read'));
  return found && nameOf(found);
}

const writeAction = (identifier: Identifier | undefined): 'command' | 'write' =>
  identifier?.access.includes('command') ? 'command' : 'write';

/** What was asked for, by the words of its button, such as `Read vdd`. */
function subjectOf(service: string, endpoint: string, { action, identifier, payload }: Message): string {
  const isWrite = endpoint === 'write';
  const done = isWrite ? writeAction(currentCatalogue(service).find(String(identifier))) : endpoint;
  return `${say(`do.${action ?? done}`)} ${identifier ?? payload}`;
}

/** What came back, in words. */
function readText(response: unknown): string {
  const { payload, name, unit } = (response ?? {}) as { payload?: unknown; name?: string; unit?: string };
  const shown = quantityText({ identifier: name ?? '', value: payload, unit: unit ?? null });
  return [name, shown].filter(Boolean).join(' ');
}

function button(key: string, press: () => void): JQuery {
  return element('button', 'red-ui-button red-ui-button-small', say(`do.${key}`))
    .attr('type', 'button')
    .on('click', press);
}
