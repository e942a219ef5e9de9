// Which topic filter matches which topic, and the parts of a shared one.

/** The filter without `$share/<group>/`, and the group. */
export function splitShared(filter: string): { group: string | undefined; filter: string } {
  if (!filter.startsWith('$share/')) {
    return { group: undefined, filter };
  }
  const [, group = '', ...rest] = filter.split('/');
  return { group, filter: rest.join('/') };
}

/** By the rules of MQTT 4.7; a filter that begins with a wildcard matches no topic that begins with `$`. */
export function matches(filter: string, topic: string): boolean {
  const levels = filter.split('/');
  const parts = topic.split('/');
  if (topic.startsWith('$') && /^[+#]/.test(filter)) {
    return false;
  }
  for (const [i, level] of levels.entries()) {
    if (level === '#') {
      return true;
    }
    if (parts[i] === undefined || (level !== '+' && level !== parts[i])) {
      return false;
    }
  }
  return levels.length === parts.length;
}

interface Level {
  next: Map<string, Level>;
  /** The filter that ends here. */
  filter: string | undefined;
}

const newLevel = (): Level => ({ next: new Map(), filter: undefined });

/** Topic filters, found by topic in a time that depends on the levels and not on how many there are. */
export class FilterTree {
  #root = newLevel();

  add(filter: string): void {
    let level = this.#root;
    for (const name of filter.split('/')) {
      const next = level.next.get(name) ?? newLevel();
      level.next.set(name, next);
      level = next;
    }
    level.filter = filter;
  }

  /** Leaves empty levels behind; `clear` removes them. */
  delete(filter: string): void {
    let level: Level | undefined = this.#root;
    for (const name of filter.split('/')) {
      level = level?.next.get(name);
    }
    if (level) {
      level.filter = undefined;
    }
  }

  clear(): void {
    this.#root = newLevel();
  }

  /** The filters that match, by the rules of `matches`. */
  find(topic: string): string[] {
    const parts = topic.split('/');
    let levels = [this.#root];
    const found: Level[] = [];
    for (const [i, part] of parts.entries()) {
      const isHidden = i === 0 && part.startsWith('$');
      if (!isHidden) {
        found.push(...after(levels, '#'));
      }
      levels = [...after(levels, part), ...(isHidden ? [] : after(levels, '+'))];
    }
    found.push(...after(levels, '#'), ...levels);
    return found.map(({ filter }) => filter).filter((filter) => filter !== undefined);
  }
}

const after = (levels: Level[], name: string): Level[] =>
  levels.map((level) => level.next.get(name)).filter((level) => level !== undefined);
