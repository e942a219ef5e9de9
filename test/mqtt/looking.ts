// What the tests of previews share: people who look, what the broker has for them, and a flow beside them.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { ServiceError } from '../../src/errors.ts';
import type { Session } from '../../src/session.ts';
import { ALL, Collector, reached } from '../session.ts';
import { type Bench, G, passRealTime } from './scripted.ts';

export const CLIENT_ID = `mt-look-${process.pid}`;

export const numbersOf = (collector: Collector) => collector.reports.map(({ n }) => n);
export const upTo = (count: number) => Array.from({ length: count }, (_, n) => n);

/** For the tests of a `describe`. */
export function useLooking(bench: Bench) {
  const open = (changes = {}) => bench.open({ clientId: CLIENT_ID, ...changes });
  const isBeside = (clientId: string) => clientId.startsWith(CLIENT_ID) && clientId !== CLIENT_ID;
  /** What is subscribed for people who look. */
  const looked = () =>
    [...bench.broker.sessions].flatMap(([id, { subscriptions }]) => (isBeside(id) ? [...subscriptions] : []));
  const connectionsOf = (isMeant: (clientId: string) => boolean) =>
    bench.broker.connections.filter(({ clientId }) => isMeant(clientId)).length;
  const isOfFlows = (clientId: string) => clientId === CLIENT_ID;

  /** What the preview of all reports is refused with; empty: with nothing. */
  const refusal = (session: Session, filter = ALL): string => {
    try {
      session.preview(filter);
      return '';
    } catch (error) {
      const { code, message } = error as ServiceError;
      assert.doesNotMatch(message, /mt.gateway|127/);
      return code;
    }
  };
  const untilRefused = async (session: Session, filter = ALL) => {
    while (refusal(session, filter) !== 'NOT_CONNECTED') {
      await turn();
    }
  };

  /** Somebody goes on looking meanwhile. */
  const passTime = (session: Session, ms: number) => {
    refusal(session);
    mock.timers.tick(ms);
    return passRealTime();
  };
  const passSeconds = async (count: number) => {
    for (let second = 0; second < count; second++) {
      mock.timers.tick(1_000);
      await passRealTime();
    }
  };

  const untilShown = async (session: Session, count: number) => {
    while (session.preview(ALL).length < count) {
      await turn();
    }
  };

  async function openFlow(changes = {}) {
    const session = open(changes);
    const collector = new Collector();
    session.subscribe({ ...ALL, gateways: [G] }, collector);
    await reached(session, 'connected');
    return { session, collector };
  }

  return {
    open,
    isBeside,
    isOfFlows,
    looked,
    connectionsOf,
    refusal,
    untilRefused,
    passTime,
    passSeconds,
    untilShown,
    openFlow,
  };
}
