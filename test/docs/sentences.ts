// Takes a page apart into what it says: each sentence of a paragraph or a list, and each row of a table.

export interface Statement {
  /** The heading above it. */
  section: string;
  text: string;
}

/** Sentences end with a stop before a space; a lead-in in bold belongs to the sentence behind it. */
const SENTENCE_END = /(?<=[.?!])(?<!\*\*[^*]*\.) (?=[A-Z`*0-9])/;
const LEAD_IN = /^(\*\*[^*]+\*\*) /;

/** Every statement of a page in its order. Headings, and the heads of tables, are none. */
export function statementsOf(page: string): Statement[] {
  const lines = page.split('\n');
  let section = '';
  return lines.flatMap((line, at) => {
    if (line.startsWith('#')) {
      section = line.replace(/^#+ /, '');
      return [];
    }
    const texts = line.startsWith('|') ? rowOf(line, lines[at + 1] ?? '') : sentencesOf(line);
    return texts.map((text) => ({ section, text }));
  });
}

const isRule = (line: string): boolean => /^\|[\s|:-]+\|$/.test(line);

function rowOf(line: string, next: string): string[] {
  return isRule(line) || isRule(next) ? [] : [line.replace(/^\| | \|$/g, '')];
}

function sentencesOf(line: string): string[] {
  const text = line.replace(/^\s*(?:[-*]|\d+\.) /, '').trim();
  if (text === '') {
    return [];
  }
  const [, leadIn = ''] = LEAD_IN.exec(text) ?? [];
  const [first = '', ...others] = text.slice(leadIn === '' ? 0 : leadIn.length + 1).split(SENTENCE_END);
  return [leadIn === '' ? first : `${leadIn} ${first}`, ...others];
}
