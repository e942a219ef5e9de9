// What the runtime tells editors that look at a network: only who may look, nothing but that something changed, and all of it ends.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { NodeAPI } from 'node-red';
import { type Service, startService } from '../../simulator/src/service.ts';
import { flowAround, secretsOf, serviceNode, subscribed } from './box-flow.ts';
import { describeNodes, type Flow } from './flow.ts';

const BEGUN = 'comms:message:mt-gateway/watch';
const GONE = 'comms:connection-removed';

interface Sent {
  topic: string;
  data: unknown;
  session?: string;
}

describeNodes('notices to editors', (start) => {
  let box: Service;
  let events: NodeAPI['events'];

  before(async () => {
    box = await startService({ rate: 0, listed: 0, delay: 1 });
  });
  after(() => box.close());

  const nodesOf = () => flowAround(serviceNode(box), { id: 'n', type: 'mt-report-in' });
  async function run(): Promise<Flow> {
    const take = (RED: NodeAPI) => {
      ({ events } = RED);
    };
    const flow = await start(nodesOf(), { credentials: secretsOf(box), nodes: [take] });
    await subscribed(box);
    return flow;
  }
  let seq = 0;
  const hear = () =>
    box.publish(box.demo.gateway, box.demo.device, 'measurement-decoded/temperature', {
      ...{ time: new Date().toISOString(), seq: seq++, value: 21 },
    });
  async function begin(flow: Flow): Promise<string> {
    const { body } = await flow.post('/mt-service/svc/watch', {});
    return (body as { watch: string }).watch;
  }
  /** As Node-RED has it when an editor sends it. */
  const come = (session: string, watch: unknown) => events.emit(BEGUN, { session, data: { watch } });
  async function ask(flow: Flow, watch: string, path = 'network?'): Promise<boolean> {
    const { body } = await flow.get(`/mt-service/svc/${path}&watch=${watch}`);
    return (body as { pushed: boolean }).pushed;
  }
  const listening = () => [events.listenerCount(BEGUN), listenersOfOurs()];
  /** Node-RED itself listens for editors that have gone. */
  let others = 0;
  const listenersOfOurs = () => events.listenerCount(GONE) - others;

  it('go to the session of the editor that came with its secret, and say nothing but that', async () => {
    const flow = await run();
    const watch = await begin(flow);
    assert.equal(await ask(flow, watch), false, 'nobody has come yet');
    come('editor-1', watch);
    come('editor-2', watch);
    come('editor-2', 'guessed');
    come('editor-2', { toString: () => watch });
    events.emit(BEGUN, { session: 'editor-2' });
    assert.equal(await ask(flow, watch), true);
    const sent = once(events, 'comms');
    await hear();
    const [notice] = (await sent) as [Sent];
    assert.deepEqual(notice, {
      ...{ topic: 'mt-gateway/changed', data: { watch }, retain: false, session: 'editor-1' },
    });
  });

  it('come of the device that is looked at, too', async () => {
    const flow = await run();
    await hear();
    await flow.next('out');
    const watch = await begin(flow);
    come('editor-1', watch);
    await ask(flow, watch, `network/${box.demo.device}?reports=1`);
    const sent = once(events, 'comms');
    await hear();
    assert.deepEqual(((await sent) as [Sent])[0].data, { watch });
  });

  it('end with the editor that has gone, and with the last one nothing is listened to', async () => {
    const flow = await run();
    others = events.listenerCount(GONE);
    const [one, other] = [await begin(flow), await begin(flow)];
    come('editor-1', one);
    come('editor-2', other);
    assert.deepEqual(listening(), [1, 1]);
    events.emit(GONE, { session: 'editor-1' });
    assert.equal(await ask(flow, one), false);
    assert.equal(await ask(flow, other), true, 'the other one goes on');
    events.emit(GONE, { session: 'editor-2' });
    assert.equal(await ask(flow, other), false);
    assert.deepEqual(listening(), [0, 0]);
  });

  it('are of one network in each editor', async () => {
    const flow = await run();
    const before = await begin(flow);
    come('editor-1', before);
    const now = await begin(flow);
    come('editor-1', now);
    assert.deepEqual([await ask(flow, before), await ask(flow, now)], [false, true]);
  });

  it('end when the service is deployed again, of which editors are told, and nothing is left listening', async () => {
    const flow = await run();
    others = events.listenerCount(GONE);
    const watch = await begin(flow);
    come('editor-1', watch);
    assert.equal(await ask(flow, watch), true);
    const sent: Sent[] = [];
    const note = (event: Sent) => void sent.push(event);
    events.on('comms', note);
    await flow.deploy(nodesOf(), 'full', secretsOf(box));
    events.removeListener('comms', note);
    const told = sent.filter(
      ({ topic, session }) => topic === 'mt-gateway/changed' && session === 'editor-1',
    );
    assert.deepEqual(
      told.map(({ data }) => data),
      [{ watch }],
    );
    assert.equal(await ask(flow, watch), false);
    assert.deepEqual(listening(), [0, 0]);
  });
});
