// What the package exports: the service in a box for programs and tests of one's own.
export { GatewayAwayError, InputError, NotConnectedError } from './input-error.ts';
export type { OperationCall } from './network.ts';
export { type CommandOptions, helpText, readArguments, type ServiceOptions } from './options.ts';
export type { ServiceEvents } from './records.ts';
export type { RestCall } from './rest.ts';
export { type Service, startService } from './service.ts';
