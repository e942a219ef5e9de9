// All reports of the network, for as long as people look: asked for once, however many look, and beside what flows want.
import type { Catalogue } from '../protocol/catalogue.ts';
import type { ReportListener } from './receivers.ts';
import { type CompiledCriteria, compileCriteria } from './report-filter.ts';
import type { Reports } from './reports.ts';
import { UNFILTERED } from './unfiltered.ts';

/** Whoever looks asks again before that; an editor that is closed does not say so. */
const LEASE_MS = 15_000;

/** What covers it is a filter of all reports there are. */
export const EVERYTHING = { topicFilters: [{}] };

/** Reports are recorded in the state of the network before anybody receives them: more is not wanted. */
const NOBODY: ReportListener = { report() {}, error() {} };

export class Everything {
  readonly #reports: Reports;
  readonly #catalogue: Catalogue;
  /** Keeps the connection up, and has the topic filters applied. */
  readonly #open: () => () => void;
  #end: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #ended = (): void => undefined;

  /** @param open called when somebody begins to look; what it returns, when nobody does any more */
  constructor(reports: Reports, catalogue: Catalogue, open: () => () => void) {
    this.#reports = reports;
    this.#catalogue = catalogue;
    this.#open = open;
  }

  get isWanted(): boolean {
    return this.#end !== undefined;
  }

  /**
   * Listens for 15 s from now on.
   * @param ended called when nobody has asked again; the newest one counts
   * @returns seconds
   */
  listen(ended: () => void): number {
    this.#ended = ended;
    this.#end ??= this.#begin();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.close(), LEASE_MS).unref();
    return LEASE_MS / 1_000;
  }

  close(): void {
    clearTimeout(this.#timer);
    const end = this.#end;
    this.#end = undefined;
    if (end) {
      end();
      this.#ended();
    }
  }

  #begin(): () => void {
    return listenToAll(this.#reports, this.#catalogue, NOBODY, this.#open);
  }
}

/**
 * Has all reports brought here, for people; flows receive no more than before.
 * @param open keeps the connection up, and has the topic filters applied
 * @returns ends it
 */
export function listenToAll(
  reports: Reports,
  catalogue: Catalogue,
  listener: ReportListener,
  open: () => () => void,
): () => void {
  // There is always something that passes a filter of everything.
  const criteria = compileCriteria(UNFILTERED, catalogue) as CompiledCriteria;
  const { remove } = reports.add(criteria, true, listener, true);
  const endRequest = reports.addPreview(criteria);
  const close = open();
  return () => {
    remove();
    endRequest();
    close();
  };
}
