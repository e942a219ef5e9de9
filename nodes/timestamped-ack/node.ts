// mt-timestamped-ack: acknowledges a timestamped sample to its device.
import type { NodeAPI } from 'node-red';
import { readNumber } from '../shared/defaults.ts';
import { checkTimeout } from '../shared/runtime/env.ts';
import { readProperty, updateMessage } from '../shared/runtime/message.ts';
import { registerAction } from '../shared/runtime/registration.ts';
import { type TimestampedAckConfig, upgrade } from './config.ts';

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

export default function registerTimestampedAck(RED: NodeAPI): void {
  registerAction<TimestampedAckConfig>(RED, 'mt-timestamped-ack', {
    upgrade,
    check: checkTimeout,
    half: 'mqtt',
    createHandler({ RED, config, session, signal, fields }) {
      const options = { signal, wait: config.wait, timeout: readNumber(config.timeout, undefined) };
      const read = fields(['gateway', 'device', 'identifier', 'form', 'time']);
      return async (msg, send) => {
        const report = readProperty(msg, 'report');
        // A person has sent it from a panel: the device may have had its acknowledgement long ago.
        if (isObject(report) && readProperty(report, 'test') === true) {
          send(msg);
          return;
        }
        const sample = isObject(report) ? report : await read(msg);
        const { response } = await session.acknowledge(sample, options);
        send(response ? updateMessage(RED, msg, { response }) : msg);
      };
    },
  });
}
