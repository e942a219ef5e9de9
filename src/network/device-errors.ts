// The errors that a device has reported and that are not over yet: of its heartbeat, and of each of its properties.

import { isFailed, type Report, type ReportTopic } from '../protocol/reports/index.ts';
import { ownText } from '../protocol/text.ts';
import { findValue, isPropertyName, type PropertyValue } from './property-values.ts';

/** Of one device; a further one takes the place of the oldest of a property. */
export const MAX_ERRORS = 8;

export interface DeviceError {
  /** Of the property; undefined: the `status` of a heartbeat. */
  readonly identifier: string | undefined;
  /** By the catalogue: another gateway may report the same property in the other form. */
  readonly name: string | undefined;
  code: number;
  /** Milliseconds of `performance.now()`. */
  heardAt: number;
}

/** Most devices have none: one list for all of them. */
export const NO_ERRORS: readonly DeviceError[] = [];

interface Failing {
  /** The one that was heard last comes last; another list whenever it has others or another order. */
  errors: readonly DeviceError[];
  values: readonly PropertyValue[];
}

/** The newest, which people are shown. */
export const shownError = ({ errors }: Readonly<Failing>): DeviceError | undefined => errors.at(-1);

/** Notes what a report says of errors. Runs for every report. */
export function setErrors(
  device: Failing,
  { kind, identifier }: ReportTopic,
  report: Readonly<Report>,
  now: number,
): void {
  const code = errorOf(kind, report);
  const isError = code !== undefined && code !== 0;
  // As nearly always.
  if (!isError && device.errors === NO_ERRORS) {
    return;
  }
  const known = indexOf(device.errors, identifier, report.name);
  if (isError) {
    addError(device, known, { identifier, name: report.name, code, heardAt: now });
  } else if (known >= 0 && isEnd(kind, identifier, code) && !isFailed(report)) {
    device.errors =
      device.errors.length === 1 ? NO_ERRORS : device.errors.filter((_, index) => index !== known);
  }
}

/** 0: none; undefined: the report says nothing of errors. */
function errorOf(kind: ReportTopic['kind'], report: Readonly<Report>): number | undefined {
  switch (kind) {
    case 'heartbeat':
      return numberOf(report.status);
    case 'measurement-error':
      return numberOf(report.error);
    case 'timestamped':
      return numberOf(report.errorCode);
    default:
      return undefined;
  }
}

const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

function indexOf(
  errors: readonly DeviceError[],
  identifier: string | undefined,
  name: string | undefined,
): number {
  for (let index = 0; index < errors.length; index++) {
    const error = errors[index] as DeviceError;
    if (error.identifier === identifier || (name !== undefined && error.name === name)) {
      return index;
    }
  }
  return -1;
}

/** A heartbeat ends what a heartbeat has told, and a value of the same property an error of its measurement. */
function isEnd(kind: ReportTopic['kind'], identifier: string | undefined, code: number | undefined): boolean {
  return kind === 'heartbeat' ? code === 0 : identifier !== undefined && kind !== 'measurement-error';
}

/** @param known where an error of the same stands; -1: nowhere */
function addError(device: Failing, known: number, error: DeviceError): void {
  const { errors } = device;
  const { identifier } = error;
  if (known >= 0 && known === errors.length - 1) {
    Object.assign(errors[known] as DeviceError, { code: error.code, heardAt: error.heardAt });
    return;
  }
  if (identifier !== undefined && !isPropertyName(identifier)) {
    return;
  }
  const left = errors.filter((_, index) => index !== known);
  if (left.length >= MAX_ERRORS) {
    left.splice(
      left.findIndex((one) => one.identifier !== undefined),
      1,
    );
  }
  const kept = identifier === undefined ? undefined : keptIdentifier(device, identifier);
  device.errors = [...left, { ...error, identifier: kept }];
}

/** The text that is kept anyway: a part of a topic would keep the whole topic. */
export const keptIdentifier = ({ values }: Pick<Failing, 'values'>, identifier: string): string =>
  findValue(values, identifier)?.identifier ?? ownText(identifier);
