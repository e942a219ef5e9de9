// Plays one file: portions of its lines at the pace of the record, the next one when the flows had the one before.
import type { Problem } from './editor-api.ts';
import { readLines } from './editor-lines.ts';
import { say } from './editor-texts.ts';

/** Of one portion; the runtime takes 1 000 lines, and Node-RED 5 MB. */
const MAX_LINES = 500;
const MAX_LENGTH = 262_144;
/** What is due so soon goes with what is due now. */
const TOGETHER_MS = 100;
/** Timers take no more than 24 days. */
const MAX_SLEEP_MS = 3_600_000;
/** A deploy takes about so long. */
const PAUSE_MS = 1_000;
/** One after the other: a deploy of everything takes the service away for a moment. */
const MAX_MISSES = 10;
/** Of lines that are wrong. */
const MAX_PROBLEMS = 10;

/** How it went on. */
export type Outcome = 'done' | 'empty' | 'stopped' | 'replaced' | 'noNodes';

/** What the runtime says of a portion. */
interface Played {
  nodes: number;
  lines: number;
  taken: number;
  untaken: number;
  failed: number;
  problems: { line: number; message: string }[];
  isReplaced: boolean;
  isPaused: boolean;
}

/** The service is about to come back. */
const NOTHING: Played = {
  ...{ nodes: 0, lines: 0, taken: 0, untaken: 0, failed: 0, problems: [] },
  ...{ isReplaced: false, isPaused: true },
};
/** Of HTTP. */
const NOT_DEPLOYED = 404;

interface Options {
  /** How many times as fast as it was recorded; 0: as fast as it goes. */
  speed: number;
  send(portion: { begin: boolean; lines: readonly string[] }): Promise<Played>;
  /** Something is to be shown anew. */
  changed(): void;
}

export class PlayRun {
  readonly #file: Blob;
  readonly #options: Options;
  #isStopped = false;
  #wake = (): void => undefined;
  #hasBegun = false;
  #misses = 0;
  /** Of the first line that has a time, and when it was played. */
  #start: { time: number; at: number } | undefined;
  /** Lines before the portion. */
  #before = 0;
  #portion: string[] = [];
  #length = 0;
  readonly counts = { nodes: 0, taken: 0, untaken: 0, failed: 0 };
  readonly problems: { line: number; words: string }[] = [];
  /** How much of the file was played, from 0 to 1. */
  share = 0;
  /** When the next report is due, while it waits for that. */
  nextAt: Date | undefined;

  constructor(file: Blob, options: Options) {
    this.#file = file;
    this.#options = options;
  }

  stop(): void {
    this.#isStopped = true;
    this.#wake();
  }

  /** @throws Problem, or a DOMException when the file cannot be read */
  async run(): Promise<Outcome> {
    for await (const { text, share } of readLines(this.#file)) {
      const due = this.#dueAt(text);
      const isFull = this.#portion.length >= MAX_LINES || this.#length + (text?.length ?? 0) > MAX_LENGTH;
      if (isFull || due > performance.now() + TOGETHER_MS) {
        const end = (await this.#flush()) ?? (await this.#waitFor(due));
        if (end) {
          return end;
        }
      }
      if (text === undefined) {
        this.#note(this.#before + this.#portion.length + 1, say('play.tooLong'));
        this.counts.failed++;
      }
      this.#portion.push(text ?? '');
      this.#length += text?.length ?? 0;
      this.share = share;
    }
    const end = await this.#flush();
    const { taken, untaken, failed } = this.counts;
    return end ?? (taken + untaken + failed === 0 ? 'empty' : 'done');
  }

  /** In milliseconds of `performance.now()`. */
  #dueAt(text: string | undefined): number {
    const { speed } = this.#options;
    const time = speed === 0 || text === undefined ? Number.NaN : timeOf(text);
    if (Number.isNaN(time)) {
      return 0;
    }
    this.#start ??= { time, at: performance.now() };
    return this.#start.at + (time - this.#start.time) / speed;
  }

  async #waitFor(due: number): Promise<Outcome | undefined> {
    for (let left = due - performance.now(); left > 0; left = due - performance.now()) {
      this.nextAt = new Date(Date.now() + left);
      this.#options.changed();
      await this.#sleep(Math.min(left, MAX_SLEEP_MS));
      if (this.#isStopped) {
        return 'stopped';
      }
    }
    this.nextAt = undefined;
    return undefined;
  }

  /** Sends what there is; undefined: it goes on. */
  async #flush(): Promise<Outcome | undefined> {
    while (this.#portion.length > 0) {
      if (this.#isStopped) {
        return 'stopped';
      }
      const played = await this.#send();
      if (played.isReplaced) {
        return 'replaced';
      }
      if (played.isPaused) {
        await this.#sleep(PAUSE_MS);
      } else if (played.nodes === 0) {
        return 'noNodes';
      }
      this.#count(played);
      this.#options.changed();
    }
    this.#length = 0;
    return undefined;
  }

  async #send(): Promise<Played> {
    try {
      const played = await this.#options.send({ begin: !this.#hasBegun, lines: this.#portion });
      this.#hasBegun = true;
      this.#misses = 0;
      return played;
    } catch (problem) {
      // Nothing was played where there was no service; after other failures that is not known.
      if ((problem as Problem).status !== NOT_DEPLOYED || !this.#hasBegun || ++this.#misses > MAX_MISSES) {
        throw problem;
      }
      return NOTHING;
    }
  }

  #count({ nodes, lines, taken, untaken, failed, problems }: Played): void {
    this.counts.nodes = Math.max(nodes, this.counts.nodes);
    this.counts.taken += taken;
    this.counts.untaken += untaken;
    this.counts.failed += failed;
    for (const { line, message } of problems) {
      this.#note(this.#before + line + 1, message);
    }
    this.#before += lines;
    this.#portion = this.#portion.slice(lines);
  }

  #note(line: number, words: string): void {
    if (this.problems.length < MAX_PROBLEMS) {
      this.problems.push({ line, words });
    }
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = window.setTimeout(resolve, ms);
      this.#wake = () => {
        window.clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** When a report was received; NaN where the line does not say. */
function timeOf(text: string): number {
  try {
    return Date.parse(String((JSON.parse(text) as { time?: unknown } | null)?.time));
  } catch {
    // The runtime says what is wrong with the line.
    return Number.NaN;
  }
}
