// What is shown in the place of secrets: in addresses, and instead of a key, a password or a token.

/** Stands for a secret in errors and logs. */
export const HIDDEN = '***';

/**
 * Everything before the last `@`: a password may have one. Line breaks too, since the text may be no address at all, and
 * `//` may have been forgotten.
 */
const MAYBE_LOGIN = /^(\s*[a-z][a-z0-9+.-]*:\/\/)?.*@/is;

export function hasLogin(address: string): boolean {
  const at = address.indexOf('//');
  return at >= 0 && address.includes('@', at);
}

/**
 * An address for people: without the login and without the query, which may be a token.
 * @param mark what stands in the place of the login
 */
export function showAddress(address: string, mark: '' | '…@' = ''): string {
  return address.replace(MAYBE_LOGIN, (_, scheme = '') => `${scheme}${mark}`).replace(/[?#].*/s, '');
}
