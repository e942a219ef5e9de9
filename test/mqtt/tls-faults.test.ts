// What is wrong with a secure connection is told by what OpenSSL and Node.js say of it.
import assert from 'node:assert/strict';
import { findTlsFault } from '../../src/mqtt/tls-faults.ts';

/** As the messages of an EPROTO begin. */
const openssl = (text: string) =>
  `write EPROTO 00A1:error:0A00010B:SSL routines:${text}:ssl/record/x.c:354:\n`;

const ROWS: [code: unknown, message: string, key: string | undefined][] = [
  ['CERT_HAS_EXPIRED', 'certificate has expired', 'certificateExpired'],
  ['CERT_NOT_YET_VALID', 'certificate is not yet valid', 'certificateEarly'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', "Hostname/IP does not match certificate's altnames", 'certificateName'],
  ['CERT_UNTRUSTED', 'certificate not trusted', 'certificateUntrusted'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed certificate', 'certificateUntrusted'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'unable to verify the first certificate', 'certificateUntrusted'],
  ['UNABLE_TO_GET_ISSUER_CERT', 'unable to get issuer certificate', 'certificateUntrusted'],
  ['SUBJECT_ISSUER_MISMATCH', 'subject issuer mismatch', 'certificateUntrusted'],
  ['UNABLE_TO_GET_CRL', 'unable to get certificate CRL', 'certificateUntrusted'],
  ['EPROTO', openssl('ssl3_get_record:wrong version number'), 'notTls'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', '', 'notTls'],
  ['ERR_SSL_PACKET_LENGTH_TOO_LONG', 'packet length too long', 'notTls'],
  ['ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL', 'tlsv1 alert no application protocol', 'alpn'],
  ['EPROTO', openssl('ssl3_read_bytes:tlsv1 alert no application protocol'), 'alpn'],
  ['EPROTO', openssl('ssl3_read_bytes:tlsv13 alert certificate required'), 'clientCertificate'],
  ['EPROTO', openssl('ssl3_read_bytes:ssl/tls alert bad certificate'), 'clientCertificate'],
  ['ERR_SSL_CERTIFICATE_REQUIRED', '', 'clientCertificate'],
  ['EPROTO', openssl('ssl3_read_bytes:tlsv1 alert unknown ca'), 'clientCertificate'],
  ['ERR_SSL_UNKNOWN_CA', '', 'clientCertificate'],
  ['EPROTO', openssl('ssl3_read_bytes:ssl/tls alert handshake failure'), 'tlsRefused'],
  ['ERR_SSL_UNSUPPORTED_PROTOCOL', 'unsupported protocol', 'tlsRefused'],
  ['ERR_OSSL_EVP_UNSUPPORTED', 'unsupported', 'tlsRefused'],
  ['EPROTO', 'write EPROTO', 'tlsRefused'],
  ['ECONNRESET', 'alert certificate', undefined],
  ['ERR_SOCKET_CLOSED', 'not of TLS, although ERR_SSL stands here', undefined],
  ['MY_EPROTO', 'the code only ends like one', undefined],
  [undefined, 'certificate has expired', undefined],
  [136, 'CERT_HAS_EXPIRED', undefined],
];

describe('a fault of a secure connection', () => {
  for (const [code, message, key] of ROWS) {
    it(`${key ?? 'is none'}: ${String(code)} ${message.trim()}`, () => {
      assert.deepEqual(findTlsFault(code, message), key === undefined ? undefined : [key]);
    });
  }
});
