// The token: how long it lasts, who drops it, and when nobody may log in.
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { ServiceError } from '../../src/errors.ts';
import { lifeOf, TokenKeeper } from '../../src/rest/auth.ts';
import { createClock } from './server.ts';

const encode = (claims: unknown) => `h.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.s`;

describe('life of a token', () => {
  const NOW = 1_700_000_000_000;
  const ROWS: [string, string, number][] = [
    ['is the difference of exp and iat, whatever our clock says', encode({ iat: 50, exp: 150 }), 100_000],
    ['is counted from our clock without iat', encode({ exp: NOW / 1000 + 60 }), 60_000],
    [
      'is counted from our clock with an iat that is no number',
      encode({ exp: NOW / 1000 + 60, iat: '1' }),
      60_000,
    ],
    ['is 30 minutes without exp', encode({ iat: 5 }), 1_800_000],
    ['is 30 minutes with an exp that is no number', encode({ exp: '2030' }), 1_800_000],
    ['is 30 minutes with an exp that is no number, but an iat', encode({ iat: 50, exp: '150' }), 1_800_000],
    ['is 30 minutes when it ended before it began', encode({ iat: 150, exp: 50 }), 1_800_000],
    ['is 30 minutes when it lasts no time', encode({ iat: 50, exp: 50 }), 1_800_000],
    ['is 30 minutes when it cannot be counted', encode({ iat: -1e308, exp: 1e308 }), 1_800_000],
    ['is 30 minutes for a token without claims', 'opaque', 1_800_000],
    ['is 30 minutes for claims that are no JSON', 'a.b.c', 1_800_000],
    ['is 30 minutes for claims that are null', encode(null), 1_800_000],
    ['is 30 minutes for claims that are a text', encode('exp'), 1_800_000],
  ];
  for (const [title, token, life] of ROWS) {
    it(title, () => assert.equal(lifeOf(token, NOW), life));
  }
});

describe('token', () => {
  let clock: ReturnType<typeof createClock>;
  let keeper: TokenKeeper;
  let logins: number;
  let login: () => Promise<string>;

  beforeEach(() => {
    clock = createClock(0);
    logins = 0;
    login = async () => `token ${logins}`;
    keeper = new TokenKeeper(() => {
      logins++;
      return login();
    }, clock);
  });

  /** What a call does whose answers all are 401. @returns whether a second attempt made sense */
  async function refusedCall(): Promise<void> {
    for (const isSecond of [false, true]) {
      const token = await keeper.token();
      keeper.refuse(token);
      if (isSecond || !keeper.drop(token)) {
        return;
      }
    }
  }

  for (const [life, margin] of [
    [3600, 60],
    [300, 60],
    [100, 20],
    [1, 0.2],
  ] as const) {
    it(`of ${life} s is renewed ${margin} s before its end`, async () => {
      login = async () => encode({ iat: 0, exp: life });
      await keeper.token();
      clock.time += (life - margin) * 1000 - 1;
      assert.notEqual(keeper.current, undefined);
      await keeper.token();
      assert.equal(logins, 1);
      clock.time += 1;
      assert.equal(keeper.current, undefined);
      await keeper.token();
      assert.equal(logins, 2);
    });
  }

  it('is used to its end when its renewal fails, and renewal is tried again after 10 s', async () => {
    login = async () => encode({ iat: 0, exp: 3600 });
    const first = await keeper.token();
    login = async () => Promise.reject(new ServiceError('HTTP_ERROR', 'statusOnly', { statusCode: 503 }));
    clock.time = 3_545_000;
    assert.deepEqual([await keeper.token(), await keeper.token(), logins], [first, first, 2]);
    await turn();
    clock.time += 9_999;
    assert.deepEqual([await keeper.token(), logins], [first, 2]);
    clock.time += 1;
    assert.deepEqual([await keeper.token(), logins], [first, 3]);
    await turn();
    clock.time = 3_600_000;
    await assert.rejects(keeper.token(), { code: 'HTTP_ERROR' });
  });

  it('is not used any more once its renewal was refused, which the next call tells', async () => {
    login = async () => encode({ iat: 0, exp: 3600 });
    const first = await keeper.token();
    login = async () => Promise.reject(new ServiceError('LOGIN_FAILED', 'refused', { statusCode: 401 }));
    clock.time = 3_545_000;
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', note);
    assert.equal(await keeper.token(), first);
    await turn();
    process.off('unhandledRejection', note);
    assert.deepEqual(unhandled, []);
    await assert.rejects(keeper.token(), { code: 'LOGIN_FAILED' });
    assert.equal(logins, 2, 'it was known already');
  });

  it('lasts from when it came to its end, also while it is due for renewal, unless it was refused', async () => {
    login = async () => `${encode({ iat: 0, exp: 3600 })}${logins}`;
    assert.equal(keeper.isLasting, false);
    await keeper.token();
    assert.equal(keeper.isLasting, true);
    clock.time = 3_599_999;
    assert.deepEqual([keeper.current, keeper.isLasting], [undefined, true]);
    clock.time += 1;
    assert.equal(keeper.isLasting, false);
    keeper.refuse(await keeper.token());
    assert.equal(keeper.isLasting, false);
  });

  it('tells its end as long as it is the token', async () => {
    login = async () => `${encode({ iat: 0, exp: 3600 })}${logins}`;
    assert.equal(keeper.endOf(''), Number.POSITIVE_INFINITY);
    const first = await keeper.token();
    assert.deepEqual([keeper.endOf(first), keeper.endOf('other')], [3_600_000, Number.POSITIVE_INFINITY]);
    keeper.drop(first);
    assert.equal(keeper.endOf(first), Number.POSITIVE_INFINITY);
  });

  it('is used while its renewal is under way, which nobody waits for before its end', async () => {
    login = async () => encode({ iat: 0, exp: 3600 });
    const first = await keeper.token();
    let answer = (_token: string): void => undefined;
    login = () => new Promise((resolve) => (answer = resolve));
    clock.time = 3_540_000;
    assert.deepEqual([await keeper.token(), await keeper.token(), logins], [first, first, 2]);
    clock.time = 3_600_000;
    const waiting = keeper.token();
    answer('new');
    assert.deepEqual([await waiting, logins], ['new', 2]);
  });

  it('is not used any more when a call with it was refused while it is renewed', async () => {
    login = async () => encode({ iat: 0, exp: 3600 });
    const first = await keeper.token();
    clock.time = 3_540_000;
    login = async () => 'new';
    assert.equal(await keeper.token(), first);
    keeper.refuse(first);
    assert.equal(keeper.drop(first), true);
    assert.deepEqual([await keeper.token(), logins], ['new', 2]);
  });

  it('is got by one login for all who ask meanwhile, and anew after a login that failed', async () => {
    login = async () => {
      throw new ServiceError('HTTP_ERROR', 'status', { statusCode: 500 });
    };
    const errors = await Promise.all([1, 2, 3].map(() => keeper.token().catch((error) => error)));
    assert.equal(logins, 1);
    assert.deepEqual(
      errors.map(({ code, cause }) => [code, cause]),
      Array(3).fill(['HTTP_ERROR', { statusCode: 500 }]),
    );
    assert.equal(new Set(errors).size, 3, 'no two messages share an error');
    await assert.rejects(keeper.token(), { code: 'HTTP_ERROR' });
    assert.equal(logins, 2, 'only a refused login is a reason to pause');
    login = async () => 'good';
    assert.equal(await keeper.token(), 'good');
  });

  it('passes on what is no coded error as it is', async () => {
    const fault = new TypeError('a fault of this package');
    login = () => Promise.reject(fault);
    await assert.rejects(keeper.token(), (error) => error === fault);
  });

  for (const [status, isPause] of [
    [400, false],
    [402, true],
    [404, false],
    [407, false],
    [409, false],
    [421, false],
    [422, true],
    [423, true],
    [429, false],
    [499, false],
    [500, false],
    [503, false],
  ] as const) {
    it(`${isPause ? 'waits' : 'does not wait'} after a login that ends with status ${status}`, async () => {
      login = async () => {
        throw new ServiceError('HTTP_ERROR', 'status', { statusCode: status });
      };
      for (let i = 0; i < 5; i++) {
        await assert.rejects(keeper.token(), { code: 'HTTP_ERROR', cause: { statusCode: status } });
      }
      assert.equal(logins, isPause ? 1 : 5);
      login = async () => 'good';
      clock.time += 10_000;
      assert.equal(await keeper.token(), 'good');
    });
  }

  it('that lasts is used while its renewal waits 10, 20, 40 … s for a locked account, which is told at its end', async () => {
    login = async () => encode({ iat: 0, exp: 3600 });
    const first = await keeper.token();
    login = async () => {
      throw new ServiceError('HTTP_ERROR', 'status', { statusCode: 423 });
    };
    clock.time = 3_540_000;
    for (const [seconds, expected] of [
      [0, 2],
      [9, 2],
      [1, 3],
      [19, 3],
      [1, 4],
      [29, 4],
    ] as const) {
      clock.time += seconds * 1_000;
      assert.deepEqual([await keeper.token(), logins], [first, expected]);
      await turn();
    }
    clock.time = 3_600_000;
    await assert.rejects(keeper.token(), { code: 'HTTP_ERROR' });
    assert.equal(logins, 4, 'it was known already');
  });

  it('does not wait after a login that could not be sent', async () => {
    login = () => Promise.reject(new ServiceError('NETWORK', 'reset', { statusCode: 423 }));
    await assert.rejects(keeper.token(), { code: 'NETWORK' });
    await assert.rejects(keeper.token(), { code: 'NETWORK' });
    assert.equal(logins, 2);
  });

  it('waits after refused logins 10, 20, 40 … 300 and 300 s, and from 10 s again after one that succeeded', async () => {
    const refused = async () => {
      throw new ServiceError('LOGIN_FAILED', 'refused', { statusCode: 401 }, { statusCode: 401 });
    };
    login = refused;
    for (const seconds of [10, 20, 40, 80, 160, 300, 300]) {
      const before: number = logins;
      await assert.rejects(keeper.token(), { code: 'LOGIN_FAILED' });
      clock.time += seconds * 1000 - 1;
      await assert.rejects(keeper.token(), { code: 'LOGIN_FAILED', message: /401/ });
      assert.equal(logins, before + 1, `${seconds} s`);
      clock.time += 1;
    }
    login = async () => 'good';
    keeper.drop(await keeper.token());
    login = refused;
    await assert.rejects(keeper.token(), { code: 'LOGIN_FAILED' });
    clock.time += 10_000;
    login = async () => 'good';
    assert.equal(await keeper.token(), 'good');
  });

  it('remembers the newest four texts, to hide them', async () => {
    for (let time = 0; time < 6; time++) {
      const token = await keeper.token();
      keeper.accept(token);
      keeper.drop(token);
    }
    assert.deepEqual(keeper.seen, ['token 6', 'token 5', 'token 4', 'token 3']);
  });

  it('is kept when an older one is dropped', async () => {
    const old = await keeper.token();
    assert.equal(keeper.drop(old), true);
    const token = await keeper.token();
    assert.equal(keeper.drop(old), true);
    assert.equal(keeper.current, token);
  });

  it('is not got again for 10, 20 … 300 s when two fresh ones were refused in a row', async () => {
    await refusedCall();
    assert.equal(logins, 2);
    for (const seconds of [10, 20, 40, 80, 160, 300, 300]) {
      const before: number = logins;
      clock.time += seconds * 1000 - 1;
      await refusedCall();
      assert.equal(logins, before, `${seconds} s`);
      clock.time += 1;
      await refusedCall();
      assert.equal(logins, before + 1, `${seconds} s`);
    }
  });

  it('counts once, however many calls it was refused to', async () => {
    const token = await keeper.token();
    keeper.refuse(token);
    keeper.refuse(token);
    assert.equal(keeper.drop(token), true, 'no pause after one');
  });

  it('is used beyond its end while nobody may log in, but not when it was accepted', async () => {
    login = async () => `${encode({ iat: 0, exp: 1 })}${logins}`;
    await refusedCall();
    clock.time += 5_000;
    assert.notEqual(keeper.current, undefined);
    keeper.accept(await keeper.token());
    assert.equal(keeper.current, undefined);
    await keeper.token();
    assert.equal(logins, 3);
  });

  it('that is accepted ends the counting, and the pause is 10 s again', async () => {
    await refusedCall();
    clock.time += 10_000;
    keeper.drop(await keeper.token());
    keeper.accept(await keeper.token());
    await refusedCall();
    assert.equal(logins, 4, 'revoked, and a fresh one refused: no pause yet');
    await refusedCall();
    assert.equal(logins, 5, 'the second in a row');
    clock.time += 9_999;
    await refusedCall();
    assert.equal(logins, 5);
    clock.time += 1;
    await refusedCall();
    assert.equal(logins, 6);
  });

  it('that one call is refused and others are not does not cause a login for every such call', async () => {
    keeper.accept(await keeper.token());
    for (let time = 0; time < 20; time++) {
      await refusedCall();
      keeper.accept(await keeper.token());
    }
    assert.equal(logins, 3);
    clock.time += 10_000;
    await refusedCall();
    keeper.accept(await keeper.token());
    assert.equal(logins, 4);
    clock.time += 19_999;
    await refusedCall();
    assert.equal(logins, 4, 'the pause doubles');
  });

  it('that worked for less than 30 s, three in a row, has the next login rest for 1, 2 … 10 s', async () => {
    const end = async (ms: number, isAccepted = true) => {
      const token = await keeper.token();
      if (isAccepted) {
        keeper.accept(token);
      }
      clock.time += ms;
      assert.equal(keeper.drop(token), true);
      keeper.noteEnd('another');
      keeper.noteEnd(token);
      keeper.noteEnd(token);
      return keeper.restMs;
    };
    assert.deepEqual([await end(0), await end(29_999), await end(0)], [0, 0, 1_000]);
    assert.deepEqual([await end(0), await end(0), await end(0), await end(0)], [2_000, 4_000, 8_000, 10_000]);
    assert.equal(await end(30_000, false), 10_000, 'one that nobody accepted says nothing of others');
    assert.deepEqual([await end(30_000), await end(0), await end(0), await end(0)], [0, 0, 0, 1_000]);
    // One that is renewed has lasted.
    login = async () => `${encode({ iat: 0, exp: 40 })}${logins}`;
    keeper.accept(await keeper.token());
    clock.time += 29_999;
    assert.equal(keeper.restMs, 1_000);
    clock.time += 10_001;
    await keeper.token();
    assert.equal(keeper.restMs, 0);
  });

  it('that was good is dropped after eight second attempts in a row that were refused', async () => {
    const token = await keeper.token();
    keeper.accept(token);
    const refuseAgain = (times: number) => {
      for (let time = 0; time < times; time++) {
        keeper.refuseAgain(token);
      }
    };
    refuseAgain(7);
    keeper.accept(token);
    refuseAgain(7);
    keeper.refuseAgain('older');
    assert.equal(keeper.current, token);
    refuseAgain(1);
    assert.equal(keeper.current, undefined);
    keeper.refuseAgain(token);
  });

  it('that was good is dropped so also while logins pause, as a path that always answers 401 has it, once in five minutes', async () => {
    const isDropped = async () => {
      const token = await keeper.token();
      keeper.refuse(token);
      keeper.accept(token);
      assert.equal(keeper.drop(token), false, 'logins pause');
      for (let time = 0; time < 8; time++) {
        assert.equal(keeper.current, token);
        keeper.refuseAgain(token);
      }
      return keeper.current === undefined;
    };
    const pauseLogins = async () => {
      await refusedCall();
      await refusedCall();
    };
    await pauseLogins();
    assert.equal(await isDropped(), true);
    const before = logins;
    await pauseLogins();
    assert.ok(logins > before);
    assert.equal(await isDropped(), false);
    clock.time += 300_000;
    await pauseLogins();
    assert.equal(await isDropped(), true);
  });

  it('that no call was good with is not dropped by second attempts', async () => {
    const token = await keeper.token();
    for (let time = 0; time < 8; time++) {
      keeper.refuseAgain(token);
    }
    assert.equal(keeper.current, token);
  });

  it('is not got again and again for a line of calls that are refused whatever their token', async () => {
    keeper.accept(await keeper.token());
    for (let time = 0; time < 100; time++) {
      const token = await keeper.token();
      keeper.refuse(token);
      keeper.refuseAgain(token);
      keeper.accept(token);
    }
    assert.equal(logins, 1);
    for (let time = 0; time < 100; time++) {
      const token = await keeper.token();
      keeper.refuse(token);
      keeper.refuseAgain(token);
    }
    assert.equal(logins, 2, 'the next one is not accepted');
  });

  it('that nobody has got yet is neither accepted, refused, dropped nor hidden', () => {
    keeper.accept('none');
    keeper.refuse('none');
    keeper.refuseAgain('none');
    assert.equal(keeper.drop('none'), true);
    assert.deepEqual([keeper.current, keeper.seen], [undefined, []]);
  });

  it('is kept during the pause, and who dropped it is told', async () => {
    await refusedCall();
    const token = await keeper.token();
    assert.equal(keeper.drop(token), false);
    assert.equal(keeper.current, token);
    clock.time += 10_000;
    assert.equal(keeper.drop(token), true);
    assert.equal(keeper.current, undefined);
  });

  /** A token that was accepted and dropped, with a newer one behind it. */
  async function renewed(): Promise<{ old: string; token: string }> {
    const old = await keeper.token();
    keeper.accept(old);
    keeper.drop(old);
    return { old, token: await keeper.token() };
  }

  it('is not accepted because an older one was, late', async () => {
    const { old, token } = await renewed();
    keeper.accept(old);
    keeper.refuse(token);
    keeper.drop(token);
    const third = await keeper.token();
    keeper.refuse(third);
    assert.equal(keeper.drop(third), false, 'the second fresh one in a row');
  });

  it('is not refused because an older one was, late', async () => {
    const { old, token } = await renewed();
    keeper.refuse(old);
    keeper.accept(token);
    keeper.drop(token);
    const third = await keeper.token();
    keeper.refuse(third);
    assert.equal(keeper.drop(third), true, 'the first fresh one in a row');
  });

  it('that was refused late is no reason to pause when a newer one is there', async () => {
    const old = await keeper.token();
    keeper.accept(old);
    keeper.drop(old);
    const token = await keeper.token();
    keeper.refuse(old);
    keeper.refuse(old);
    keeper.accept(old);
    keeper.refuse(token);
    assert.equal(keeper.drop(token), true);
  });
});
