// The command of the simulator's package, as npx runs it.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import manifest from '../../simulator/package.json' with { type: 'json' };

const FILE = `simulator/${manifest.bin['mt-simulator']}`;

describe('the command of the simulator', () => {
  let child: ChildProcess | undefined;
  afterEach(() => child?.kill('SIGKILL'));

  function run(...args: string[]): { child: ChildProcess; said(pattern: RegExp): Promise<string> } {
    const started = spawn(process.execPath, [FILE, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    child = started;
    let text = '';
    const said = async (pattern: RegExp): Promise<string> => {
      while (!pattern.test(text)) {
        const chunk = await Promise.race([once(started.stdout, 'data'), once(started.stderr, 'data')]);
        text += String(chunk[0]);
      }
      return text;
    };
    return { child: started, said };
  }

  it('prints its addresses, answers there, and ends with Ctrl-C', async () => {
    const { child: started, said } = run('--mqtt-port', '0', '--rest-port', '0');
    const text = await said(/Ctrl-C/);
    const [rest = ''] = /http:\S+/.exec(text) ?? [];
    assert.match(text, /mqtt:\/\/127\.0\.0\.1:\d+/);
    assert.match(text, /5 gateways, 250 devices/);
    assert.equal((await fetch(`${rest}/api/v1/devices`)).status, 401);
    started.kill('SIGINT');
    assert.deepEqual(await once(started, 'exit'), [0, null]);
  });

  it('says in its help how many devices the REST list has', async () => {
    assert.match(await run('--help').said(/--listed.*\)/), /devices in the REST list \(255\)/);
  });

  it('says which port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    const { child: started, said } = run('--mqtt-port', `${port}`, '--rest-port', '0');
    const exit = once(started, 'exit');
    await said(new RegExp(`Port ${port} is in use`));
    assert.deepEqual(await exit, [1, null]);
    other.close();
  });

  const WRONG: [option: string, value: string, said: RegExp][] = [
    ['--gateways', '0', /^gateways: not a whole number from 1 to 10000 \(0\)$/m],
    ['--gateways', '1.5', /^gateways: not a whole number from 1 to 10000 \(1\.5\)$/m],
    ['--ws-port', '99999', /^wsPort: not a whole number from -1 to 65535 \(99999\)$/m],
    ['--qos', '7', /^qos: not a whole number from 0 to 1 \(7\)$/m],
    ['--rate', 'fast', /^--rate is not a number: fast$/m],
    ['--rate', '', /^--rate is not a number: $/m],
  ];
  for (const [option, value, told] of WRONG) {
    it(`says which option cannot be: ${option} '${value}'`, async () => {
      const { child: started, said } = run('--mqtt-port=0', '--rest-port=0', `${option}=${value}`);
      const exit = once(started, 'exit');
      await said(told);
      assert.deepEqual(await exit, [1, null]);
    });
  }

  it('lists its options', async () => {
    assert.match(await run('--help').said(/--rest-port .*8080/), /--mqtt-port .*1883/);
  });
});
