// What stands below the tree: all reports are recorded and saved as a file, and such a file is played through a flow.
import type { HeardRecordState } from '../../src/protocol/record-state.ts';
import { element } from '../shared/editor/panel.ts';
import { valueText } from '../shared/editor/quantities.ts';
import { ask, mayDo, type Problem } from './editor-api.ts';
import { PlayPart } from './editor-play.ts';
import { say } from './editor-texts.ts';

/** A recording goes on only as long as somebody asks for it, also where the tab is not seen: 90 s. */
const INTERVAL_MS = 10_000;
/** Then the service is gone, and its recording with it. */
const MAX_MISSES = 10;
/** Of 20 MB. */
const SAVE_TIMEOUT_MS = 120_000;

export class RecordPart {
  readonly element: HTMLElement;
  readonly #heading = element('button', 'mt-gateway-side-record-heading');
  readonly #body = element('div', 'mt-gateway-side-record-body').attr('id', 'mt-gateway-side-record');
  readonly #toggle = button(() => void this.#press());
  readonly #save = button(() => void this.#doSave(this.#service));
  readonly #text = element('div', '');
  readonly #readOut = element('div', 'mt-gateway-side-unseen').attr('role', 'status');
  readonly #play = new PlayPart((words) => this.#readOut.text(words));
  #service = '';
  #state: HeardRecordState | undefined;
  /** The services whose recordings were begun here: their files are saved at the end. Each with its questions in a row without a response. */
  readonly #own = new Map<string, number>();
  #timer: number | undefined;
  #isPressed = false;
  /** Counts the beginnings and ends of what was done here: a state that was asked for before is an old one. */
  #doings = 0;
  /** What is to be said beside the state, until something else is done. */
  #remark = '';

  constructor() {
    this.#heading
      .attr({ type: 'button', 'aria-expanded': 'false', 'aria-controls': 'mt-gateway-side-record' })
      .append(
        '<i class="fa fa-caret-right" aria-hidden="true"></i> ',
        element('span', '', say('record.heading')),
      )
      .on('click', () => this.#fold());
    this.#save.text(say('record.save'));
    const buttons = element('div', 'mt-gateway-side-do').append(this.#toggle, this.#save.hide());
    this.#body.append(buttons, this.#text, element('hr', ''), this.#play.element).hide();
    this.element = element('div', 'mt-gateway-side-record')
      .append(this.#heading, this.#body, this.#readOut)
      .hide()[0]!;
    this.#render();
  }

  /** @param service empty: there is none, or it may not be looked at */
  async refresh(service: string): Promise<void> {
    if (service !== this.#service) {
      this.#service = service;
      this.#state = undefined;
      this.#render();
    }
    $(this.element).toggle(service !== '');
    if (service !== '' && this.isOpen) {
      this.#play.show(service);
      await this.#ask(service);
    }
  }

  /** The tab is taken away: nothing is asked any more, and what is played ends. */
  close(): void {
    window.clearInterval(this.#timer);
    this.#own.clear();
    this.#play.close();
  }

  get isOpen(): boolean {
    return this.#heading.attr('aria-expanded') === 'true';
  }

  #fold(): void {
    const isOpen = !this.isOpen;
    this.#heading.attr('aria-expanded', String(isOpen));
    this.#heading.children('i').toggleClass('fa-caret-down', isOpen).toggleClass('fa-caret-right', !isOpen);
    this.#body.toggle(isOpen);
    this.element.scrollIntoView({ block: 'nearest' });
    void this.refresh(this.#service);
  }

  async #press(): Promise<void> {
    if (this.#isPressed) {
      return;
    }
    this.#isPressed = true;
    this.#doings++;
    const isRunning = this.#state?.name === 'running';
    // Where somebody else has begun it, too: who ends it wants the file.
    this.#own.set(this.#service, 0);
    this.#remark = '';
    this.#timer ??= window.setInterval(() => void this.#askForOwn(), INTERVAL_MS);
    await this.#ask(this.#service, { action: isRunning ? 'stop' : 'start' });
    this.#doings++;
    this.#isPressed = false;
  }

  async #askForOwn(): Promise<void> {
    await Promise.all([...this.#own.keys()].map((service) => this.#ask(service)));
  }

  /** @param body what is to be done; undefined: only the state is asked for */
  async #ask(service: string, body?: object): Promise<void> {
    const doings = this.#doings;
    try {
      const state = await ask<HeardRecordState>(service, 'record', body && { body });
      if (doings !== this.#doings) {
        return;
      }
      if (service === this.#service) {
        this.#state = state;
        this.#render();
      }
      const isOwn = this.#own.has(service);
      if (isOwn) {
        this.#own.set(service, 0);
      }
      if (isOwn && state.name !== 'running') {
        await this.#end(service, state);
      } else if (body) {
        this.#readOut.text(describe(state));
      }
    } catch (problem) {
      const misses = (this.#own.get(service) ?? 0) + 1;
      // A deploy of everything takes the service away for a moment.
      if (body || misses >= MAX_MISSES) {
        this.#forget(service);
      } else if (this.#own.has(service)) {
        this.#own.set(service, misses);
      }
      if (service === this.#service) {
        this.#text.text((problem as Problem).message);
      }
    }
  }

  #forget(service: string): void {
    this.#own.delete(service);
    if (this.#own.size === 0) {
      window.clearInterval(this.#timer);
      this.#timer = undefined;
    }
  }

  /** What was begun here is over. */
  async #end(service: string, state: HeardRecordState): Promise<void> {
    this.#forget(service);
    this.#remark = state.name === 'none' ? say('record.lost') : '';
    this.#readOut.text(this.#remark || describe(state));
    this.#render();
    if (state.lines > 0) {
      await this.#doSave(service, state.since);
    }
  }

  async #doSave(service: string, since = this.#state?.since ?? null): Promise<void> {
    try {
      const text = await ask<string>(service, 'record/file', { isText: true, timeout: SAVE_TIMEOUT_MS });
      const name = `reports-${String(since).slice(0, 19).replaceAll(':', '-')}.jsonl`;
      const file = new File([text], name, { type: 'application/x-ndjson' });
      saveFile(file);
      if (service === this.#service) {
        this.#play.offer(file);
      }
      this.#remark = '';
    } catch (problem) {
      this.#remark = (problem as Problem).message;
    }
    this.#render();
  }

  #render(): void {
    const state = this.#state;
    const isRunning = state?.name === 'running';
    const icon = `<i class="fa fa-${isRunning ? 'stop' : 'circle'}" aria-hidden="true"></i> `;
    const words = say(isRunning ? 'record.stop' : 'record.start');
    if (this.#toggle.text().trim() !== words) {
      this.#toggle.empty().append(icon, element('span', '', words));
    }
    this.#toggle.prop('disabled', !mayDo('write'));
    this.#save.prop('disabled', !mayDo('write')).toggle(state?.name === 'ended' && state.lines > 0);
    this.#text.text([state ? describe(state) : say('record.means'), this.#remark].filter(Boolean).join(' '));
    this.#heading.toggleClass('mt-gateway-side-recording', isRunning);
  }
}

function button(press: () => void): JQuery {
  return element('button', 'red-ui-button red-ui-button-small').attr('type', 'button').on('click', press);
}

function describe({ name, seconds, lines, bytes, tooLong, end, isHearing }: HeardRecordState): string {
  if (name === 'none') {
    return mayDo('write') ? say('record.means') : `${say('record.means')} ${say('mayNotWrite')}`;
  }
  const size =
    bytes < 1_000_000
      ? say('record.kB', { size: valueText(Math.ceil(bytes / 1_000)) })
      : say('record.MB', { size: valueText(Math.round(bytes / 100_000) / 10) });
  const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  const isRunning = name === 'running';
  return [
    isRunning ? say('record.running') : say(`record.end.${end}`),
    say('record.counts', { lines, size, time }),
    tooLong > 0 && say('record.tooLong', { count: tooLong }),
    isRunning && !isHearing && say('notListening'),
  ]
    .filter(Boolean)
    .join(' ');
}

function saveFile(file: File): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = file.name;
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(link.href), SAVE_TIMEOUT_MS);
}
