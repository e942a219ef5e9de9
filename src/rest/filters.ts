// Filters of the device list, applied here because the interface shows no filter parameters.
import { invalidInput } from '../errors.ts';
import { parseMac } from '../protocol/mac.ts';
import type { Device } from './types.ts';
import { rangeOf } from './versions.ts';

/**
 * Combined with AND; undefined: not given. What is there and empty is refused, so
 * that a flow whose computed list came out empty does not go on with every device; only an empty search finds all.
 */
export interface DeviceFilterInput {
  /** A label or several, any of which the device carries. */
  labels?: unknown;
  /** A boolean, or the words `true` and `false`. */
  connected?: unknown;
  /** Exact `modelNumber`. */
  model?: unknown;
  /** The exact version, or a semver range; pre-releases are included, and versions with any number of parts. */
  firmware?: unknown;
  /** Part of `id` or `friendlyName`, in any case; a whole MAC with `:`, `-` or nothing between its bytes. */
  search?: unknown;
}

export type DeviceFilter = (device: Device) => boolean;

/** The filter that nothing was given for. */
export const EVERY_DEVICE: DeviceFilter = () => true;

/** @throws INVALID_INPUT with the name of the field */
export function createDeviceFilter(input: DeviceFilterInput): DeviceFilter {
  const tests = [
    labelTest(input.labels),
    connectedTest(input.connected),
    modelTest(input.model),
    firmwareTest(input.firmware),
    searchTest(input.search),
  ].filter((test) => test !== undefined);
  return tests.length === 0 ? EVERY_DEVICE : (device) => tests.every((test) => test(device));
}

function labelTest(value: unknown): DeviceFilter | undefined {
  if (value === undefined) {
    return undefined;
  }
  const labels = listOf(value);
  if (labels.length === 0 || !labels.every((label) => typeof label === 'string' && label !== '')) {
    throw invalidInput('labels', value, 'notLabels');
  }
  const wanted = new Set(labels);
  return (device) => Array.isArray(device.labels) && device.labels.some((label) => wanted.has(label));
}

function listOf(labels: unknown): unknown[] {
  try {
    return Array.isArray(labels) ? [...labels] : [labels];
  } catch {
    // A list of a flow can throw when it is looked at.
    throw invalidInput('labels', labels, 'notLabels');
  }
}

function connectedTest(value: unknown): DeviceFilter | undefined {
  if (value === undefined) {
    return undefined;
  }
  const isText = typeof value === 'string' || typeof value === 'boolean';
  const word = isText ? String(value).trim().toLowerCase() : undefined;
  if (word !== 'true' && word !== 'false') {
    throw invalidInput('connected', value, 'notBoolean');
  }
  const wanted = word === 'true';
  return (device) => (device.connectivity?.connected === true) === wanted;
}

function modelTest(value: unknown): DeviceFilter | undefined {
  if (value === undefined) {
    return undefined;
  }
  const wanted = filledText('model', value);
  return ({ modelNumber }: { modelNumber?: unknown }) =>
    (typeof modelNumber === 'string' || typeof modelNumber === 'number') && String(modelNumber) === wanted;
}

/** What is longer is no version: it is neither read nor remembered. */
const MAX_VERSION_LENGTH = 500;
/** Range syntax, so that a mistyped range is not taken for the name of a version. */
const RANGE_SIGNS = /[<>=≤≥≠^~|*,;\s]/;

function firmwareTest(value: unknown): DeviceFilter | undefined {
  if (value === undefined) {
    return undefined;
  }
  const wanted = filledText('firmware', value);
  const isInRange = rangeOf(wanted);
  if (!isInRange && RANGE_SIGNS.test(wanted)) {
    throw invalidInput('firmware', value, 'notRange');
  }
  const known = new Map<string, boolean>();
  return ({ firmwareVersion }) => {
    if (typeof firmwareVersion !== 'string' || firmwareVersion.length > MAX_VERSION_LENGTH) {
      return false;
    }
    // Many devices share few versions; the map is emptied so that odd ones cannot make it grow.
    let fits = known.get(firmwareVersion);
    if (fits === undefined) {
      fits = firmwareVersion === wanted || (isInRange?.(firmwareVersion) ?? false);
      if (known.size >= 1000) {
        known.clear();
      }
      known.set(firmwareVersion, fits);
    }
    return fits;
  };
}

function searchTest(value: unknown): DeviceFilter | undefined {
  if (value === undefined) {
    return undefined;
  }
  const wanted = textOf('search', value).toLowerCase();
  if (wanted === '') {
    return undefined;
  }
  // A part of one stands in other addresses, too, and what is found may be written to.
  const mac = parseMac(wanted);
  const has = (text: unknown) => typeof text === 'string' && text.toLowerCase().includes(wanted);
  return (device) => has(device.id) || has(device.friendlyName) || (mac !== undefined && device.mac === mac);
}

function filledText(field: string, value: unknown): string {
  const text = textOf(field, value);
  if (text === '') {
    throw invalidInput(field, value, 'missing');
  }
  return text;
}

function textOf(field: string, value: unknown): string {
  if (Number.isFinite(value)) {
    return String(value);
  }
  if (typeof value !== 'string' || value.length > 500) {
    throw invalidInput(field, value, 'notText');
  }
  return value.trim();
}
