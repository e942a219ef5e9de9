// Starts the REST half in a process of its own.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export interface List {
  /** Entries. */
  total: number;
  pageSize: number;
  /** The first so many entries are gateways of the traffic, the others its devices; all are gateways without it. */
  gateways?: number;
}

/** Runs `act` beside a REST half with this list. */
export async function withList<T>(
  { total, pageSize, gateways = total }: List,
  act: (url: string) => Promise<T>,
): Promise<T> {
  const file = join(import.meta.dirname, 'list-server.ts');
  const words = [total, pageSize, gateways].map(String);
  const server = fork(file, words, { execArgv: ['--import', 'tsx'] });
  try {
    const [port] = await once(server, 'message');
    return await act(`http://127.0.0.1:${port}`);
  } finally {
    server.kill('SIGKILL');
  }
}
