// What a fault of the network is called, by its code.
import assert from 'node:assert/strict';
import { ServiceError } from '../../src/errors.ts';
import { codeOf, NetworkError, networkError, tunnelError } from '../../src/rest/faults.ts';

describe('a fault of the network', () => {
  for (const [given, code] of [
    [{ code: 'ECONNREFUSED' }, 'ECONNREFUSED'],
    [{ code: 'UND_ERR_SOCKET' }, 'ECONNRESET'],
    [{ code: 'UND_ERR_SOCKET', message: 'bad response' }, 'HTTP_100_CONTINUE'],
    [{ code: 'UND_ERR_SOCKET', message: 'other side closed' }, 'ECONNRESET'],
    [{ code: 'ECONNRESET', message: 'bad response' }, 'ECONNRESET'],
    [{ code: 'UND_ERR_CONNECT_TIMEOUT' }, 'ETIMEDOUT'],
    [{ code: 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH' }, 'ECONNRESET'],
    [{ name: 'HTTPParserError', code: 'HPE_INVALID_CONSTANT' }, 'ERR_HTTP_PARSER'],
    [{ name: 'Error', code: 5 }, 'UNKNOWN'],
    [new Error('x'), 'UNKNOWN'],
  ] as const) {
    it(`has the code ${code}: ${JSON.stringify(given)}`, () => assert.equal(codeOf(given), code));
  }

  for (const [code, reason] of [
    ['ETIMEDOUT', 'timeout'],
    ['ENOTFOUND', 'notFound'],
    ['EAI_AGAIN', 'notFound'],
    ['ECONNREFUSED', 'refused'],
    ['ECONNRESET', 'reset'],
    ['HTTP_100_CONTINUE', 'continue'],
    ['CERT_HAS_EXPIRED', 'certificate'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'certificate'],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'certificate'],
    ['UNABLE_TO_GET_CRL', 'certificate'],
    ['INVALID_CA_ISSUER', 'certificate'],
    ['BAD_SIGNATURE', 'certificate'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'certificate'],
    ['ERR_TLS_HANDSHAKE_TIMEOUT', 'tls'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls'],
    ['ERR_OSSL_X509', 'tls'],
    ['EPROTO', 'tls'],
    ['XEPROTO', 'unreachable'],
    ['ERR_HTTP_PARSER', 'notHttp'],
    ['XERR_HTTP_PARSER', 'unreachable'],
    ['ERR_HTTP_PARSER_X', 'unreachable'],
    ['UND_ERR_HEADERS_OVERFLOW', 'notHttp'],
    ['XUND_ERR_HEADERS_OVERFLOW', 'unreachable'],
    ['UND_ERR_HEADERS_OVERFLOW_X', 'unreachable'],
    ['EHOSTUNREACH', 'unreachable'],
    ['UNKNOWN', 'unreachable'],
  ] as const) {
    it(`is ${reason} with the code ${code}`, () => {
      const error = networkError(code, 'https://host:8443', 150, true);
      assert.ok(error instanceof NetworkError);
      assert.deepEqual([error.code, error.text.key, error.cause], ['NETWORK', `NETWORK.${reason}`, { code }]);
      assert.deepEqual(error.text.values, { host: 'host:8443', code, timeout: '150 ms' });
      assert.doesNotMatch(error.message, /__/);
    });
  }

  for (const [code, wasSent, reason] of [
    ['ETIMEDOUT', false, 'proxyTimeout'],
    ['ETIMEDOUT', true, 'timeout'],
    ['ECONNRESET', false, 'reset'],
  ] as const) {
    it(`is ${reason} through a proxy with ${code}, ${wasSent ? 'after' : 'before'} the request was sent, and names it`, () => {
      const error = networkError(code, 'http://host', 150, wasSent, 'proxy:3128');
      assert.deepEqual([error.text.key, error.cause], [`NETWORK.${reason}`, { code, proxy: 'proxy:3128' }]);
      assert.deepEqual(error.text.values, { host: 'host', code, timeout: '150 ms', proxy: 'proxy:3128' });
    });
  }

  it('is not the silence of a proxy where there is none', () => {
    const { text, cause } = networkError('ETIMEDOUT', 'http://host', 150, false);
    assert.deepEqual([text.key, cause], ['NETWORK.timeout', { code: 'ETIMEDOUT' }]);
  });

  it('is what prevented the tunnel through a proxy, before anything was sent', () => {
    const values = { proxy: 'proxy:3128', statusCode: 407 };
    const error = tunnelError(new ServiceError('NETWORK', 'proxyLogin', { statusCode: 407 }, values));
    assert.deepEqual(
      [error.code, error.text, error.cause, error.wasSent],
      ['NETWORK', { key: 'NETWORK.proxyLogin', values }, { statusCode: 407 }, false],
    );
  });

  it('knows whether the request was sent', () => {
    assert.deepEqual(
      [true, false].map((sent) => networkError('X', 'http://a', 1, sent).wasSent),
      [true, false],
    );
  });
});
