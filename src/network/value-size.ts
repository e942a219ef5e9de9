// How much memory a value of JSON takes: an estimate, by which what is remembered is bounded.
import type { Report } from '../protocol/reports/index.ts';

/** Bytes of an object, a text or a list besides what it holds, of a property, and of a number that is no small integer. */
const OBJECT_SIZE = 64;
const TEXT_SIZE = 24;
const SLOT_SIZE = 8;
const NUMBER_SIZE = 16;
/** Of a property of an object that no other one is like, besides its name and what it holds: V8 has to describe it. */
const DESCRIPTION_SIZE = 64;

/** @returns bytes, estimated; any depth */
export function sizeOf(value: unknown): number {
  if (!isNested(value)) {
    return sizeOfPlain(value);
  }
  let size = SLOT_SIZE;
  // Most objects hold none, and need no list.
  let unfinished: object[] | undefined;
  for (let at: object | undefined = value; at !== undefined; at = unfinished?.pop()) {
    size += OBJECT_SIZE;
    const isList = Array.isArray(at);
    for (const key in at) {
      const item = (at as Record<string, unknown>)[key];
      size += (isList ? 0 : sizeOfName(key)) + sizeOfPlain(item);
      if (isNested(item)) {
        unfinished ??= [];
        unfinished.push(item);
      }
    }
  }
  return size;
}

/** @returns bytes, estimated */
export function sizeOfReport(report: Readonly<Report>): number {
  let size = SLOT_SIZE + OBJECT_SIZE;
  for (const key in report) {
    const item = report[key];
    size += isNested(item) ? sizeOf(item) : sizeOfPlain(item);
    if (!isShared(key)) {
      size += sizeOfName(key);
    }
  }
  return size;
}

/** Whether very many reports have this field, whose name and description are there once for all. A set takes five times as long. */
function isShared(field: string): boolean {
  switch (field) {
    case 'value':
    case 'device':
    case 'gateway':
    case 'kind':
    case 'form':
    case 'identifier':
    case 'time':
    case 'seq':
    case 'name':
    case 'unit':
    case 'ext':
    case 'raw':
    case 'gatewayName':
    case 'deviceName':
    case 'retained':
    case 'errorCode':
    case 'errorMeta':
    case 'ack':
    case 'flags':
    case 'backfill':
    case 'backfillCount':
    case 'tsShifted':
    case 'tsAccuracy':
      return true;
  }
  return false;
}

const isNested = (value: unknown): value is object => typeof value === 'object' && value !== null;

const sizeOfName = (name: string): number => DESCRIPTION_SIZE + TEXT_SIZE + 2 * name.length;

function sizeOfPlain(value: unknown): number {
  if (typeof value === 'string') {
    return SLOT_SIZE + TEXT_SIZE + 2 * value.length;
  }
  return typeof value === 'number' && value !== (value | 0) ? SLOT_SIZE + NUMBER_SIZE : SLOT_SIZE;
}

/**
 * Makes a kept report the same as another one that has the same fields in the same order, both with nothing nested.
 * @returns by how many bytes it has grown, as of `sizeOfReport`; undefined: it is not alike, and the kept one is what it was
 */
export function overwriteReport(kept: Report, report: Readonly<Report>): number | undefined {
  const size = sizeOfItems(report);
  const before = sizeOfItems(kept);
  if (size === undefined || before === undefined || !hasSameKeys(kept, report)) {
    return undefined;
  }
  Object.assign(kept, report);
  // Their names are the same.
  return size - before;
}

/** @returns bytes without names, estimated; undefined where something is nested */
function sizeOfItems(report: Readonly<Report>): number | undefined {
  let size = 0;
  for (const key in report) {
    const item = report[key];
    if (isNested(item)) {
      return undefined;
    }
    size += sizeOfPlain(item);
  }
  return size;
}

function hasSameKeys(one: object, other: object): boolean {
  const keys = Object.keys(one);
  const others = Object.keys(other);
  return keys.length === others.length && keys.every((key, i) => key === others[i]);
}
