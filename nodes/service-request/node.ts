// mt-service-request: any call of the REST half, for what has no node of its own.
import type { NodeAPI } from 'node-red';
import { registerAction } from '../shared/runtime.ts';
import { upgrade } from './config.ts';

export default function registerServiceRequest(RED: NodeAPI): void {
  registerAction(RED, 'mt-service-request', {
    upgrade,
    half: 'rest',
    open({ config, session, signal, fields }) {
      const read = fields(['path', 'query', 'body']);
      return async (msg, send) => {
        const method = config.method === 'msg' ? msg.method : config.method;
        const { path, query, body } = await read(msg);
        const answer = await session.call({ method, path, query, body }, signal);
        msg.payload = answer.payload;
        msg.statusCode = answer.statusCode;
        msg.headers = answer.headers;
        send(msg);
      };
    },
  });
}
