// Which topic filter matches which topic, and the parts of a shared one.

/** The filter without `$share/<group>/`, and the group. */
export function splitShared(filter: string): { group: string | undefined; filter: string } {
  if (!filter.startsWith('$share/')) return { group: undefined, filter };
  const [, group = '', ...rest] = filter.split('/');
  return { group, filter: rest.join('/') };
}

/** By the rules of MQTT 4.7; a filter that begins with a wildcard matches no topic that begins with `$`. */
export function matches(filter: string, topic: string): boolean {
  const levels = filter.split('/');
  const parts = topic.split('/');
  if (topic.startsWith('$') && /^[+#]/.test(filter)) return false;
  for (const [i, level] of levels.entries()) {
    if (level === '#') return true;
    if (parts[i] === undefined || (level !== '+' && level !== parts[i])) return false;
  }
  return levels.length === parts.length;
}
