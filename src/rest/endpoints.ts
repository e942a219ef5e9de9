// The table of the service's REST endpoints, and how a row becomes a call. Pure.

/** A row: `METHOD /path/{parameter}` of the interface's section "Endpoints", A, and what becomes of the rest of the parameters. */
export interface Endpoint {
  readonly route: string;
  /** Parameters that go into the JSON body, in this order; the others go into the query. */
  readonly body?: readonly string[];
  /** `ignored`: the interface does not show the body of the response, so it may be empty or not JSON. */
  readonly result: 'json' | 'ignored';
}

export const ENDPOINTS = {
  login: { route: 'POST /api/v1/auth/login', body: ['username', 'password'], result: 'json' },
  listDevices: { route: 'GET /api/v1/devices', result: 'json' },
  renameDevice: { route: 'PUT /api/v1/devices/{device}/friendly-name', body: ['name'], result: 'ignored' },
  createLabel: { route: 'POST /api/v1/labels', body: ['label'], result: 'ignored' },
  removeLabel: { route: 'DELETE /api/v1/devices/{device}/labels/{label}', result: 'ignored' },
} as const satisfies Record<string, Endpoint>;

export type EndpointName = keyof typeof ENDPOINTS;
export type Params = Record<string, unknown>;

/** What is sent below the base URL: `path` is percent-encoded and begins with `/`, `body` is JSON text. */
export interface RestRequest {
  method: string;
  path: string;
  query?: Record<string, unknown>;
  body?: string;
  /** See `HttpRequest`. */
  ignoresBody?: boolean;
}

/**
 * Fills a row: parameters named in the path are percent-encoded into it, those of `body` become the JSON body, the
 * others the query. A path parameter has to be checked before (`inputs.ts`).
 */
export function createRequest(name: EndpointName, params: Params): RestRequest {
  const { route, body: bodyNames = [] }: Endpoint = ENDPOINTS[name];
  const space = route.indexOf(' ');
  const used = new Set<string>(bodyNames);
  const path = route.slice(space + 1).replace(/\{(\w+)\}/g, (_, key: string) => {
    used.add(key);
    return encodeURIComponent(String(params[key]));
  });
  const rest = Object.entries(params).filter(([key]) => !used.has(key));
  return {
    method: route.slice(0, space),
    path,
    ...(rest.length > 0 && { query: Object.fromEntries(rest) }),
    ...(bodyNames.length > 0 && {
      body: JSON.stringify(Object.fromEntries(bodyNames.map((key) => [key, params[key]]))),
    }),
  };
}
