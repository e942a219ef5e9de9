// mt-gw-read: reads a property of a device, or asks a gateway for its interface version.
import type { NodeAPI } from 'node-red';
import { readNumber } from '../shared/defaults.ts';
import { checkTimeout } from '../shared/runtime/env.ts';
import { change, readKey } from '../shared/runtime/message.ts';
import { registerAction } from '../shared/runtime/registration.ts';
import { CREDENTIALS, type GwReadConfig, type KeyCredentials, upgrade } from './config.ts';

const PLACE = ['gateway', 'device'] as const;
/** What the panel hides, and the request does not carry, when a gateway is asked for its version. */
const REQUEST = ['identifier', 'priority', 'extenderId', 'accessType', 'publicKey'] as const;

export default function registerGwRead(RED: NodeAPI): void {
  registerAction<GwReadConfig, KeyCredentials>(RED, 'mt-gw-read', {
    upgrade,
    check: checkTimeout,
    credentials: CREDENTIALS,
    half: 'mqtt',
    open({ RED, config, credential, session, signal, fields }) {
      const { operation, form, decode } = config;
      const options = { signal, timeout: readNumber(config.timeout, undefined), decode };
      const read = fields(operation === 'apiversion' ? PLACE : [...PLACE, ...REQUEST]);
      return async (msg, send) => {
        // Most fields are there at once; to await them all the same would cost every request a turn.
        const given = read(msg);
        const values = given instanceof Promise ? await given : given;
        const input = { ...values, form, key: readKey(msg, () => credential('key')) };
        const answer = await session.request(operation, input, options);
        const { value: payload, response, gateway, device, identifier } = answer;
        const named = identifier === undefined ? undefined : { identifier };
        send(change(RED, msg, { payload, response, gateway, device, ...named }));
      };
    },
  });
}
