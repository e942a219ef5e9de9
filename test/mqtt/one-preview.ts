// What the tests of the connection of people who look share: one by itself, what it has told, and time.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { PreviewConnection } from '../../src/mqtt/preview-connection.ts';
import { createTopics } from '../../src/protocol/topics.ts';
import type { MqttSettings } from '../../src/settings.ts';
import { mqttSettings } from '../session.ts';
import { type Bench, mockTime, passRealTime, restoreTime } from './scripted.ts';

export const ALL = 'mt/gateway/+/device/+/#';
export const EVENTS = 'mt/gateway/+/device/+/event/+';

/** Also of what only the client knows of. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) {
    await turn();
  }
}

/** For the tests of a `describe`, in which time is mocked. */
export function usePreview(bench: Bench) {
  const told: string[] = [];
  /** Each time that something has changed: whether the filter of all counts as refused. */
  const refusals: boolean[] = [];
  let created: PreviewConnection;
  /** The one that was created last. */
  const preview = {
    apply: (filters: readonly string[]) => created.apply(filters),
    setBeside: (url: string | undefined) => created.setBeside(url),
    isGranted: (filter: string) => created.isGranted(filter),
    isRefused: (filter: string) => created.isRefused(filter),
    close: () => created.close(),
  };

  beforeEach(() => {
    mockTime();
    // Two waits follow each other else, of which both have something added at random.
    mock.method(Math, 'random', () => 0);
    told.length = 0;
    refusals.length = 0;
  });
  afterEach(async () => {
    await preview.close();
    restoreTime();
  });

  function create(changes: Partial<MqttSettings> = {}): void {
    created = new PreviewConnection(mqttSettings(bench.broker.url, changes), createTopics(''), {
      asks: () => told.push('asks'),
      asked: (isTaken) => told.push(`asked ${isTaken}`),
      message: (topic, payload, retained) => told.push(`${topic} ${payload} ${retained}`),
      changed: () => refusals.push(preview.isRefused(ALL)),
      quota: (max) => told.push(`quota ${max}`),
    });
  }

  const openCount = () => bench.broker.openConnections.length;
  const connects = () => bench.broker.packets('connect').length;
  const isOpen = () => until(() => openCount() === 1 && preview.isGranted(ALL));
  const isLeft = () => until(() => openCount() === 0);
  async function pass(ms: number): Promise<void> {
    mock.timers.tick(ms);
    await passRealTime();
  }
  /** Nothing happens just before, and the connection is opened then. */
  async function opensAfter(ms: number): Promise<void> {
    const before = connects();
    await pass(ms - 1);
    assert.equal(connects(), before);
    mock.timers.tick(1);
    await until(() => connects() > before);
  }
  /** Somebody looks, and flows are connected. */
  const look = (changes: Partial<MqttSettings> = {}) => {
    create(changes);
    preview.setBeside(bench.broker.url);
    preview.apply([ALL]);
  };
  const begin = async () => {
    look();
    await isOpen();
  };

  return {
    preview,
    told,
    refusals,
    create,
    look,
    begin,
    openCount,
    connects,
    isOpen,
    isLeft,
    pass,
    opensAfter,
  };
}
