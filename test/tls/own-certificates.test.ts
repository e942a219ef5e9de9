// Which file of the TLS settings cannot be used, before any server has seen it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createPrivateKey } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inEnglish } from '../../src/errors.ts';
import type { TlsSettings } from '../../src/settings.ts';
import { findOwnFault } from '../../src/tls/own-certificates.ts';
import { type Certificates, makeCertificates } from '../faults/certificates.ts';
import { requirePrograms } from '../requirements.ts';

describe('the certificate and the key in the settings', () => {
  let files: Certificates;
  let pfx: Buffer;
  let folder: string | undefined;

  before(async function () {
    requirePrograms(this, 'openssl');
    files = await makeCertificates();
    folder = mkdtempSync(join(tmpdir(), 'mt-pfx-'));
    const pair = join(folder, 'pair.pem');
    writeFileSync(pair, files.client.cert + files.client.key);
    pfx = execFileSync('openssl', ['pkcs12', '-export', '-in', pair, '-passout', 'pass:secret']);
  });
  after(() => folder && rmSync(folder, { recursive: true }));

  const locked = (type: 'pkcs8' | 'sec1') =>
    createPrivateKey(files.client.key).export({
      ...{ type, format: 'pem' },
      ...{ cipher: 'aes-256-cbc', passphrase: 'secret' },
    });

  for (const [title, settings] of [
    ['are none', () => undefined],
    ['are none, beside other settings', () => ({ rejectUnauthorized: false, servername: 'host' })],
    ['belong together', () => files.client],
    ['are a certificate alone', () => ({ cert: files.client.cert })],
    ['are opened by the passphrase', () => ({ ...files.client, key: locked('pkcs8'), passphrase: 'secret' })],
    ['are in one file', () => ({ pfx, passphrase: 'secret' })],
  ] as [string, () => TlsSettings | undefined][]) {
    it(`have no fault where they ${title}`, () => {
      assert.equal(findOwnFault(settings()), undefined);
    });
  }

  for (const [title, settings, words, code] of [
    [
      'the certificate is none',
      () => ({ ...files.client, cert: 'none' }),
      /^the certificate in TLS settings cannot be used \(no start line\)$/,
      'ERR_OSSL_PEM_NO_START_LINE',
    ],
    [
      'neither of them is one',
      () => ({ cert: 'none', key: 'none' }),
      /^the certificate in TLS settings cannot be used/,
      'ERR_OSSL_PEM_NO_START_LINE',
    ],
    [
      'the key is none',
      () => ({ ...files.client, key: 'none' }),
      /^the private key in TLS settings cannot be used \([^:]+\)$/,
      /^ERR_OSSL_/,
    ],
    [
      'the passphrase is missing',
      () => ({ ...files.client, key: locked('pkcs8') }),
      /^the passphrase in TLS settings is missing or does not open the private key \([^:]+\)$/,
      /^ERR_/,
    ],
    [
      'the passphrase is wrong',
      () => ({ ...files.client, key: locked('pkcs8'), passphrase: 'other' }),
      /^the passphrase in TLS settings is missing or does not open the private key \([^:]+\)$/,
      /^ERR_OSSL_/,
    ],
    [
      'the passphrase is wrong for a key of the older form',
      () => ({ ...files.client, key: locked('sec1'), passphrase: 'other' }),
      /^the passphrase in TLS settings is missing or does not open the private key \([^:]+\)$/,
      /^ERR_OSSL_/,
    ],
    [
      'the key belongs to another certificate',
      () => ({ cert: files.client.cert, key: files.stranger.key }),
      /^the private key in TLS settings does not belong to the certificate there \(key values mismatch\)$/,
      'ERR_OSSL_X509_KEY_VALUES_MISMATCH',
    ],
    [
      'the one file with both is none',
      () => ({ pfx: Buffer.from('none'), passphrase: 'secret' }),
      /^the certificate files in TLS settings cannot be used \(not enough data\)$/,
      'ERR_CERTIFICATE',
    ],
    [
      'the one file with both has another passphrase',
      () => ({ pfx, passphrase: 'other' }),
      /^the certificate files in TLS settings cannot be used \(mac verify failure\)$/,
      'ERR_CERTIFICATE',
    ],
  ] as [string, () => TlsSettings, RegExp, string | RegExp][]) {
    it(`are told by what is wrong where ${title}`, () => {
      const fault = findOwnFault(settings()) ?? assert.fail('none found');
      assert.equal(fault.code, 'NETWORK');
      assert.match(fault.message, words);
      assert.match(String(fault.cause.code), new RegExp(code));
      assert.deepEqual(Object.keys(fault.cause), ['code']);
      assert.equal(inEnglish({ ...fault.text, key: `error.${fault.text.key}` }), fault.message);
    });
  }
});
