// docs/examples.md names and shows every sample flow as it is.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dashboards, databases, samples, simulated } from '../examples/canvas.ts';
import { examplePictures, examplesPage, PAGE, PICTURES } from './example-index.ts';

const STALE = 'run npm run docs';

describe('the page of examples', () => {
  it('tells of every example of both packages what it does, where that shows and what to change', () => {
    const page = readFileSync(PAGE, 'utf8');
    assert.equal(page, examplesPage(), STALE);
    for (const { label } of [...samples, ...dashboards, ...databases, ...simulated]) {
      assert.match(page, new RegExp(`^### ${label}\n\n.+\n\n- [*]{2}Shows:.+\n- [*]{2}Change:.+\n`, 'm'));
    }
  });

  it('shows each flow as it is laid out, in small pictures, and none that is gone', () => {
    const pictures = examplePictures();
    for (const [file, picture] of pictures) {
      assert.equal(readFileSync(file, 'utf8'), picture, STALE);
      assert.ok(picture.length < 40_000, `${file}: ${picture.length} bytes`);
    }
    const files = readdirSync(PICTURES).map((file) => `${PICTURES}/${file}`);
    assert.deepEqual(files.sort(), [...pictures.keys()].sort(), STALE);
    for (const file of files) {
      assert.ok(readFileSync(PAGE, 'utf8').includes(`(${file.replace('docs/', '')})`), file);
    }
  });

  it('draws every node, group and wire of a flow, with its name', () => {
    for (const { label, flow } of [...samples, ...dashboards, ...databases, ...simulated]) {
      const picture =
        [...examplePictures()].find(([file]) =>
          readFileSync(PAGE, 'utf8').includes(`![The flow ${label}](${file.replace('docs/', '')})`),
        )?.[1] ?? '';
      const wires = flow.flatMap(({ wires = [] }) => wires.flat());
      assert.equal(picture.match(/<path /g)?.length, wires.length, label);
      assert.equal(
        picture.match(/class="group"/g)?.length,
        flow.filter(({ type }) => type === 'group').length,
      );
      assert.equal(
        picture.match(/<title>/g)?.length,
        flow.filter(({ type, x }) => type !== 'group' && x !== undefined).length,
      );
    }
  });
});
