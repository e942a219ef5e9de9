// Why a call failed, as the state shows it.
import type { ServiceError } from '../errors.ts';

/** A reason that needs no language: the HTTP status or the code of the fault. */
export function reasonOf({ cause, code }: ServiceError): string {
  return String(cause.statusCode ?? cause.code ?? code);
}
