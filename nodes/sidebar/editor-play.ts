// A record is played through the report in nodes of one flow: which flow, which file, how fast, and what came of it.
import { asText, hasEnv } from '../shared/defaults.ts';
import { element } from '../shared/editor/panel.ts';
import { ask, mayDo } from './editor-api.ts';
import { type Outcome, PlayRun } from './editor-run.ts';
import { say } from './editor-texts.ts';

/** Longer than flows need for one portion. */
const TIMEOUT_MS = 60_000;

interface PlayFlow {
  id: string;
  label: string;
  /** Nothing of it runs. */
  isOff: boolean;
  /** It was changed and is not deployed. */
  isChanged: boolean;
}

export class PlayPart {
  readonly element: HTMLElement;
  readonly #announce: (words: string) => void;
  readonly #flow = element('select', '').attr('aria-label', say('play.flow'));
  readonly #speed = element('select', 'mt-gateway-side-speed').attr('aria-label', say('play.speed'));
  readonly #file = element('input', 'mt-gateway-side-file').attr({
    type: 'file',
    'aria-label': say('play.file'),
  });
  readonly #button = element('button', 'red-ui-button red-ui-button-small').attr('type', 'button');
  readonly #hint = element('div', 'mt-gateway-side-hint');
  readonly #bar = element('progress', '').attr({ max: 1, 'aria-label': say('play.progress') });
  readonly #text = element('div', '');
  readonly #problems = element('ul', 'mt-gateway-side-problems');
  #service = '';
  #flows: PlayFlow[] = [];
  #shownFlows = '';
  /** The flow that somebody has chosen or played; undefined: it is the one that is open. */
  #chosen: string | undefined;
  #run: PlayRun | undefined;
  #offered: File | undefined;

  /** @param announce reads out what has happened */
  constructor(announce: (words: string) => void) {
    this.#announce = announce;
    this.#speed.append(
      [1, 10, 0].map((speed) =>
        $('<option>')
          .val(speed)
          .text(speed ? `${speed}×` : say('play.fast')),
      ),
    );
    this.#speed.val(0);
    this.#file.attr('accept', '.jsonl,.ndjson,.json,.txt').on('change', () => {
      this.#forget();
      this.#update();
    });
    this.#flow.on('change', () => {
      this.#chosen = String(this.#flow.val());
      this.#forget();
      this.show(this.#service);
    });
    this.#button.on('click', () => (this.#run ? this.#run.stop() : void this.#play()));
    const row = (...parts: JQuery[]) => element('div', 'mt-gateway-side-do').append(...parts);
    this.element = element('div', '').append(
      ...[row(this.#file), row(this.#flow, this.#speed, this.#button), this.#hint],
      ...[this.#bar.hide(), this.#text, this.#problems],
    )[0]!;
  }

  /** Offers the flows that there are now. */
  show(service: string): void {
    if (service !== this.#service) {
      this.#service = service;
      this.#chosen = undefined;
    }
    this.#flows = listFlows(service);
    const shown = JSON.stringify(this.#flows.map(({ id, label }) => [id, label]));
    const before = this.#flow.val();
    if (shown !== this.#shownFlows) {
      this.#shownFlows = shown;
      const options = [{ id: '', label: say('play.choose') }, ...this.#flows];
      this.#flow.empty().append(options.map(({ id, label }) => $('<option>').val(id).text(label)));
    }
    const isOffered = (flow?: string) => this.#flows.some(({ id }) => id === flow);
    const flow = [this.#chosen, RED.workspaces.active()].find(isOffered) ?? '';
    // A list that is open stays as it is where nothing has changed.
    if (this.#flow.val() !== flow) {
      this.#flow.val(flow);
    }
    if (flow !== before) {
      this.#forget();
    }
    this.#update();
  }

  /** What was recorded just now is the file, unless somebody has chosen another one. */
  offer(file: File): void {
    if (this.#run || (this.#chosenFile && this.#chosenFile !== this.#offered)) {
      return;
    }
    const transfer = new DataTransfer();
    transfer.items.add(file);
    const input = this.#file[0] as HTMLInputElement;
    input.files = transfer.files;
    this.#offered = input.files[0];
    this.#forget();
    this.#update();
  }

  close(): void {
    this.#run?.stop();
  }

  get #chosenFile(): File | undefined {
    return (this.#file[0] as HTMLInputElement).files?.[0];
  }

  /** Another flow or file is chosen: what came of the one before is not said of it. */
  #forget(): void {
    if (!this.#run) {
      this.#text.empty();
      this.#problems.empty();
    }
  }

  #update(): void {
    const flow = this.#flows.find(({ id }) => id === this.#flow.val());
    const isRunning = this.#run !== undefined;
    const mayPlay = mayDo('write') && flow !== undefined && !flow.isOff && this.#chosenFile !== undefined;
    this.#button.text(say(isRunning ? 'play.stop' : 'play.start')).prop('disabled', !isRunning && !mayPlay);
    this.#flow
      .add(this.#speed)
      .add(this.#file)
      .prop('disabled', isRunning || !mayDo('write'));
    const words = [say('play.means'), ...remarksOn(flow, this.#flows.length > 0)].join(' ');
    if (this.#hint.text() !== words) {
      this.#hint.text(words);
    }
  }

  async #play(): Promise<void> {
    const [service, file, flow] = [this.#service, this.#chosenFile, String(this.#flow.val())];
    if (!file) {
      return;
    }
    this.#chosen = flow;
    const id = RED.nodes.id();
    const run = new PlayRun(file, {
      speed: Number(this.#speed.val()),
      send: (portion) => ask(service, 'play', { body: { flow, run: id, ...portion }, timeout: TIMEOUT_MS }),
      changed: () => this.#showRun(run),
    });
    this.#run = run;
    this.#update();
    this.#showRun(run);
    const words = await ending(run);
    this.#run = undefined;
    this.#update();
    this.#showRun(run, words);
    this.#bar.hide();
    this.#announce(`${words} ${countsOf(run)}`.trim());
    this.#text[0]?.scrollIntoView({ block: 'nearest' });
  }

  /** @param ending why it has ended, in words */
  #showRun(run: PlayRun, ending?: string): void {
    const { share, nextAt, problems, counts } = run;
    const next = nextAt && !ending ? say('play.next', { time: nextAt.toLocaleTimeString() }) : '';
    this.#bar.show().val(share);
    this.#text.text([ending, countsOf(run), next].filter(Boolean).join(' '));
    // A text of the language file is not filled with what a file says.
    const items = problems.map(({ line, words }) => `${say('play.line', { line })} ${words}`);
    const more = counts.failed - problems.length;
    this.#problems
      .empty()
      .append(
        [...items, ...(more > 0 ? [say('play.more', { count: more })] : [])].map((words) =>
          element('li', '', words),
        ),
      );
  }
}

/** Empty while no node was asked to take anything. */
const countsOf = ({ counts }: PlayRun): string => (counts.nodes > 0 ? say('play.counts', counts) : '');

/** How a run ends, in words. */
async function ending(run: PlayRun): Promise<string> {
  try {
    return say(`play.ended.${await run.run()}` satisfies `play.ended.${Outcome}`);
  } catch (problem) {
    return problem instanceof DOMException ? say('play.unreadable') : (problem as Error).message;
  }
}

/** @param hasFlows whether there are any to choose from */
function remarksOn(flow: PlayFlow | undefined, hasFlows: boolean): string[] {
  if (!mayDo('write')) {
    return [say('mayNotWrite')];
  }
  if (!flow) {
    return [say(hasFlows ? 'play.chooseFlow' : 'play.noFlow')];
  }
  if (flow.isOff) {
    return [say('play.off')];
  }
  return flow.isChanged ? [say('play.changed')] : [];
}

/** Tabs, and subflows, that have report in nodes of this service; which one a variable brings, the runtime alone knows. */
function listFlows(service: string): PlayFlow[] {
  const flows = new Map<string, PlayFlow>();
  for (const node of RED.nodes.filterNodes({ type: 'mt-report-in' })) {
    if (node.service !== service && !hasEnv(node.service)) {
      continue;
    }
    const id = asText(node.z ?? '');
    const tab = RED.nodes.workspace(id);
    const label = tab?.label ?? RED.nodes.subflow(id)?.name ?? id;
    const before = flows.get(id) ?? { id, label, isOff: true, isChanged: false };
    flows.set(id, {
      ...before,
      isOff: before.isOff && (node.d === true || tab?.disabled === true),
      isChanged: before.isChanged || node.changed === true,
    });
  }
  return [...flows.values()].sort((one, other) => one.label.localeCompare(other.label));
}
