// mt-label: creates a label, or removes one from a device.
import type { NodeAPI, NodeMessage } from 'node-red';
import { invalidInput } from '../../src/index.ts';
import { readProperty, updateMessage } from '../shared/runtime/message.ts';
import { registerAction } from '../shared/runtime/registration.ts';
import { upgrade } from './config.ts';

export default function registerLabel(RED: NodeAPI): void {
  registerAction(RED, 'mt-label', {
    upgrade,
    half: 'rest',
    createHandler({ RED, config, session, signal, fields }) {
      const readLabel = fields(['label']);
      const readBoth = fields(['label', 'device']);
      const actions = new Map<unknown, (msg: NodeMessage) => Promise<unknown>>([
        [
          'create',
          async (msg) => {
            const { label } = await readLabel(msg);
            return session.rest.createLabel(label, signal);
          },
        ],
        [
          'remove',
          async (msg) => {
            const { label, device } = await readBoth(msg);
            return session.rest.removeLabel(device, label, signal);
          },
        ],
      ]);
      return async (msg, send) => {
        const action = config.action === 'msg' ? readProperty(msg, 'action') : config.action;
        const run = actions.get(action);
        if (!run) {
          throw invalidInput('action', action, action === undefined ? 'missing' : 'action');
        }
        send(updateMessage(RED, msg, { payload: await run(msg) }));
      };
    },
  });
}
