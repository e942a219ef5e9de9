// Commands about the session as a whole: nodes come and go, the connection breaks, the service is closed and deployed again.
import fc from 'fast-check';
import { turns } from './arbitraries.ts';
import { type Command, command } from './command.ts';
import { close, settle } from './settling.ts';

const connect = turns.map((after) =>
  command('connect', undefined, after, {
    run: (world) => void world.attachments.push(world.session.attach()),
  }),
);

const disconnect = turns.map((after) =>
  command('disconnect', undefined, after, {
    check: ({ attachments }) => attachments.length > 0,
    run: ({ attachments }) => attachments.pop()?.(),
  }),
);

const lose = turns.map((after) =>
  command('lose', undefined, after, {
    run: (world) => world.lose(),
  }),
);

const settling = fc.constant(
  command('settle', undefined, 0, { check: ({ isCalm }) => isCalm, run: (world) => settle(world) }),
);

const closing = fc.constant(command('close', undefined, 0, { run: close }));

const reopen = turns.map((after) =>
  command('reopen', undefined, after, {
    whenClosed: true,
    check: ({ isClosed }) => isClosed,
    run: (world) => world.reopen(),
  }),
);

/** Much of a sequence is lost on a session that is closed, so this one is rare. */
export const closeCommand: fc.Arbitrary<Command> = closing;

export const connectionCommands: fc.Arbitrary<Command>[] = [
  connect,
  disconnect,
  lose,
  settling,
  settling,
  settling,
  reopen,
  reopen,
  reopen,
  reopen,
];
