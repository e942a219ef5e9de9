// What every node does in the same way: it finds its service, handles its inputs, reports errors, and closes in time.
import { setMaxListeners } from 'node:events';
import type { Node, NodeAPI, NodeDef, NodeMessage } from 'node-red';
import {
  invalidInput,
  ServiceError,
  type Session,
  type SessionState,
  showValue,
} from '../../../src/index.ts';
import type { NodeConfig } from '../defaults.ts';
import { onceStarted, onStoppingUnheard } from './deploys.ts';
import {
  checkFilled,
  checkRanges,
  type Filled,
  fillEnv,
  type Ranges,
  savedCredentials,
  savedNode,
} from './env.ts';
import { createFields, type FieldOptions } from './fields.ts';
import { InOrder } from './in-order.ts';
import { type InputHandler, Inputs } from './inputs.ts';
import { type Opened, ServiceUser } from './service-user.ts';
import type { ServiceNode } from './services.ts';
import { ownState, type Status, StatusLine, statusOfError, statusOfSession } from './status.ts';
import { toErrorOfMessage, toFlowError, translate } from './texts.ts';

/** What a node is given when it starts. */
export interface NodeContext<Config, Credentials> {
  RED: NodeAPI;
  node: Node;
  config: Config;
  /** @throws ServiceError `INVALID_INPUT` where it names an environment variable that brings nothing */
  credential(this: void, name: keyof Credentials & string): string | undefined;
  session: Session;
  /** Aborted when the node closes, or goes over to another session. */
  signal: AbortSignal;
  /** Prepares typed fields for reading; see `createFields`. */
  fields<Name extends string>(
    this: void,
    names: readonly Name[],
    options?: FieldOptions<Name>,
  ): (msg: NodeMessage) => Record<Name, unknown> | Promise<Record<Name, unknown>>;
  show(this: void, status: Status): void;
  /** Reports an error that belongs to no input message to the Catch nodes. */
  fail(this: void, error: unknown, msg: NodeMessage): void;
}

/** What a node is given that works on input messages. */
export interface ActionContext<Config, Credentials> extends NodeContext<Config, Credentials> {
  /** Shows it while the service is ready and the node has nothing to do; undefined: the service. */
  showReady(this: void, status: Status | undefined): void;
  /** Calls back when the node closes; `removed` is false when it comes back, or goes over to another session. */
  onClose(this: void, disposer: (removed: boolean) => void): void;
  /** Calls back when all nodes are there, which they may be already. */
  onceStarted(this: void, call: () => void): void;
  service: ServiceNode | undefined;
}

interface NodeDefinition<Config, Credentials> {
  upgrade(old: unknown): Config;
  /** What the node is called, where Node-RED has taken a typed field `name` for that; empty: by its id. */
  captionOf?(config: Config): string;
  /** What its numbers can be. */
  ranges?: Ranges;
  /** Checks the settings beyond their types and ranges. @throws ServiceError `INVALID_INPUT` with the property's name */
  check?(config: Config): void;
  credentials?: { [K in keyof Credentials]-?: { readonly type: 'text' | 'password' } };
}

export interface ActionDefinition<Config, Credentials> extends NodeDefinition<Config, Credentials> {
  /** The half of the service whose state the node shows. */
  half: 'rest' | 'mqtt';
  /** It sends by itself, and perhaps no message ever comes: why it cannot is told at once. */
  sendsByItself?: boolean;
  createHandler(context: ActionContext<Config, Credentials>): InputHandler;
}

export interface SourceDefinition<Config, Credentials> extends NodeDefinition<Config, Credentials> {
  /** Whether flows confirm what it sends. */
  confirms(config: Config): boolean;
  /** Starts sending. @returns the disposer; `removed` is false when the node comes back with the same deploy */
  start(context: NodeContext<Config, Credentials>): (removed: boolean) => void;
}

/** Registers a node that works on input messages. */
export function registerAction<Config extends NodeConfig, Credentials extends object = object>(
  RED: NodeAPI,
  type: string,
  definition: ActionDefinition<Config, Credentials>,
): void {
  register(RED, type, definition, (context) => {
    const inputs = new Inputs(context);
    if (context.session) {
      // First, so that the first state that is shown is not that of a connection which nobody wants.
      const detach = definition.half === 'mqtt' ? context.session.attach() : undefined;
      context.onClose(context.session.onState(createStateWatcher(inputs, definition.half)));
      if (detach) {
        context.onClose(detach);
      }
      inputs.handler = definition.createHandler({
        ...(context as BaseContext<Config, Credentials> & { session: Session }),
        showReady: (status) => inputs.showReady(status),
      });
    } else {
      const problem = toFlowError(RED, context.problem);
      inputs.showService(statusOfError(problem));
      if (definition.sendsByItself) {
        tellProblem(context, problem);
      }
    }
    return {
      handle: (msg, send, done) => inputs.handle(msg, send, done),
      running: () => inputs.running,
      close: () => inputs.close(),
    };
  });
}

/**
 * A REST call's error is about the call and stays; a gateway's may be over when the broker comes back. A subscription that
 * is refused is shown where its reports are missing, and told by the requests whose responses are.
 */
function createStateWatcher(inputs: Inputs, half: 'rest' | 'mqtt'): (state: SessionState) => void {
  return (state) => {
    const status = statusOfSession(
      ownState(state, () => undefined),
      half,
    );
    if (half === 'mqtt' && status.style !== 'ready') {
      inputs.forgetLast();
    }
    inputs.showService(status);
  };
}

/** Registers a node without input, which can report its errors only in the status, the log and to Catch nodes. */
export function registerSource<Config extends NodeConfig, Credentials extends object = object>(
  RED: NodeAPI,
  type: string,
  definition: SourceDefinition<Config, Credentials>,
): void {
  register(RED, type, definition, (context) => {
    try {
      if (!context.session) {
        throw context.problem;
      }
      const stop = definition.start(context as NodeContext<Config, Credentials>);
      return { close: async (removed) => stop(removed) };
    } catch (error) {
      const problem = toFlowError(RED, error);
      context.show(statusOfError(problem));
      tellProblem(context, problem);
      const { node, config, service } = context;
      const endWait = service?.session?.waitFor(node.id, definition.confirms(config));
      return { close: async () => endWait?.() };
    }
  });
}

/**
 * Why a node cannot work that nobody asks: a warning where somebody has still to configure something, else for Catch nodes.
 * What is wrong with the service it tells itself, once for all of its nodes.
 */
export function tellProblem(
  {
    RED,
    node,
    onceStarted,
    service,
  }: Pick<ActionContext<unknown, unknown>, 'RED' | 'node' | 'onceStarted' | 'service'>,
  problem: Error,
): void {
  if (service?.problems.includes(problem)) {
    onceStarted(() => service.tell(problem));
  } else if (problem instanceof ServiceError && problem.code === 'NOT_CONFIGURED') {
    node.warn(problem.message);
  } else {
    onceStarted(() => node.error(toErrorOfMessage(RED, problem), {}));
  }
}

interface BaseContext<Config, Credentials> extends Omit<NodeContext<Config, Credentials>, 'session'> {
  session: Session | undefined;
  /** Why there is no session. */
  problem: Error | undefined;
  onClose(this: void, disposer: (removed: boolean) => void): void;
  /** Calls back when all nodes are there, which they may be already. */
  onceStarted(this: void, call: () => void): void;
  service: ServiceNode | undefined;
}

interface OpenedNode extends Opened {
  /** Undefined for a node without input. */
  handle?: Inputs['handle'];
  /** How many messages it handles. */
  running?: () => number;
}

type OpenNode<Config, Credentials> = (context: BaseContext<Config, Credentials>) => OpenedNode;

function register<Config extends NodeConfig, Credentials extends object>(
  RED: NodeAPI,
  type: string,
  definition: NodeDefinition<Config, Credentials>,
  openNode: OpenNode<Config, Credentials>,
): void {
  function FlowNode(this: Node<Credentials>, saved: NodeDef): void {
    RED.nodes.createNode(this, saved);
    const node = this as unknown as Node;
    const filled = fillEnv(RED, node, saved, () => savedNode(RED, saved));
    const config = definition.upgrade(filled.values);
    if (definition.captionOf) {
      // The debug sidebar would show the typed field in place of an empty name.
      node.name = definition.captionOf(config) || node.id;
    }
    const statusLine = new StatusLine(RED, node);
    const order = new InOrder();
    const constant = {
      RED,
      node,
      config,
      credential: createCredentials(RED, node, saved),
      fields: (names, options) => createFields(RED, node, config as never, filled, names, options, order),
      fail: (error, msg) => node.error(toErrorOfMessage(RED, error), msg),
    } satisfies Partial<BaseContext<Config, Credentials>>;
    const user = new ServiceUser(RED, node, config.service, (service, isRunning) => {
      const problem = findProblem(service, config.service, filled, () => {
        const { ranges = {}, check } = definition;
        checkFilled(config, filled, ranges);
        checkRanges(config, ranges);
        check?.(config);
      });
      const session = problem ? undefined : service?.session;
      return openWith({ ...constant, session, problem, service }, statusLine, isRunning, openNode);
    });
    let ignoreDeploys = (): void => {};
    if (user.opened.handle) {
      node.on('input', (msg, send, done) => user.opened.handle?.(msg, send, done));
      const count = () => user.opened.running?.() ?? 0;
      ignoreDeploys = onStoppingUnheard(
        RED,
        node.id,
        () => count() > 0,
        // What is behind Catch nodes closes with them, so that nobody would hear of it.
        () => node.warn(translate(RED, 'deploy.closed', { count: count() })),
      );
    }
    // Node-RED counts the declared parameters of this listener.
    node.on('close', (removed: boolean, done: () => void) => {
      ignoreDeploys();
      statusLine.close();
      user.close(removed).then(done, done);
    });
  }
  RED.nodes.registerType(type, FlowNode, { credentials: definition.credentials });
}

type OfOneSession = 'signal' | 'show' | 'onClose' | 'onceStarted';

/** Opens a node with one session; what it shows, waits for and listens to ends with that. */
function openWith<Config, Credentials>(
  constant: Omit<BaseContext<Config, Credentials>, OfOneSession>,
  statusLine: StatusLine,
  isRunning: boolean,
  openNode: OpenNode<Config, Credentials>,
): OpenedNode {
  const abort = new AbortController();
  setMaxListeners(0, abort.signal);
  const disposers: ((removed: boolean) => void)[] = [];
  if (!isRunning) {
    disposers.push(onceStarted(constant.RED, () => statusLine.repeat()));
  }
  const opened = openNode({
    ...constant,
    signal: abort.signal,
    show: (status) => abort.signal.aborted || statusLine.show(status),
    onClose: (disposer) => void disposers.push(disposer),
    onceStarted: (call) => (isRunning ? call() : void disposers.push(onceStarted(constant.RED, call))),
  });
  return {
    ...opened,
    close(removed) {
      abort.abort();
      for (const dispose of disposers) {
        dispose(removed);
      }
      return opened.close(removed);
    },
  };
}

/** What is wrong where there is no service with the id that a node names. */
function withoutService(id: string, { emptied }: Filled): ServiceError {
  const cause = { part: 'service' };
  const variable = emptied('service');
  return variable === undefined
    ? new ServiceError('NOT_CONFIGURED', id === '' ? 'service' : 'notRunning', cause)
    : new ServiceError('NOT_CONFIGURED', 'serviceVariable', cause, { variable: showValue(variable) });
}

/** Why a node cannot work: what is wrong with its service comes before what is wrong with its own settings. */
function findProblem(
  service: ServiceNode | undefined,
  id: string,
  filled: Filled,
  check: () => void,
): Error | undefined {
  if (!service?.session) {
    return service?.problem ?? withoutService(id, filled);
  }
  try {
    check();
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

/** An error does not show the value: what looks like a variable may be a part of the secret. */
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
