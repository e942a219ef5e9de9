// Prints what 100 000 devices with three values each take of the memory of this process, in megabytes.
import { NetworkState } from '../../src/network/network-state.ts';
import { type Report, readReportTopic } from '../../src/protocol/reports/index.ts';
import { usedMemory } from '../memory.ts';

const DEVICES = 100_000;
let now = 1_000.5;
const network = new NetworkState({ now: () => now });
network.setListening(true, false);

function hear(gateway: string, device: string, rest: string, report: object): void {
  network.record(readReportTopic('t', gateway, device, rest), now, report as Report, true);
}

const before = usedMemory();
for (let round = 0; round < 2; round++) {
  for (let i = 0; i < DEVICES; i++) {
    now += 0.1;
    // Texts of their own, as a gateway's messages bring them.
    const macs = [0xc00000000000 + (i % 500), 0xd00000000000 + i].map((mac) => mac.toString(16));
    const [, , gateway = '', , device = ''] = `mt/gateway/${macs[0]}/device/${macs[1]}`.split('/');
    const time = `2026-01-02T03:04:05.${i}`.slice(0, 24);
    for (const [n, id] of ['8800', '8802', '8100'].entries()) {
      hear(gateway, device, `measurement/${id}`, { time, value: i + n / 7 });
    }
    hear(gateway, device, 'rssi', { time, rssi: -60 - (i % 30), parent: gateway });
  }
}
const megabytes = (usedMemory() - before) / 2 ** 20;
console.log(JSON.stringify({ megabytes, ...network.size }));
