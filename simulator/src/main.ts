// The service in a box on the command line; `--help` lists its options.
import { helpText, readArguments } from './options.ts';
import { type Service, startService } from './service.ts';

/** The one line of JSON that other programs read. */
function introduce({ urls, credentials, demo, gateways, devices }: Service): string {
  const network = gateways.map(({ mac, mode }) => ({ mac, mode }));
  return JSON.stringify({ urls, credentials, demo, gateways: network, listed: devices.length });
}

async function main(): Promise<void> {
  const given = readArguments(process.argv.slice(2));
  if (!given) {
    process.stdout.write(`${helpText()}\n`);
    return;
  }
  const service = await startService(given);
  process.stdout.write(`${introduce(service)}\n`);
  const stop = (): void => {
    service.close().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  process.once('disconnect', stop);
}

main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
