// When what flows were given in one call has been passed on: with what they were given before it, and nothing later.
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { type Given, isPassingOn, whenPassedOn } from '../../src/protocol/passing-on.ts';

describe('what flows are given', () => {
  let events: string[];

  beforeEach(() => {
    events = [];
  });

  class Receiver implements Given {
    readonly #name: string;
    #given = 0;
    #isCounted = false;

    constructor(name: string) {
      this.#name = name;
    }

    give(): void {
      this.#given++;
      if (!this.#isCounted) {
        this.#isCounted = true;
        whenPassedOn(this);
      }
      // As Node-RED passes it on.
      setImmediate(() => {
        assert.equal(isPassingOn(), true);
        events.push(`${this.#name} has it`);
      });
    }

    count(): number {
      this.#isCounted = false;
      return this.#given;
    }

    passedOn(count: number): void {
      events.push(`${this.#name} ${count}`);
    }
  }

  it('in one call has been passed on behind all of it', async () => {
    const [a, b] = [new Receiver('a'), new Receiver('b')];
    a.give();
    b.give();
    a.give();
    assert.deepEqual([events, isPassingOn()], [[], false]);
    await turn();
    await turn();
    assert.equal(isPassingOn(), false);
    assert.deepEqual(events, ['a has it', 'b has it', 'a has it', 'a 2', 'b 1']);
  });

  it('in the turn in which others are passed on has been with the next one', async () => {
    const a = new Receiver('a');
    setImmediate(() => a.give());
    a.give();
    await turn();
    await turn();
    await turn();
    assert.deepEqual(events, ['a has it', 'a 1', 'a has it', 'a 2']);
  });
});
