// mt-gw-read: reads a property of a device, or asks a gateway for its interface version.
import type { NodeAPI, NodeMessage } from 'node-red';
import type { RequestResult } from '../../src/index.ts';
import type { KeyCredentials } from '../shared/request-config.ts';
import { readProperty } from '../shared/runtime/message.ts';
import { registerAction } from '../shared/runtime/registration.ts';
import {
  ADDRESS_FIELDS,
  createRequestHandler,
  PARAMETER_FIELDS,
  REQUEST_NODE,
} from '../shared/runtime/requests.ts';
import { type GwReadConfig, upgrade } from './config.ts';

export default function registerGwRead(RED: NodeAPI): void {
  registerAction<GwReadConfig, KeyCredentials>(RED, 'mt-gw-read', {
    ...REQUEST_NODE,
    upgrade,
    createHandler(context) {
      const { operation } = context.config;
      const outputOf = ({ value: payload }: RequestResult) => ({ payload });
      if (operation === 'apiversion') {
        // The panel hides the other fields then: what was saved in them before counts for nothing.
        const inputOf = (msg: NodeMessage) => ({ device: readProperty(msg, 'device') });
        return createRequestHandler(context, { operation, names: ['gateway'], inputOf, outputOf });
      }
      const names = [...ADDRESS_FIELDS, 'identifier', ...PARAMETER_FIELDS] as const;
      return createRequestHandler(context, { operation, names, outputOf });
    },
  });
}
