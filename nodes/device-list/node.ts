// mt-device-list: lists the devices of the service as one array, one by one or page by page.
import { setImmediate as breathe } from 'node:timers/promises';
import type { NodeAPI } from 'node-red';
import { registerAction } from '../shared/runtime.ts';
import { upgrade } from './config.ts';
import { OUTPUTS_BY_NAME } from './outputs.ts';

export default function registerDeviceList(RED: NodeAPI): void {
  registerAction(RED, 'mt-device-list', {
    upgrade,
    half: 'rest',
    open({ config, session, signal, fields, show }) {
      const pageSize = Math.max(1, Math.trunc(config.pageSize));
      const limit = Math.trunc(config.limit);
      const read = fields(['labels', 'connected', 'model', 'firmware', 'search', 'query']);
      return async (msg, send) => {
        const output = OUTPUTS_BY_NAME[config.output](RED, msg, send);
        let count = 0;
        let complete = true;
        for await (const page of session.listPages({ pageSize, limit, ...(await read(msg)), signal })) {
          output.take(page);
          count += page.devices.length;
          complete = page.complete ?? complete;
          show({ look: 'working', key: 'status.listing', values: { count } });
          await breathe();
        }
        output.end(complete);
      };
    },
  });
}
