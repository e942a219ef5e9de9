// The state of one service in a box, all of it made from the options; nothing here is connected to anything.
import { createFleet, type Fleet, type Mode } from './fleet.ts';
import { settle } from './measuring.ts';
import type { AnswerFaults } from './network.ts';
import type { ServiceOptions } from './options.ts';
import { createPortal, type Portal, Tokens } from './portal.ts';
import type { Steps } from './portions.ts';
import { createRandom } from './random.ts';
import { Records } from './records.ts';
import { RestFaults } from './rest-faults.ts';
import { SampleBook } from './samples.ts';
import { createTraffic, type TopicKind, type Traffic } from './traffic.ts';

export interface World {
  options: ServiceOptions;
  /** Milliseconds. */
  now: () => number;
  fleet: Fleet;
  samples: SampleBook;
  portal: Portal;
  tokens: Tokens;
  faults: { rest: RestFaults; answers: AnswerFaults };
  records: Records;
  traffic: Traffic;
}

export function* createWorld(options: ServiceOptions, now: () => number): Steps<World> {
  const { seed, lostAnswers, lostRequests, delay, unackable, overhear } = options;
  const fleet = yield* createFleet({ ...options, mode: options.mode as Mode | 'mixed' });
  for (const device of fleet.devices) {
    settle(device, now());
    yield;
  }
  const samples = new SampleBook(options.ackTimeout, options.sampleLimit);
  const ground = { fleet, book: samples, random: createRandom(seed + 2), now, unackable, overhear };
  return {
    options,
    now,
    fleet,
    samples,
    portal: yield* createPortal(seed, options.listed, fleet, options.named),
    tokens: new Tokens(options.tokenLifetime, now),
    faults: {
      rest: new RestFaults(),
      answers: { lostAnswers, lostRequests, delay, refuseWith: 0, twice: false, form: 'normal' },
    },
    records: new Records(options.historyLimit),
    traffic: createTraffic(ground, options.kinds.split(',') as TopicKind[]),
  };
}
