// What an installation brings along, read from the lock file without asking anybody.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

interface Locked {
  version: string;
  license?: string;
  integrity?: string;
  resolved?: string;
  hasInstallScript?: boolean;
  dev?: boolean;
  devOptional?: boolean;
  /** A package of this repository. */
  link?: boolean;
  /** Comes inside the tarball of another. */
  inBundle?: boolean;
}

/** All let anybody use, change and pass on the package, also inside a closed product. */
const LICENCES = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT'];
/** Development dependencies that the build puts into a file of the package. */
const INLINED = ['node_modules/semver'];

const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
  packages: Record<string, Locked>;
};
const { allowScripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  allowScripts: Record<string, boolean>;
};
const foreign = Object.entries(packages).filter(
  ([path, { link }]) => path.startsWith('node_modules/') && !link,
);
const installed = foreign.filter(([, { dev, devOptional }]) => !dev && !devOptional);
const pathsOf = (entries: typeof foreign) => entries.map(([path]) => path);

describe('the dependencies', () => {
  it('run no script when the package is installed, and only known ones in development', () => {
    const withScript = foreign.filter(([, { hasInstallScript }]) => hasInstallScript);
    assert.deepEqual(pathsOf(withScript.filter((entry) => installed.includes(entry))), []);
    const unknown = pathsOf(withScript).filter((path) => !Object.hasOwn(allowScripts, nameOf(path)));
    assert.deepEqual(unknown, []);
  });

  it('have licences that docs/security.md lists', () => {
    const shipped = foreign.filter((entry) => installed.includes(entry) || INLINED.includes(entry[0]));
    const others = shipped.filter(([, { license = '' }]) => !LICENCES.includes(license));
    assert.deepEqual(pathsOf(others), []);
    const line = `Licences in the tree are one of ${LICENCES.join(', ')}.`;
    assert.ok(readFileSync('docs/security.md', 'utf8').includes(line), line);
  });

  it('are pinned by their content, and to no registry', () => {
    const unpinned = foreign.filter(([, { integrity, inBundle }]) => !inBundle && !integrity);
    assert.deepEqual(pathsOf(unpinned), []);
    assert.deepEqual(pathsOf(foreign.filter(([, { resolved }]) => resolved !== undefined)), []);
  });
});

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}
