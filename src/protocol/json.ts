// Values of a flow that are to be sent as JSON: what JSON would change or lose in silence is refused.
import { invalidInput } from '../errors.ts';

const DEEPEST = 100;

/** Function nodes run in a context of their own, with another `Object`, so the prototype tells nothing. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return Object.prototype.toString.call(value) === '[object Object]';
}

/**
 * A copy that later changes in the flow do not reach.
 * @throws ServiceError `INVALID_INPUT` for what is not JSON: NaN, functions, dates, buffers, cycles, great depth
 */
export function copyJson(value: unknown, field: string): unknown {
  if (!isJson(value, DEEPEST)) throw invalidInput(field, value, 'notJson');
  return JSON.parse(JSON.stringify(value));
}

function isJson(value: unknown, depth: number): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (depth === 0) return false;
  if (Array.isArray(value)) return value.every((item) => isJson(item, depth - 1));
  if (!isJsonObject(value) || typeof value.toJSON === 'function') return false;
  // JSON leaves undefined fields out, which is what the author of the object expects.
  return Object.values(value).every((item) => item === undefined || isJson(item, depth - 1));
}
