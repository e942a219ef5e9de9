// mt-rename: renames a device.
import type { NodeAPI } from 'node-red';
import { updateMessage } from '../shared/runtime/message.ts';
import { registerAction } from '../shared/runtime/registration.ts';
import { upgrade } from './config.ts';

export default function registerRename(RED: NodeAPI): void {
  registerAction(RED, 'mt-rename', {
    upgrade,
    captionOf: ({ title }) => title,
    half: 'rest',
    createHandler({ RED, session, signal, fields }) {
      const read = fields(['device', 'name']);
      return async (msg, send) => {
        const { device, name } = await read(msg);
        send(updateMessage(RED, msg, { payload: await session.rest.rename(device, name, signal) }));
      };
    },
  });
}
