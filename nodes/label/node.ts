// mt-label: creates a label, or removes one from a device.
import type { NodeAPI } from 'node-red';
import { invalidInput } from '../../src/index.ts';
import { change, readProperty } from '../shared/message.ts';
import { registerAction } from '../shared/runtime.ts';
import { upgrade } from './config.ts';

export default function registerLabel(RED: NodeAPI): void {
  registerAction(RED, 'mt-label', {
    upgrade,
    half: 'rest',
    open({ RED, config, session, signal, fields }) {
      const read = fields(['label', 'device']);
      const actions = new Map<unknown, (label: unknown, device: unknown) => Promise<unknown>>([
        ['create', (label) => session.createLabel(label, signal)],
        ['remove', (label, device) => session.removeLabel(device, label, signal)],
      ]);
      return async (msg, send) => {
        const action = config.action === 'msg' ? readProperty(msg, 'action') : config.action;
        const run = actions.get(action);
        if (!run) {
          throw invalidInput('action', action, action === undefined ? 'missing' : 'action');
        }
        const { label, device } = await read(msg);
        send(change(RED, msg, { payload: await run(label, device) }));
      };
    },
  });
}
