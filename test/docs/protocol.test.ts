// docs/protocol.md says what the code does.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { OPERATIONS } from '../../src/protocol/operations/index.ts';
import { SEGMENTS } from '../../src/protocol/reports/index.ts';
import { WIRE_TYPES } from '../../src/protocol/values.ts';
import { withCatalogueTable } from './catalogue-table.ts';

describe('docs/protocol.md', () => {
  const text = readFileSync('docs/protocol.md', 'utf8');

  it('shows the catalogue of today (else: npm run docs)', () => {
    assert.equal(text, withCatalogueTable(text));
  });

  it('names every kind, operation and type', () => {
    for (const name of [...SEGMENTS.keys(), ...Object.keys(OPERATIONS), ...WIRE_TYPES]) {
      assert.ok(text.includes(`\`${name}`), name);
    }
  });
});
