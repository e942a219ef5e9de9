// Node-RED as a child process of the demo: started, restarted, stopped; its log goes to a file.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync, type WriteStream } from 'node:fs';
import { join } from 'node:path';

interface Place {
  /** The project's folder, and Node-RED's user folder. */
  root: string;
  folder: string;
  env: Record<string, string>;
}

/** How long Node-RED may take to stop by itself. */
const STOP_MS = 2000;
const READY = /Started flows|Stopped flows|Waiting for missing types/;

/** Node-RED 5 wants a newer Node.js than this package does, so one that it accepts is a development dependency. */
function nodeOf(root: string): string {
  const name = process.platform === 'win32' ? 'node.exe' : 'node';
  const pinned = join(root, 'node_modules', 'node', 'bin', name);
  return existsSync(pinned) ? pinned : process.execPath;
}

export class NodeRed {
  readonly #place: Place;
  readonly #log: WriteStream;
  #child: ChildProcess | undefined;
  /** Called when Node-RED ends without having been told to. */
  onExit: (code: number | null) => void = () => {};

  constructor(place: Place) {
    this.#place = place;
    this.#log = createWriteStream(this.logFile);
  }

  get logFile(): string {
    return join(this.#place.folder, 'node-red.log');
  }

  /** Resolved when the flows run; rejected when Node-RED ends before that. */
  async start(): Promise<void> {
    const { root, folder, env } = this.#place;
    const red = join(root, 'node_modules', 'node-red', 'red.js');
    const settings = join(root, 'examples', 'demo', 'settings.js');
    const child = spawn(nodeOf(root), [red, '--userDir', folder, '--settings', settings], {
      cwd: folder,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      // A group of its own: Ctrl-C reaches this process alone, which then stops Node-RED in order.
      detached: true,
    });
    this.#child = child;
    child.stdout?.pipe(this.#log, { end: false });
    child.stderr?.pipe(this.#log, { end: false });
    child.once('exit', (code) => {
      if (this.#child !== child) {
        return;
      }
      this.#child = undefined;
      this.onExit(code);
    });
    await this.#ready(child);
  }

  #ready(child: ChildProcess): Promise<void> {
    return new Promise((resolve, reject) => {
      let text = '';
      child.stdout?.on('data', function look(chunk: Buffer) {
        text += chunk;
        if (!READY.test(text)) {
          return;
        }
        child.stdout?.off('data', look);
        resolve();
      });
      child.once('error', reject);
      child.once('exit', () => reject(new Error(`Node-RED ended while it started:\n${text.slice(-2000)}`)));
    });
  }

  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) {
      return;
    }
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    await ended;
    clearTimeout(timer);
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }
}
