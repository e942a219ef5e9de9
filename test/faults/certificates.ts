// Certificates for TLS tests, made with openssl: two authorities, and what they signed.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const EC = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

export interface Pair {
  key: string;
  cert: string;
}

export interface Certificates {
  ca: string;
  otherCa: string;
  /** For `localhost`. */
  server: Pair;
  /** For `localhost`, ended yesterday. */
  expired: Pair;
  /** For another host. */
  mismatched: Pair;
  client: Pair;
  /** Signed by the other authority. */
  stranger: Pair;
}

export async function makeCertificates(): Promise<Certificates> {
  const folder = await mkdtemp(join(tmpdir(), 'mt-tls-'));
  const at = (name: string, kind: string) => join(folder, `${name}.${kind}`);
  const openssl = (...args: string[]) => run('openssl', args);

  async function authority(name: string): Promise<string> {
    const files = ['-keyout', at(name, 'key'), '-out', at(name, 'pem')];
    await openssl('req', '-x509', ...EC, '-days', '2', ...files, '-subj', `/CN=${name}`);
    return readFile(at(name, 'pem'), 'utf8');
  }

  async function signed(name: string, host: string, ca: string, days: number): Promise<Pair> {
    const alternative = ['-addext', `subjectAltName=DNS:${host}`];
    const subject = ['-subj', `/CN=${host}`, ...alternative];
    await openssl('req', ...EC, '-keyout', at(name, 'key'), '-out', at(name, 'csr'), ...subject);
    const by = ['-CA', at(ca, 'pem'), '-CAkey', at(ca, 'key'), '-CAcreateserial', '-copy_extensions', 'copy'];
    await openssl('x509', '-req', '-in', at(name, 'csr'), ...by, '-days', `${days}`, '-out', at(name, 'pem'));
    return { key: await readFile(at(name, 'key'), 'utf8'), cert: await readFile(at(name, 'pem'), 'utf8') };
  }

  try {
    return {
      ca: await authority('ca'),
      otherCa: await authority('other'),
      server: await signed('server', 'localhost', 'ca', 2),
      expired: await signed('expired', 'localhost', 'ca', -1),
      mismatched: await signed('mismatched', 'elsewhere.example', 'ca', 2),
      client: await signed('client', 'client', 'ca', 2),
      stranger: await signed('stranger', 'client', 'other', 2),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
