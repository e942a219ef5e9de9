// mt-device-list: lists the devices of the service as one array, one by one or page by page.
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { NodeAPI } from 'node-red';
import { invalidInput } from '../../src/index.ts';
import { MAX_NUMBER } from '../shared/defaults.ts';
import { registerAction } from '../shared/runtime/registration.ts';
import { type DeviceListConfig, upgrade } from './config.ts';
import { OUTPUTS_BY_NAME } from './outputs.ts';

export default function registerDeviceList(RED: NodeAPI): void {
  registerAction(RED, 'mt-device-list', {
    upgrade,
    check: checkCounts,
    half: 'rest',
    createHandler({ config, session, signal, fields, show }) {
      const { pageSize, limit } = config;
      const read = fields(['labels', 'connected', 'model', 'firmware', 'search', 'query']);
      return async (msg, send) => {
        const output = OUTPUTS_BY_NAME[config.output](RED, msg, send);
        let count = 0;
        let complete = true;
        for await (const page of session.listPages({ pageSize, limit, ...(await read(msg)), signal })) {
          output.add(page);
          count += page.devices.length;
          complete = page.complete ?? complete;
          show({ style: 'working', key: 'status.listing', values: { count } });
          await yieldToEventLoop();
        }
        output.end(complete);
      };
    },
  });
}

/** A fraction would be cut to 0, and a limit of 0 means all. */
function checkCounts(config: DeviceListConfig): void {
  for (const [property, min] of [
    ['pageSize', 1],
    ['limit', 0],
  ] as const) {
    const count = config[property];
    if (!Number.isInteger(count)) {
      throw invalidInput(property, count, 'notInteger');
    }
    if (count < min) {
      throw invalidInput(property, count, 'outOfRange', { min, max: MAX_NUMBER });
    }
  }
}
