// Reports for people who try a flow: one that was received, once more, or one that is made up, from a device that was
// heard where there is one.

import { invalidInput } from '../errors.ts';
import type { NetworkState } from '../network/network-state.ts';
import type { Catalogue } from '../protocol/catalogue.ts';
import { parseMac } from '../protocol/mac.ts';
import { KINDS, type Report, type ReportTopic, readReport } from '../protocol/reports/index.ts';
import { makeUpMessage } from '../protocol/reports/made-up.ts';
import type { Topics } from '../protocol/topics.ts';
import { Dispatch } from './dispatch.ts';
import { bodyOf, type NameOf, type ReceivedMessage, readTopic } from './message.ts';
import { compileCriteria, type TopicCriteria } from './report-filter.ts';

/** Where nothing was heard: addresses that no maker of devices gives away (the second bit of the first byte). */
const MADE_UP_GATEWAY = '020000000001';
const MADE_UP_DEVICE = '020000000002';
/** Of the devices heard last; none of them may be heard by a gateway that the filter names. */
const MAX_LOOKED_AT = 10_000;

export interface TestReport {
  topic: string;
  /** With `test: true`. */
  report: Report;
}

type Filter = TopicCriteria & { labels: readonly string[]; decode: boolean };

interface TestReportContext {
  topics: Topics;
  catalogue: Catalogue;
  network: NetworkState;
  nameOf: NameOf | undefined;
  /** By the last known list of devices; undefined without one. */
  gatewaysWithLabels(labels: readonly string[]): ReadonlySet<string> | undefined;
}

export class TestReports {
  readonly #context: TestReportContext;

  constructor(context: TestReportContext) {
    this.#context = context;
  }

  /** The report of a message that was received, once more: as it was when it came. */
  again({ topic, payload }: ReceivedMessage, decode: boolean): TestReport {
    return this.#read(topic, bodyOf(payload), decode);
  }

  /**
   * A report that passes the filter, though nobody has sent it; its gateway and device are of those that were heard, where
   * the filter names none.
   * @param like a message that has passed: the report is of its device and property
   * @param value in decoded form; undefined: a usual one
   * @throws ServiceError `INVALID_INPUT`: `identifiers`, `value`, `labels` where no gateway is known to carry one of them,
   *   `kinds` where none passes with the form and the properties
   */
  makeUp(filter: Filter, { like, value }: { like?: string | undefined; value?: unknown } = {}): TestReport {
    const { topics, catalogue } = this.#context;
    const last = like === undefined ? undefined : this.#readTopic(like);
    // A value can be sent where the newest report has none, as long as a kind with one passes.
    const at = last && (value === undefined || takesValue(last)) ? last : undefined;
    const { gateway, device } = last ?? this.#choosePlace(filter);
    const time = new Date().toISOString();
    if (at?.kind === 'other') {
      return this.#read(at.topic, { time, value }, filter.decode);
    }
    const { segment, identifier, body } = makeUpMessage(at ? filterOf(at) : filter, catalogue, {
      ...{ gateway, value, time },
    });
    const topic = topics.reportFilter({ gateway, device, segment, identifier }).replace(/\/#$/, '');
    if (!at && !this.passes({ ...filter, labels: [] }, topic)) {
      throw invalidInput('kinds', filter.kinds, 'nothingPasses');
    }
    return this.#read(topic, body, filter.decode);
  }

  /** Whether a report with this topic passes the filter, its labels by the last known list. */
  passes(filter: Filter, topic: string): boolean {
    const { catalogue, gatewaysWithLabels } = this.#context;
    const at = this.#readTopic(topic);
    const criteria = compileCriteria(filter, catalogue);
    if (!at || !criteria) {
      return false;
    }
    const dispatch = new Dispatch<true>();
    dispatch.add({ ...criteria.route, target: true });
    const { labels } = filter;
    const isLabelled = labels.length === 0 || gatewaysWithLabels(labels)?.has(at.gateway) === true;
    return isLabelled && dispatch.match(at).length > 0;
  }

  #read(topic: string, body: unknown, decode: boolean): TestReport {
    const at = this.#readTopic(topic) as ReportTopic;
    const report = readReport(at, body, this.#context.catalogue, decode, false);
    report.test = true;
    return { topic, report };
  }

  #readTopic(topic: string): ReportTopic | undefined {
    return readTopic(this.#context.topics, topic, this.#context.nameOf);
  }

  #choosePlace(filter: Filter): { gateway: string; device: string } {
    const { network } = this.#context;
    const wanted = this.#wantedGateways(filter);
    const device = parseMac(filter.devices[0]) ?? this.#findDevice(wanted);
    const gateway =
      (device && network.gatewayOf(device, wanted)) ??
      (wanted ? firstOf(wanted) : firstOf(network.gateways())?.id);
    return { gateway: gateway ?? MADE_UP_GATEWAY, device: device ?? MADE_UP_DEVICE };
  }

  /** Undefined: any. @throws ServiceError `INVALID_INPUT` field `labels` */
  #wantedGateways({ gateways, labels }: Filter): ReadonlySet<string> | undefined {
    const { network, gatewaysWithLabels } = this.#context;
    const named = new Set(gateways.map(parseMac).filter((id) => id !== undefined));
    if (labels.length === 0) {
      return named.size > 0 ? named : undefined;
    }
    const labelled = [...(gatewaysWithLabels(labels) ?? [])];
    const wanted = labelled.filter((id) => (named.size === 0 || named.has(id)) && network.mayBeGateway(id));
    if (wanted.length === 0) {
      throw invalidInput('labels', labels.join(', '), 'noLabelledGateway');
    }
    return new Set(wanted);
  }

  /** The one that was heard last, by one of these gateways where some are wanted. */
  #findDevice(gateways: ReadonlySet<string> | undefined): string | undefined {
    let count = 0;
    for (const { id, links } of this.#context.network.devices()) {
      if (gateways === undefined || links.some(({ gateway }) => gateways.has(gateway))) {
        return id;
      }
      if (++count >= MAX_LOOKED_AT) {
        return undefined;
      }
    }
    return undefined;
  }
}

const takesValue = ({ kind }: ReportTopic): boolean => kind === 'other' || KINDS[kind].hasValue;

/** A filter that lets through what has this topic. */
function filterOf({ kind, form, identifier }: ReportTopic): Pick<Filter, 'kinds' | 'form' | 'identifiers'> {
  return { kinds: [kind], form, identifiers: identifier === undefined ? [] : [identifier] };
}

function firstOf<T>(items: Iterable<T>): T | undefined {
  const [first] = items;
  return first;
}
