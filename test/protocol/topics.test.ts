// Topics built, and taken apart again.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { createTopics, fitsTopic, prefixOf, shareOf } from '../../src/protocol/topics.ts';

const G = 'c0141f68fc3d';
const D = 'd0141f00a1b2';

describe('topics', () => {
  const topics = createTopics('');

  it('of reports narrow a subscription to what is wanted', () => {
    const filters: [Parameters<typeof topics.reportFilter>[0], string][] = [
      [{}, 'mt/gateway/+/device/+/#'],
      [{ gateway: G }, `mt/gateway/${G}/device/+/#`],
      [{ device: D, segment: 'heartbeat' }, `mt/gateway/+/device/${D}/heartbeat`],
      [{ segment: 'measurement' }, 'mt/gateway/+/device/+/measurement/+'],
      [{ segment: 'event-decoded' }, 'mt/gateway/+/device/+/event-decoded/+'],
      [{ segment: 'measurement', identifier: '8800' }, 'mt/gateway/+/device/+/measurement/8800'],
      [{ identifier: '8800' }, 'mt/gateway/+/device/+/+/8800'],
      [{ segment: 'weather' }, 'mt/gateway/+/device/+/weather/#'],
    ];
    for (const [parts, filter] of filters) {
      assert.equal(topics.reportFilter(parts), filter);
    }
  });

  it('of a request and its response differ in one level', () => {
    assert.equal(topics.request(G, D, 'read/8800'), `mt/gateway/${G}/request/${D}/read/8800`);
    assert.equal(topics.response(G, D, 'read/8800'), `mt/gateway/${G}/response/${D}/read/8800`);
    assert.equal(topics.responseFilter(G), `mt/gateway/${G}/response/#`);
  });

  for (const prefix of ['', 'site', 'site/floor-2', '/site/']) {
    it(`with the prefix "${prefix}" are taken apart as they were built`, () => {
      const own = createTopics(prefix);
      const response = own.response(G, D, 'read/8800');
      assert.deepEqual(own.parseResponse(response), { gateway: G, device: D, rest: 'read/8800' });
      assert.equal(own.parseReport(response), undefined);
      const report = own.reportFilter({ gateway: G, device: D, segment: 'measurement', identifier: '8800' });
      assert.deepEqual(own.parseReport(report), { gateway: G, device: D, rest: 'measurement/8800' });
      assert.equal(own.parseResponse(report), undefined);
    });
  }

  const prefixes: [prefix: string, root: string][] = [
    ['', ''],
    ['/', ''],
    ['site', 'site/'],
    ['site/floor-2//', 'site/floor-2/'],
    ['/site', '/site/'],
    ['//site/', '//site/'],
  ];
  for (const [prefix, root] of prefixes) {
    it(`with the prefix "${prefix}" begin with "${root}mt"`, () => {
      const own = createTopics(prefix);
      assert.equal(own.responseFilter(G), `${root}mt/gateway/${G}/response/#`);
      assert.equal(own.reportFilter({}), `${root}mt/gateway/+/device/+/#`);
    });
  }

  it('of others are left alone', () => {
    const others = [
      ...['', 'mt', 'mt/gateway', 'mt/gateway/', `mt/gateway/${G}`, `mt/gateway/${G}/`, 'mt/gateways/x'],
      ...[`mt/gateway/${G}/request/${D}/read/8800`, `site/mt/gateway/${G}/device/${D}/heartbeat`],
      ...[`mt/gateway/${G}/devices/${D}/heartbeat`, `my/gateway/${G}/device/${D}/heartbeat`],
      `my/gateway/${G}/response/${D}/read/8800`,
    ];
    for (const topic of others) {
      assert.equal(topics.parseReport(topic), undefined, topic);
      assert.equal(topics.parseResponse(topic), undefined, topic);
    }
  });

  it('tell their prefix', () => {
    for (const [topic, prefix] of [
      [`site/mt/gateway/${G}/device/${D}/heartbeat`, 'site/'],
      [`/a/b/mt/gateway/${G}`, '/a/b/'],
      [`mt/gateway/${G}/device/${D}/heartbeat`, ''],
      ['', undefined],
      ['mt/gateways/x', undefined],
      [`sitemt/gateway/${G}`, undefined],
      ['site/mt/gateways/x', undefined],
    ] as const) {
      assert.equal(prefixOf(topic), prefix, topic);
    }
  });

  it('of a shared group begin with it', () => {
    assert.equal(shareOf('hall'), '$share/hall/');
    assert.equal(shareOf(''), '');
  });

  it('carry neither wildcards nor what ends a connection', () => {
    for (const text of ['', 'a/b', 'ä °', '😀', '$x', '*']) {
      assert.equal(fitsTopic(text), true, text);
    }
    for (const text of ['a+', '#', '\0', 'a\n', '\u007f', '\u009f', '\ufffe', '\ufdd0', '\ud800']) {
      assert.equal(fitsTopic(text), false, JSON.stringify(text));
    }
  });

  it('without a kind have an empty rest', () => {
    assert.equal(topics.parseReport(`mt/gateway/${G}/device/${D}`)?.rest, '');
  });

  it('of any text are taken apart without an error', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        for (const topic of [text, `mt/gateway/${text}`]) {
          topics.parseReport(topic);
          topics.parseResponse(topic);
        }
      }),
    );
  });
});
