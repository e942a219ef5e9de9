// What is wrong with an input, in the shape that Catch nodes pass on.

export class InputError extends Error {
  override readonly name = 'InputError';
  readonly code = 'INVALID_INPUT';
  /** An object is left out: a Catch node copies it for its wires, which fails where it is nested too deep. */
  override readonly cause: { field: string; value: unknown };

  constructor(field: string, value: unknown, reason: string) {
    super(`${field}: ${reason}`);
    this.cause = { field, value: typeof value === 'object' ? undefined : value };
  }

  /** What Node-RED shows, without the name of the class. */
  override toString(): string {
    return this.message;
  }
}
