// Every error code of the package, the one error class that carries them, and how much of a wrong value its text shows.
import english from './locales/en-US.json' with { type: 'json' };

/** The stable codes that flows can branch on in a Catch node. */
export const ERROR_CODES = {
  INVALID_INPUT: 'a field is missing or malformed; nothing was sent',
  NOT_CONFIGURED: 'no service that runs, or the half of it that is needed is empty',
  NOT_CONNECTED: 'the broker stayed unreachable for the whole timeout',
  TIMEOUT: 'the request was sent, no response came in time',
  REQUEST_FAILED: 'the response carries a status other than 0',
  LOGIN_FAILED: 'the service refused the credentials',
  HTTP_ERROR: 'any other response than 2xx after the retries, and every redirect',
  NETWORK: 'the REST service cannot be reached or does not answer in time',
  BAD_RESPONSE: 'a response that is not what the interface says',
  BAD_REPORT: 'a report that cannot be read',
  QUEUE_FULL: 'too many requests are waiting',
  NO_VALUE: 'nothing has been reported of this property, or nothing young enough',
  CLOSED: 'the node was stopped or redeployed meanwhile',
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;
/** What stands for the placeholders of a text; a phrase is put into the same language. */
export type TextValues = { [name: string]: string | number | Phrase };

/** A text within another one: its whole key in `locales/<lang>.json`, and its placeholders. */
export interface Phrase {
  key: string;
  values: TextValues;
}

/** A text to be shown in the user's language: a key of `locales/<lang>.json` below "error", and its placeholders. */
export interface ErrorText {
  key: string;
  values: TextValues;
}

const ENGLISH: Record<string, Record<string, string>> = english.error;

/** Replaces `__name__` in a text, the placeholder form of Node-RED's own catalogues. */
export function fillText(template: string, values: TextValues): string {
  return template.replace(/__(\w+?)__/g, (whole, name: string) => {
    const value = values[name];
    return typeof value === 'object' ? inEnglish(value) : `${value ?? whole}`;
  });
}

function textOf(code: ErrorCode, reason: string): string {
  return ENGLISH[code]?.[reason] ?? code;
}

/** A phrase for logs, which are in English. */
export function inEnglish({ key, values }: Phrase): string {
  let found: unknown = english;
  for (const step of key.split('.')) {
    found = (found as Record<string, unknown> | undefined)?.[step];
  }
  return typeof found === 'string' ? fillText(found, values) : key;
}

/**
 * An error with a stable `code` and a plain `cause`. Node-RED's Catch node passes on `message`, `code`,
 * `stack` and `cause` only, so nothing that a flow needs lies elsewhere.
 */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: ErrorCode;
  override readonly cause: Record<string, unknown>;
  text: ErrorText;

  /** @param reason which of the code's texts applies: `error.<code>.<reason>` in the locale files. */
  constructor(code: ErrorCode, reason: string, cause: Record<string, unknown> = {}, values: TextValues = {}) {
    super(fillText(textOf(code, reason), values));
    this.code = code;
    this.cause = readable(cause, values);
    this.text = { key: `${code}.${reason}`, values };
  }

  /** Changes what stands in the text, such as a name in place of an address; code and cause stay. */
  retell(changed: TextValues): void {
    const { key, values } = this.text;
    this.text = { key, values: { ...values, ...changed } };
    this.message = fillText(textOf(this.code, key.slice(this.code.length + 1)), this.text.values);
  }

  /** Node-RED shows this in Catch nodes and logs, where the name of a class says nothing. */
  override toString(): string {
    return this.message;
  }
}

/** The error again, so that no two messages share one. */
export function copyError({ code, text, cause, stack }: ServiceError): ServiceError {
  const copy = new ServiceError(code, text.key.slice(code.length + 1), { ...cause }, { ...text.values });
  copy.stack = stack;
  return copy;
}

const MAX_SHOWN_LENGTH = 80;
const MAX_CAUSE_LENGTH = 500;

/**
 * A copy of a cause that can be read where it is put into a text, as Node-RED's debug sidebar does. A symbol is not
 * counted, copied or compared with the properties, and nothing that a gateway sends can take its place.
 * @param values the text's: a response lacks the gateway that sent it
 */
function readable(cause: Record<string, unknown>, { gateway, device }: TextValues): Record<string, unknown> {
  const describe = () => describeCause({ gateway, device, ...cause });
  return Object.defineProperty({ ...cause }, Symbol.toPrimitive, { value: describe });
}

function describeCause(cause: Record<string, unknown>): string {
  let text = '';
  for (const [name, value] of Object.entries(cause)) {
    if (value !== undefined) {
      text += `${text && ', '}${name} ${showValue(value)}`;
    }
    if (text.length > MAX_CAUSE_LENGTH) {
      return `${text.slice(0, MAX_CAUSE_LENGTH)}…`;
    }
  }
  return text;
}

/** An untrusted value in words, short enough for an error text. */
export function showValue(value: unknown): string {
  let text: string | undefined;
  try {
    // As JSON, numbers that are none would be `null`.
    text = typeof value === 'string' || typeof value === 'number' ? String(value) : JSON.stringify(value);
  } catch {
    // Such as a cycle, or a toJSON that throws.
  }
  // What an object or a function says of itself is its own code.
  text ??= typeof value === 'object' || typeof value === 'function' ? typeof value : String(value);
  return text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text;
}

/** Such as `30 s` or `1500 ms`, in every language. @param ms milliseconds */
export const showDuration = (ms: number): string =>
  ms >= 1_000 && ms % 1_000 === 0 ? `${ms / 1_000} s` : `${ms} ms`;

/** `INVALID_INPUT` for one field; the text names the field (translated by its name in the catalogue) and the value. */
export function invalidInput(
  field: string,
  value: unknown,
  reason: string,
  values: TextValues = {},
): ServiceError {
  return new ServiceError(
    'INVALID_INPUT',
    reason,
    { field, value: plain(value) },
    { field, value: showValue(value), ...values },
  );
}

/** In words what JSON cannot show: a flow that stores errors as JSON would lose this one. */
function plain(value: unknown): unknown {
  if (typeof value === 'object') {
    try {
      JSON.stringify(value);
      return value;
    } catch {
      return showValue(value);
    }
  }
  return ['function', 'bigint', 'symbol'].includes(typeof value) ? showValue(value) : value;
}
