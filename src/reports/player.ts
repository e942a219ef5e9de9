// Sends the lines of a record through receivers of reports: each through its own filters, as tests, and past the broker.
import { setImmediate as turn } from 'node:timers/promises';
import { invalidInput } from '../errors.ts';
import type { Catalogue } from '../protocol/catalogue.ts';
import { copyReport, type Report, type ReportTopic, readReport } from '../protocol/reports/index.ts';
import type { Topics } from '../protocol/topics.ts';
import { Dispatch } from './dispatch.ts';
import { Duplicates } from './duplicates.ts';
import { type NameOf, readTopic } from './message.ts';
import { readLine } from './recorded-line.ts';
import { compileCriteria, type ReportFilter } from './report-filter.ts';

/** Of one portion. */
const MAX_LINES = 1_000;
/** Lines of one portion of which it is told what is wrong with them. */
const MAX_PROBLEMS = 20;
/** Flows have their turn after so many lines. */
const LINES_PER_TURN = 50;
const MAX_RUN_LENGTH = 100;
/** Without a portion for so long a run is forgotten: a page that is closed does not say so. */
const LEASE_MS = 600_000;

/** A node that gets what passes its filter. */
export interface PlayReceiver {
  filter: ReportFilter;
  send(report: Report, topic: string): void;
}

export interface Portion {
  /** The same text in all portions of one file. */
  run: unknown;
  /** The first portion: it ends another run. */
  begin: boolean;
  lines: unknown;
}

export interface Played {
  /** From the beginning of the portion; the others come again, since flows are replaced. */
  lines: number;
  /** Reports that at least one receiver got. */
  taken: number;
  /** Reports that passed no filter. */
  untaken: number;
  failed: number;
  /** What is wrong with the first of those; a line by its place in the portion, from 0. */
  problems: { line: number; error: unknown }[];
  /** Another run has begun: nothing was sent. */
  isReplaced: boolean;
  /** Flows are being replaced: send the rest again. */
  isPaused: boolean;
}

interface PlayContext {
  topics: Topics;
  catalogue: Catalogue;
  nameOf: NameOf | undefined;
  isPaused(): boolean;
  gatewaysWithLabels(labels: readonly string[], signal: AbortSignal): Promise<ReadonlySet<string>>;
}

/** What a receiver lets through. */
interface Gate {
  receiver: PlayReceiver;
  dispatch: Dispatch<true>;
  duplicates: Duplicates | undefined;
}

interface Run {
  id: string;
  /** By receiver: duplicates are recognised over all portions. */
  gates: WeakMap<PlayReceiver, Gate>;
  /** When the last line was received, in milliseconds. */
  time: number;
}

/** One run at a time: two would come to the flow as one. */
export class Player {
  readonly #context: PlayContext;
  #run: Run | undefined;
  /** How often flows were replaced. */
  #replacements = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(context: PlayContext) {
    this.#context = context;
  }

  /**
   * Sends one portion, in its order; a line that is wrong is told of, and the others go on.
   * @throws ServiceError `INVALID_INPUT`: `run`, `lines`; what prevents that there is a list of devices, where a receiver
   *   has labels
   */
  async play(receivers: readonly PlayReceiver[], portion: Portion, signal: AbortSignal): Promise<Played> {
    const { lines } = portion;
    if (!Array.isArray(lines)) {
      throw invalidInput('lines', lines, 'notList');
    }
    if (lines.length > MAX_LINES) {
      throw invalidInput('lines', lines.length, 'tooMany', { limit: MAX_LINES });
    }
    const run = this.#enter(portion);
    const played: Played = {
      ...{ lines: 0, taken: 0, untaken: 0, failed: 0, problems: [] },
      ...{ isReplaced: run === undefined, isPaused: this.#context.isPaused() },
    };
    if (!run || played.isPaused) {
      return played;
    }
    const replacements = this.#replacements;
    const goesOn = (): boolean => {
      played.isPaused = this.#context.isPaused() || replacements !== this.#replacements;
      return !played.isPaused && !signal.aborted && run === this.#run;
    };
    const gates = receivers.map((receiver) => this.#gateOf(run, receiver));
    const allowed = await Promise.all(gates.map(({ receiver }) => this.#allowed(receiver, signal)));
    if (!goesOn()) {
      played.isReplaced = run !== this.#run;
      return played;
    }
    while (played.lines < lines.length) {
      this.#playOne(run, gates, allowed, lines[played.lines], played);
      played.lines++;
      if (played.lines % LINES_PER_TURN === 0 || played.lines === lines.length) {
        await turn();
        if (!goesOn()) {
          break;
        }
      }
    }
    return played;
  }

  /** What waits for the list of devices would come to nodes that are no more. */
  flowsReplaced(): void {
    this.#replacements++;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#run = undefined;
  }

  /** Undefined: another one runs. */
  #enter({ run: id, begin }: Portion): Run | undefined {
    if (typeof id !== 'string' || id.length > MAX_RUN_LENGTH) {
      throw invalidInput('run', id, 'notText');
    }
    if (this.#run && this.#run.id !== id && !begin) {
      return undefined;
    }
    if (this.#run?.id !== id) {
      this.#run = { id, gates: new WeakMap(), time: 0 };
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.close(), LEASE_MS).unref();
    return this.#run;
  }

  #gateOf({ gates }: Run, receiver: PlayReceiver): Gate {
    const known = gates.get(receiver);
    if (known) {
      return known;
    }
    const { filter } = receiver;
    const dispatch = new Dispatch<true>();
    const criteria = compileCriteria(filter, this.#context.catalogue);
    if (criteria) {
      dispatch.add({ ...criteria.route, target: true });
    }
    const drops = filter.duplicates === 'drop';
    const duplicates = drops ? new Duplicates(filter.duplicateWindow * 1_000) : undefined;
    const gate = { receiver, dispatch, duplicates };
    gates.set(receiver, gate);
    return gate;
  }

  /** Undefined: all gateways. */
  async #allowed({ filter }: PlayReceiver, signal: AbortSignal): Promise<ReadonlySet<string> | undefined> {
    const { labels } = filter;
    return labels.length > 0 ? this.#context.gatewaysWithLabels(labels, signal) : undefined;
  }

  #playOne(
    run: Run,
    gates: readonly Gate[],
    allowed: readonly (ReadonlySet<string> | undefined)[],
    line: unknown,
    played: Played,
  ): void {
    if (line === '') {
      return;
    }
    try {
      const { topics, nameOf } = this.#context;
      const { at, topic, body, retained, time } = readLine(line, (text) => readTopic(topics, text, nameOf));
      run.time = time ?? run.time;
      const among = gates.filter(
        ({ dispatch }, i) => dispatch.match(at).length > 0 && allowed[i]?.has(at.gateway) !== false,
      );
      // All are read before one is sent: a line that cannot be read is wrong for all of them.
      const all = among.map((gate) => ({ gate, report: this.#read(gate, at, body, retained) }));
      const passed = all.filter(({ gate, report }) => gate.duplicates?.seen(report, run.time) !== true);
      for (const { gate, report } of passed) {
        gate.receiver.send(report, topic);
      }
      played[passed.length > 0 ? 'taken' : 'untaken']++;
    } catch (error) {
      played.failed++;
      if (played.problems.length < MAX_PROBLEMS) {
        played.problems.push({ line: played.lines, error });
      }
    }
  }

  /** Each receiver has a report of its own. */
  #read({ receiver }: Gate, at: ReportTopic, body: unknown, retained: boolean): Report {
    const report = copyReport(
      readReport(at, body, this.#context.catalogue, receiver.filter.decode, retained),
    );
    report.test = true;
    return report;
  }
}
