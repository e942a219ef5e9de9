// The map of files in docs/architecture.md: what each file says of itself in its first comment.
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

const BEGIN = '<!-- files: begin (npm run docs) -->';
const END = '<!-- files: end -->';

/** Folders of the map, in the order of the layers; those of one node stand together. */
const SECTIONS = [
  'src',
  'src/session',
  'src/collections',
  'src/protocol',
  'src/protocol/reports',
  'src/protocol/operations',
  'src/network',
  'src/reports',
  'src/mqtt',
  'src/rest',
  'src/proxy',
  'src/tls',
  'nodes/shared',
  'nodes/shared/runtime',
  'nodes/shared/editor',
  'nodes',
  'simulator',
  'simulator/src',
  'simulator/node',
  'examples/demo',
  'scripts',
  'test/docs',
];

const isCode = (file: string): boolean => /\.(ts|mjs|js)$/.test(file) && !/\.test\.ts$/.test(file);

/** Every code file of the map, by path from the project's folder, sorted. */
export function mappedFiles(): string[] {
  const roots = ['src', 'nodes', 'simulator/src', 'simulator/node', 'examples/demo', 'scripts', 'test/docs'];
  const below = roots.flatMap((root) =>
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && isCode(entry.name))
      .map((entry) => join(entry.parentPath, entry.name).replaceAll('\\', '/')),
  );
  return ['build.mjs', 'simulator/build.mjs', ...below].sort();
}

/** The first sentence of a file's leading comment; undefined when it has none. */
export function purposeOf(file: string): string | undefined {
  const lines = readFileSync(file, 'utf8').split('\n');
  const end = lines.findIndex((line) => !line.startsWith('//'));
  const comment = lines.slice(0, end).map((line) => line.replace(/^\/\/ ?/, '').trim());
  const stop = comment.findIndex((line) => /[.:]$/.test(line));
  return comment.length === 0 ? undefined : comment.slice(0, stop < 0 ? undefined : stop + 1).join(' ');
}

function sectionOf(file: string): string {
  const folder = posix.dirname(file);
  if (SECTIONS.includes(folder)) {
    return folder;
  }
  return folder.startsWith('nodes/') ? 'nodes' : '.';
}

function table(section: string, files: string[]): string {
  const title = section === '.' ? 'The root' : `\`${section}/\``;
  const name = (file: string): string => (section === '.' ? file : file.slice(section.length + 1));
  const rows = files.map(
    (file) => `| \`${name(file)}\` | ${(purposeOf(file) ?? '').replaceAll('|', '\\|')} |`,
  );
  return [`### ${title}`, '', '| file | |', '|---|---|', ...rows].join('\n');
}

/** The tables alone, as Markdown. */
export function fileMap(): string {
  const files = mappedFiles();
  return [...SECTIONS, '.']
    .map((section) => ({ section, own: files.filter((file) => sectionOf(file) === section) }))
    .filter(({ own }) => own.length > 0)
    .map(({ section, own }) => table(section, own))
    .join('\n\n');
}

/** The text of the document with the map of today between its markers. */
export function withFileMap(document: string): string {
  const begin = document.indexOf(BEGIN);
  const end = document.indexOf(END);
  if (begin < 0 || end < begin) {
    throw new Error('the markers of the map of files are missing');
  }
  return `${document.slice(0, begin)}${BEGIN}\n\n${fileMap()}\n\n${document.slice(end)}`;
}
