// What is wrong with the certificate and the key in the settings: no server has seen them, so none is to blame.
import { createSecureContext } from 'node:tls';
import { ServiceError } from '../errors.ts';
import { oneLine } from '../protocol/text.ts';
import type { TlsSettings } from '../settings.ts';

/**
 * Looked for before a connection, since its own errors do not tell this side's files from the other's.
 * @returns NETWORK with a text that names the file; `cause.code` is that of OpenSSL
 */
export function findOwnFault(tls: TlsSettings | undefined): ServiceError | undefined {
  const fault = tls && findFault(tls);
  if (!fault) {
    return undefined;
  }
  const { code = 'ERR_CERTIFICATE', reason = fault.message } = fault;
  return new ServiceError('NETWORK', nameOf(tls), { code }, { reason: oneLine(reason) });
}

/** What OpenSSL says; in `reason` without its place in the library. */
interface OpenSslError extends Error {
  code?: string;
  reason?: string;
}

function findFault(tls: TlsSettings): OpenSslError | undefined {
  try {
    createSecureContext(tls);
    return undefined;
  } catch (error) {
    return error as OpenSslError;
  }
}

/** By its parts: OpenSSL's words for a wrong passphrase depend on the bytes that it leads to. */
function nameOf({ cert, key, passphrase, pfx }: TlsSettings): string {
  if (findFault({ cert })) {
    return 'ownCertificate';
  }
  if (findFault({ key, passphrase })) {
    return /\bENCRYPTED\b/.test(String(key)) ? 'ownPassphrase' : 'ownKey';
  }
  return pfx === undefined ? 'ownPair' : 'ownFiles';
}
