// mt-gw-write: writes a property of a device.
import type { NodeAPI } from 'node-red';
import type { KeyCredentials } from '../shared/request-config.ts';
import { registerAction } from '../shared/runtime/registration.ts';
import {
  ADDRESS_FIELDS,
  createRequestHandler,
  PARAMETER_FIELDS,
  REQUEST_NODE,
} from '../shared/runtime/requests.ts';
import { type GwWriteConfig, upgrade } from './config.ts';

export default function registerGwWrite(RED: NodeAPI): void {
  registerAction<GwWriteConfig, KeyCredentials>(RED, 'mt-gw-write', {
    ...REQUEST_NODE,
    upgrade,
    createHandler: (context) =>
      createRequestHandler(context, {
        operation: 'write',
        names: [...ADDRESS_FIELDS, 'identifier', 'value', 'ext', ...PARAMETER_FIELDS],
        // A context variable or an expression may say NULL.
        nullable: ['value'],
      }),
  });
}
