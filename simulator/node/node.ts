// mt-simulator: the simulated service in Node-RED, for people without gateways.
import type { Node, NodeAPI, NodeDef, NodeMessage } from 'node-red';
import { InputError } from '../src/index.ts';
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
      simulator.steer(msg.payload).then(
        () => done(),
        (error: Error) => done(inCatchableForm(error)),
      );
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

/** What Catch nodes pass on has a code. */
function inCatchableForm(error: Error): Error {
  return error instanceof InputError ? error : Object.assign(error, { code: 'NOT_CONNECTED' });
}
