// The reports that the load process publishes: the same sequence for whoever is measured.

export interface Traffic {
  form: 'raw' | 'decoded';
  gateways: number;
  devices: number;
}

/** One kind for each of the five report-in nodes. */
export const KINDS = ['heartbeat', 'rssi', 'property', 'measurement', 'event'] as const;

const TIME = '2024-05-01T10:00:00.000Z';

const DECODED = [
  (seq: number) => ({ suffix: 'heartbeat', body: { time: TIME, seq, status: 0, lastCount: 2 } }),
  (seq: number) => ({
    suffix: 'rssi',
    body: { time: TIME, parent: 'c0141f68fc3d', rssi: -60 - (seq % 30), channel: 38, seq },
  }),
  (seq: number) => ({
    suffix: 'property-decoded/battery-level',
    body: { time: TIME, value: seq % 100, seq },
  }),
  (seq: number) => ({
    suffix: 'measurement-decoded/temperature',
    body: { time: TIME, seq, value: 20 + seq / 100 },
  }),
  (seq: number) => ({ suffix: 'event-decoded/alarm', body: { time: TIME, seq, value: true } }),
];

const hex = (value: number, bytes: number) => value.toString(16).padStart(bytes * 2, '0');

const RAW = [
  ...DECODED.slice(0, 2),
  (seq: number) => ({ suffix: 'property/8100', body: { time: TIME, value: hex(seq % 100, 1), seq } }),
  (seq: number) => ({ suffix: 'measurement/8800', body: { time: TIME, seq, value: hex(2000 + seq, 2) } }),
  (seq: number) => ({ suffix: 'event/9800', body: { time: TIME, seq, value: '01' } }),
];

/** What all gateways of the list are labelled with. */
export const LABEL_OF_ALL = 'building';

export const gatewayMac = (index: number): string => hex(0xc0141f680000 + index, 6);
export const deviceMac = (index: number): string => hex(0xe4a7c5100000 + index, 6);

export interface Message {
  topic: string;
  payload: string;
}

/** Every device in turn, each time with the next kind; at least 1 000 messages, then from the start again. */
export function reportsOf({ form, gateways, devices }: Traffic): Message[] {
  const makers = form === 'raw' ? RAW : DECODED;
  const length = Math.ceil(Math.max(devices, 1000) / devices) * devices * makers.length;
  return Array.from({ length }, (_, i) => {
    const device = i % devices;
    const make = makers[(i + Math.floor(i / devices)) % makers.length] as (typeof makers)[number];
    const { suffix, body } = make(i % 256);
    const place = `mt/gateway/${gatewayMac(device % gateways)}/device/${deviceMac(device)}`;
    return { topic: `${place}/${suffix}`, payload: JSON.stringify(body) };
  });
}
