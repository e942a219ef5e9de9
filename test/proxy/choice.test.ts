// Which proxy an address goes through: environment variables as Node-RED's own nodes read them, and NO_PROXY.
import assert from 'node:assert/strict';
import type { ServiceError } from '../../src/errors.ts';
import { proxiesOf, proxyFor } from '../../src/proxy/choice.ts';
import { type ProxyOptions, readProxyEnvironment } from '../../src/proxy/environment.ts';

type Environment = Record<string, string>;

const shown = (env: Environment, address: string, options?: ProxyOptions) =>
  proxyFor(readProxyEnvironment(env, options), address)?.shown;

describe('the proxy of an address', () => {
  const ALL = { HTTP_PROXY: 'http://plain:1', HTTPS_PROXY: 'http://secure:2' };
  for (const [address, env, expected] of [
    ['http://host/x', ALL, 'plain:1'],
    ['https://host/x', ALL, 'secure:2'],
    ['ws://host/x', ALL, 'plain:1'],
    ['wss://host/x', ALL, 'secure:2'],
    ['mqtt://host', { ...ALL, ALL_PROXY: 'http://all:3' }, undefined],
    ['mqtts://host', { ...ALL, ALL_PROXY: 'http://all:3' }, undefined],
    ['https://host', { http_proxy: 'http://plain:1' }, undefined],
    ['https://host', { https_proxy: 'http://small:1', HTTPS_PROXY: 'http://large:2' }, 'small:1'],
    ['https://host', { https_proxy: '', HTTPS_PROXY: 'http://large:2' }, 'large:2'],
    ['https://host', { ALL_PROXY: 'http://all:3' }, 'all:3'],
    ['wss://host', { all_proxy: 'http://all:3' }, 'all:3'],
    ['wss://host', { all_proxy: 'http://all:3', https_proxy: 'http://secure:2' }, 'secure:2'],
    ['wss://host', { wss_proxy: 'http://web:4', https_proxy: 'http://secure:2' }, 'web:4'],
    ['ws://host', { WS_PROXY: 'http://web:4', http_proxy: 'http://plain:1' }, 'web:4'],
    ['https://host', { npm_config_https_proxy: 'http://npm:5', https_proxy: 'http://secure:2' }, 'npm:5'],
    ['https://host', { npm_config_proxy: 'http://npm:5' }, 'npm:5'],
    ['https://host', { https_proxy: 'proxy.example:3128' }, 'proxy.example:3128'],
    ['https://host', { https_proxy: 'http://proxy.example' }, 'proxy.example:80'],
    ['https://host', { https_proxy: 'https://proxy.example' }, 'proxy.example:443'],
    ['https://host', { https_proxy: 'http://[::1]:8080' }, '[::1]:8080'],
    ['https://host', {}, undefined],
    ['no address', ALL, undefined],
    ['constructor://host', ALL, undefined],
  ] as [string, Environment, string | undefined][]) {
    it(`${address} with ${JSON.stringify(env)}: ${expected ?? 'none'}`, () => {
      assert.equal(shown(env, address), expected);
    });
  }

  for (const [exceptions, address, isDirect] of [
    ['host', 'https://host', true],
    ['host', 'https://HOST', true],
    ['HOST', 'https://host', true],
    ['host', 'https://a.host', false],
    ['host', 'https://hosts', false],
    ['other, host', 'https://host', true],
    ['other host', 'https://host', true],
    [',, ', 'https://host', false],
    ['*', 'https://host', true],
    ['.example.com', 'https://a.example.com', true],
    ['.example.com', 'https://example.com', false],
    ['*.example.com', 'https://a.b.example.com', true],
    ['*example.com', 'https://example.com', true],
    ['host:443', 'https://host', true],
    ['host:443', 'wss://host', true],
    ['host:80', 'https://host', false],
    ['host:80', 'ws://host', true],
    ['host:8443', 'https://host:8443', true],
    ['.example.com:8443', 'https://a.example.com:8443', true],
    ['.example.com:8443', 'https://a.example.com', false],
    ['10.0.0.1', 'https://10.0.0.1', true],
    ['10.0.0.1:80', 'https://10.0.0.1', false],
    ['[::1]', 'https://[::1]', true],
    ['::1', 'https://[::1]:8443', true],
    ['[0:0:0:0:0:0:0:1]', 'https://[::1]', true],
    ['[::1]:8443', 'https://[::1]:8443', true],
    ['[::1]:8443', 'https://[::1]', false],
    ['::2', 'https://[::1]', false],
    ['fe80::1%eth0', 'https://[fe80::1]', true],
    ['[fe80::1%eth0]:8443', 'https://[fe80::1]:8443', true],
    ['fe80::1%eth0, host', 'https://host', true],
    ['fe80::1%eth0', 'https://host', false],
    ['[::1', 'https://[::1]', false],
    ['::[1]', 'https://[::1]', false],
    ['[::]1', 'https://[::1]', false],
    ['ho*st', 'https://host', false],
    [':443', 'https://host', false],
    ['host:1:443', 'https://host', false],
    ['http://[::g]/%zz, %, [], :80', 'https://host', false],
  ] as const) {
    it(`with NO_PROXY "${exceptions}" is ${isDirect ? 'none' : 'used'} for ${address}`, () => {
      const proxy = 'http://proxy:1';
      for (const name of ['NO_PROXY', 'no_proxy', 'npm_config_no_proxy']) {
        const env = { all_proxy: proxy, [name]: exceptions };
        assert.equal(shown(env, address), isDirect ? undefined : 'proxy:1', name);
      }
    });
  }

  it('follows the proxyOptions of settings.js', () => {
    const env = {
      https_proxy: 'http://small:1',
      HTTPS_PROXY: 'http://large:2',
      npm_config_proxy: 'http://n:3',
    };
    assert.equal(shown(env, 'https://h', { favourUpperCase: true }), 'large:2');
    assert.equal(shown({ HTTPS_PROXY: 'http://large:2' }, 'https://h', { lowerCaseOnly: true }), undefined);
    assert.equal(shown({ npm_config_proxy: 'http://n:3' }, 'https://h', { excludeNpm: true }), undefined);
    assert.equal(shown(env, 'https://h', { excludeNpm: true }), 'small:1');
    assert.equal(
      shown({ https_proxy: 'http://a:1' }, 'https://h', { env: { https_proxy: 'http://b:2' } }),
      'b:2',
    );
  });

  for (const [title, options] of [
    ['nothing', null],
    [
      'variables that are no texts',
      { env: { https_proxy: 3128, HTTPS_PROXY: ['http://a:1'], no_proxy: {} } },
    ],
  ] as const) {
    it(`is none where settings.js says ${title}`, () => {
      assert.equal(proxyFor(readProxyEnvironment({}, options), 'https://h'), undefined);
    });
  }

  it('in the legacy mode is HTTP_PROXY for everything but addresses with a part of NO_PROXY in them', () => {
    const env = {
      HTTP_PROXY: 'http://up:1',
      http_proxy: 'http://low:2',
      https_proxy: 'http://s:3',
      NO_PROXY: 'corp, x',
    };
    assert.equal(shown(env, 'wss://host', { mode: 'legacy' }), 'up:1');
    assert.equal(shown({ ...env, NR_PROXY_MODE: 'legacy' }, 'https://host'), 'up:1');
    assert.equal(shown({ ...env, NR_PROXY_MODE: 'strict' }, 'https://host', { mode: 'legacy' }), 's:3');
    assert.equal(shown(env, 'https://a.corp.example', { mode: 'legacy' }), undefined);
    for (const [exceptions, isDirect] of [
      [' , ', false],
      ['x, corp ,y', true],
      ['h/', true],
      ['', false],
    ] as const) {
      const settings = { HTTP_PROXY: 'http://up:1', NO_PROXY: exceptions };
      assert.equal(shown(settings, 'https://a.corp.h/', { mode: 'legacy' }), isDirect ? undefined : 'up:1');
    }
  });

  for (const [address, login, expected] of [
    ['http://anna:s%40crét@proxy:1', undefined, 'anna:s@crét'],
    ['http://anna:100%@proxy:1', undefined, 'anna:100%'],
    ['anna@proxy:1', undefined, 'anna:'],
    ['http://:secret@proxy:1', undefined, ':secret'],
    ['http://proxy:1', undefined, undefined],
    ['http://proxy:1', { username: '', password: '' }, undefined],
    ['http://anna:old@proxy:1', { username: 'bob', password: 'new' }, 'bob:new'],
  ] as const) {
    it(`logs in with the address ${address}${login ? ' and the login of the configuration node' : ''}`, () => {
      const proxy = proxyFor(
        { addresses: { https: address }, exceptions: '', ...(login && { login }) },
        'https://h',
      );
      const authorization = expected && `Basic ${Buffer.from(expected).toString('base64')}`;
      assert.deepEqual(proxy, {
        ...{ isSecure: false, hostname: 'proxy', port: 1, shown: 'proxy:1' },
        ...(authorization && { authorization }),
      });
    });
  }

  it('is reached by TLS where its address says so, an IPv6 one without its brackets', () => {
    const settings = { addresses: { https: 'https://[::1]' }, exceptions: '' };
    assert.deepEqual(proxyFor(settings, 'https://h'), {
      ...{ isSecure: true, hostname: '::1', port: 443, shown: '[::1]:443' },
    });
  });

  for (const address of [
    'socks5://anna:secret@proxy:1',
    'http://',
    'ftp://proxy',
    'shttp://proxy',
    'http://anna:secret@[::1',
    'http://anna:12#secret@proxy',
    'http://anna:12/secret@proxy',
    'http://anna:12?secret@proxy',
  ]) {
    it(`is refused when it is no HTTP proxy, without its login: ${address}`, () => {
      assert.throws(
        () => shown({ all_proxy: address }, 'https://host'),
        (error: ServiceError) => {
          assert.deepEqual(
            [error.code, error.cause.field, error.text.key],
            ['INVALID_INPUT', 'proxy', 'INVALID_INPUT.notProxy'],
          );
          assert.doesNotMatch(`${error.message} ${JSON.stringify([error.cause, error.text])}`, /anna|secret/);
          return true;
        },
      );
    });
  }

  it('is shown with a mark in the place of its login when it is refused', () => {
    assert.throws(
      () => shown({ all_proxy: 'socks5://anna:secret@proxy:1' }, 'https://host'),
      ({ cause }: ServiceError) => cause.value === 'socks5://…@proxy:1',
    );
  });

  it('is told once for several addresses, without those that need none', () => {
    const settings = readProxyEnvironment({
      https_proxy: 'http://u:p@a:1',
      http_proxy: 'http://b:2',
      no_proxy: 'c',
    });
    assert.deepEqual(proxiesOf(settings, ['https://x', 'wss://y', 'http://c', 'ws://d', 'mqtt://e']), [
      'a:1',
      'b:2',
    ]);
    assert.deepEqual(proxiesOf(undefined, ['https://x']), []);
  });
});
