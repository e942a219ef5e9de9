// mt-timestamped-ack: acknowledges a timestamped sample to its device, and a report that the broker keeps to the broker.
import type { NodeAPI, NodeMessage } from 'node-red';
import { invalidInput, isAcknowledged, ServiceError, type Session } from '../../src/index.ts';
import { readNumber } from '../shared/defaults.ts';
import { checkTimeout } from '../shared/runtime/env.ts';
import type { Send } from '../shared/runtime/inputs.ts';
import { copyOf, readProperty, updateMessage } from '../shared/runtime/message.ts';
import { registerAction } from '../shared/runtime/registration.ts';
import { isObject, readReportToAck } from '../shared/runtime/report-to-ack.ts';
import { RANGES, type TimestampedAckConfig, upgrade } from './config.ts';

export default function registerTimestampedAck(RED: NodeAPI): void {
  registerAction<TimestampedAckConfig>(RED, 'mt-timestamped-ack', {
    upgrade,
    ranges: RANGES,
    check: checkTimeout,
    half: 'mqtt',
    createHandler({ RED, config, session, signal, fields }) {
      const options = { signal, wait: config.wait, timeout: readNumber(config.timeout, undefined) };
      const read = fields(['gateway', 'device', 'identifier', 'form', 'time']);
      // Behind messages whose fields are not there yet.
      const readNothing = fields([]);
      const acknowledge = async (msg: NodeMessage, send: Send, report: unknown, delivery: unknown) => {
        const given = isObject(report) ? readNothing(msg) : read(msg);
        const [own, values] = given instanceof Promise ? [copyOf(RED, report), await given] : [report, given];
        const sample = isObject(own) ? own : values;
        // A gateway that answers none would hold up the reports of all others.
        const ignored = () => confirm(session, delivery);
        let response: Record<string, unknown> | undefined;
        try {
          // The device first: when the broker has forgotten the report, nobody would ask it again.
          ({ response } = await session.acknowledge(sample, { ...options, ignored }));
        } catch (error) {
          if (!comesAgain(error)) {
            confirm(session, delivery);
          }
          throw error;
        }
        confirm(session, delivery);
        send(response ? updateMessage(RED, msg, { response }) : msg);
      };
      return (msg, send) => {
        const report = readReportToAck(msg);
        const { delivery, test, kind, ack } = isObject(report) ? readAckParts(report) : {};
        // A person has sent it from a panel: the device may have had its acknowledgement long ago.
        if (test === true) {
          send(msg);
        } else if (readAction(config, msg) === 'again') {
          // What passes on is stored.
          sendAgain(session, delivery, config.retryAfter);
        } else if (isObject(report) && !isAcknowledged({ kind, ack })) {
          // Most reports: no device waits for anything.
          confirm(session, delivery);
          send(msg);
        } else {
          return acknowledge(msg, send, report, delivery);
        }
      };
    },
  });
}

/** What of a report decides how it is acknowledged. */
interface AckParts {
  delivery: unknown;
  test: unknown;
  kind: unknown;
  ack: unknown;
}

/** Flows may put anything there, also what throws when it is read: then the acknowledgement says what is wrong with it. */
function readAckParts(report: Record<string, unknown>): Partial<AckParts> {
  try {
    const { delivery, test, kind, ack } = report;
    return { delivery, test, kind, ack };
  } catch {
    return {};
  }
}

function confirm(session: Session, delivery: unknown): void {
  if (typeof delivery === 'string') {
    session.confirm(delivery);
  }
}

/**
 * Whether a report whose acknowledgement to the device has failed is to come again. Else it is confirmed all the same: it
 * is stored, the device sends the sample until it has its acknowledgement, and kept for a device that never answers it
 * would hold up everything behind it at the broker.
 */
function comesAgain(error: unknown): boolean {
  return error instanceof ServiceError && (error.code === 'CLOSED' || error.code === 'QUEUE_FULL');
}

/** @throws ServiceError `INVALID_INPUT` field `action` */
function readAction({ action }: TimestampedAckConfig, msg: NodeMessage): 'stored' | 'again' {
  const given = action === 'msg' ? readProperty(msg, 'action') : undefined;
  if (given === undefined || given === 'stored' || given === 'again') {
    return given ?? 'stored';
  }
  throw invalidInput('action', given, 'notChoice');
}

/** @throws ServiceError `INVALID_INPUT` field `report`: the broker does not keep it, or not any more */
function sendAgain(session: Session, delivery: unknown, seconds: number): void {
  if (typeof delivery !== 'string') {
    throw invalidInput('report', undefined, 'notKept');
  }
  if (!session.sendAgain(delivery, seconds * 1_000)) {
    throw invalidInput('report', undefined, 'notOpen');
  }
}
