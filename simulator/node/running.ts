// The life of one simulator: started, tried again while a port is taken, shown in the status, closed in time.
import type { Node, NodeMessage, NodeStatus } from 'node-red';
import {
  InputError,
  type OperationCall,
  type RestCall,
  type Service,
  type ServiceOptions,
  startService,
} from '../src/index.ts';
import type { readConfig, SimulatorConfig, WrongSetting } from './config.ts';

const RETRY_AFTER_MS = 5_000;
/** A deploy waits no longer. */
const MAX_CLOSE_MS = 1_800;
const AWAY_EVERY_S = 120;
/** Calls, CONNECTs and messages of sessions that are kept. */
const MAX_KEPT = 1_000;
/** Unacknowledged ones come again every minute: more of them would be most of the traffic. */
const MAX_SAMPLES = 250;

type Text = (key: string, values?: Record<string, string | number>) => string;

function optionsOf({ lost, away, devices, ...config }: SimulatorConfig): Partial<ServiceOptions> {
  const { mqttPort, restPort, gateways, rate, mode } = config;
  return {
    ...{ mqttPort, restPort, gateways, rate, mode },
    devices,
    allDevices: devices,
    lostAnswers: lost / 100,
    awayEvery: away ? AWAY_EVERY_S : 0,
    named: true,
    listed: gateways + devices,
    reportWrites: true,
    control: false,
    historyLimit: MAX_KEPT,
    queueLimit: MAX_KEPT,
    sampleLimit: MAX_SAMPLES,
  };
}

export class RunningSimulator {
  readonly #node: Node;
  readonly #config: SimulatorConfig;
  readonly #problem: WrongSetting | undefined;
  readonly #text: Text;
  #service: Service | undefined;
  #starting: Promise<void> | undefined;
  /** A message that comes before the flows of its deploy have started waits for that. */
  #begin = (): void => {};
  readonly #begun = new Promise<void>((resolve) => {
    this.#begin = resolve;
  });
  #retry: NodeJS.Timeout | undefined;
  #closed = false;
  /** The last error that was told: one that lasts is told once. */
  #told = '';

  constructor(node: Node, { config, problem }: ReturnType<typeof readConfig>, text: Text) {
    this.#node = node;
    this.#config = config;
    this.#problem = problem;
    this.#text = text;
  }

  start(): Promise<void> {
    this.#begin();
    const problem = this.#problem;
    if (problem) {
      this.#fail(this.#describe(problem));
      return Promise.resolve();
    }
    this.#show({ fill: 'yellow', shape: 'ring', text: this.#text('status.starting') });
    this.#starting = this.#open();
    return this.#starting;
  }

  async #open(): Promise<void> {
    try {
      const service = await startService(optionsOf(this.#config));
      if (this.#closed) {
        await service.close();
        return;
      }
      this.#service = service;
      this.#told = '';
      this.#listen(service);
      this.#showService(service);
    } catch (error) {
      this.#fail(this.#reason(error as NodeJS.ErrnoException & { port?: number }));
      if (!this.#closed) {
        this.#retry = setTimeout(() => void this.start(), RETRY_AFTER_MS);
      }
    }
  }

  #listen(service: Service): void {
    service.events.on('request', (call) => this.#node.send(requestMessage(call)));
    service.events.on('rest', (call) => this.#node.send(restMessage(call)));
    service.events.on('away', () => this.#showService(service));
    service.events.on('back', () => this.#showService(service));
  }

  /** Rejects where the object says nothing that can be done, a setting is wrong, or the simulator does not run. */
  async steer(payload: unknown): Promise<void> {
    await this.#begun;
    if (this.#problem) {
      throw this.#describe(this.#problem);
    }
    await this.#starting;
    if (!this.#service) {
      throw new Error(this.#told || this.#text('status.stopped'));
    }
    await this.#service.steer(payload);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#begin();
    clearTimeout(this.#retry);
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, MAX_CLOSE_MS);
    });
    const closing = (async () => {
      await this.#starting;
      await this.#service?.close();
    })();
    await Promise.race([closing, timeout]).finally(() => clearTimeout(timer));
  }

  #show(status: NodeStatus): void {
    if (this.#closed) {
      return;
    }
    try {
      this.#node.status(status);
    } catch {
      // Somebody else listens to statuses and has thrown.
    }
  }

  #showService({ urls, gateways, fleet }: Service): void {
    const online = gateways.filter((gateway) => gateway.online).length;
    const text = this.#text(online === gateways.length ? 'status.ready' : 'status.away', {
      mqtt: new URL(urls.mqtt).port,
      rest: new URL(urls.base).port,
      gateways: gateways.length,
      online,
      devices: fleet.devices.length,
    });
    this.#show({ fill: 'green', shape: 'dot', text });
  }

  #fail(error: Error | string): void {
    const text = typeof error === 'string' ? error : error.message;
    this.#show({ fill: 'red', shape: 'ring', text });
    if (this.#told !== text && !this.#closed) {
      this.#told = text;
      this.#node.error(error, {});
    }
  }

  #reason({ code, port, message }: NodeJS.ErrnoException & { port?: number }): string {
    const key = { EADDRINUSE: 'status.portInUse', EACCES: 'status.portForbidden' }[code ?? ''];
    return key ? this.#text(key, { port: port ?? '' }) : message;
  }

  #describe({ field, value, key, values }: WrongSetting): InputError {
    const error = new InputError(field, value, key);
    error.message = this.#text(`problem.${key}`, { field: this.#text(`field.${field}`), ...values });
    return error;
  }
}

interface Asked extends NodeMessage {
  topic: string;
  payload: unknown;
}

const requestMessage = ({ topic, body }: OperationCall): Asked => ({
  topic,
  payload: withoutPasswords(body ?? null),
});

function restMessage({ method, path, query, body }: RestCall): Asked {
  const parameters = new URLSearchParams(query).toString();
  const topic = `${method} ${path}${parameters && `?${parameters}`}`;
  return { topic, payload: withoutPasswords(body ?? null) };
}

const SECRET = /password/i;

/** Wherever it was sent to: a login goes to any path where the address of the portal is entered wrong. */
function withoutPasswords(body: unknown): unknown {
  if (typeof body === 'string') {
    // No JSON, or the beginning of it: where the password ends nobody knows.
    return SECRET.test(body) ? null : body;
  }
  return JSON.parse(JSON.stringify(body), (name, value) => (SECRET.test(name) ? undefined : value));
}
