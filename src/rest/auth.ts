// The token: one login however many calls wait for it, renewed ahead of its end, and no storm of refused logins.
import { ServiceError } from '../errors.ts';
import type { Clock } from './types.ts';

/** The interface, section Authentication: "valid for 30 minutes"; used when the token does not tell. */
const USUAL_LIFE = 30 * 60_000;
const LONGEST_MARGIN = 60_000;
const MARGIN_SHARE = 0.2;
const FIRST_PAUSE = 10_000;
const LONGEST_PAUSE = 300_000;
const REMEMBERED = 4;

interface Token {
  text: string;
  renewAt: number;
}

/**
 * Keeps the token of one user.
 *
 * After a refused login (LOGIN_FAILED) every call fails at once with the same LOGIN_FAILED for 10 s, without
 * asking the service again; the first call after that logs in anew. With every further refusal the pause doubles, up to
 * 5 minutes; a login that succeeds ends it. So a password corrected at the service recovers by itself, and a wrong
 * one does not lock the account. Changed settings mean a new client, which tries at once.
 */
export class TokenKeeper {
  readonly #login: () => Promise<string>;
  readonly #clock: Clock;
  #token: Token | undefined;
  #pending: Promise<Token> | undefined;
  #refusal: ServiceError | undefined;
  #refusedUntil = 0;
  #pause = FIRST_PAUSE;
  #seen: string[] = [];

  /** @param login one login, with its own retries; rejects with LOGIN_FAILED when refused */
  constructor(login: () => Promise<string>, clock: Clock) {
    this.#login = login;
    this.#clock = clock;
  }

  /** The newest tokens, to be hidden in whatever is shown. */
  get seen(): readonly string[] {
    return this.#seen;
  }

  /** The token, when there is one that lasts a while. */
  get current(): string | undefined {
    return this.#token && this.#clock.now() < this.#token.renewAt ? this.#token.text : undefined;
  }

  /** A token that lasts a while. @throws what the login threw; every caller gets an error of its own */
  async token(): Promise<string> {
    if (this.current !== undefined) return this.current;
    if (this.#refusal && this.#clock.now() < this.#refusedUntil) throw copyError(this.#refusal);
    this.#pending ??= this.#renew().finally(() => {
      this.#pending = undefined;
    });
    try {
      return (await this.#pending).text;
    } catch (error) {
      throw error instanceof ServiceError ? copyError(error) : error;
    }
  }

  /** The service did not accept this token; a newer one, got meanwhile for another call, is kept. */
  drop(text: string): void {
    if (this.#token?.text === text) this.#token = undefined;
  }

  async #renew(): Promise<Token> {
    try {
      const text = await this.#login();
      this.#seen = [text, ...this.#seen].slice(0, REMEMBERED);
      this.#refusal = undefined;
      this.#pause = FIRST_PAUSE;
      const life = lifeOf(text, this.#clock.now());
      const renewAt = this.#clock.now() + life - Math.min(LONGEST_MARGIN, life * MARGIN_SHARE);
      this.#token = { text, renewAt };
      return this.#token;
    } catch (error) {
      this.#token = undefined;
      if (error instanceof ServiceError && error.code === 'LOGIN_FAILED') this.#refuse(error);
      throw error;
    }
  }

  #refuse(error: ServiceError): void {
    this.#refusal = error;
    this.#refusedUntil = this.#clock.now() + this.#pause;
    this.#pause = Math.min(LONGEST_PAUSE, this.#pause * 2);
  }
}

/**
 * Milliseconds for which a token just received lasts: `exp` − `iat` where both are there, since the clocks of small
 * machines are often wrong; else `exp` against our clock; 30 minutes when neither makes sense.
 */
export function lifeOf(token: string, now: number): number {
  const { exp, iat } = claimsOf(token);
  if (typeof exp !== 'number') return USUAL_LIFE;
  const life = typeof iat === 'number' ? (exp - iat) * 1000 : exp * 1000 - now;
  return Number.isFinite(life) && life > 0 ? life : USUAL_LIFE;
}

function claimsOf(token: string): { exp?: unknown; iat?: unknown } {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
    return typeof claims === 'object' && claims !== null ? claims : {};
  } catch {
    return {};
  }
}

/** The error again, so that no two messages share one. */
function copyError({ code, text, cause }: ServiceError): ServiceError {
  return new ServiceError(code, text.key.slice(code.length + 1), { ...cause }, { ...text.values });
}
