// What is wrong with a secure connection, told by OpenSSL's codes and messages, which nobody should have to read.

type Fault = [key: string];

const CERTIFICATES: [RegExp, Fault][] = [
  [/CERT_HAS_EXPIRED/, ['certificateExpired']],
  [/CERT_NOT_YET_VALID/, ['certificateEarly']],
  [/ALTNAME_INVALID/, ['certificateName']],
  [/CERT|SIGNATURE|ISSUER|CRL/, ['certificateUntrusted']],
];

/** Alerts of the broker come in the message of an EPROTO, or in a code of their own. */
const MESSAGES: [RegExp, Fault][] = [
  [/wrong.version.number|packet.length.too.long/i, ['notTls']],
  [/no.application.protocol/i, ['alpn']],
  [/alert.*certificate|certificate.required|unknown.ca/i, ['clientCertificate']],
  [/alert|handshake.failure|no.protocols|unsupported.protocol/i, ['tlsRefused']],
];

/** @returns the name of a text below `reason`, or undefined when it is no fault of TLS */
export function findTlsFault(code: unknown, message: string): Fault | undefined {
  const text = String(code);
  const isProtocol = /^(EPROTO|ERR_SSL|ERR_OSSL)/.test(text);
  if (isProtocol) {
    const said = `${text} ${message}`;
    return MESSAGES.find(([pattern]) => pattern.test(said))?.[1] ?? ['tlsRefused'];
  }
  return CERTIFICATES.find(([pattern]) => pattern.test(text))?.[1];
}
