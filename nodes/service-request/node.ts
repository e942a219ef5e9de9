// mt-service-request: any call of the REST half, for what has no node of its own.
import type { NodeAPI } from 'node-red';
import { parseHttpMethod } from '../../src/index.ts';
import { readProperty, updateMessage } from '../shared/runtime/message.ts';
import { registerAction } from '../shared/runtime/registration.ts';
import { upgrade } from './config.ts';
import { headersOf } from './headers.ts';

export default function registerServiceRequest(RED: NodeAPI): void {
  registerAction(RED, 'mt-service-request', {
    upgrade,
    half: 'rest',
    createHandler({ RED, config, session, signal, fields }) {
      const read = fields(['path', 'query']);
      // JSON has a null of its own, which a context variable or an expression may say.
      const readAll = fields(['path', 'query', 'body'], { nullable: ['body'] });
      return async (msg, send) => {
        const method = config.method === 'msg' ? readProperty(msg, 'method') : config.method;
        // A GET has no body, so it is not asked where that would come from.
        const given = await (parseHttpMethod(method) === 'GET' ? read(msg) : readAll(msg));
        const response = await session.rest.call({ method, ...given }, signal);
        send(updateMessage(RED, msg, { ...response, headers: headersOf(response.headers) }));
      };
    },
  });
}
