// The content of the tab: what is looked for above, the tree of what was found, and what there is to say about it.
import { element } from '../shared/editor/panel.ts';
import type { DeviceToShow } from '../shared/editor/show-device.ts';
import { Actions } from './editor-actions.ts';
import { ask, mayDo, type Page, type Problem } from './editor-api.ts';
import { Changes } from './editor-changes.ts';
import { Controls } from './editor-controls.ts';
import { DetailsView } from './editor-details.ts';
import { FlowPart, offerNodes, startDrag } from './editor-flow.ts';
import { type Item, type Range, TreeModel } from './editor-model.ts';
import { NearAnnouncer } from './editor-near.ts';
import { RecordPart } from './editor-record.ts';
import { ReportsPart } from './editor-reports.ts';
import { say } from './editor-texts.ts';
import { TreeView } from './editor-tree.ts';
import { WaitingNodes } from './editor-waiting.ts';
import { type Watch, watchWhileShown } from './editor-watch.ts';

/** States of the broker's connection in which nothing is heard. */
const AWAY = new Set(['connecting', 'waiting', 'refused', 'closed']);

/** Rows at the top that are read out when they light up. */
const MAX_LIT = 10;

/** The runtime listens for 15 s. */
const LISTEN_INTERVAL_MS = 8_000;
/** Where the runtime does not tell of changes, or time alone changes what is shown. */
const POLL_INTERVAL_MS = 2_000;
/** Rows that change their places wait for a pointer that moves over them. */
const POINTED_AT_INTERVAL_MS = 300;
/** Where it does: of what falls silent it does not tell, and it forgets editors that do not ask for a minute. */
const IDLE_INTERVAL_MS = 20_000;

/** Of HTTP: nothing more is shown to this user. */
const REFUSALS: ReadonlySet<number> = new Set([401, 403]);
/** Two seconds apart: longer than a deploy takes. */
const MAX_FAILURES = 4;
/** No such service runs. */
const NOT_DEPLOYED = 404;
/** A deploy is answered before its flows run: so long nothing is said of it. */
const START_MS = 3_000;
const START_INTERVAL_MS = 250;

/** Not all of these rows are known. */
const hasGaps = ({ list, offset, limit }: Range): boolean => !list.has(offset, limit);

/** The tab's content, which asks only while it is shown. */
export class Panel {
  readonly element: HTMLElement;
  readonly #controls = new Controls(
    () => this.#lookElsewhere(),
    () => this.#enter(),
  );
  readonly #tree: TreeView;
  readonly #details = new DetailsView(
    [new FlowPart(), new Actions(() => this.#watch.now()), new ReportsPart()],
    () => this.#closeDetails(),
    (row, event) => startDrag(event, { service: this.#service, row }),
  );
  readonly #body = element('div', 'mt-gateway-side-body');
  readonly #note = element('div', 'mt-gateway-side-note').attr('role', 'status');
  readonly #near = new NearAnnouncer();
  readonly #waiting = new WaitingNodes();
  readonly #record = new RecordPart();
  readonly #closing = new AbortController();
  readonly #watch: Watch;
  readonly #changes: Changes;
  #model: TreeModel;
  #service = '';
  /** One after the other. */
  #failures = 0;
  /** By the clock of the browser. */
  #deployedAt = 0;
  /** The first of what is looked for is wanted as soon as it is there. */
  #isEntering = false;
  /** When everything was asked for last, and whether it comes. */
  #listening: { at: number; isHeard: boolean } | undefined;

  constructor() {
    this.#tree = new TreeView({
      missing: () => this.#watch.now(),
      selected: (item) => this.#details.isOpen && this.#openDetails(item),
      activated: (item) => this.#openDetails(item),
      left: () => this.#closeDetails(),
      menu: ({ row }, at) => row && offerNodes({ service: this.#service, row }, at),
      dragged: ({ row }, event) => row && startDrag(event, { service: this.#service, row }),
    });
    this.#model = new TreeModel(this.#controls.filters);
    const search = element('div', 'mt-gateway-side-outer');
    search.append(
      this.#waiting.element,
      this.#controls.element,
      this.#note[0]!,
      this.#near.element,
      this.#tree.element,
      this.#record.element,
    );
    this.#body.append(search[0]!, this.#details.element);
    this.element = element('div', 'mt-gateway-side').append(this.#body)[0]!;
    this.#tree.catchSecondClicks(this.element);
    const watcher = { refresh: () => this.#refresh(), tick: () => this.#tick() };
    const { signal } = this.#closing;
    this.#watch = watchWhileShown(this.element, watcher, signal);
    this.#changes = new Changes(() => this.#watch.now(), signal);
    RED.events.on('deploy', this.#deployed);
  }

  /** The tab is taken away: nothing is asked or listened to any more. */
  close(): void {
    this.#closing.abort();
    this.#tree.close();
    this.#record.close();
    RED.events.off('deploy', this.#deployed);
  }

  /** What is deployed may be another network, or another flow. */
  readonly #deployed = (): void => {
    this.#deployedAt = Date.now();
    this.#waiting.forget();
    this.#watch.now();
  };

  /** Shows one that may not be in the list. */
  showDevice({ service, id }: DeviceToShow): void {
    if (!this.#controls.choose(service)) {
      return;
    }
    if (service !== this.#service) {
      this.#lookElsewhere();
    }
    const row = this.#tree.choose(this.#model, id)?.row;
    this.#details.open({ service, id, row });
    this.#body.addClass('mt-gateway-side-opened');
    this.#details.element.focus();
    this.#watch.now();
  }

  #openDetails({ row }: Item): void {
    if (row) {
      this.#details.open({ service: this.#service, id: row.id, row });
      this.#body.addClass('mt-gateway-side-opened');
      this.#tree.reveal();
      this.#watch.now();
    }
  }

  #closeDetails(): void {
    if (this.#details.isOpen) {
      this.#hideDetails();
      this.#tree.element.focus();
    }
  }

  #hideDetails(): void {
    this.#details.close();
    this.#body.removeClass('mt-gateway-side-opened');
  }

  #lookElsewhere(): void {
    const isSame = this.#service === this.#controls.service;
    if (!isSame) {
      this.#hideDetails();
    }
    this.#service = this.#controls.service;
    this.#model = new TreeModel(this.#controls.filters, isSame ? this.#model.openGateways : []);
    this.#tree.clear();
    if (!isSame) {
      // A click on what is left of the other one would be about this one.
      this.#tree.setModel(this.#model);
    }
    this.#isEntering = false;
    this.#near.clear();
    if (!isSame) {
      // Its buttons are for this service from now on.
      void this.#record.refresh(this.#service);
    }
    this.#watch.now();
  }

  /** From the search to the first row. */
  #enter(): void {
    this.#isEntering = !this.#tree.enter(this.#model);
  }

  #tick(): void {
    this.#tree.render();
    this.#details.tick();
    this.#waiting.tick();
  }

  /** @returns milliseconds until the next time */
  async #refresh(): Promise<number> {
    if (!mayDo('read')) {
      this.#empty(say('forbidden'));
      return POLL_INTERVAL_MS;
    }
    this.#controls.updateServices();
    void this.#record.refresh(this.#controls.service);
    if (this.#controls.service !== this.#service) {
      this.#lookElsewhere();
    }
    if (this.#service === '') {
      this.#empty(say('noService'));
      return POLL_INTERVAL_MS;
    }
    const [model, service] = [this.#model, this.#service];
    try {
      await Promise.all([this.#listen(service), this.#changes.begin(service)]);
      const isHeld = this.#controls.isMoving && this.#tree.isPointedAt && this.#tree.shows(model);
      const ranges = model.rangesOf(...this.#tree.sight).filter((range) => !isHeld || hasGaps(range));
      if (isHeld && ranges.length === 0 && !this.#details.isAwaited) {
        return POINTED_AT_INTERVAL_MS;
      }
      const details = this.#details.refresh(this.#changes.query);
      const pages = await Promise.all(ranges.map((range) => this.#fetch(service, range)));
      await details;
      await this.#waiting.refresh(service);
      if (model !== this.#model) {
        return POLL_INTERVAL_MS;
      }
      this.#failures = 0;
      if (isHeld) {
        this.#tree.render();
        return POINTED_AT_INTERVAL_MS;
      }
      this.#show(pages[0]);
      return model.isWaiting(...this.#tree.sight) ? 0 : this.#pauseMs();
    } catch (problem) {
      const { status } = problem as Problem;
      if (status === NOT_DEPLOYED && Date.now() - this.#deployedAt < START_MS) {
        return START_INTERVAL_MS;
      }
      if (model === this.#model) {
        this.#fail(problem as Problem);
      }
      return POLL_INTERVAL_MS;
    }
  }

  #pauseMs(): number {
    // A recording, and the flows that a file can be played to, change without a report.
    const { isNear } = this.#controls;
    if (!this.#changes.isPushed || isNear || this.#record.isOpen || this.#listening?.isHeard === false) {
      return POLL_INTERVAL_MS;
    }
    return this.#listening ? LISTEN_INTERVAL_MS : (this.#waiting.pauseMs ?? IDLE_INTERVAL_MS);
  }

  /** While the switch is on the broker sends everything; nothing ends that but that nobody asks again. */
  async #listen(service: string): Promise<void> {
    if (!this.#controls.everything) {
      this.#listening = undefined;
      return;
    }
    if (Date.now() - (this.#listening?.at ?? 0) >= LISTEN_INTERVAL_MS || !this.#listening?.isHeard) {
      const { listening } = await ask<{ listening: boolean }>(service, 'listen', { body: { all: true } });
      this.#listening = { at: Date.now(), isHeard: listening };
    }
  }

  async #fetch(service: string, { list, offset, limit }: Range): Promise<Page> {
    const query = { ...list.query, ...this.#changes.query, offset, limit };
    const page = await ask<Page>(service, 'network', { query });
    this.#changes.answered(page);
    list.set(offset, page, this.#model.isKept);
    this.#model.changed();
    return page;
  }

  #show(page: Page | undefined): void {
    this.#tree.setModel(this.#model);
    this.#near.update(this.#controls.isNear ? this.#model.top(MAX_LIT) : []);
    const nameless = page?.nameless && say('nameless', { reason: page.nameless });
    this.#say([this.#remark(page), nameless].filter(Boolean).join(' '));
    $(this.#tree.element).css('display', (this.#model.size ?? 0) > 0 ? '' : 'none');
    if (this.#isEntering && this.#controls.isSearching) {
      this.#tree.enter(this.#model);
    }
    this.#isEntering = false;
  }

  /** What explains what is seen, or why nothing is. */
  #remark({ broker, asked, heard }: Partial<Page> = {}): string {
    const { q, needs } = this.#controls.filters;
    if (broker !== undefined && AWAY.has(broker)) {
      return say('brokerAway');
    }
    if (this.#controls.isNear && q === '' && needs === 0) {
      return [say('near.hint'), !this.#listening?.isHeard && say('near.onlyFlows')].filter(Boolean).join(' ');
    }
    if (this.#listening) {
      return say(this.#listening.isHeard ? 'listening' : 'notListening');
    }
    const isUnasked = asked === false && broker !== 'unconfigured';
    const unasked = heard ? 'unasked' : 'unaskedYet';
    if ((this.#model.size ?? 0) > 0) {
      return isUnasked ? say(unasked) : '';
    }
    if (q !== '') {
      return say('notFound');
    }
    if (needs > 0 && heard) {
      return say(isUnasked ? unasked : 'nobody');
    }
    return say(broker === 'unconfigured' ? 'noBroker' : 'nothing');
  }

  /** What was seen last stays where only the connection is away, or a deploy is about to bring the service back. */
  #fail({ message, status }: Problem): void {
    this.#failures++;
    const mayPass = status === 0 || (!REFUSALS.has(status) && this.#failures < MAX_FAILURES);
    if (mayPass && (this.#model.size ?? 0) > 0) {
      this.#say(message);
    } else {
      this.#empty(message);
    }
  }

  #empty(words: string): void {
    this.#model = new TreeModel(this.#controls.filters, this.#model.openGateways);
    $(this.#tree.element).hide();
    this.#hideDetails();
    this.#waiting.hide();
    this.#say(words);
  }

  /** Said again only when it is another text: a screen reader reads each change. */
  #say(words: string): void {
    if (this.#note.text() !== words) {
      this.#note.text(words);
    }
    this.#note.toggle(words !== '');
  }
}
