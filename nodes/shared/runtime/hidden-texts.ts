// Hides many contents in a text, in one pass, so that nothing is replaced inside of what was put in. Not by a regular expression of
// all of them: of some 10 kB none can be made, and what fails here would show what it should hide.

/** A shorter end of a text is the beginning of too many contents. */
const MIN_TORN_LENGTH = 3;

/** What is hidden at a place of a text. */
interface Found {
  /** Of the text, in characters. */
  length: number;
  mark: string;
}

export class HiddenTexts {
  readonly #marks = new Map<string, string>();
  readonly #sorted: readonly string[];

  /** @param contents each with what is shown in its place; the first mark of each counts, and so do small letters for large ones */
  constructor(contents: Iterable<readonly [content: string, mark: string]>) {
    for (const [content, mark] of contents) {
      const key = withSmallLetters(content);
      this.#marks.set(key, this.#marks.get(key) ?? mark);
    }
    this.#marks.delete('');
    this.#sorted = [...this.#marks.keys()].sort();
  }

  get isEmpty(): boolean {
    return this.#sorted.length === 0;
  }

  /** What is shown in the place of a text that is one of the contents. */
  markOf(text: string): string | undefined {
    return this.#marks.get(withSmallLetters(text));
  }

  /** The text with marks in the places of the longest contents. Texts may be cut: the beginning of one at the end is hidden, too. */
  hide(text: string): string {
    const small = withSmallLetters(text);
    const end = text.replace(/…$/, '').length;
    let shown = '';
    let at = 0;
    while (at < text.length) {
      const found = this.#findAt(small, at, end);
      shown += found ? found.mark : text.charAt(at);
      at += found ? found.length : 1;
      if (found && at === end) {
        return shown;
      }
    }
    return shown;
  }

  /** Takes a range of the sorted contents, and leaves in it those that are like the text, one character after the other. */
  #findAt(small: string, at: number, end: number): Found | undefined {
    let [low, high] = [0, this.#sorted.length];
    let found: Found | undefined;
    for (let length = 0; low < high; length++) {
      const content = this.#sorted[low] as string;
      const isWhole = content.length === length;
      const isTorn = at + length === end && length >= MIN_TORN_LENGTH;
      if (isWhole || isTorn) {
        found = { length, mark: this.#marks.get(content) ?? '' };
      }
      if (at + length === small.length) {
        break;
      }
      const unit = small.charCodeAt(at + length);
      low = this.#firstFrom(low, high, length, unit);
      high = this.#firstFrom(low, high, length, unit + 1);
    }
    return found;
  }

  /** The first content of a range with this character, or a later one, at a place. Contents that end there come before. */
  #firstFrom(from: number, to: number, place: number, unit: number): number {
    let [low, high] = [from, to];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const content = this.#sorted[middle] as string;
      if (place < content.length && content.charCodeAt(place) >= unit) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }
}

/** Each letter in the place that it had. */
function withSmallLetters(text: string): string {
  const small = text.toLowerCase();
  return /^\p{ASCII}*$/u.test(text) ? small : Array.from(text, toSmall).join('');
}

function toSmall(letter: string): string {
  const small = letter.toLowerCase();
  return small.length === letter.length ? small : letter;
}
