// Texts in the runtime's language: the texts that all nodes share are in the catalogue of mt-service.
import type { NodeAPI, NodeMessage } from 'node-red';
import {
  copyError,
  fillText,
  inEnglish,
  type Phrase,
  ServiceError,
  type TextValues,
} from '../../../src/index.ts';
import english from '../locales/en-US.json' with { type: 'json' };

const CATALOGUE = '@mt-gateway/node-red-mt-gateway/mt-service:';

/** Values are filled in here: Node-RED's own filling would also expand `$t(…)` inside what the network sent. */
const NO_INTERPOLATION = { skipInterpolation: true } as never;

/** A template of the catalogue, or undefined where the language files are not loaded (another install, a test). */
function findTemplate(RED: NodeAPI, key: string): string | undefined {
  const text: unknown = RED._(CATALOGUE + key, NO_INTERPOLATION);
  return typeof text === 'string' && !text.endsWith(key) ? text : findEnglish(key);
}

function findEnglish(key: string): string | undefined {
  let found: unknown = english;
  for (const step of key.split('.')) {
    found = (found as Record<string, unknown> | undefined)?.[step];
  }
  return typeof found === 'string' ? found : undefined;
}

/** A shared text by its key, such as `status.connected`; an unknown key comes back as it is. */
export function translate(RED: NodeAPI, key: string, values: TextValues = {}): string {
  const template = findTemplate(RED, key);
  return template === undefined ? key : fillText(template, translateValues(RED, values));
}

/** In the place of an error of which nobody knows what its text has. */
export const NOT_SHOWN = 'an error that cannot be shown';

/** An error as flows get it: with `code` and `cause`, and its text in the runtime's language. */
export function toFlowError(RED: NodeAPI, error: unknown): Error {
  try {
    if (error instanceof ServiceError) {
      error.message = textOfError(RED, error);
      leaveOutUncopyable(RED, error.cause);
      return error;
    }
    return error instanceof Error ? error : new Error(String(error));
  } catch {
    // Code of a flow can throw what throws again when its properties are read.
    return new Error(NOT_SHOWN);
  }
}

/**
 * The same for one message. Several may wait for the same, or fail for the same reason, and a flow may change what it
 * gets: nothing in it is another one's.
 */
export function toErrorOfMessage(RED: NodeAPI, error: unknown): Error {
  return toFlowError(RED, error instanceof ServiceError ? copyError(error) : error);
}

/** A Catch node with several wires copies the cause for them, and nobody catches what that throws. */
function leaveOutUncopyable(RED: NodeAPI, cause: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(cause)) {
    try {
      cause[name] = (RED.util.cloneMessage({ value } as NodeMessage) as unknown as { value: unknown }).value;
    } catch {
      delete cause[name];
    }
  }
}

/** The field's name is the one that the editor shows. */
function textOfError(RED: NodeAPI, error: ServiceError): string {
  const { key, values } = error.text;
  const template = findTemplate(RED, `error.${key}`);
  return template === undefined ? error.message : fillText(template, translateValues(RED, values));
}

/** In English where the language files are not loaded. */
function translatePhrase(RED: NodeAPI, phrase: Phrase): string {
  const template = findTemplate(RED, phrase.key);
  return template === undefined ? inEnglish(phrase) : fillText(template, translateValues(RED, phrase.values));
}

function translateValues(RED: NodeAPI, values: TextValues): TextValues {
  const { field } = values;
  const texts = Object.entries(values).map(([name, value]) => [
    name,
    typeof value === 'object' ? translatePhrase(RED, value) : value,
  ]);
  return {
    ...(Object.fromEntries(texts) as TextValues),
    ...(typeof field === 'string' && { field: findTemplate(RED, `field.${field}`) ?? field }),
  };
}
