// Brings generated parts of docs/ up to date: npm run docs.
import { readFileSync, writeFileSync } from 'node:fs';
import { withCatalogueTable } from './catalogue-table.ts';

const PROTOCOL = 'docs/protocol.md';
writeFileSync(PROTOCOL, withCatalogueTable(readFileSync(PROTOCOL, 'utf8')));
