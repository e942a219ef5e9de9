// What the engine exports: the names that nodes may use.

export { startPatientTimer } from './collections/patient-timer.ts';
export {
  copyError,
  ERROR_CODES,
  type ErrorCode,
  type ErrorText,
  fillText,
  inEnglish,
  invalidInput,
  type Phrase,
  ServiceError,
  showDuration,
  showValue,
  type TextValues,
} from './errors.ts';
export type { Logger } from './log.ts';
export { isAcknowledged } from './mqtt/device-requests.ts';
export { areSameClient, giveBackAll, haveSameSession } from './mqtt/kept-elsewhere.ts';
export { type BrokerProbe, probeBroker } from './mqtt/probe.ts';
export { reasonOfRefusals } from './mqtt/reasons.ts';
export type { LastValue } from './network/last-value.ts';
export { fromStored, toStored } from './network/stored-values.ts';
export { ageOfTime } from './network/wall-time.ts';
export type { ConditionChange, WatchSettings } from './network/watch-context.ts';
export { MAX_ADDRESSES_LENGTH, splitBrokers } from './protocol/broker-list.ts';
export {
  BROKER_PROFILE_NAMES,
  type BrokerLimits,
  type BrokerProfileName,
  brokerLimits,
  findProfileProblem,
  PROFILED_SETTINGS,
  type ProfiledSetting,
} from './protocol/broker-profiles.ts';
export { createCatalogue, differencesOf } from './protocol/catalogue.ts';
export {
  CONDITION_NAMES,
  type Condition,
  DEFAULT_LIMITS,
} from './protocol/conditions.ts';
export { findHeaderProblem } from './protocol/http-headers.ts';
export { HTTP_METHODS, parseHttpMethod } from './protocol/http-methods.ts';
export { isObject } from './protocol/json.ts';
export { type Given, isPassingOn, whenPassedOn } from './protocol/passing-on.ts';
export { hasBadPort } from './protocol/port.ts';
export { hasLogin, showAddress } from './protocol/redaction.ts';
export { FORMS, type Report } from './protocol/reports/index.ts';
export { hasControlCharacter, withoutSlashes } from './protocol/text.ts';
export { fitsTopic } from './protocol/topics.ts';
export { proxiesOf } from './proxy/choice.ts';
export { type ProxyOptions, readProxyEnvironment } from './proxy/environment.ts';
export type { HeldReport } from './reports/held-reports.ts';
export type { LabelState } from './reports/label-filter.ts';
export type { ReceivedMessage } from './reports/message.ts';
export type { Played, Player, PlayReceiver } from './reports/player.ts';
export type { KeptMessage } from './reports/preview.ts';
export { MAX_LINE_LENGTH } from './reports/recorded-line.ts';
export type { Recording } from './reports/recording.ts';
export type { TestReport, TestReports } from './reports/test-reports.ts';
export { isWellFormed, readAttachPath, readBaseAddress } from './rest/addresses.ts';
export { probeRest, type RestProbe } from './rest/probe.ts';
export { spellingsOf } from './rest/secrets.ts';
export type { Device } from './rest/types.ts';
export {
  type ReportFilter,
  type RequestResult,
  Session,
  type SessionState,
  type Subscriber,
  type ValueFilter,
  type WatchedDevices,
} from './session.ts';
export type { MqttSettings, ProxySettings, RestSettings, Settings, TlsSettings } from './settings.ts';
