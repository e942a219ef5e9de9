// The logger that the engine is given; Node-RED's node.log, node.warn and node.trace fit it.

export interface Logger {
  info(text: string): void;
  warn(text: string): void;
  trace(text: string): void;
}

export const SILENT: Logger = { info() {}, warn() {}, trace() {} };
