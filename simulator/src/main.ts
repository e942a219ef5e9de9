// The service in a box on the command line; `--help` lists its options.
import { type CommandOptions, helpText, readArguments, type Service, startService } from './index.ts';

/** What people want who start it by hand: the ports and the size that the examples expect. */
const USUAL: CommandOptions = {
  mqttPort: 1883,
  restPort: 8080,
  allDevices: 250,
  rate: 8,
  named: true,
  reportWrites: true,
  historyLimit: 1_000,
  sampleLimit: 250,
};

/** The REST list holds all that is simulated, unless another number is given. */
function withUsual(given: CommandOptions): CommandOptions {
  const isPerGateway = given.devices !== undefined && given.allDevices === undefined;
  const options = { ...USUAL, ...(isPerGateway && { allDevices: 0 }), ...given };
  const { gateways = 5, devices = 0, allDevices } = options;
  return { listed: gateways + (allDevices || gateways * devices), ...options };
}

function introduce({ urls, credentials, fleet, demo }: Service): string {
  const { username, password } = credentials;
  const lines = [
    ['Broker', urls.mqtt],
    ['REST', urls.base && `${urls.base}   (user ${username}, password ${password})`],
    ['Network', `${fleet.gateways.length} gateways, ${fleet.devices.length} devices`],
    ['For example', `gateway ${demo.gateway}, device ${demo.device}`],
  ];
  const rows = lines.filter(([, text]) => text).map(([name = '', text]) => `  ${name.padEnd(12)} ${text}`);
  return `The simulated service is running:\n${rows.join('\n')}\n\nStop it with Ctrl-C.\n`;
}

async function main(): Promise<void> {
  const given = readArguments(process.argv.slice(2));
  if (!given) {
    process.stdout.write(`${helpText(withUsual({}))}\n`);
    return;
  }
  const service = await startService(withUsual(given));
  process.stdout.write(introduce(service));
  const stop = (): void => {
    service.close().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, stop);
  }
}

main().catch((error: NodeJS.ErrnoException & { port?: number }) => {
  const isTaken = error.code === 'EADDRINUSE';
  process.stderr.write(isTaken ? `Port ${error.port} is in use.\n` : `${error.message}\n`);
  process.exitCode = 1;
});
