// What is due is sent again a part at a time, and not while flows are replaced.
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { Resends } from '../../src/reports/resends.ts';

describe('what is sent again', () => {
  const MAX = 500;
  let isPaused: boolean;
  let sent: number[];
  let now: number;
  let isDue: (report: number) => boolean;
  let onSend: () => void;
  let resends: Resends<number>;

  beforeEach(() => {
    [isPaused, sent, now, isDue, onSend] = [false, [], 7, () => true, () => {}];
    resends = new Resends<number>({
      isPaused: () => isPaused,
      now: () => now,
      isDue: (report, at) => at === now && isDue(report),
      send: (report, at) => {
        assert.equal(at, now);
        sent.push(report);
        onSend();
      },
    });
  });

  const upTo = (count: number) => Array.from({ length: count }, (_, n) => n);

  /** In so many turns all are sent that can be. */
  async function turns(count = 100): Promise<void> {
    for (let n = 0; n < count; n++) {
      await turn();
    }
  }

  it('is what is due, in its order, and 500 of one look', async () => {
    isDue = (report) => report % 2 === 0;
    resends.look(upTo(2_000));
    await turns();
    assert.deepEqual(
      sent,
      upTo(MAX).map((n) => n * 2),
    );
  });

  it('is sent in turns between which others have theirs, and a look in between adds nothing', async () => {
    resends.look(upTo(MAX));
    const first = sent.length;
    assert.ok(first > 0 && first < MAX, `${first} in the first turn`);
    resends.look([MAX]);
    await turns();
    assert.deepEqual(sent, upTo(MAX));
    resends.look([MAX]);
    await turns();
    assert.equal(sent.at(-1), MAX);
  });

  it('is not what one before it has ended meanwhile', async () => {
    onSend = () => {
      isDue = (report) => report !== 1 && report !== MAX - 1;
    };
    resends.look(upTo(MAX));
    await turns();
    assert.deepEqual(
      sent,
      upTo(MAX - 1).filter((n) => n !== 1),
    );
  });

  it('is nothing while flows are replaced, and is looked for anew afterwards', async () => {
    isPaused = true;
    resends.look([1]);
    isPaused = false;
    await turns(2);
    assert.deepEqual(sent, []);
    onSend = () => {
      isPaused = true;
    };
    resends.look(upTo(MAX));
    await turns(2);
    assert.deepEqual(sent, [0]);
    isPaused = false;
    onSend = () => {};
    resends.look([5]);
    await turns();
    assert.deepEqual(sent, [0, 5]);
  });

  it('is nothing of what was given up', async () => {
    resends.look(upTo(MAX));
    const count = sent.length;
    resends.clear();
    await turns();
    assert.equal(sent.length, count);
  });
});
