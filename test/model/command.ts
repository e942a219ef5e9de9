// How a command of the model test is made: what it is called, when it can be run, what it does.
import { setImmediate as turn } from 'node:timers/promises';
import type fc from 'fast-check';
import type { World } from './world.ts';

/** The model is what the world knows of itself. */
export interface Model<W = World> {
  world: W;
}

export type Command<W extends object = World> = fc.AsyncCommand<Model<W>, W>;

/** What this needs of a world. */
interface Steps {
  /** That were run. */
  commands: number;
  isClosed: boolean;
}

interface Rules<W> {
  /** Also when the session is closed. */
  whenClosed?: boolean;
  check?(world: W): boolean;
  run(world: W): void | Promise<void>;
}

/**
 * @param turns of the event loop that pass afterwards: with few of them the next command comes in the middle of it
 * @param details shown with its name where a sequence fails
 */
export function command<W extends Steps = World>(
  name: string,
  details: unknown,
  turns: number,
  rules: Rules<W>,
): Command<W> {
  return {
    check: ({ world }) => (rules.whenClosed || !world.isClosed) && (rules.check?.(world) ?? true),
    async run(_, world) {
      world.commands++;
      await rules.run(world);
      for (let i = 0; i < turns; i++) {
        await turn();
      }
    },
    toString: () => `${name}(${details === undefined ? '' : JSON.stringify(details)}) +${turns}`,
  };
}
