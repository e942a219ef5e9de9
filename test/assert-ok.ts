// Lets an `assert.ok` that fails say so at once. For its message Node.js looks for the call in the source, which tsx has made one
// long line: at some columns it looks for many minutes, and nothing else runs in that process meanwhile.
import strict, { AssertionError } from 'node:assert/strict';

const ok: typeof strict.ok = strict.ok;

strict.ok = function okAtOnce(value: unknown, message?: string | Error): asserts value {
  if (!value && message === undefined) {
    const actual = { actual: value, expected: true, operator: '==' };
    throw new AssertionError({ ...actual, message: 'not truthy', stackStartFn: strict.ok });
  }
  ok(value, message);
};
