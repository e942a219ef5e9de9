// Brings generated parts of docs/ up to date: npm run docs.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { withCatalogueTable } from './catalogue-table.ts';
import { examplePictures, examplesPage, PAGE, PICTURES } from './example-index.ts';
import { withFileMap } from './file-map.ts';

const GENERATED = { 'docs/protocol.md': withCatalogueTable, 'docs/architecture.md': withFileMap };

for (const [file, update] of Object.entries(GENERATED)) {
  writeFileSync(file, update(readFileSync(file, 'utf8')));
}
writeFileSync(PAGE, examplesPage());
rmSync(PICTURES, { recursive: true, force: true });
mkdirSync(PICTURES, { recursive: true });
for (const [file, picture] of examplePictures()) {
  writeFileSync(file, picture);
}
