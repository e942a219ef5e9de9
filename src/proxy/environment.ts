// The proxies that environment variables name, read as Node-RED's own nodes read them.
import type { ProxySettings } from '../settings.ts';

/** In settings.js a value may be anything. */
type Environment = Readonly<Record<string, unknown>>;

/** `proxyOptions` of Node-RED's settings.js; see `core/network/lib/proxyHelper.js` in `@node-red/nodes`. */
export interface ProxyOptions {
  /** `legacy`: HTTP_PROXY for every address, and NO_PROXY found anywhere in it. */
  mode?: unknown;
  lowerCaseOnly?: unknown;
  favourUpperCase?: unknown;
  /** Leaves `npm_config_proxy` and its like out. */
  excludeNpm?: unknown;
  /** In the place of the process's own variables. */
  env?: Environment;
}

/** Where `ws_proxy` or `wss_proxy` is not set, WebSockets take the way of HTTP, which they begin as. */
const SCHEMES = { http: ['http'], https: ['https'], ws: ['ws', 'http'], wss: ['wss', 'https'] } as const;

/** @param environment the process's variables */
export function readProxyEnvironment(environment: Environment, given?: ProxyOptions | null): ProxySettings {
  const options = given ?? {};
  const env = options.env ?? environment;
  const asked = env.NR_PROXY_MODE;
  const mode = asked === 'legacy' || asked === 'strict' ? asked : options.mode;
  if (mode === 'legacy') {
    const proxy = textOf(env.HTTP_PROXY) || textOf(env.http_proxy);
    const exceptions = textOf(env.NO_PROXY) || textOf(env.no_proxy);
    return { addresses: { http: proxy, https: proxy, ws: proxy, wss: proxy }, exceptions, isLegacy: true };
  }
  const read = (name: string): string => readVariable(env, name, options);
  const addressOf = (scheme: keyof typeof SCHEMES): string => {
    const names = SCHEMES[scheme].flatMap((name) => [`npm_config_${name}_proxy`, `${name}_proxy`]);
    return [...names, 'npm_config_proxy', 'all_proxy'].map(read).find((value) => value !== '') ?? '';
  };
  return {
    addresses: {
      http: addressOf('http'),
      https: addressOf('https'),
      ws: addressOf('ws'),
      wss: addressOf('wss'),
    },
    exceptions: read('npm_config_no_proxy') || read('no_proxy'),
  };
}

function readVariable(env: Environment, name: string, options: ProxyOptions): string {
  if (options.excludeNpm === true && name.startsWith('npm_config_')) {
    return '';
  }
  const lower = textOf(env[name]);
  if (options.lowerCaseOnly === true) {
    return lower;
  }
  const upper = textOf(env[name.toUpperCase()]);
  return options.favourUpperCase === true ? upper || lower : lower || upper;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
