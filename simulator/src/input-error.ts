// What is wrong with an input, in the shape that Catch nodes pass on, or why it cannot be carried out now.

const MAX_SHOWN_LENGTH = 80;

export class InputError extends Error {
  override readonly name = 'InputError';
  readonly code = 'INVALID_INPUT';
  /** An object is left out: a Catch node copies it for its wires, which fails where it is nested too deep. */
  override readonly cause: { field: string; value: unknown };

  constructor(field: string, value: unknown, reason: string) {
    const shown = showValue(value);
    super(`${field}: ${reason}${shown && ` (${shown})`}`);
    const cause = { field, value: typeof value === 'object' ? undefined : value };
    // Node-RED's debug sidebar puts the cause into a text; what is named by a symbol is not copied with the properties.
    const describe = () => `field ${field}${shown && `, value ${shown}`}`;
    this.cause = Object.defineProperty(cause, Symbol.toPrimitive, { value: describe });
  }

  /** What Node-RED shows, without the name of the class. */
  override toString(): string {
    return this.message;
  }
}

/** Nothing is wrong with the input, but the simulator does not run, or a gateway of it is away. */
export class NotConnectedError extends Error {
  override readonly name: string = 'NotConnectedError';
  readonly code = 'NOT_CONNECTED';

  /** What Node-RED shows, without the name of the class. */
  override toString(): string {
    return this.message;
  }
}

/** It publishes nothing. */
export class GatewayAwayError extends NotConnectedError {
  override readonly name = 'GatewayAwayError';

  constructor(gateway: string) {
    super(`gateway ${gateway} is away`);
  }
}

/** The beginning of a long text; nothing of what has code of its own. */
function showValue(value: unknown): string {
  const isPlain = value !== undefined && typeof value !== 'object' && typeof value !== 'function';
  const text = isPlain ? String(value) : '';
  return text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text;
}
