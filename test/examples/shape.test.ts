// What every sample flow keeps: complete nodes of known types, one service, a comment in four sentences.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NodeConfig } from '../e2e/node-red.ts';
import { upgradeOf } from '../fixtures/flows/upgrade.ts';
import { NODE_TYPES } from '../node-types.ts';
import { dashboards, databases, demo, samples, simulated, titleOf } from './canvas.ts';

/** Its id in every sample and in the demo, so that the editor keeps the one that is there when another is imported. */
const SERVICE = 'demo-service';
const CORE = [
  'tab',
  'comment',
  'inject',
  'debug',
  'catch',
  'function',
  'switch',
  'change',
  'template',
].concat([
  'rbe',
  'delay',
  'http in',
  'http request',
  'http response',
  'mt-simulator',
  'csv',
  'file',
  'file in',
  'group',
  'join',
  'link in',
  'link out',
  'mqtt in',
  'mqtt out',
  'mqtt-broker',
  'split',
  'status',
]);

const only = (flow: NodeConfig[], type: string): NodeConfig => {
  const [found, ...more] = flow.filter((node) => node.type === type);
  assert.ok(found);
  assert.equal(more.length, 0, `one ${type}`);
  return found;
};

describe('the sample flows', () => {
  it('each have a test of what they do when something goes wrong', () => {
    const files = readdirSync(import.meta.dirname).filter((file) => /^harm-.*[.]test[.]ts$/.test(file));
    const text = files.map((file) => readFileSync(join(import.meta.dirname, file), 'utf8')).join();
    for (const { label } of [...samples, ...dashboards, ...databases]) {
      assert.ok(text.includes(label), label);
    }
  });

  it('that confirm reports give none up, and show the errors of the node that brings them', () => {
    const confirming = [...samples, ...databases].flatMap(({ label, flow }) =>
      flow.filter(({ confirm }) => confirm === 'acknowledged').map((node) => ({ label, node, flow })),
    );
    assert.ok(confirming.length >= 3);
    for (const { label, node, flow } of confirming) {
      assert.equal(node.redeliverMost, 0, label);
      const catches = flow.filter(({ type }) => type === 'catch').map(({ scope }) => scope);
      assert.ok(
        catches.some((scope) => scope === null || (scope as string[]).includes(node.id)),
        label,
      );
    }
  });

  it('use every node of the package', () => {
    const used = new Set(samples.flatMap(({ flow }) => flow.map(({ type }) => type)));
    assert.deepEqual(
      NODE_TYPES.filter((type) => !used.has(type)),
      [],
    );
  });

  it('use nothing that has to be installed, the folders of the dashboard and of the database aside', () => {
    for (const { label, flow } of [...samples, ...simulated]) {
      const strange = flow.map(({ type }) => type).filter((type) => ![...NODE_TYPES, ...CORE].includes(type));
      assert.deepEqual(strange, [], label);
    }
  });

  it('have a service without settings that differ, so that all can share it', () => {
    const services = [...samples, ...dashboards, ...databases, ...simulated].map(({ flow }) =>
      only(flow, 'mt-service'),
    );
    for (const service of services) {
      assert.deepEqual(service, services[0]);
    }
    assert.equal(only(demo.flow, 'mt-service').id, SERVICE);
  });

  for (const { label, flow } of [...samples, ...dashboards, ...databases, ...simulated]) {
    describe(label, () => {
      it('says in four sentences what it does, where that shows, what to change and where the service is', () => {
        const info = String(titleOf(flow).info);
        assert.equal(info.match(/[.](\s|$)/g)?.length, 4);
        assert.match(info, /Service in a box/);
        assert.equal(only(flow, 'tab').info, info);
      });

      it('says where its effect shows, on the canvas too, by nodes that it has', () => {
        const [effect] = /The effect shows .*?[.](?=\s|$)/.exec(String(titleOf(flow).info)) ?? [];
        assert.ok(effect);
        const shown = flow.find(({ type, name }) => type === 'comment' && String(name).startsWith('Shows: '));
        assert.equal(shown?.info, effect);
        const names = new Set(flow.map(({ name, title }) => title ?? name));
        for (const text of [effect, String(shown?.name)]) {
          for (const [, name] of text.matchAll(/"(.+?)"/g)) {
            assert.ok(names.has(name), name);
          }
        }
      });

      it('has its own name on its tab, and the service of all samples: the one that npm start runs', () => {
        assert.equal(only(flow, 'tab').label, label);
        const { id, authUrl, baseUrl, brokerUrl, credentials } = only(flow, 'mt-service');
        assert.deepEqual(
          [id, authUrl, baseUrl, brokerUrl, credentials],
          [
            SERVICE,
            'http://localhost:8080',
            'http://localhost:8080',
            'mqtt://localhost:1883',
            { username: 'demo', password: 'demo-password' },
          ],
        );
      });

      it('has nodes as the editor saves them, with every property', () => {
        for (const node of flow.filter(({ type }) => NODE_TYPES.includes(type))) {
          const { id, type, z, g, x, y, wires, credentials, ...config } = node;
          assert.deepEqual(config, upgradeOf(type, config), id);
        }
      });
    });
  }
});
