// What a test needs from the machine: absent it is skipped with the reason in its title, but never in CI.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Debian keeps Mosquitto where only root's PATH looks. */
const FOLDERS = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];

/** The full path of a program, or undefined when the machine has none. */
export function findProgram(...names: string[]): string | undefined {
  const candidates = names.flatMap((name) => FOLDERS.map((folder) => join(folder, name)));
  return candidates.find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** The first is Chromium without its windows and their pages, which a test has no use for: it starts in a fraction of the time. */
const BROWSERS = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];

/** The full path of a browser, or undefined when the machine has none. */
export const findBrowser = (): string | undefined => findProgram(...BROWSERS);

/** In CI nothing may be skipped: what is missing there is a failure. */
export const nothingMayBeSkipped = process.env.CI === 'true';

/** To be called in a `before` or a test: skips it when one of these programs is missing, or fails in CI. */
export function requirePrograms(context: Mocha.Context, ...names: string[]): void {
  const missing = names.filter((name) => findProgram(name) === undefined);
  requireThat(context, missing.length === 0, missing.join(' and '));
}

/** The same for a browser. */
export function requireBrowser(context: Mocha.Context): void {
  requireThat(context, findBrowser() !== undefined, 'Chromium');
}

/** The same for what no single program in the PATH tells of. */
export function requireThat(context: Mocha.Context, isInstalled: boolean, name: string): void {
  if (isInstalled) {
    return;
  }
  const reason = `${name} not installed`;
  if (nothingMayBeSkipped) {
    throw new Error(reason);
  }
  if (context.test !== undefined) {
    context.test.title += ` (skipped: ${reason})`;
  }
  context.skip();
}
