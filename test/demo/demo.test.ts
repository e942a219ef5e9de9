// The demo as a newcomer meets it: started, pressed, stopped.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectAsync, type MqttClient } from 'mqtt';
import { DEMO } from '../../simulator/src/fleet.ts';

const ROOT = join(__dirname, '..', '..');

/** What the demo prints until it says how to stop it. */
async function introduction(demo: ChildProcess): Promise<string> {
  let text = '';
  for await (const chunk of demo.stdout ?? []) {
    text += chunk;
    if (text.includes('Ctrl-C')) {
      return text;
    }
  }
  throw new Error(`the demo ended: ${text}`);
}

const addressOf = (text: string, name: string): string =>
  new RegExp(`${name} +(\\S+?)/?\\s`).exec(text)?.[1] ?? assert.fail(`no ${name} in: ${text}`);

/** The next message on a topic that ends like this. */
function next(client: MqttClient, end: string): Promise<Record<string, unknown>> {
  return new Promise((resolve) => {
    client.on('message', function look(topic, payload) {
      if (!topic.includes(end)) {
        return;
      }
      client.off('message', look);
      resolve(JSON.parse(payload.toString()));
    });
  });
}

describe('the demo', () => {
  let folder: string;
  let demo: ChildProcess;
  let text: string;
  let client: MqttClient;
  before(async function () {
    this.timeout(60_000);
    folder = await mkdtemp(join(tmpdir(), 'mt-demo-'));
    demo = spawn(process.execPath, ['--import', 'tsx', 'examples/demo/start.ts', '--rate', '50'], {
      cwd: ROOT,
      env: { ...process.env, MT_DEMO_FOLDER: folder },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    text = await introduction(demo);
    client = await connectAsync(addressOf(text, 'Broker'));
    await client.subscribeAsync('mt/gateway/+/response/#');
  });
  after(async () => {
    await client?.endAsync(true);
    if (demo.exitCode === null) {
      demo.kill('SIGKILL');
    }
    await rm(folder, { recursive: true, force: true });
  });

  const press = async (button: string): Promise<void> => {
    const answer = await fetch(`${addressOf(text, 'Editor')}/inject/demo-${button}`, { method: 'POST' });
    assert.equal(answer.status, 200);
  };

  it('reads the firmware version when its button is pressed', async () => {
    const answer = next(client, `${DEMO.device}/read-decoded/firmware-version`);
    await press('read');
    assert.equal((await answer).value, '3.4.1');
  });

  it('writes a mode and reads it again with what the first node left in the message', async () => {
    const answer = next(client, `${DEMO.device}/read-decoded/device-mode`);
    await press('write-unconnected');
    assert.equal((await answer).value, 'unconnected');
  });

  it('acknowledges samples that are stored already', async () => {
    assert.equal((await next(client, '/ack')).status, 0);
    const stored = (await readFile(join(folder, 'samples.jsonl'), 'utf8')).trim().split('\n');
    assert.ok(stored.length > 0 && stored.every((line) => JSON.parse(line).kind === 'timestamped'));
  });

  it('has a name for every device that is heard and for every gateway, as the pickers show them', async () => {
    const ask = async (path: string): Promise<{ id: string; mac?: string; name?: string }[]> => {
      const answer = await fetch(`${addressOf(text, 'Editor')}/mt-service/demo-service/${path}`);
      return (await answer.json()) as { id: string }[];
    };
    const listed = await ask('devices?limit=1000');
    const heard = await ask('seen?what=devices');
    assert.ok(heard.length > 0);
    assert.deepEqual(
      heard.filter(({ id, name }) => !name || name === id).map(({ id }) => id),
      [],
    );
    const lobby = listed.find(({ mac }) => mac === DEMO.gateway);
    assert.equal(lobby?.name, 'Lobby');
  });

  it('measures each device through its own gateway only, so that no first rule asks a gateway that refuses', async () => {
    const gateways = new Map<string, Set<string>>();
    await client.subscribeAsync([
      'mt/gateway/+/device/+/measurement/#',
      'mt/gateway/+/device/+/measurement-decoded/#',
    ]);
    const isEnough = new Promise<void>((resolve) => {
      let count = 0;
      client.on('message', (topic) => {
        const [, gateway, device] = /gateway\/(\w+)\/device\/(\w+)\/measurement/.exec(topic) ?? [];
        if (gateway && device) {
          gateways.set(device, (gateways.get(device) ?? new Set()).add(gateway));
          ++count === 60 && resolve();
        }
      });
    });
    await isEnough;
    assert.deepEqual(
      [...gateways.values()].filter(({ size }) => size > 1),
      [],
    );
  });

  it('shows a refusal when its button is pressed', async () => {
    const answer = next(client, `${DEMO.device}/read-decoded/firmware-version`);
    await press('wrong');
    assert.equal((await answer).status, 3);
  });

  it('leaves the debug sidebar to the rules of the user: it forgets all but the newest 100 messages of all flows', async () => {
    const answer = await fetch(`${addressOf(text, 'Editor')}/flows`);
    const flows = (await answer.json()) as Record<string, unknown>[];
    const reports = flows.filter(({ type }) => type === 'mt-report-in').flatMap(({ wires }) => wires);
    const shown = flows.filter(({ id, type }) => type === 'debug' && reports.flat().includes(id));
    assert.ok(shown.length > 5 && shown.every(({ tostatus }) => tostatus === true));
    assert.deepEqual(
      shown.filter(({ active }) => active).map(({ name }) => name),
      [],
    );
  });

  it('stops at one signal and leaves nothing behind', async () => {
    const ended = once(demo, 'exit');
    demo.kill('SIGINT');
    assert.deepEqual(await ended, [0, null]);
    await assert.rejects(fetch(addressOf(text, 'Editor')));
  });
});
