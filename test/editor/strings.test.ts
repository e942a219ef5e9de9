// Every text of the package exists in every language, with the same placeholders, and every node has its help.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { IDENTIFIERS } from '../../src/protocol/identifiers.ts';
import { NODE_FOLDERS as FOLDERS } from '../node-types.ts';

const ROOT = join(import.meta.dirname, '../..');
const LANGUAGE = 'en-US';
const CATALOGUES = [
  ...FOLDERS.map((folder) => `nodes/${folder}/locales`),
  'nodes/shared/locales',
  'nodes/sidebar/locales',
  'src/locales',
];

type Texts = { [key: string]: string | Texts };

function flatten(texts: Texts, prefix = ''): Map<string, string> {
  const entries = Object.entries(texts).flatMap(([key, value]): [string, string][] =>
    typeof value === 'string' ? [[prefix + key, value]] : [...flatten(value, `${prefix}${key}.`)],
  );
  return new Map(entries);
}

const read = (folder: string, language: string): Map<string, string> =>
  flatten(JSON.parse(readFileSync(join(ROOT, folder, `${language}.json`), 'utf8')) as Texts);

const placeholders = (text: string): string[] => (text.match(/__\w+?__/g) ?? []).sort();

/** Nodes that wait for what they ask: in line at a gateway, or for the REST side. */
const ASKING = [
  'device-list',
  'gw-read',
  'gw-write',
  'label',
  'last-value',
  'rename',
  'service-request',
  'timestamped-ack',
];

/** The error codes that the help of a node lists. */
function codesOf(folder: string, language: string): string[] {
  const help = readFileSync(join(ROOT, `nodes/${folder}/locales/${language}.md`), 'utf8');
  return [...help.matchAll(/^- ((?:`[A-Z_]+`(?:, )?)+)/gm)].flatMap(
    ([, list = '']) => list.match(/[A-Z_]+/g) ?? [],
  );
}

const languages = [...new Set(CATALOGUES.flatMap((folder) => readdirSync(join(ROOT, folder))))]
  .filter((file) => file.endsWith('.json'))
  .map((file) => file.replace('.json', ''))
  .filter((language, index, all) => all.indexOf(language) === index);

describe('the texts of the editor and the runtime', () => {
  for (const language of languages) {
    for (const folder of CATALOGUES) {
      it(`are complete in ${language}, with the same placeholders: ${folder}`, () => {
        const [original, translated] = [read(folder, LANGUAGE), read(folder, language)];
        assert.deepEqual([...translated.keys()].sort(), [...original.keys()].sort());
        for (const [key, text] of original) {
          assert.deepEqual(placeholders(translated.get(key) ?? ''), placeholders(text), key);
          assert.notEqual(translated.get(key)?.trim(), '', key);
        }
      });
    }
    for (const folder of FOLDERS) {
      it(`have help in ${language}: ${folder}`, () => {
        assert.ok(existsSync(join(ROOT, `nodes/${folder}/locales/${language}.md`)));
      });

      it(`list the same error codes in the help in ${language}: ${folder}`, () => {
        const codes = codesOf(folder, language);
        assert.deepEqual(codes, codesOf(folder, LANGUAGE));
        assert.ok(codes.includes('QUEUE_FULL') || !ASKING.includes(folder), 'QUEUE_FULL');
      });
    }
  }

  it('keep what belongs to a word on its line, in French, and call things by one name', () => {
    for (const folder of [...CATALOGUES, 'simulator/node/locales']) {
      for (const [key, text] of read(folder, 'fr')) {
        const where = `${folder}: ${key}: ${text}`;
        assert.doesNotMatch(text, /\p{L}'/u, where);
        assert.doesNotMatch(text, / [;:!?»](?!\S)|« /, where);
        assert.doesNotMatch(text, /(?<![\w_])brokers?(?![\w_])|\bflows?\b(?!\.)|silencieu/i, where);
      }
      for (const help of readdirSync(join(ROOT, folder)).filter((name) => name === 'fr.md')) {
        const words = readFileSync(join(ROOT, folder, help), 'utf8').replace(/`[^`]*`/g, '`');
        assert.doesNotMatch(words, /\p{L}'/u, folder);
        assert.doesNotMatch(words, /\bbrokers?\b|\bflows?\b|\bsilencieu|« | »/, folder);
        // What begins with a colon is a row for Node-RED, which wants plain spaces.
        assert.doesNotMatch(words.replace(/^:.*$/gm, ''), / [;:!?](?!\S)/, folder);
      }
    }
  });

  it('call things by one name in Spanish, as the panels and the editor do, and address nobody', () => {
    const others = /(?<!mt )\bgateways?\b|\bbrokers?\b|\bdespl(?:ieg|iég|eg)/i;
    const orders = /\b(?:abra|añada|arrastre|elija|instancie|ponga|pulse|reproduzca)\b/i;
    for (const folder of [...CATALOGUES, 'simulator/node/locales']) {
      for (const [key, text] of read(folder, 'es-ES')) {
        assert.doesNotMatch(text, others, `${folder}: ${key}`);
        assert.doesNotMatch(text, orders, `${folder}: ${key}`);
      }
    }
    for (const folder of [...FOLDERS.map((name) => `nodes/${name}`), 'simulator/node']) {
      const help = readFileSync(join(ROOT, folder, 'locales/es-ES.md'), 'utf8');
      // Code, and what messages call their properties, is the same in all languages.
      const words = help.replace(/```[\s\S]*?```|`[^`]*`|^: [^:(]*\(/gm, '');
      assert.doesNotMatch(words, others, folder);
      assert.doesNotMatch(words, orders, folder);
    }
  });

  it('call things by one name in German', () => {
    const others = /\bberichte[nt]?\b|\bBericht|\bKnoten\b/;
    for (const folder of [...CATALOGUES, 'simulator/node/locales']) {
      for (const [key, text] of read(folder, 'de')) {
        assert.doesNotMatch(text, others, `${folder}: ${key}`);
      }
    }
    for (const folder of [...FOLDERS.map((name) => `nodes/${name}`), 'simulator/node']) {
      assert.doesNotMatch(readFileSync(join(ROOT, folder, 'locales/de.md'), 'utf8'), others, folder);
    }
  });

  it('keep the digits of a number on one line', () => {
    for (const language of languages) {
      for (const folder of [...CATALOGUES, 'simulator/node/locales']) {
        for (const [key, text] of read(folder, language)) {
          assert.doesNotMatch(text, /\d \d{3}/, `${folder} ${language}: ${key}`);
        }
      }
    }
  });

  it('say what each property means, in English as the catalogue does', () => {
    const said = Object.entries(
      JSON.parse(readFileSync(join(ROOT, 'nodes/service/locales/en-US.json'), 'utf8')).editor.meaning,
    );
    const meant = IDENTIFIERS.map(({ name, description }) => [name || 'update', description] as const);
    assert.deepEqual(Object.fromEntries(said), Object.fromEntries(meant));
  });

  it('keep apart what mt-service, the shared texts and the errors are called', () => {
    const merged = [
      'nodes/service/locales',
      'nodes/shared/locales',
      'nodes/sidebar/locales',
      'src/locales',
    ].flatMap((folder) => [...new Set([...read(folder, LANGUAGE).keys()].map((key) => key.split('.')[0]))]);
    assert.deepEqual(merged, [...new Set(merged)]);
  });

  it('have every text that the panels ask for by name', () => {
    const shared = read('nodes/service/locales', LANGUAGE);
    const core = read('node_modules/@node-red/editor-client/locales', `${LANGUAGE}/editor`);
    for (const folder of [...FOLDERS, 'shared/editor']) {
      const isShared = folder === 'shared/editor';
      const own = isShared ? shared : read(`nodes/${folder}/locales`, LANGUAGE);
      for (const file of readdirSync(join(ROOT, 'nodes', folder)).filter((name) =>
        isShared ? name.endsWith('.ts') : /^editor.*\.ts$/.test(name),
      )) {
        const code = readFileSync(join(ROOT, 'nodes', folder, file), 'utf8');
        for (const [, key] of code.matchAll(/\btext\('([\w.-]+)'/g)) {
          assert.ok(shared.has(`editor.${key}`), `${file}: ${key}`);
        }
        for (const [, key] of code.matchAll(/\bRED\._\('([\w.-]+)'/g)) {
          assert.ok(core.has(key as string), `${file}: ${key} of Node-RED`);
        }
        for (const [, key] of code.matchAll(/(?:(?<!\bRED)\._|\bownText)\('([\w.-]+)'/g)) {
          assert.ok(own.has(key as string), `${file}: ${key}`);
        }
      }
    }
  });

  it('have every text that the sidebar asks for by name', () => {
    const texts = read('nodes/sidebar/locales', LANGUAGE);
    for (const file of readdirSync(join(ROOT, 'nodes/sidebar')).filter((name) => name.endsWith('.ts'))) {
      const code = readFileSync(join(ROOT, 'nodes/sidebar', file), 'utf8');
      for (const [, key] of code.matchAll(/\bsay\(\s*'([\w.-]+)'/g)) {
        assert.ok(texts.has(`sidebar.${key}`), `${file}: ${key}`);
      }
    }
  });

  it('have the caption of a setting once: a panel has one of its own only where it differs', () => {
    const shared = languages.map((language) => read('nodes/shared/locales', language));
    const repeated = FOLDERS.flatMap((folder) => {
      const own = languages.map((language) => read(`nodes/${folder}/locales`, language));
      const isRepeated = (key: string) =>
        own.every((texts, index) => texts.get(`label.${key}`) === shared[index]!.get(`field.${key}`));
      const captions = [...own[0]!.keys()].filter((key) => key.startsWith('label.'));
      return captions
        .filter((key) => isRepeated(key.slice('label.'.length)))
        .map((key) => `${folder}: ${key}`);
    });
    assert.deepEqual(repeated, []);
  });

  for (const folder of FOLDERS) {
    it(`has every text that the form of ${folder} shows`, () => {
      const known = new Set([
        ...read(`nodes/${folder}/locales`, LANGUAGE).keys(),
        ...[...read('nodes/shared/locales', LANGUAGE).keys()].filter((key) => key.startsWith('field.')),
        ...[...read('nodes/service/locales', LANGUAGE).keys()].filter((key) => key.startsWith('editor.')),
      ]);
      const form = readFileSync(join(ROOT, `nodes/${folder}/editor.html`), 'utf8');
      const used = [...form.matchAll(/data-i18n="(?:\[\w+\])?([^"]+)"/g)].map(([, key]) => key as string);
      assert.deepEqual(
        used.filter((key) => !known.has(key)),
        [],
      );
    });
  }

  it('have help that Node-RED renders as lists, in every language', () => {
    for (const folder of [...CATALOGUES, 'simulator/node/locales']) {
      for (const name of readdirSync(join(ROOT, folder)).filter((one) => one.endsWith('.md'))) {
        const help = readFileSync(join(ROOT, folder, name), 'utf8');
        const rows = help.split('\n').filter((line) => line.startsWith(': '));
        // Of one with another colon only what stands behind the last is shown.
        assert.deepEqual(
          rows.filter((line) => !/^:[^:]+\([^:]+\)[^:]*:[^:]*$/.test(line)),
          [],
          `${folder}/${name}`,
        );
      }
    }
  });
});
