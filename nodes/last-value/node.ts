// mt-last-value: sends what the reports have shown last, without asking anybody.
import type { NodeAPI } from 'node-red';
import { invalidInput, ServiceError, type ValueFilter } from '../../src/index.ts';
import type { InputHandler } from '../shared/runtime/inputs.ts';
import { copyCopyable, updateMessage } from '../shared/runtime/message.ts';
import { type ActionContext, registerAction } from '../shared/runtime/registration.ts';
import { keepReportToAck } from '../shared/runtime/report-to-ack.ts';
import { statusOfError, statusOfRefusal } from '../shared/runtime/status.ts';
import { type LastValueConfig, RANGES, upgrade } from './config.ts';
import { registerKnownValues } from './known-values.ts';

const FIELDS = ['gateway', 'device', 'identifier'] as const;

export default function registerLastValue(RED: NodeAPI): void {
  registerAction<LastValueConfig>(RED, 'mt-last-value', {
    upgrade,
    ranges: RANGES,
    half: 'mqtt',
    createHandler,
  });
  registerKnownValues(RED);
}

function createHandler(context: ActionContext<LastValueConfig, object>): InputHandler {
  const { RED, config, session, signal, fields, fail } = context;
  const problem = record(context);
  const { select, labels, maxAge, tooOld } = config;
  const options = { labels, maxAge, tooOld, signal };
  const read = fields(FIELDS);
  const sendOne: InputHandler = async (msg, send) => {
    const kept = keepReportToAck(msg);
    const { value, ...result } = await session.values.last(await read(msg), options);
    // What other nodes have left in the message did not bring this value.
    const nothing = { report: undefined, age: undefined, source: undefined, response: undefined };
    send(updateMessage(RED, msg, { payload: value, ...nothing, ...result, ...kept }));
  };
  const sendAll: InputHandler = async (msg, send) => {
    const { rows, failure } = await session.values.all(await read(msg), options);
    // The old values are sent in their place.
    if (failure) {
      fail(failure, copyCopyable(RED, msg));
    }
    send(updateMessage(RED, msg, { payload: rows, count: rows.length }));
  };
  const handler = select === 'one' ? sendOne : sendAll;
  return (msg, send) => (problem ? Promise.reject(problem) : handler(msg, send));
}

/** @returns why there will be no values; the status shows it */
function record(context: ActionContext<LastValueConfig, object>): Error | undefined {
  const { config, session, onClose, showReady } = context;
  try {
    const filter = filterOf(config);
    const end = session.values.record(filter);
    onClose((removed) => end(!removed));
    onClose(
      session.onState((state) => showReady(statusOfRefusal(state, () => session.values.refusalOf(filter)))),
    );
    return undefined;
  } catch (error) {
    const problem = nameField(error);
    showReady(statusOfError(problem));
    return problem;
  }
}

/** Of the filter: each is a list, where the node has one. */
const FIELDS_OF_FILTER: Partial<Record<string, string>> = {
  gateways: 'gateway',
  devices: 'device',
  identifiers: 'identifier',
};

/** The error with the name of the node's own field. */
function nameField(error: unknown): Error {
  if (!(error instanceof ServiceError) || error.code !== 'INVALID_INPUT') {
    return error as Error;
  }
  const { cause, code, text } = error;
  const field = FIELDS_OF_FILTER[String(cause.field)];
  return field === undefined
    ? error
    : invalidInput(field, cause.value, text.key.slice(code.length + 1), { ...text.values, field });
}

/** What a field of another type brings is not known before a message comes. */
function filterOf(config: LastValueConfig): ValueFilter {
  const fixed = (name: (typeof FIELDS)[number]) => {
    const value = config[name].trim();
    return config[`${name}Type`] === 'str' && value !== '' ? [value] : [];
  };
  return {
    gateways: fixed('gateway'),
    devices: fixed('device'),
    identifiers: fixed('identifier'),
    labels: config.labels,
  };
}
