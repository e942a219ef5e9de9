// The methods of a free REST request, and how one is read.

export const HTTP_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type HttpMethod = (typeof HTTP_METHODS)[number];

/** One of the methods, in any case; undefined for anything else. */
export function parseHttpMethod(value: unknown): HttpMethod | undefined {
  const text = typeof value === 'string' ? value.trim().toUpperCase() : undefined;
  return HTTP_METHODS.find((method) => method === text);
}
