// The small world that the model's reports and requests are about: few gateways, devices and kinds, so that they meet.

export const GATEWAYS = ['c00000000001', 'c00000000002', 'c00000000003'] as const;
export const DEVICES = ['d00000000001', 'd00000000002', 'd00000000003'] as const;
/** Each with a kind, and the tail of its topic. */
export const KINDS = {
  heartbeat: 'heartbeat',
  measurement: 'measurement/8801',
  event: 'event/8801',
} as const;
export type Kind = keyof typeof KINDS;
export const KIND_NAMES = Object.keys(KINDS) as Kind[];

export interface Place {
  gateway: string;
  device: string;
  kind: Kind;
}

export const PLACES: readonly Place[] = GATEWAYS.flatMap((gateway) =>
  DEVICES.flatMap((device) => KIND_NAMES.map((kind) => ({ gateway, device, kind }))),
);

export const reportTopic = (prefix: string, { gateway, device, kind }: Place): string =>
  `${prefix}/mt/gateway/${gateway}/device/${device}/${KINDS[kind]}`;

/** A report's number is its time, which every kind has and which is passed on as it is. */
export const timeOf = (number: number): string => new Date(number * 1000).toISOString();
export const numberOf = (time: unknown): number => Date.parse(String(time)) / 1000;

/** The same for every gateway that hears it. */
export function reportPayload(number: number, isBad: boolean): string {
  const body = { time: timeOf(number), seq: number % 256, value: number.toString(16).padStart(8, '0') };
  return JSON.stringify(isBad ? { ...body, seq: 'none' } : body);
}
