// What the nodes that ask a gateway do alike: the request that a message asks for, and the message its response becomes.
import type { NodeMessageInFlow } from 'node-red';
import type { RequestResult, Session } from '../../../src/index.ts';
import { readNumber } from '../defaults.ts';
import { KEY_CREDENTIALS, type KeyCredentials, type RequestConfig } from '../request-config.ts';
import { checkTimeout } from './env.ts';
import type { FieldOptions } from './fields.ts';
import type { InputHandler } from './inputs.ts';
import { copyOf, readKey, updateMessage } from './message.ts';
import type { NodeContext } from './registration.ts';

/** Which gateway is asked, and about which device. */
export const ADDRESS_FIELDS = ['gateway', 'device'] as const;
/** The optional parameters of a request about a property. */
export const PARAMETER_FIELDS = ['priority', 'extenderId', 'accessType', 'publicKey'] as const;

/** How such a node is registered. */
export const REQUEST_NODE = { check: checkTimeout, credentials: KEY_CREDENTIALS, half: 'mqtt' } as const;

interface RequestHandlerOptions<Name extends string> extends FieldOptions<Name> {
  operation: Parameters<Session['request']>[0];
  /** The typed fields that the operation takes. */
  names: readonly Name[];
  /** What of a request comes from the message and from no field. */
  inputOf?(msg: NodeMessageInFlow): object;
  /** What the message gets besides the response and where it came from. */
  outputOf?(result: RequestResult): object;
}

/** Sends a request for every message, and the message on with the response. */
export function createRequestHandler<Name extends string>(
  { RED, config, credential, session, signal, fields }: NodeContext<RequestConfig, KeyCredentials>,
  { operation, names, inputOf, outputOf, ...fieldOptions }: RequestHandlerOptions<Name>,
): InputHandler {
  const { form, decode } = config;
  const options = { signal, timeout: readNumber(config.timeout, undefined), decode };
  const read = fields(names, fieldOptions);
  const takesKey = operation !== 'apiversion';
  return async (msg: NodeMessageInFlow, send) => {
    // Most fields are there at once; awaiting them anyway would cost every request a turn of the event loop.
    const given = read(msg);
    // One that is left over is no reason to refuse what does not use it.
    const key = takesKey ? readKey(msg, () => credential('key')) : undefined;
    const more = inputOf?.(msg);
    const others = given instanceof Promise ? (copyOf(RED, more) as typeof more) : more;
    const values: Record<Name, unknown> = given instanceof Promise ? await given : given;
    const input = { ...values, ...others, form, key };
    const result = await session.request(operation, input, options);
    const { response, gateway, device, identifier } = result;
    const named = {
      ...(device !== undefined && { device }),
      ...(identifier !== undefined && { identifier }),
    };
    send(updateMessage(RED, msg, { ...outputOf?.(result), response, gateway, ...named }));
  };
}
