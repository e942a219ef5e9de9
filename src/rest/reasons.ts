// Why a call failed, as the state shows it.
import { ServiceError } from '../errors.ts';

/** A reason that needs no language: the HTTP status or the code of the fault. */
export function reasonOf(error: Error): string {
  if (!(error instanceof ServiceError)) {
    return error.name;
  }
  return String(error.cause.statusCode ?? error.cause.code ?? error.code);
}
