// Few subscriptions allowed: a gateway that has nothing to do gives its place to one that is asked.
import assert from 'node:assert/strict';
import { brokerLimits } from '../../src/protocol/broker-profiles.ts';
import type { Session } from '../../src/session.ts';
import { ALL, Collector, reached } from '../session.ts';
import { answerAll, responseFilter, useScriptedBroker } from './scripted.ts';

const PLACES = 10;
const ALL_RESPONSES = responseFilter('+');
const gatewayOf = (n: number) => `c000000${(0x1_000 + n).toString(16)}`.padEnd(12, '0');
const isReport = ({ topic }: { topic: string }) => topic.includes('/device/');
const { signal } = new AbortController();

describe('a broker that has no place for the responses of one more gateway', () => {
  const bench = useScriptedBroker();
  const limits = brokerLimits('emqx', { maxSubscriptions: PLACES, maxUnacknowledged: 0 });

  const ask = (session: Session, n: number) =>
    session.request('read', { gateway: gatewayOf(n), identifier: '8800' }, { signal });
  const held = () => [...([...bench.broker.sessions.values()][0]?.subscriptions.keys() ?? [])];
  const askedForReports = () =>
    bench.broker.packets('subscribe').filter(({ subscriptions }) => subscriptions.some(isReport)).length;
  const answer = () => answerAll(bench.broker, ({ id }) => ({ id, value: '01' }));

  const cases = [
    {
      name: 'refuses the one of all gateways',
      refuses: (filter: string) => filter === ALL_RESPONSES,
      settings: { limits },
      reports: 2,
    },
    {
      name: 'says no number',
      refuses: () => false,
      settings: {},
      reports: 2,
    },
    {
      name: 'has given the others to reports and refuses wide ones',
      refuses: (filter: string) => filter === ALL_RESPONSES || filter.startsWith('mt/gateway/+/device'),
      settings: { limits },
      reports: PLACES + 2,
    },
  ];
  for (const { name, refuses, settings, reports } of cases) {
    it(`and ${name} takes that of the gateway whose requests ended longest ago`, async () => {
      Object.assign(bench.broker.options, { maxSubscriptions: PLACES, refuses });
      answer();
      const session = bench.open(settings);
      for (let n = 0; n < reports; n++) {
        session.subscribe({ ...ALL, gateways: [gatewayOf(n)] }, new Collector());
      }
      await reached(session, reports > PLACES ? 'limited' : 'connected');
      await ask(session, 0);
      const asked = askedForReports();
      for (let n = 1; n < 2 * PLACES + 4; n++) {
        await ask(session, n % (PLACES + 2));
      }
      assert.equal(askedForReports(), asked, 'reports stay as they are');
      assert.ok(held().includes(responseFilter(gatewayOf(PLACES + 1))));
      assert.ok(!held().includes(responseFilter(gatewayOf(0))));
      assert.equal(held().length, PLACES);
    });
  }

  it('takes none of a gateway that is being asked, and says why there is none', async () => {
    const { broker } = bench;
    Object.assign(broker.options, { maxSubscriptions: PLACES });
    const waiting: (() => void)[] = [];
    broker.options.intercept = (packet) => {
      if (packet.cmd === 'publish') {
        const { id } = JSON.parse(packet.payload.toString());
        waiting.push(() =>
          broker.publish(packet.topic.replace('/request/', '/response/'), { id, status: 0 }),
        );
      }
      return false;
    };
    const session = bench.open();
    session.subscribe({ ...ALL, gateways: [gatewayOf(0)] }, new Collector());
    await reached(session, 'connected');
    const busy = Array.from({ length: PLACES - 1 }, (_, n) => ask(session, n));
    await broker.until(() => waiting.length === PLACES - 1);
    await assert.rejects(ask(session, PLACES), { code: 'NOT_CONNECTED' });
    for (const respond of waiting.splice(0)) {
      respond();
    }
    await Promise.all(busy);
    const next = ask(session, PLACES);
    await broker.until(() => waiting.length === 1);
    waiting[0]?.();
    await next;
  });
});
