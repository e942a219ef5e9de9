// Builds and parses topics, with their prefix and a shared group: the only place where a topic is spelled.
import { SEGMENTS } from './reports/index.ts';
import { withoutSlashes } from './text.ts';

/**
 * What cannot stand in a part of a topic: wildcards, and characters with which brokers end the connection (MQTT 3.1.1,
 * section 1.5.3: control characters and non-characters).
 */
const FORBIDDEN = /[+#\p{Cc}\p{Noncharacter_Code_Point}\p{Surrogate}]/u;

/** Whether a text can be a part of a topic; it may go over several levels. */
export function fitsTopic(text: string): boolean {
  return !FORBIDDEN.test(text);
}

/** Which report topics are asked for; a missing part stands for "any". */
export interface TopicFilterParts {
  gateway?: string;
  device?: string;
  /** A kind as it stands in the topic, e.g. `measurement-decoded`. */
  segment?: string;
  /** An empty string: the topic has no identifier level. */
  identifier?: string;
}

export interface ParsedTopic {
  gateway: string;
  device: string;
  /** What follows the device, without the leading slash: `measurement/8800`, `read/8800`; may be empty. */
  rest: string;
}

export interface Topics {
  /** What every topic begins with. */
  readonly root: string;
  /**
   * A subscription for reports. What is left out matches everything: `+` for a level, `#` for the whole tail
   * when neither segment nor identifier is given.
   */
  reportFilter(parts: TopicFilterParts): string;
  /** @param suffix operation and identifier, e.g. `read/8800` */
  request(gateway: string, device: string, suffix: string): string;
  response(gateway: string, device: string, suffix: string): string;
  /** All responses of one gateway. */
  responseFilter(gateway: string): string;
  /** Takes the topic of a report apart; undefined for any other. MACs are not checked. */
  parseReport(topic: string): ParsedTopic | undefined;
  /** Takes the topic of a response apart; undefined for any other. MACs are not checked. */
  parseResponse(topic: string): ParsedTopic | undefined;
}

function reportTail({ segment, identifier }: TopicFilterParts): string {
  if (segment === undefined) {
    return identifier === undefined ? '#' : `+/${identifier}`;
  }
  if (identifier) {
    return `${segment}/${identifier}`;
  }
  const known = SEGMENTS.get(segment);
  if (known === undefined) {
    return `${segment}/#`;
  }
  return known.identified ? `${segment}/+` : segment;
}

/**
 * The topics of a service.
 * @param prefix the gateways' `topicPrefix` setting; empty: none. A slash at its beginning is a level of the topic, one
 *   at its end is the one that follows anyway.
 */
export function createTopics(prefix: string): Topics {
  const trimmed = withoutSlashes(prefix);
  const root = trimmed === '' ? ROOT : `${trimmed}/${ROOT}`;
  return {
    root,
    reportFilter: (parts) =>
      `${root}${parts.gateway ?? '+'}/device/${parts.device ?? '+'}/${reportTail(parts)}`,
    request: (gateway, device, suffix) => `${root}${gateway}/request/${device}/${suffix}`,
    response: (gateway, device, suffix) => `${root}${gateway}/response/${device}/${suffix}`,
    responseFilter: (gateway) => `${root}${gateway}/response/#`,
    parseReport: (topic) => parseTopic(root, DEVICE, topic),
    parseResponse: (topic) => parseTopic(root, RESPONSE, topic),
  };
}

const ROOT = 'mt/gateway/';
const DEVICE = '/device/';
const RESPONSE = '/response/';

/** What stands before the topics of the interface, with its slash; undefined for any other topic. */
export function prefixOf(topic: string): string | undefined {
  const at = topic.indexOf(ROOT);
  return at === 0 || topic[at - 1] === '/' ? topic.slice(0, at) : undefined;
}

/** What stands before the filters of a shared group; empty for no group. */
export function shareOf(group: string): string {
  return group === '' ? '' : `$share/${group}/`;
}

function parseTopic(root: string, channel: string, topic: string): ParsedTopic | undefined {
  if (!topic.startsWith(root)) {
    return undefined;
  }
  const gatewayEnd = topic.indexOf('/', root.length);
  if (gatewayEnd < 0 || !topic.startsWith(channel, gatewayEnd)) {
    return undefined;
  }
  const deviceStart = gatewayEnd + channel.length;
  const slash = topic.indexOf('/', deviceStart);
  const deviceEnd = slash < 0 ? topic.length : slash;
  return {
    gateway: topic.slice(root.length, gatewayEnd),
    device: topic.slice(deviceStart, deviceEnd),
    rest: topic.slice(deviceEnd + 1),
  };
}
