// What the panel of mt-report-in says of reports that the flow confirms, and of what is missing for it.
import assert from 'node:assert/strict';
import { useEditor } from './browser.ts';

describe('a report in whose reports are confirmed', function () {
  this.timeout(60_000);
  const service = { type: 'mt-service', brokerUrl: 'mqtt://127.0.0.1:1', names: false };
  const place = { z: 'tab', x: 200 };
  const used = useEditor(
    [
      // Not running: Node-RED's sidebar fails on what a subflow in another one says.
      { id: 'tab', type: 'tab', label: 'test', disabled: true },
      { ...service, id: 'kept', persistent: true },
      { ...service, id: 'lost', persistent: false, reportQos: 0 },
      { ...place, y: 40, id: 'alone', type: 'mt-report-in', service: 'lost', wires: [[]] },
      { ...place, y: 80, id: 'wired', type: 'mt-report-in', service: 'kept', wires: [['out']] },
      { ...place, y: 120, id: 'out', type: 'link out', mode: 'link', links: ['in'], wires: [] },
      { ...place, y: 160, id: 'in', type: 'link in', links: ['out'], wires: [['instance']] },
      { ...place, y: 200, id: 'instance', type: 'subflow:sub', wires: [] },
      { id: 'sub', type: 'subflow', name: 'store', in: [{ x: 40, y: 40, wires: [{ id: 'ack' }] }], out: [] },
      { id: 'ack', type: 'mt-timestamped-ack', z: 'sub', x: 200, y: 40, service: 'kept', wires: [[]] },
      { ...place, y: 240, id: 'called', type: 'mt-report-in', service: 'kept', wires: [['call']] },
      { ...place, y: 280, id: 'call', type: 'link call', linkType: 'static', links: ['start'], wires: [[]] },
      { ...place, y: 320, id: 'start', type: 'link in', links: [], wires: [['nested']] },
      { ...place, y: 360, id: 'nested', type: 'subflow:outer', wires: [] },
      {
        id: 'outer',
        type: 'subflow',
        name: 'more',
        in: [{ x: 40, y: 40, wires: [{ id: 'inner' }] }],
        out: [],
      },
      { id: 'inner', type: 'subflow:sub', z: 'outer', x: 200, y: 40, wires: [] },
      {
        id: 'source',
        type: 'subflow',
        name: 'reports',
        in: [],
        out: [
          { x: 400, y: 40, wires: [{ id: 'within', port: 0 }] },
          { x: 400, y: 80, wires: [{ id: 'lonely', port: 0 }] },
        ],
      },
      { id: 'within', type: 'mt-report-in', z: 'source', x: 200, y: 40, service: 'kept', wires: [[]] },
      { id: 'lonely', type: 'mt-report-in', z: 'source', x: 200, y: 80, service: 'kept', wires: [[]] },
      { ...place, y: 400, id: 'sources', type: 'subflow:source', wires: [['instance'], []] },
    ],
    { width: 1100, height: 700 },
  );

  const explain = async (id: string) => {
    await used.editor.edit(id);
    await used.editor.page.locator('#mt-gateway-more[aria-expanded="false"]').click();
    const hint = used.editor.page.locator('#node-input-confirm ~ .mt-gateway-hint');
    assert.equal(await hint.filter({ hasText: /./ }).count(), 0);
    await used.editor.page.selectOption('#node-input-confirm', 'acknowledged');
    const words = await hint.innerText();
    await used.editor.press('cancel');
    return words;
  };

  it('is told what is missing: a service that keeps reports, QoS 1, a node that acknowledges', async () => {
    const words = await explain('alone');
    for (const part of [
      'keeps each report',
      'Keep reports while Node-RED is down',
      'QoS 0',
      'No “ack report” node',
    ]) {
      assert.ok(words.includes(part), `${part}: ${words}`);
    }
    assert.deepEqual(used.editor.errors, []);
  });

  it('is told nothing more where the wires lead to that node, through links, into a subflow and out of one', async () => {
    for (const id of ['wired', 'called', 'within']) {
      assert.match(await explain(id), /^The broker keeps each report[^.]*\.$/, id);
    }
    assert.match(await explain('lonely'), /No “ack report” node/);
  });
});
