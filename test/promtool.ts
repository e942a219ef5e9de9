// What Prometheus's own checker says of a page of metrics.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

/** @returns what `promtool check metrics` objects to; empty: nothing */
export async function checkMetrics(page: string): Promise<string> {
  const child = spawn('promtool', ['check', 'metrics'], { stdio: ['pipe', 'pipe', 'pipe'] });
  const ended = once(child, 'close');
  const said = Promise.all([text(child.stdout), text(child.stderr)]);
  child.stdin.end(page);
  const [code] = await ended;
  const words = (await said).join('').trim();
  return code === 0 ? words : words || `promtool ended with ${code}`;
}
