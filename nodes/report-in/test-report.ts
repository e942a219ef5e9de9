// Sends reports through a deployed mt-report-in, marked as tests: one of its preview, or what its button sends.
import type { Request, RequestHandler } from 'express';
import type { Node, NodeAPI } from 'node-red';
import {
  invalidInput,
  isObject,
  type KeptMessage,
  type Report,
  type ReportFilter,
  type Session,
  type TestReport,
  type TestReports,
} from '../../src/index.ts';
import { handleQuery } from '../shared/runtime/admin.ts';
import type { ServiceNode } from '../shared/runtime/services.ts';

/** Node-RED copies a message for every wire but one, by a function that calls itself at every level. */
const MAX_DEPTH = 100;

/** A node that is running. */
export interface Tester {
  send(report: Report, topic: string): void;
  /** What has passed last, as it was received. */
  newest(): KeptMessage | undefined;
  filter: ReportFilter;
}

const testers = new WeakMap<Node, Tester>();

/** Takes test reports for a node. @returns ends it */
export function takeTestReports(node: Node, tester: Tester): () => void {
  testers.set(node, tester);
  return () => void testers.delete(node);
}

/** Undefined while it does not run. */
export const testerOfNode = (node: Node): Tester | undefined => testers.get(node);

/**
 * Adds the endpoints. What follows in the flow really happens: a report of the caller's own making is for those who may
 * deploy flows, the button for those who may act on the service.
 */
export function registerTestReport(RED: NodeAPI): void {
  const mayDeploy = RED.auth.needsPermission('flows.write') as RequestHandler;
  RED.httpAdmin.post('/mt-service/:id/test-report', mayDeploy, handleQuery(RED, sendTestReport));
  const mayAct = RED.auth.needsPermission('mt-service.write') as RequestHandler;
  RED.httpAdmin.post('/mt-service/:id/try', mayAct, handleQuery(RED, pressButton));
}

/**
 * @returns whether the node runs
 * @throws ServiceError `INVALID_INPUT` when the report is none
 */
function sendTestReport(session: Session, { body }: Request, service: ServiceNode): { sent: boolean } {
  const { node: id, topic, report } = isObject(body) ? body : {};
  if (!isReport(report) || typeof topic !== 'string') {
    throw invalidInput('report', report, 'notObject', { parts: 'topic, gateway, device, kind' });
  }
  if (isDeeper(report, MAX_DEPTH)) {
    throw invalidInput('report', undefined, 'notCopied');
  }
  const tester = testerOf(service, id);
  tester?.send({ ...(session.carriesNames ? report : withoutNames(report)), test: true }, topic);
  return { sent: tester !== undefined };
}

interface Pressed {
  /** False where it was only asked, or the node does not run. */
  sent: boolean;
  isMadeUp?: boolean;
  report?: Sent;
  /** What the report is like: given back, it is of this device, whatever passes meanwhile. */
  topic?: string;
}

/** What the button has sent, for people to read. */
type Sent = Pick<Report, 'device' | 'deviceName' | 'name' | 'identifier' | 'kind' | 'value' | 'unit'>;

/**
 * Sends the newest report that has passed once more, or one that is made up where none has, or where a value is given.
 * With `ask` nothing is sent: the answer says of which device it will be, when its `topic` comes back with the value.
 * @returns what it has sent
 * @throws ServiceError `INVALID_INPUT`: `value`, `kinds`, `identifiers`, `labels`, `topic`
 */
function pressButton(session: Session, { body }: Request, service: ServiceNode): Pressed {
  const { node: id, value, ask, topic: like } = isObject(body) ? body : {};
  const tester = testerOf(service, id);
  if (tester === undefined) {
    return { sent: false };
  }
  const newest = tester.newest();
  const isMadeUp = newest === undefined || value !== undefined || like !== undefined;
  const { topic, report } = isMadeUp
    ? makeUp(session, tester, checkTopic(session, tester, like) ?? newest?.topic, value)
    : reportsOf(session).again(newest, tester.filter.decode);
  const { device, name, identifier, kind, unit } = report;
  const deviceName = report.deviceName ?? session.devices?.nameOf(device);
  // The flow may change its report at once.
  const sent = { device, deviceName, name, identifier, kind, value: shownValue(report.value), unit };
  if (ask === true) {
    return { sent: false, report: sent, topic };
  }
  tester.send(report, topic);
  return { sent: true, isMadeUp, report: sent };
}

/** It comes from outside, and a test goes only where a report of the filter may. @throws ServiceError `INVALID_INPUT` */
function checkTopic(session: Session, { filter, newest }: Tester, topic: unknown): string | undefined {
  if (topic === undefined) {
    return undefined;
  }
  // One that has passed may be of a gateway that has lost its label since.
  if (typeof topic !== 'string' || (topic !== newest()?.topic && !reportsOf(session).passes(filter, topic))) {
    throw invalidInput('topic', topic, 'notPassing');
  }
  return topic;
}

function makeUp(session: Session, { filter }: Tester, like: string | undefined, value: unknown): TestReport {
  if (isDeeper([value], MAX_DEPTH)) {
    throw invalidInput('value', undefined, 'notCopied');
  }
  return reportsOf(session).makeUp(filter, { like, value });
}

/** A node that runs has an MQTT half. */
const reportsOf = ({ testReports }: Session): TestReports => testReports as TestReports;

/** An object would be too long to be read in a message of the editor. */
const shownValue = (value: unknown): unknown => (typeof value === 'object' ? undefined : value);

/** The preview shows them to a person; the reports of this service have none. */
function withoutNames({ deviceName: _, gatewayName: __, ...report }: Report): Report {
  return report;
}

/** Of the node itself, or of its first instance when it is in the template of a subflow. */
function testerOf(service: ServiceNode, id: unknown): Tester | undefined {
  const users = Object.values(service.users) as (Node & { _alias?: string })[];
  const node = users.find((user) => user.id === id) ?? users.find(({ _alias }) => _alias && _alias === id);
  return node && testerOfNode(node);
}

const isReport = (value: unknown): value is Report =>
  isObject(value) && [value.gateway, value.device, value.kind].every((part) => typeof part === 'string');

function isDeeper(value: object, max: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > max) {
      return true;
    }
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []));
  }
  return false;
}
