// Keeps passwords and tokens out of what is shown, also when the service echoes them.

import { HIDDEN } from '../protocol/redaction.ts';

/** Anything shaped like a JSON web token: the service may echo one that we never received. */
const TOKEN_SHAPE = /\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g;
const MAX_SHOWN_LENGTH = 500;
/** Less than what `http.ts` keeps of an error's body, so that a body cut there is cut here too. */
const MAX_SEARCHED_LENGTH = 16_000;

/**
 * Hides the secrets in every spelling in which a service could send them back (plain, inside JSON, percent-encoded,
 * form-encoded, Base64), and everything that is shaped like a token.
 */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  let shown = text;
  for (const spelling of secrets.flatMap(spellingsOf).sort((a, b) => b.length - a.length)) {
    shown = shown.replaceAll(spelling, HIDDEN);
  }
  return shown.replace(TOKEN_SHAPE, HIDDEN);
}

/**
 * The first 500 characters of a body, for an error's `cause`. Secrets are hidden before the cut, and where a long body
 * had to be cut before, its end goes too: it could be the first half of a secret.
 */
export function showBody(body: string, secrets: readonly string[]): string {
  const searched = body.slice(0, MAX_SEARCHED_LENGTH);
  const hidden = hideSecrets(searched, secrets);
  if (searched.length === body.length) {
    return hidden.slice(0, MAX_SHOWN_LENGTH);
  }
  const longest = Math.max(0, ...secrets.flatMap(spellingsOf).map((spelling) => spelling.length));
  return hidden.slice(0, Math.max(0, hidden.length - longest)).slice(0, MAX_SHOWN_LENGTH);
}

/** The ways in which a text is written in JSON, addresses, forms and Base64, itself among them; none of an empty one. */
export function spellingsOf(given: unknown): string[] {
  // Whatever the settings hold: what hides secrets must not fail and show them.
  const secret = String(given);
  if (secret === '') {
    return [];
  }
  const bytes = Buffer.from(secret);
  const percent = [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
  const inUrl = encodeURIComponent(secret.replace(/\p{Surrogate}/gu, ''));
  const all = [
    secret,
    JSON.stringify(secret).slice(1, -1),
    JSON.stringify(secret).slice(1, -1).replaceAll('/', '\\/'),
    inUrl,
    inUrl.replaceAll('%20', '+'),
    percent,
    percent.toUpperCase(),
    bytes.toString('base64'),
    bytes.toString('base64').replace(/=+$/, ''),
  ];
  return [...new Set(all)];
}
