// The engine's door: the names that nodes may use.

export { type BrokerTest, testBroker } from './broker-test.ts';
export {
  ERROR_CODES,
  type ErrorCode,
  type ErrorText,
  fillText,
  invalidInput,
  ServiceError,
  type TextValues,
} from './errors.ts';
export type { LabelState } from './labels.ts';
export type { Logger } from './log.ts';
export type { Report } from './protocol/reports/index.ts';
export { fitsTopic } from './protocol/topics.ts';
export { type RestTest, testRest } from './rest/connection-test.ts';
export type { Device } from './rest/types.ts';
export { type Answer, type ReportFilter, Session, type SessionState, type Subscriber } from './session.ts';
export type { MqttSettings, RestSettings, Settings, TlsSettings } from './settings.ts';
