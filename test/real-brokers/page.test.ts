// The table of docs/brokers.md has the rows and the brokers of today; its results are written by npm run docs:brokers.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { BROKER_PROFILES } from '../../src/protocol/broker-profiles.ts';
import { BEHAVIOURS } from './behaviours.ts';
import { SUBJECTS } from './subjects.ts';

const page = readFileSync('docs/brokers.md', 'utf8');

describe('docs/brokers.md', () => {
  it('has a row for every behaviour that is tried, and a column for every broker', () => {
    const [, table = ''] = page.split('<!-- results -->');
    const rows = [...table.matchAll(/^\| (.+?) \|(.*)\|$/gm)];
    const [header, , ...results] = rows;
    assert.deepEqual(
      header?.[2]?.split('|').map((name) => name.trim()),
      Object.keys(SUBJECTS),
    );
    assert.deepEqual(
      results.map((row) => row[1]),
      BEHAVIOURS.map(({ name }) => name),
    );
  });

  it('has a chapter for every type of broker that can be chosen', () => {
    const names = Object.values(BROKER_PROFILES)
      .map(({ name }) => name)
      .filter((name) => name !== '');
    assert.deepEqual(
      names.filter((name) => !page.includes(`## ${name}`)),
      [],
    );
  });
});
