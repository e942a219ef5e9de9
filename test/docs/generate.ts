// Brings generated parts of docs/ up to date: npm run docs.
import { readFileSync, writeFileSync } from 'node:fs';
import { withCatalogueTable } from './catalogue-table.ts';
import { withFileMap } from './file-map.ts';

const GENERATED = { 'docs/protocol.md': withCatalogueTable, 'docs/architecture.md': withFileMap };

for (const [file, update] of Object.entries(GENERATED)) {
  writeFileSync(file, update(readFileSync(file, 'utf8')));
}
