// What an mt-simulator node saves, and within which bounds: the panel and the runtime both refuse what is outside.

export interface SimulatorConfig {
  version: number;
  name: string;
  mqttPort: number;
  restPort: number;
  gateways: number;
  devices: number;
  /** Reports per second. */
  rate: number;
  mode: 'raw' | 'decoded' | 'mixed';
  /** Percent of the answers. */
  lost: number;
  /** A gateway goes away now and then. */
  away: boolean;
}

export const DEFAULTS: SimulatorConfig = {
  version: 1,
  name: '',
  mqttPort: 1883,
  restPort: 8080,
  gateways: 5,
  devices: 250,
  rate: 8,
  mode: 'mixed',
  lost: 0,
  away: false,
};

export const MODES: readonly string[] = ['raw', 'decoded', 'mixed'];

/** Texts, too: that is what an environment variable holds. */
const SWITCHED: readonly string[] = ['true', 'false'];

/** Ports below belong to the system. */
export const MIN_PORT = 1024;
export const MAX_PORT = 65_535;
export const PORTS = ['mqttPort', 'restPort'] as const;

/** Of a value that is shown in an error. */
const MAX_SHOWN = 100;

/** Whole numbers but `rate` and `lost`. */
export const RANGES = {
  gateways: [1, 100],
  devices: [0, 10_000],
  rate: [0, 1_000],
  lost: [0, 100],
} as const satisfies Partial<Record<keyof SimulatorConfig, readonly [min: number, max: number]>>;

/** What is wrong with a setting: a key of the texts in `problem`, and what stands in it. */
export interface Problem {
  field: keyof SimulatorConfig;
  key: 'portLow' | 'portRange' | 'portTwice' | 'range' | 'notNumber' | 'notWhole' | 'choice';
  values: Record<string, string | number>;
}

/** Of a saved node, with the value that it has. */
export interface WrongSetting extends Problem {
  value: unknown;
}

const given = (value: unknown): number => (String(value ?? '').trim() === '' ? Number.NaN : Number(value));

/** 0 takes any free port. */
export function findPortProblem(field: (typeof PORTS)[number], value: unknown): Problem | undefined {
  const port = given(value);
  if (!Number.isInteger(port) || port < 0 || port > MAX_PORT) {
    return { field, key: 'portRange', values: { port: String(value) } };
  }
  return port > 0 && port < MIN_PORT ? { field, key: 'portLow', values: { port, min: MIN_PORT } } : undefined;
}

/** Each half listens on a port of its own. */
export function findTwiceProblem({
  mqttPort,
  restPort,
}: Record<(typeof PORTS)[number], unknown>): Problem | undefined {
  const port = given(restPort);
  return port > 0 && port === given(mqttPort)
    ? { field: 'restPort', key: 'portTwice', values: { port } }
    : undefined;
}

export function findRangeProblem(field: keyof typeof RANGES, value: unknown): Problem | undefined {
  const [min, max] = RANGES[field];
  const number = given(value);
  if (Number.isNaN(number) && String(value ?? '').trim() !== '') {
    return { field, key: 'notNumber', values: { value: String(value).slice(0, MAX_SHOWN) } };
  }
  if (!(number >= min && number <= max)) {
    return { field, key: 'range', values: { min, max } };
  }
  const isWhole = field === 'rate' || field === 'lost' || Number.isInteger(number);
  return isWhole ? undefined : { field, key: 'notWhole', values: { min, max } };
}

/** A saved node in full, and the first thing that is wrong with it. */
export function readConfig(saved: object): { config: SimulatorConfig; problem: WrongSetting | undefined } {
  const known = Object.entries(saved).filter(([name, value]) => name in DEFAULTS && value !== undefined);
  const config = { ...DEFAULTS, ...Object.fromEntries(known) } as SimulatorConfig;
  const problems = [
    ...PORTS.map((field) => findPortProblem(field, config[field])),
    findTwiceProblem(config),
    ...Object.keys(RANGES).map((field) =>
      findRangeProblem(field as keyof typeof RANGES, config[field as keyof typeof RANGES]),
    ),
    MODES.includes(config.mode) ? undefined : ({ field: 'mode', key: 'choice', values: {} } as const),
    SWITCHED.includes(String(config.away))
      ? undefined
      : ({ field: 'away', key: 'choice', values: {} } as const),
  ];
  const problem = problems.find((found) => found !== undefined);
  const wrong = problem && { ...problem, value: config[problem.field] };
  for (const field of [...PORTS, ...Object.keys(RANGES)] as (keyof typeof RANGES)[]) {
    config[field] = Number(config[field]);
  }
  config.away = String(config.away) === 'true';
  return { config, problem: wrong };
}
