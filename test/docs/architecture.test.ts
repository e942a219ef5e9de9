// docs/architecture.md says what the code does: its map of files is of today, and its arrows are the imports there are.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { mappedFiles, purposeOf, withFileMap } from './file-map.ts';

const IMPORT = /^(?:import|export)\s[^'"]*?from '([^']+)'|^import '([^']+)'|import\('([^']+)'\)/gm;

/** What a file imports: paths from the project's folder, or the names of packages. */
function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(IMPORT)].map((match) => {
    const to = (match[1] ?? match[2] ?? match[3]) as string;
    return to.startsWith('.') ? posix.join(posix.dirname(file), to) : to;
  });
}

const sources = mappedFiles().filter((file) => /^(src|nodes|simulator)\/.*\.ts$/.test(file));
const isEditor = (file: string): boolean =>
  file.startsWith('nodes/shared/editor/') || posix.basename(file).startsWith('editor');
/** Read by the runtime and by the panel. */
const isConfig = (file: string): boolean => /^nodes\/.*config\.ts$/.test(file);
const isPure = (to: string): boolean => to.startsWith('src/protocol/') || to === 'src/errors.ts';

/** Files of the engine that belong to no folder and import none. */
const LEAVES = ['errors', 'log', 'settings', 'socket-options'].map((name) => `src/${name}.ts`);
const PACKAGES: Record<string, RegExp> = {
  mqtt: /^src\/mqtt\/(connection|exchanges|incoming-store|library-client|received-messages|write-batch)\.ts$/,
  undici: /^src\/rest\/(http|undici-parts\.d)\.ts$/,
  semver: /^src\/rest\/versions\.ts$/,
};

/** Why an import goes against the arrows; undefined when it does not. */
function objection(file: string, to: string): string | undefined {
  if (file.startsWith('simulator/')) {
    const isForeign = /^(src|nodes|test|examples|@mt-gateway)\//.test(to);
    return isForeign ? 'the other side of the interface must not share our mistakes' : undefined;
  }
  const isOwn = to.startsWith('src/') || to.startsWith('nodes/');
  if (!isOwn) {
    return objectionToPackage(file, to);
  }
  if (file.startsWith('src/') && to.startsWith('nodes/')) {
    return 'the engine knows nothing of the nodes';
  }
  if (/^src\/(protocol|collections)\//.test(file) && LEAVES.includes(to) && to !== 'src/errors.ts') {
    return 'the protocol is pure';
  }
  if (!file.startsWith('nodes/')) {
    return undefined;
  }
  if (to.startsWith('src/')) {
    const isAllowed = isEditor(file) || isConfig(file) ? isPure(to) : to === 'src/index.ts';
    return isAllowed ? undefined : 'not exported for nodes';
  }
  if (to.startsWith(isEditor(file) ? 'nodes/shared/runtime/' : 'nodes/shared/editor/')) {
    return 'runtime and editor run in different places';
  }
  const [, folder] = to.split('/');
  return folder === 'shared' || folder === file.split('/')[1] ? undefined : "another node's folder";
}

function objectionToPackage(file: string, to: string): string | undefined {
  if (file.startsWith('src/protocol/')) {
    return 'the protocol needs nobody';
  }
  const owner = PACKAGES[to.split('/')[0] as string];
  if (owner && !owner.test(file)) {
    return 'one file per foreign package';
  }
  return file.startsWith('src/') && to === 'node-red' ? 'the engine does not know Node-RED' : undefined;
}

/** Folder of a file of the engine, or its name where it lies in the root of `src/`. */
const roomOf = (file: string): string => (file.split('/')[1] as string).replace(/\.ts$/, '');

/** What each folder of the engine imports of the others, as the drawing shows it. */
function importsByRoom(): Record<string, string[]> {
  const rooms: Record<string, Set<string>> = {};
  for (const file of sources.filter((name) => name.startsWith('src/') && name !== 'src/index.ts')) {
    if (LEAVES.includes(file)) {
      continue;
    }
    rooms[roomOf(file)] ??= new Set();
    const others = importsOf(file).filter((to) => to.startsWith('src/') && !LEAVES.includes(to));
    for (const to of others.map(roomOf).filter((name) => name !== roomOf(file))) {
      rooms[roomOf(file)]?.add(to);
    }
  }
  return Object.fromEntries(Object.entries(rooms).map(([name, others]) => [name, [...others].sort()]));
}

/** Files that import each other, by way of others or not; each circle once, as far as it was found. */
function circles(): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const follow = (file: string, way: readonly string[]): void => {
    if (way.includes(file)) {
      found.push([...way.slice(way.indexOf(file)), file].join(' → '));
    } else if (!done.has(file)) {
      for (const to of importsOf(file).filter((name) => sources.includes(name))) {
        follow(to, [...way, file]);
      }
      done.add(file);
    }
  };
  for (const file of sources) {
    follow(file, []);
  }
  return found;
}

/** The drawing of the page: `mqtt ───► collections, protocol`. */
function drawnImports(page: string): Record<string, string[]> {
  const lines = [...page.matchAll(/^([a-z]+) ─+► ([a-z, ]+)$/gm)].filter(([, name]) => name !== 'test');
  return Object.fromEntries(
    lines.map(([, name, others = '']) => [name, others === 'nothing' ? [] : others.split(', ')]),
  );
}

describe('docs/architecture.md', () => {
  it('shows every file of today with its first comment (else: npm run docs)', () => {
    const text = readFileSync('docs/architecture.md', 'utf8');
    assert.equal(text, withFileMap(text));
  });

  it('has a comment to show from each file', () => {
    assert.deepEqual(
      mappedFiles().filter((file) => !purposeOf(file)),
      [],
    );
  });

  it('is right that the engine exports what a config takes from the protocol, for the build replaces the one by the other', async () => {
    const engine: object = await import('../../src/index.ts');
    const missing = sources.filter(isConfig).flatMap((file) => {
      const text = readFileSync(file, 'utf8');
      return [...text.matchAll(/^import \{([^}]+)\} from '[./]+\/src\/protocol\//gm)]
        .flatMap(([, names = '']) => names.split(','))
        .map((name) => name.trim().replace(/ as .*/, ''))
        .filter((name) => !name.startsWith('type ') && !(name in engine))
        .map((name) => `${file}: ${name}`);
    });
    assert.deepEqual(missing, []);
  });

  it('tells the truth about who imports whom', () => {
    const wrong = sources.flatMap((file) =>
      importsOf(file).flatMap((to) => {
        const reason = objection(file, to);
        return reason ? [`${file} imports ${to}: ${reason}`] : [];
      }),
    );
    assert.deepEqual(wrong, []);
  });

  it('has no files that import each other in a circle', () => {
    assert.deepEqual(circles(), []);
  });

  it('draws the imports between the folders of the engine', () => {
    const page = readFileSync('docs/architecture.md', 'utf8');
    assert.deepEqual(drawnImports(page), importsByRoom());
  });
});
