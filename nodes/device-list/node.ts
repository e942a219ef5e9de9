// mt-device-list: lists the devices of the service as one array, one by one or page by page.
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { NodeAPI } from 'node-red';
import { registerAction } from '../shared/runtime/registration.ts';
import { RANGES, upgrade } from './config.ts';
import { OUTPUTS_BY_NAME } from './outputs.ts';

export default function registerDeviceList(RED: NodeAPI): void {
  registerAction(RED, 'mt-device-list', {
    upgrade,
    ranges: RANGES,
    half: 'rest',
    createHandler({ config, session, signal, fields, show, showReady }) {
      const { pageSize, limit } = config;
      const read = fields(['labels', 'connected', 'model', 'firmware', 'search', 'query'], {
        lists: ['labels'],
      });
      return async (msg, send) => {
        const output = OUTPUTS_BY_NAME[config.output](RED, msg, send, signal);
        let count = 0;
        let complete = true;
        try {
          for await (const page of session.rest.listPages({
            pageSize,
            limit,
            ...(await read(msg)),
            signal,
          })) {
            await output.add(page);
            count += page.devices.length;
            complete = page.complete ?? complete;
            show({ style: 'working', key: 'status.listing', values: { count } });
            await yieldToEventLoop();
          }
        } catch (error) {
          // After a stop nobody is there for it.
          if (!signal.aborted) {
            output.breakOff?.();
          }
          throw error;
        }
        // Filters through which nothing comes are no error, and would look like a list that was never asked for.
        showReady({ style: 'ready', key: 'status.found', values: { count } });
        output.end(complete);
      };
    },
  });
}
