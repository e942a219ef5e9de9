// mt-gw-read: reads a property of a device, or asks a gateway for its interface version.
import type { NodeAPI } from 'node-red';
import type { KeyCredentials } from '../shared/request-config.ts';
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
      return createRequestHandler(context, {
        operation,
        // The panel hides the others when a gateway is asked for its version.
        names:
          operation === 'apiversion'
            ? ADDRESS_FIELDS
            : [...ADDRESS_FIELDS, 'identifier', ...PARAMETER_FIELDS],
        outputOf: ({ value: payload }) => ({ payload }),
      });
    },
  });
}
