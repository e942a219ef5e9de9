// Subscribers of reports as nodes see them: criteria, labels, duplicates and previews together, kept over a deploy.
import { ServiceError } from '../errors.ts';
import type { Catalogue } from '../protocol/catalogue.ts';
import type { TopicFilterParts } from '../protocol/topics.ts';
import { Confirmation, type ConfirmOptions, type CountListener } from './confirmation.ts';
import { Duplicates } from './duplicates.ts';
import { EVERYTHING, Everything, listenToAll } from './everything.ts';
import type { HeldReport, HeldReports } from './held-reports.ts';
import { LabelFilter, type LabelSource, type LabelState } from './label-filter.ts';
import type { Message } from './message.ts';
import { type KeptMessage, type PreviewLine, Previews } from './preview.ts';
import type { ReportListener } from './receivers.ts';
import { Recording } from './recording.ts';
import { type CompiledCriteria, compileCriteria, type ReportFilter } from './report-filter.ts';
import type { Reports, Subscription } from './reports.ts';

export interface Subscriber extends ReportListener {
  /** Called with the state of the label filter, if there is one. */
  labels?(state: LabelState): void;
  /** The broker keeps what is received with QoS 1 until the flow has confirmed it. */
  confirm?: (ConfirmOptions & { count: CountListener }) | undefined;
}

/** What subscribers need of the broker connection. */
export interface ReportBroker {
  /** Keeps the connection up until the returned function is called. */
  attach(): () => void;
  /** The topic filters may have changed. */
  updateFilters(): void;
  /** While flows are replaced, nobody would receive what is replayed: `resumed` follows. */
  readonly isPaused: boolean;
  /** Whether no report comes by a topic filter that flows want: the broker has refused it, or has still to answer. */
  isUnheard(filter: string): boolean;
  /** Whether the broker has refused one that only people look through. */
  isPreviewRefused(filter: string): boolean;
  /** Whether reports come by one, be it wanted or looked through. */
  isGranted(filter: string): boolean;
}

interface Options {
  /** By this name a subscriber is recognised after a deploy. */
  owner?: string | undefined;
  isPreview?: boolean;
  /** What was received before, to begin with. */
  known?: readonly Message[];
}

export class Subscribers {
  /** Of all reports there are, while somebody has them recorded. */
  readonly recording: Recording;
  readonly #reports: Reports;
  readonly #catalogue: Catalogue;
  readonly #broker: ReportBroker;
  readonly #labelSource: () => LabelSource;
  readonly #previews: Previews<ReportFilter>;
  readonly #everything: Everything;
  readonly #held: HeldReports;
  /** Replays messages to the present subscriber of an owner. */
  readonly #replays = new Map<string, (messages: readonly Message[]) => void>();
  readonly #labelFilters = new Set<LabelFilter>();

  /**
   * @param labelSource throws `NOT_CONFIGURED` where there is none
   * @param recorded called when a recording ends
   */
  constructor(
    reports: Reports,
    catalogue: Catalogue,
    broker: ReportBroker,
    labelSource: () => LabelSource,
    held: HeldReports,
    recorded: () => void,
  ) {
    this.#reports = reports;
    this.#catalogue = catalogue;
    this.#broker = broker;
    this.#labelSource = labelSource;
    this.#held = held;
    this.#everything = new Everything(reports, catalogue, () => this.#open());
    this.recording = new Recording((listener) => {
      const end = listenToAll(reports, catalogue, listener, () => this.#open());
      return () => {
        end();
        recorded();
      };
    });
    this.#previews = new Previews({
      listen: (filter, report, setProblem, known) =>
        this.#add(
          filter,
          {
            report,
            error() {},
            labels: ({ name, error }) => setProblem(name === 'waiting' ? error : undefined),
          },
          { isPreview: true, known },
        ),
      request: (filter, received) => this.#requestPreview(filter, received),
    });
  }

  /**
   * See `Session.subscribe`.
   * @throws ServiceError `NOT_CONFIGURED` (`rest`, with labels), `INVALID_INPUT` with the filter's field
   */
  add(filter: ReportFilter, subscriber: Subscriber, owner?: string): (comesBack?: boolean) => void {
    return this.#add(filter, subscriber, { owner });
  }

  /**
   * See `Session.preview`.
   * @throws ServiceError when nothing was heard: `NOT_CONNECTED` where the broker refuses the subscription, or why there
   *   is no list of devices
   */
  preview(filter: ReportFilter, kept?: () => readonly KeptMessage[]): readonly PreviewLine[] {
    const { lines, problem } = this.#previews.poll(filter, kept);
    if (lines.length === 0 && problem) {
      throw problem;
    }
    if (lines.length === 0 && this.#isPreviewRefused(filter)) {
      // Neither filter nor broker: whoever looks need not know what their variables were filled with.
      throw new ServiceError('NOT_CONNECTED', 'refusedPreview');
    }
    return lines;
  }

  /**
   * See `AllReports.listen`.
   * @param ended called when nobody has asked again
   * @returns seconds
   */
  listenToEverything(ended: () => void): number {
    return this.#everything.listen(ended);
  }

  /** See `Reports.wantedDevices`. */
  get wantedDevices(): (device: string) => boolean {
    return this.#reports.wantedDevices;
  }

  /** Whether anybody asks by labels, of which there may be no list, or no gateway may have them. */
  get asksByLabels(): boolean {
    return this.#labelFilters.size > 0;
  }

  /** Whether all reports there are come here, and not only those that flows want. */
  get hearsEverything(): boolean {
    const isAsked = this.#everything.isWanted || this.recording.isRunning;
    const serving = this.#reports.serving(EVERYTHING);
    return isAsked && serving.some((filter) => this.#broker.isGranted(filter));
  }

  /** The topic filters by which reports that pass these filters come. */
  serving(filters: readonly ReportFilter[]): string[] {
    return filters.flatMap((filter) => this.#reports.serving(compileCriteria(filter, this.#catalogue)));
  }

  /** Whether the broker has refused all topic filters by which reports of this place would come, or has still to answer. */
  isUnheardAt(place: Pick<TopicFilterParts, 'gateway' | 'device'>): boolean {
    const serving = this.#reports.serving({ topicFilters: [place] });
    return serving.length > 0 && serving.every((filter) => this.#broker.isUnheard(filter));
  }

  /** As `isUnheardAt`, for many places at this moment: what all of a gateway is granted by is looked for once. */
  refusals(): (place: Pick<TopicFilterParts, 'gateway' | 'device'>) => boolean {
    const areGranted = new Map<string | undefined, boolean>();
    return (place) => {
      const { gateway } = place;
      let isGranted = areGranted.get(gateway);
      if (isGranted === undefined) {
        const serving = this.#reports.serving({ topicFilters: [{ gateway }] });
        isGranted = serving.some((filter) => !this.#broker.isUnheard(filter));
        areGranted.set(gateway, isGranted);
      }
      return !isGranted && this.isUnheardAt(place);
    };
  }

  #isPreviewRefused(filter: ReportFilter): boolean {
    const criteria = this.#previewCriteria(filter);
    return this.#reports.serving(criteria).some((one) => this.#broker.isPreviewRefused(one));
  }

  /**
   * The flows run. What is replayed before that would reach nodes whose receivers do not exist yet.
   * @param isReady false: it takes long, and nodes may still come
   * @param isThere whether there is a node of this name; one without a subscription cannot work as it is set
   */
  resumed(isReady: boolean, isThere: (owner: string) => boolean): void {
    for (const owner of this.#held.owners()) {
      const replay = this.#replays.get(owner);
      if (replay) {
        const { open } = this.#reports;
        const comesAgain = ({ delivery, sessions }: HeldReport) =>
          delivery !== undefined && open.comesAgain(delivery, sessions);
        replay(this.#held.take(owner).filter((report) => !comesAgain(report)));
      } else if (isReady && !isThere(owner)) {
        this.#held.giveUp(owner);
      }
    }
    for (const filter of this.#labelFilters) {
      filter.flush();
    }
    const { open } = this.#reports;
    if (isReady) {
      const wasConfirming = open.isConfirming;
      open.resumed((owner) => isThere(owner) && !this.#replays.has(owner));
      if (wasConfirming && !open.isConfirming) {
        // What is asked for with a lower QoS meanwhile is asked for as it should be.
        this.#broker.updateFilters();
      }
    }
  }

  /** See `Session.keepInterrupted`. */
  keepInterrupted(owner: string, reports: readonly HeldReport[]): void {
    const sessions = this.#reports.open.keptSessions;
    this.#held.add(
      owner,
      reports.map((report) => ({ ...report, sessions })),
    );
  }

  close(): void {
    this.#reports.handOver();
    this.#everything.close();
    this.recording.leave();
    this.#previews.close();
  }

  #add(
    filter: ReportFilter,
    subscriber: Subscriber,
    { owner, isPreview = false, known = [] }: Options,
  ): (comesBack?: boolean) => void {
    const criteria = compileCriteria(filter, this.#catalogue);
    let subscription: Subscription | undefined;
    const replay = (messages: readonly Message[]) => subscription?.replay(messages);
    const confirmation = this.#openConfirmation(
      subscriber,
      { owner: owner ?? '', labels: filter.labels },
      replay,
    );
    // Duplicates are dropped behind the labels: a copy by a gateway without the label is no repeat of the other.
    const unlabelled = withoutDuplicates(confirmation?.target ?? subscriber, filter);
    const labelFilter = this.#openLabelFilter(filter, unlabelled, replay, (state) => {
      subscriber.labels?.(state);
      if (state.name !== 'waiting') {
        confirmation?.ready();
      }
    });
    const chain = labelFilter ?? unlabelled;
    const listener = confirmation?.listener(chain, () => labelFilter?.isWaiting === true) ?? chain;
    // Criteria that nothing meets are no reason to subscribe; their node still shows the connection.
    const detach = this.#broker.attach();
    if (criteria) {
      subscription = this.#reports.add(criteria, filter.decode, listener, isPreview);
      this.#broker.updateFilters();
      subscription.replay(known);
    }
    if (owner !== undefined) {
      this.#replays.set(owner, replay);
    }
    confirmation?.begin();
    return (comesBack = false) => {
      confirmation?.end(comesBack);
      if (owner !== undefined) {
        this.#replays.delete(owner);
        this.#held.add(owner, labelFilter?.takeBuffered() ?? []);
        if (!comesBack) {
          this.#held.giveUp(owner);
        }
      }
      if (labelFilter) {
        this.#labelFilters.delete(labelFilter);
        labelFilter.close();
      }
      detach();
      if (subscription) {
        subscription.remove();
        this.#broker.updateFilters();
      }
    };
  }

  #openConfirmation(
    subscriber: Subscriber,
    node: { owner: string; labels: readonly string[] },
    replay: (messages: readonly Message[]) => void,
  ): Confirmation | undefined {
    const { confirm } = subscriber;
    const placeOf = (topic: string) => this.#reports.placeOf(topic);
    return (
      confirm &&
      new Confirmation(this.#reports.open, subscriber, node, confirm, replay, confirm.count, placeOf)
    );
  }

  #openLabelFilter(
    { labels, labelRefresh }: ReportFilter,
    listener: ReportListener,
    replay: (messages: readonly Message[]) => void,
    notify: (state: LabelState) => void,
  ): LabelFilter | undefined {
    if (labels.length === 0) {
      return undefined;
    }
    const isPaused = () => this.#broker.isPaused;
    const source = this.#labelSource();
    const filter = new LabelFilter(listener, replay, labels, labelRefresh * 1000, source, notify, isPaused);
    filter.open();
    this.#labelFilters.add(filter);
    return filter;
  }

  /**
   * What a preview asks the broker for: with labels only the gateways that carry them, or it would bring the whole
   * network here. Undefined: nothing, since nothing can pass as long as the list of devices is as it is.
   */
  #previewCriteria(filter: ReportFilter): CompiledCriteria | undefined {
    const criteria = compileCriteria(filter, this.#catalogue);
    if (!criteria || filter.labels.length === 0) {
      return criteria;
    }
    const { gateways: chosen } = criteria.route;
    const labelled = this.#labelSource().knownGatewaysWithLabels(filter.labels) ?? [];
    const gateways = [...labelled].filter((gateway) => chosen.size === 0 || chosen.has(gateway));
    return gateways.length > 0 ? compileCriteria({ ...filter, gateways }, this.#catalogue) : undefined;
  }

  /** Keeps the connection up, and has the topic filters applied now and at the end. */
  #open(): () => void {
    const detach = this.#broker.attach();
    this.#broker.updateFilters();
    return () => {
      detach();
      this.#broker.updateFilters();
    };
  }

  #requestPreview(filter: ReportFilter, received: () => void): (() => void) | undefined {
    const criteria = this.#previewCriteria(filter);
    if (!criteria) {
      return undefined;
    }
    const remove = this.#reports.addPreview(criteria, received);
    this.#broker.updateFilters();
    return () => {
      remove();
      this.#broker.updateFilters();
    };
  }
}

function withoutDuplicates(listener: ReportListener, filter: ReportFilter): ReportListener {
  if (filter.duplicates === 'keep') {
    return listener;
  }
  const duplicates = new Duplicates(filter.duplicateWindow * 1000);
  return {
    report(report, topic, payload, heardAt) {
      if (!duplicates.seen(report, heardAt)) {
        listener.report(report, topic, payload, heardAt);
      }
    },
    error: (error, message) => listener.error(error, message),
  };
}
