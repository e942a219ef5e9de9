// The mt-simulator panel: the ports, the size and the habits of the simulated network.
import {
  DEFAULTS,
  findPortProblem,
  findRangeProblem,
  findTwiceProblem,
  type PORTS,
  type Problem,
  type RANGES,
  type SimulatorConfig,
} from './config.ts';

interface EditorNode {
  name: string;
  mqttPort?: unknown;
  _(key: string, values?: Record<string, unknown>): string;
}

interface Property<T> {
  value: T;
  validate?(this: EditorNode, value: unknown, options: unknown): boolean | string;
}

declare const RED: { nodes: { registerType(type: string, definition: object): void } };

RED.nodes.registerType('mt-simulator', {
  category: 'mt gateway',
  color: '#6A9CA6',
  icon: 'simulator.svg',
  inputs: 1,
  outputs: 1,
  defaults: {
    version: { value: 1 },
    name: { value: '' },
    mqttPort: { value: 1883, validate: port('mqttPort') },
    restPort: { value: 8080, validate: ownPort },
    gateways: { value: 5, validate: range('gateways') },
    devices: { value: 250, validate: range('devices') },
    rate: { value: 8, validate: range('rate') },
    mode: { value: 'mixed' },
    lost: { value: 0, validate: range('lost') },
    away: { value: false },
  } satisfies { [Key in keyof SimulatorConfig]: Property<SimulatorConfig[Key]> },
  paletteLabel: ownText('palette'),
  inputLabels: ownText('port.input'),
  outputLabels: ownText('port.output'),
  label(this: EditorNode) {
    return this.name || this._('palette');
  },
  labelStyle(this: EditorNode) {
    return this.name ? 'node_label_italic' : '';
  },
  oneditprepare() {
    // Whether the other port is one of its own depends on this one.
    $('#node-input-mqttPort').on('change', () => $('#node-input-restPort').trigger('change'));
  },
});

function ownText(key: string) {
  return function (this: EditorNode): string {
    return this._(key);
  };
}

/** What an environment variable holds is judged when it is deployed. */
const hasEnv = (value: unknown): boolean => /\$\{[^}]+\}/.test(String(value));

function inWords(node: EditorNode, problem: Problem | undefined): boolean | string {
  return problem
    ? node._(`problem.${problem.key}`, { field: node._(`field.${problem.field}`), ...problem.values })
    : true;
}

/** A missing value is the default. */
const judged = (field: keyof SimulatorConfig, value: unknown): unknown => value ?? DEFAULTS[field];

/** Node-RED takes words for a verdict only from validators with two parameters. */
function port(field: (typeof PORTS)[number]) {
  return function (this: EditorNode, value: unknown, _options: unknown): boolean | string {
    return hasEnv(value) || inWords(this, findPortProblem(field, judged(field, value)));
  };
}

/** The broker's port is the one in the panel, where that is open. */
function ownPort(this: EditorNode, value: unknown, options: unknown): boolean | string {
  const verdict = port('restPort').call(this, value, options);
  const mqttPort = judged('mqttPort', $('#node-input-mqttPort').val() ?? this.mqttPort);
  return verdict === true
    ? inWords(this, findTwiceProblem({ mqttPort, restPort: judged('restPort', value) }))
    : verdict;
}

function range(field: keyof typeof RANGES) {
  return function (this: EditorNode, value: unknown, _options: unknown): boolean | string {
    return hasEnv(value) || inWords(this, findRangeProblem(field, judged(field, value)));
  };
}
