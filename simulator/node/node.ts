// mt-simulator: the simulated service in Node-RED, for people without gateways.
import type { Node, NodeAPI, NodeDef, NodeMessage } from 'node-red';
import { InputError, NotConnectedError } from '../src/index.ts';
import { readConfig, type SimulatorConfig } from './config.ts';
import { RunningSimulator } from './running.ts';

interface InputMessage extends NodeMessage {
  payload?: unknown;
}

export default function registerSimulator(RED: NodeAPI): void {
  function Simulator(this: Node, saved: NodeDef & Partial<SimulatorConfig>): void {
    RED.nodes.createNode(this, saved);
    const simulator = new RunningSimulator(this, readConfig(saved), (key, values = {}) => RED._(key, values));
    this.on('input', (msg: InputMessage, _send, done) => {
      void steerWith(simulator, msg).then((error) => finish(this, done, error));
    });
    // With a parameter: Node-RED waits until it is called.
    this.on('close', (done: () => void) => {
      simulator.close().then(done, (error: Error) => {
        this.error(error);
        done();
      });
    });
    // A wrong setting is told at once: then the Catch and Status nodes of this deploy have to exist.
    const start = (): void => void simulator.start();
    RED.events.once('flows:started', start);
    this.on('close', () => void RED.events.removeListener('flows:started', start));
  }
  RED.nodes.registerType('mt-simulator', Simulator as unknown as (this: Node, def: NodeDef) => void);
}

/** Does what a message asks for. @returns why it could not, with the code that flows branch on */
async function steerWith(simulator: RunningSimulator, msg: InputMessage): Promise<Error | undefined> {
  try {
    await simulator.steer(readPayload(msg));
    return undefined;
  } catch (error) {
    return error instanceof InputError ? error : new NotConnectedError((error as Error).message);
  }
}

function readPayload(msg: InputMessage): unknown {
  try {
    return msg.payload;
  } catch {
    throw new InputError('payload', undefined, 'cannot be read');
  }
}

/** Node-RED copies the message for Catch and Complete nodes, which fails where a part of it cannot be copied. */
function finish(node: Node, done: (error?: Error) => void, error: Error | undefined): void {
  try {
    done(error);
  } catch {
    node.error(error ?? new InputError('msg', undefined, 'cannot be copied'), {});
  }
}
