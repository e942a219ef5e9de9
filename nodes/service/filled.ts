// The settings of an mt-service with its environment variables filled in, and the check for those that are not set.
import type { Node, NodeAPI } from 'node-red';
import { invalidInput, ServiceError, showAddress, showValue } from '../../src/index.ts';
import { asText, pickKnown, type Range } from '../shared/defaults.ts';
import { checkGiven, checkRange, fillEnv, isBlank, notFilled, type Unfilled } from '../shared/runtime/env.ts';
import { isVariable, MAX_SHOWN_LENGTH } from '../shared/runtime/hidden-variables.ts';
import {
  CREDENTIALS,
  DEFAULTS,
  RANGES,
  type ServiceConfig,
  type ServiceCredentials,
  upgrade,
} from './config.ts';

type Property = keyof ServiceConfig | keyof ServiceCredentials;

/** What only the REST half uses; every other property but the common ones is of the MQTT half. */
const REST_PROPERTIES = new Set<Property>([
  'authUrl',
  'baseUrl',
  'username',
  'password',
  'httpTimeout',
  'httpRetries',
  'authHeader',
  'pageTokenParam',
  'attachPath',
]);
const COMMON_PROPERTIES = new Set<Property>(['tls', 'proxy', 'identifiers']);
/** A half whose addresses are empty is left out. */
const ADDRESS_PROPERTIES = {
  rest: ['authUrl', 'baseUrl'],
  mqtt: ['brokerUrl'],
} as const satisfies Record<Half, readonly Property[]>;

export type Half = 'rest' | 'mqtt';

/** Whether both halves use a property, whichever is there. */
export const isOfBoth = (property: string): boolean => COMMON_PROPERTIES.has(property as Property);

/** Whether a half uses a property, credentials included. */
export function isOfHalf(property: string, half: Half): boolean {
  const known = property as Property;
  return isOfBoth(property) || REST_PROPERTIES.has(known) === (half === 'rest');
}

export interface FilledService {
  config: ServiceConfig;
  credentials: ServiceCredentials;
  /**
   * Refuses a variable that is not set, and what is none of a property's choices or no number, in a half that has
   * addresses: with a default in its place, such as no topic prefix, the service would be another one.
   * @throws ServiceError `INVALID_INPUT` with the property's name; `NOT_CONFIGURED` where an address is a variable that is not
   *   set, and nothing else
   */
  check(this: void, half: Half): void;
}

/** Of several addresses at once: a comma may be a part of a password. What is missing is named also where it stood in there. */
function withoutLogin(unfilled: Unfilled): Unfilled {
  const { text, variable = '' } = unfilled;
  const shown = showAddress(text, '…@');
  // What is no name may be a part of a password that looks like a variable.
  const isNamed = !isVariable(variable) || shown.slice(0, MAX_SHOWN_LENGTH).includes(variable);
  return { ...unfilled, text: isNamed ? shown : variable };
}

/**
 * Fills a saved or typed service; a variable that is set and empty is an empty text.
 * @param original properties and credentials before Node-RED filled what it fills
 */
export function fillService(
  RED: NodeAPI,
  node: Node,
  saved: unknown,
  entered: unknown,
  original: () => Record<string, unknown>,
): FilledService {
  const filled = fillEnv(RED, node, pickKnown(saved, DEFAULTS), original);
  const secrets = fillEnv(RED, node, pickKnown(entered, CREDENTIALS), original);
  const config = upgrade(filled.values);
  return {
    config,
    credentials: asTexts(secrets.values),
    check(half) {
      const addresses = ADDRESS_PROPERTIES[half];
      for (const field of addresses) {
        const { text = '', variable } = filled.unset.get(field) ?? {};
        // Of several brokers one is missing also where others are given.
        const isAlone = text.split(/[,\n]/).some((address) => address.trim() === variable);
        if (variable !== undefined && (isAlone || isBlank(config[field]))) {
          throw withoutAddress(half, field, variable);
        }
      }
      if (addresses.every((name) => isBlank(config[name]) && !filled.unset.has(name))) {
        return;
      }
      for (const [property, unfilled] of filled.unset) {
        if (property in config && property !== 'name' && isOfHalf(property, half)) {
          const isAddress = (addresses as readonly string[]).includes(property);
          throw notFilled(property, isAddress ? withoutLogin(unfilled) : unfilled);
        }
      }
      for (const [property, value] of Object.entries(config)) {
        // Of the texts only one is a choice; an empty one has a meaning elsewhere.
        const isChecked = typeof value !== 'string' || property === 'brokerProfile';
        if (isChecked && property !== 'version' && isOfHalf(property, half)) {
          const range: Range | undefined = RANGES[property as keyof typeof RANGES];
          checkGiven(property, value, filled, range);
          if (range) {
            checkRange(property, Number(value), range);
          }
        }
      }
      for (const property of secrets.unset.keys()) {
        // The value is not shown: what looks like a variable may be a part of the secret.
        if (isOfHalf(property, half)) {
          throw invalidInput(property, undefined, 'nothingSecret');
        }
      }
    },
  };
}

function withoutAddress(half: Half, field: string, variable: string): ServiceError {
  return new ServiceError(
    'NOT_CONFIGURED',
    'variable',
    { part: half },
    { field, variable: showValue(variable) },
  );
}

/** A variable may hold a number. */
const asTexts = (values: Record<string, unknown>): ServiceCredentials =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, asText(value ?? '')]));
