// mt-service-request: any call of the REST half, for what has no node of its own.
import type { NodeAPI } from 'node-red';
import { change, readProperty } from '../shared/message.ts';
import { registerAction } from '../shared/runtime.ts';
import { upgrade } from './config.ts';

export default function registerServiceRequest(RED: NodeAPI): void {
  registerAction(RED, 'mt-service-request', {
    upgrade,
    half: 'rest',
    open({ RED, config, session, signal, fields }) {
      const read = fields(['path', 'query', 'body']);
      return async (msg, send) => {
        const method = config.method === 'msg' ? readProperty(msg, 'method') : config.method;
        const { path, query, body } = await read(msg);
        send(change(RED, msg, await session.call({ method, path, query, body }, signal)));
      };
    },
  });
}
