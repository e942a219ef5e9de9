// What every node does in the same way: find its service, run its inputs, tell errors, and close in time.
import { setMaxListeners } from 'node:events';
import type { Node, NodeAPI, NodeDef, NodeMessage } from 'node-red';
import { invalidInput, ServiceError, type Session, type SessionState } from '../../../src/index.ts';
import type { NodeConfig } from '../defaults.ts';
import { onceStarted } from './deploys.ts';
import { checkFilled, fillEnv, savedCredentials, savedNode } from './env.ts';
import { createFields, type FieldOptions } from './fields.ts';
import { type Act, Inputs } from './inputs.ts';
import { findService, type ServiceNode } from './services.ts';
import { StatusLine, type View, viewOfError, viewOfSession } from './status.ts';
import { toFlowError } from './texts.ts';

/** What a node has at hand when it is wired up. */
export interface Wiring<Config, Credentials> {
  RED: NodeAPI;
  node: Node;
  config: Config;
  /** @throws ServiceError `INVALID_INPUT` where it names an environment variable that brings nothing */
  credential(this: void, name: keyof Credentials & string): string | undefined;
  session: Session;
  /** Aborted when the node closes. */
  signal: AbortSignal;
  /** Prepares typed fields for reading; see `createFields`. */
  fields<Name extends string>(
    this: void,
    names: readonly Name[],
    options?: FieldOptions<Name>,
  ): (msg: NodeMessage) => Record<Name, unknown> | Promise<Record<Name, unknown>>;
  show(this: void, view: View): void;
  /** Gives an error without an input message to the Catch nodes. */
  fail(this: void, error: unknown, msg: NodeMessage): void;
}

interface Kind<Config, Credentials> {
  upgrade(old: unknown): Config;
  /** Refuses settings that cannot be meant. @throws ServiceError `INVALID_INPUT` with the property's name */
  check?(config: Config): void;
  credentials?: { [K in keyof Credentials]-?: { readonly type: 'text' | 'password' } };
}

export interface ActionKind<Config, Credentials> extends Kind<Config, Credentials> {
  /** The half of the service whose state the node shows. */
  half: 'rest' | 'mqtt';
  open(wiring: Wiring<Config, Credentials>): Act;
}

export interface SourceKind<Config, Credentials> extends Kind<Config, Credentials> {
  /** Starts sending. @returns the disposer; `removed` is false when the node comes back with the same deploy */
  open(wiring: Wiring<Config, Credentials>): (removed: boolean) => void;
}

/** Registers a node that works on input messages. */
export function registerAction<Config extends NodeConfig, Credentials extends object = object>(
  RED: NodeAPI,
  type: string,
  kind: ActionKind<Config, Credentials>,
): void {
  register(RED, type, kind, (base) => {
    const inputs = new Inputs(base);
    if (base.session) {
      base.onClose(base.session.onState(createStateWatcher(inputs, kind.half)));
      if (kind.half === 'mqtt') {
        base.onClose(base.session.attach());
      }
      inputs.act = kind.open(base as Wiring<Config, Credentials>);
    } else {
      inputs.showService(viewOfError(base.problem));
    }
    base.node.on('input', (msg, send, done) => void inputs.run(msg, send, done));
    return () => inputs.close();
  });
}

/** A REST call's error is about the call and stays; a gateway's may be over when the broker comes back. */
function createStateWatcher(inputs: Inputs, half: 'rest' | 'mqtt'): (state: SessionState) => void {
  return (state) => {
    const view = viewOfSession(state, half);
    if (half === 'mqtt' && view.look !== 'ready') {
      inputs.forgetLast();
    }
    inputs.showService(view);
  };
}

/** Registers a node without input, which can tell its errors only in the status, the log and to Catch nodes. */
export function registerSource<Config extends NodeConfig, Credentials extends object = object>(
  RED: NodeAPI,
  type: string,
  kind: SourceKind<Config, Credentials>,
): void {
  register(RED, type, kind, (base) => {
    try {
      if (!base.session) {
        throw base.problem;
      }
      const stop = kind.open(base as Wiring<Config, Credentials>);
      return async (removed) => stop(removed);
    } catch (error) {
      const problem = toFlowError(RED, error);
      base.show(viewOfError(problem));
      if (problem instanceof ServiceError && problem.code === 'NOT_CONFIGURED') {
        base.node.warn(problem.message);
      } else {
        base.onClose(onceStarted(RED, () => base.node.error(problem, {})));
      }
      return async () => {};
    }
  });
}

interface Base<Config, Credentials> extends Omit<Wiring<Config, Credentials>, 'session'> {
  session: Session | undefined;
  /** Why there is no session. */
  problem: Error | undefined;
  onClose(disposer: () => void): void;
}

type Opened = (removed: boolean) => Promise<void>;

function register<Config extends NodeConfig, Credentials extends object>(
  RED: NodeAPI,
  type: string,
  kind: Kind<Config, Credentials>,
  open: (base: Base<Config, Credentials>) => Opened,
): void {
  function FlowNode(this: Node<Credentials>, saved: NodeDef): void {
    RED.nodes.createNode(this, saved);
    const node = this as unknown as Node;
    const filled = fillEnv(RED, node, saved, () => savedNode(RED, saved));
    const config = kind.upgrade(filled.values);
    const service = findService(RED, config.service);
    const status = new StatusLine(RED, node);
    const abort = new AbortController();
    setMaxListeners(0, abort.signal);
    const disposers: (() => void)[] = [];
    const problem = findProblem(service, () => {
      checkFilled(config, filled);
      kind.check?.(config);
    });
    if (service) {
      service.users[node.id] = node;
    }
    const close = open({
      RED,
      node,
      config,
      credential: createCredentials(RED, node, saved),
      session: problem ? undefined : service?.session,
      problem,
      signal: abort.signal,
      fields: (names, options) => createFields(RED, node, config as never, filled, names, options),
      show: (view) => status.show(view),
      fail: (error, msg) => node.error(toFlowError(RED, error), msg),
      onClose: (disposer) => void disposers.push(disposer),
    });
    // Node-RED counts the declared parameters of this listener.
    node.on('close', (removed: boolean, done: () => void) => {
      status.close();
      abort.abort();
      for (const dispose of disposers) {
        dispose();
      }
      if (service?.users[node.id] === node) {
        delete service.users[node.id];
      }
      close(removed).then(done, done);
    });
  }
  RED.nodes.registerType(type, FlowNode, { credentials: kind.credentials });
}

/** Why a node cannot work, from the one that has to be mended first. */
function findProblem(service: ServiceNode | undefined, check: () => void): Error | undefined {
  if (!service?.session) {
    return service?.problem ?? new ServiceError('NOT_CONFIGURED', 'service', { part: 'service' });
  }
  try {
    check();
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

/** The value is not told: what looks like a variable may be a part of the secret. */
function createCredentials(RED: NodeAPI, node: Node, saved: NodeDef): (name: string) => string | undefined {
  const entered = (node as Node<object>).credentials ?? {};
  const { values, unset, emptied } = fillEnv(RED, node, entered, () => savedCredentials(RED, saved));
  return (name) => {
    if (unset.has(name) || (values[name] === '' && emptied(name) !== undefined)) {
      throw invalidInput(name, undefined, 'nothingSecret');
    }
    return values[name] as string | undefined;
  };
}
