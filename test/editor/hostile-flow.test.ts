// What a flow from somebody else holds is never run: Node-RED reads the words of validators as HTML in places.
import assert from 'node:assert/strict';
import { VERSIONS } from '../e2e/node-red.ts';
import { NODE_TYPES } from '../node-types.ts';
import { useEditor, withoutPageErrors } from './browser.ts';
import { bareNodes } from './flow.ts';

const TAG = '<img src=x onerror="window.hacked = true">';
/** Each fails one of the checks that tell what they were given. */
const VALUES = [
  TAG,
  [TAG],
  `x${TAG}`,
  `${TAG} y:`,
  `"${TAG}`,
  `{"${TAG}`,
  `a + ${TAG}`,
  `mqtt://${TAG}`,
  `mqtt://a:b@${TAG}`,
  `mqtt://a?b=,${TAG}`,
  `https://a/${TAG}?b`,
  `https://a:b@c/${TAG}`,
  `api/${TAG}`,
];
const TYPES = ['str', 'msg', 'flow', 'global', 'num', 'json', 'jsonata', 'env', 'bool', 'date', 're', 'bin'];

for (const version of VERSIONS) {
  describe(`a flow from somebody else in the editor of ${version.name}`, function () {
    this.timeout(60_000);
    const used = useEditor(
      [{ id: 'service', type: 'mt-service', brokerUrl: `x${TAG}`, authHeader: TAG }, ...bareNodes()],
      { version },
    );
    withoutPageErrors(() => used.editor);

    it('is told of in words, where its badge is pointed at', async () => {
      const { page } = used.editor;
      await page.evaluate("RED.sidebar.show('config')");
      await page.locator('.red-ui-palette-node-annotations.red-ui-flow-node-error').first().hover();
      const words = page.locator('.red-ui-popover', { hasText: '://' });
      await words.waitFor();
      assert.equal(await words.locator('img').count(), 0);
      assert.match(String(await words.textContent()).replaceAll('\u2060', ''), /<img src=x onerror=/);
      assert.equal(await page.evaluate('window.hacked'), undefined);
    });

    for (const type of NODE_TYPES) {
      it(`begins no tag in the words of a validator: ${type}`, async () => {
        const id = type === 'mt-service' ? 'service' : type;
        const said = (await used.editor.page.evaluate(`(() => {
          const node = RED.nodes.node(${JSON.stringify(id)});
          const said = [];
          for (const [name, property] of Object.entries(node._def.defaults)) {
            for (const type of property.validate ? ${JSON.stringify(TYPES)} : []) {
              for (const value of ${JSON.stringify(VALUES)}) {
                const like = Object.create(node, { [name]: { value }, [name + 'Type']: { value: type } });
                const verdict = property.validate.call(like, value, {});
                if (typeof verdict === 'string') {
                  const read = document.createElement('template');
                  read.innerHTML = verdict;
                  said.push({ verdict, tags: read.content.childElementCount });
                }
              }
            }
          }
          return said;
        })()`)) as { verdict: string; tags: number }[];
        assert.ok(said.length > 0);
        assert.deepEqual(
          said.filter(({ tags }) => tags > 0),
          [],
        );
      });
    }
  });
}
