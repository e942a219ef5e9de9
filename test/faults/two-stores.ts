// A flow that stores every report twice before it confirms it: in a SQLite database, and as lines of a plain file.
import { execFile } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type NodeConfig, VERSIONS } from '../e2e/node-red.ts';

const TABLE = 'CREATE TABLE IF NOT EXISTS reports (n INTEGER, content TEXT)';

/** What a store has: how many reports there are, and how often each of them is in it. */
export type Stored = Map<number, number>;

export class TwoStores {
  readonly #database: string;
  readonly #file: string;
  /** What was read of the file: it grows while it is read, and with it what a thousand looks at all of it would take. */
  readonly #appended: Stored = new Map();
  #read = 0;

  constructor(folder: string) {
    this.#database = join(folder, 'reports.sqlite');
    this.#file = join(folder, 'reports.jsonl');
  }

  async create(): Promise<void> {
    await writeFile(this.#file, '');
    await this.#query('SELECT 1 AS n');
  }

  /**
   * Each way has its own report-in, so that the broker is told when both have stored a report.
   * @param settings of the service, beside those that it needs
   */
  nodes(brokerUrl: string, settings: object = {}): NodeConfig[] {
    const reports = { type: 'mt-report-in', service: 'service', confirm: 'acknowledged' };
    const acknowledge = { type: 'mt-timestamped-ack', service: 'service', wires: [[]] };
    return [
      {
        ...{
          id: 'service',
          type: 'mt-service',
          brokerUrl,
          persistent: true,
          clientId: 'mt-stores',
          keepalive: 5,
        },
        ...settings,
      },
      { id: 'reports', ...reports, wires: [['insert']] },
      {
        id: 'insert',
        type: 'function',
        outputs: 1,
        // Node-RED takes "node:sqlite" for a package of npm.
        libs: [{ var: 'modules', module: 'module' }],
        initialize: `const { DatabaseSync } = modules.createRequire('/')('node:sqlite');
const database = new DatabaseSync(${JSON.stringify(this.#database)}, { timeout: 5000 });
database.exec('PRAGMA journal_mode = WAL; ${TABLE}');
context.set('insert', database.prepare('INSERT INTO reports VALUES (?, ?)'));`,
        // An unknown kind has its whole body as its value.
        func: `const n = msg.report.n ?? msg.report.value.n;
context.get('insert').run(n, JSON.stringify(msg.payload));
return msg;`,
        wires: [['acknowledge inserted']],
      },
      { id: 'acknowledge inserted', ...acknowledge },
      { id: 'reports for file', ...reports, wires: [['append']] },
      {
        id: 'append',
        type: 'function',
        outputs: 1,
        libs: [{ var: 'fs', module: 'fs/promises' }],
        // Many at a time, done in any order.
        func: `await fs.appendFile(${JSON.stringify(this.#file)}, JSON.stringify(msg.payload) + '\\n');
return msg;`,
        wires: [['acknowledge appended']],
      },
      { id: 'acknowledge appended', ...acknowledge },
    ];
  }

  async inserted(): Promise<Stored> {
    const stored: Stored = new Map();
    for (const n of (await this.#query('SELECT n FROM reports')).split('\n').filter(Boolean)) {
      count(stored, Number(n));
    }
    return stored;
  }

  async appended(): Promise<Stored> {
    const chunks: Buffer[] = await createReadStream(this.#file, { start: this.#read }).toArray();
    const added = Buffer.concat(chunks);
    const whole = added.subarray(0, added.lastIndexOf('\n') + 1);
    this.#read += whole.length;
    for (const line of whole.toString().split('\n').slice(0, -1)) {
      const { n, value } = JSON.parse(line) as { n?: number; value?: { n: number } };
      count(this.#appended, n ?? value?.n ?? Number.NaN);
    }
    return this.#appended;
  }

  /** SQLite comes with the pinned Node.js, and not with each that runs this. @returns `n` of each row, a line each */
  async #query(text: string): Promise<string> {
    const script = `const { DatabaseSync } = require('node:sqlite');
const database = new DatabaseSync(process.argv[1], { timeout: 60_000 });
database.exec(${JSON.stringify(TABLE)});
console.log(database.prepare(process.argv[2]).all().map(({ n }) => n).join('\\n'));`;
    const node = VERSIONS[0]!.node;
    const options = { maxBuffer: 2 ** 30 };
    return (await promisify(execFile)(node, ['-e', script, this.#database, text], options)).stdout;
  }
}

function count(stored: Stored, n: number): void {
  stored.set(n, (stored.get(n) ?? 0) + 1);
}
