// The token: one login however many calls wait for it, renewed ahead of its end, and no storm of logins that do not help.
import { copyError, ServiceError } from '../errors.ts';
import type { Clock } from './types.ts';

/** The interface, section Authentication: "valid for 30 minutes"; used when the token does not tell. */
const USUAL_LIFE_MS = 30 * 60_000;
const MAX_MARGIN_MS = 60_000;
const MARGIN_SHARE = 0.2;
const FIRST_PAUSE_MS = 10_000;
const MAX_PAUSE_MS = 300_000;
/** Fresh tokens that may be refused in a row before logins pause. */
const MAX_REFUSED = 2;
/** Second attempts in a row that are refused with a token that was accepted before, until it counts as revoked. */
const MAX_SECOND_REFUSED = 8;
const MAX_REMEMBERED = 4;
/** A token that was accepted and lasted no longer may have been ended by somebody else's login to the same account. */
const SHORT_LIFE_MS = 30_000;
/** So many of them in a row are renewed at once. */
const MAX_SHORT_LIVED = 3;
const FIRST_REST_MS = 1_000;
const MAX_REST_MS = 10_000;

/** Of a login: payment, what was sent cannot be accepted, locked. All others may come from a machine before the service. */
const ABOUT_ACCOUNT = new Set([402, 422, 423]);

interface Token {
  text: string;
  cameAt: number;
  renewAt: number;
  endsAt: number;
  /** A call with it was answered with something else than 401. */
  isAccepted: boolean;
  /** It was answered with 401 before it was ever accepted. */
  isRefused: boolean;
  /** Second attempts with it that were answered with 401 since any call with it was not. */
  secondRefused: number;
}

/** A time without logins; each further one lasts twice as long. */
class Pause {
  #end = Number.NEGATIVE_INFINITY;
  #length = FIRST_PAUSE_MS;

  get end(): number {
    return this.#end;
  }

  begin(now: number): void {
    this.#end = now + this.#length;
    this.#length = Math.min(MAX_PAUSE_MS, this.#length * 2);
  }

  isOn(now: number): boolean {
    return now < this.#end;
  }

  reset(): void {
    this.#end = Number.NEGATIVE_INFINITY;
    this.#length = FIRST_PAUSE_MS;
  }
}

/**
 * Keeps the token of one user.
 *
 * After a refused login (LOGIN_FAILED) every call fails at once with the same LOGIN_FAILED for 10 s, without
 * asking the service again; the first call after that logs in anew. With every further refusal the pause doubles, up to
 * 5 minutes; a login that succeeds ends it. So a password corrected at the service recovers by itself, and a wrong
 * one is sent ten times in half an hour at most. Changed settings mean a new client, which tries at once. So it is with the HTTP_ERROR of
 * a login whose status is about the account, such as 423 (locked).
 *
 * A login that succeeds need not help: after two fresh tokens in a row that were answered with 401, nobody logs in for
 * 10 s, doubling to 5 minutes with every further one; calls go on with the token that is there. A fresh token that is
 * accepted at once ends it. One that is refused here and accepted there does not: then the 401 is about the call.
 *
 * Where a login ends the token of the one before, two users of one account end each other's with every call. So after three
 * tokens in a row that worked for less than 30 s, and whose end a login has mended, the next one waits for 1 s, doubling to
 * 10 s: meanwhile the other one works.
 */
export class TokenKeeper {
  readonly #login: () => Promise<string>;
  readonly #clock: Clock;
  readonly #loginPause = new Pause();
  readonly #tokenPause = new Pause();
  #token: Token | undefined;
  #pending: Promise<Token> | undefined;
  #refusal: ServiceError | undefined;
  #refusedTokens = 0;
  /** When a token was ended in a pause, in milliseconds of the clock. */
  #endedInPause = Number.NEGATIVE_INFINITY;
  #shortLived = 0;
  /** The last one that was accepted, and then refused soon. */
  #ended: string | undefined;
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

  /** The token, when there is one that lasts a while, or that a login would not better. */
  get current(): string | undefined {
    const token = this.#token;
    if (!token) {
      return undefined;
    }
    const now = this.#clock.now();
    const isKept = token.isRefused && !token.isAccepted && this.#tokenPause.isOn(now);
    return isKept || now < token.renewAt ? token.text : undefined;
  }

  /** When this token ends, in milliseconds of the clock; infinite where it is not the token any more. */
  endOf(text: string): number {
    return this.#token?.text === text ? this.#token.endsAt : Number.POSITIVE_INFINITY;
  }

  /** Whether there is a token that has not ended and that nobody has refused, though it may be due for renewal. */
  get isLasting(): boolean {
    return this.#lasting !== undefined;
  }

  /**
   * A token that lasts a while, or that is renewed beside the call: nobody waits for a login while the token works.
   * @throws what the login threw; every caller gets an error of its own
   */
  async token(): Promise<string> {
    if (this.current !== undefined) {
      return this.current;
    }
    if (this.#refusal && this.#loginPause.isOn(this.#clock.now())) {
      throw copyError(this.#refusal);
    }
    this.#pending ??= this.#renew().finally(() => {
      this.#pending = undefined;
    });
    if (this.#lasting) {
      // What the login ends with shows with the next token.
      this.#pending.catch(() => undefined);
      return this.#lasting.text;
    }
    try {
      return (await this.#pending).text;
    } catch (error) {
      throw error instanceof ServiceError ? copyError(error) : error;
    }
  }

  /** A call with this token was answered with something else than 401. */
  accept(text: string): void {
    const token = this.#token;
    if (token?.text !== text) {
      return;
    }
    token.secondRefused = 0;
    token.isAccepted = true;
    if (token.isRefused) {
      return;
    }
    this.#refusedTokens = 0;
    this.#tokenPause.reset();
  }

  /**
   * A call with this token was answered with 401. A token that was accepted before may have been revoked; that is no
   * reason to pause.
   */
  refuse(text: string): void {
    const token = this.#token;
    if (token?.text !== text || token.isAccepted || token.isRefused) {
      return;
    }
    token.isRefused = true;
    this.#refusedTokens++;
    if (this.#refusedTokens >= MAX_REFUSED) {
      this.#tokenPause.begin(this.#clock.now());
    }
  }

  /**
   * A second attempt was answered with 401 with this token, or one that has no second in a pause, which may be about the
   * call. Calls that were in line with an older token have no other attempt, so many in a row tell that this one was
   * revoked, too.
   */
  refuseAgain(text: string): void {
    const token = this.#token;
    if (token?.text !== text || !token.isAccepted || ++token.secondRefused < MAX_SECOND_REFUSED) {
      return;
    }
    const now = this.#clock.now();
    // Also in a pause, which may come from a path that answers 401 whatever the token; but such a path may be called often.
    if (!this.#tokenPause.isOn(now) || now >= this.#endedInPause + MAX_PAUSE_MS) {
      this.#endedInPause = this.#tokenPause.isOn(now) ? now : this.#endedInPause;
      this.#end(token);
    }
  }

  /**
   * Drops a token that was refused; a newer one, got meanwhile for another call, is kept.
   * @returns false when there is no other token to be had now
   */
  drop(text: string): boolean {
    if (this.#token?.text !== text) {
      return true;
    }
    if (this.#tokenPause.isOn(this.#clock.now())) {
      return false;
    }
    this.#end(this.#token);
    return true;
  }

  #end(token: Token): void {
    this.#ended = this.#noteLife(token) ? undefined : token.text;
    this.#token = undefined;
  }

  /** @returns whether it has lasted, or never worked */
  #noteLife(token: Token | undefined): boolean {
    const hasLasted = token !== undefined && this.#clock.now() - token.cameAt >= SHORT_LIFE_MS;
    if (hasLasted && token.isAccepted) {
      this.#shortLived = 0;
    }
    return hasLasted || !token?.isAccepted;
  }

  /** A call that was refused with this token was accepted with the next: that had ended, and the 401 was not about the call. */
  noteEnd(text: string): void {
    if (this.#ended === text) {
      this.#shortLived++;
      this.#ended = undefined;
    }
  }

  /** Milliseconds until the next login; see above. */
  get restMs(): number {
    const further = this.#shortLived - MAX_SHORT_LIVED;
    return further < 0 ? 0 : Math.min(MAX_REST_MS, FIRST_REST_MS * 2 ** further);
  }

  get #lasting(): Token | undefined {
    const token = this.#token;
    return token && !token.isRefused && this.#clock.now() < token.endsAt ? token : undefined;
  }

  async #renew(): Promise<Token> {
    this.#noteLife(this.#token);
    try {
      const text = await this.#login();
      this.#seen = [text, ...this.#seen].slice(0, MAX_REMEMBERED);
      this.#refusal = undefined;
      this.#loginPause.reset();
      const cameAt = this.#clock.now();
      const life = lifeOf(text, cameAt);
      const endsAt = cameAt + life;
      const renewAt = endsAt - Math.min(MAX_MARGIN_MS, life * MARGIN_SHARE);
      this.#token = { text, cameAt, renewAt, endsAt, isAccepted: false, isRefused: false, secondRefused: 0 };
      return this.#token;
    } catch (error) {
      const token = this.#lasting;
      if (token && !isRefusal(error)) {
        // It is renewed ahead of its end for this: calls go on with it, and the login is tried again after a while.
        const now = this.#clock.now();
        if (isAboutAccount(error)) {
          this.#refusal = error;
          this.#loginPause.begin(now);
        }
        token.renewAt = Math.min(token.endsAt, Math.max(now + FIRST_PAUSE_MS, this.#loginPause.end));
        return token;
      }
      this.#token = undefined;
      if (isRefusal(error) || isAboutAccount(error)) {
        this.#refusal = error;
        this.#loginPause.begin(this.#clock.now());
      }
      throw error;
    }
  }
}

function isRefusal(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.code === 'LOGIN_FAILED';
}

function isAboutAccount(error: unknown): error is ServiceError {
  const isStatus = error instanceof ServiceError && error.code === 'HTTP_ERROR';
  return isStatus && ABOUT_ACCOUNT.has(Number(error.cause.statusCode));
}

/**
 * Milliseconds for which a token just received lasts: `exp` − `iat` where both are there, since the clocks of small
 * machines are often wrong; else `exp` against our clock; 30 minutes when neither makes sense.
 */
export function lifeOf(token: string, now: number): number {
  const { exp, iat } = claimsOf(token);
  if (typeof exp !== 'number') {
    return USUAL_LIFE_MS;
  }
  const life = typeof iat === 'number' ? (exp - iat) * 1000 : exp * 1000 - now;
  return Number.isFinite(life) && life > 0 ? life : USUAL_LIFE_MS;
}

function claimsOf(token: string): { exp?: unknown; iat?: unknown } {
  try {
    const claims = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8');
    return (JSON.parse(claims) as object | null) ?? {};
  } catch {
    return {};
  }
}
