// How a report begins: what, then where and when, in the order in which a person reads it.
import type { Catalogue } from '../catalogue.ts';
import type { Form, NamedPlace, Report } from './report.ts';

/**
 * The fields that come before those of the kind. Where a value is to come its place is held, and given up by
 * `readReport` when none has come.
 */
export function startReport(at: NamedPlace, time: string, catalogue: Catalogue): Report {
  const { row: kind, form, identifier } = at;
  if (kind === undefined) {
    return putTogether({ value: undefined }, at, time);
  }
  if (identifier === undefined) {
    return startWithPlace(at, time);
  }
  const { name, unit } = nameProperty(form, identifier, catalogue);
  if (!kind.hasValue) {
    const what = { ...(name && { name }), ...(unit !== undefined && { unit }) };
    return putTogether(what, at, time);
  }
  return startWithValue(at, identifier, time, name, unit);
}

/** What a report calls its property: a decoded one as the gateway does, unless the user has given it another name. */
export function nameProperty(
  form: Form,
  identifier: string,
  catalogue: Catalogue,
): { name: string | undefined; unit: string | undefined } {
  const row = catalogue.find(identifier);
  const isAsSent = form === 'decoded' && !(row?.builtInName && row.name);
  return { name: isAsSent ? identifier : row?.name, unit: row?.unit };
}

// One literal for each shape that is frequent: V8 makes those in one step, and every report passes here. The list of the
// service holds gateways, so a device has a name only where it is one.

function startWithPlace(at: NamedPlace, time: string): Report {
  const { deviceName, device, gatewayName, gateway, kind, form } = at;
  if (gatewayName === undefined) {
    return deviceName === undefined ? { device, gateway, kind, form, time } : putTogether({}, at, time);
  }
  return deviceName === undefined
    ? { device, gatewayName, gateway, kind, form, time }
    : { deviceName, device, gatewayName, gateway, kind, form, time };
}

function startWithValue(
  at: NamedPlace,
  identifier: string,
  time: string,
  name: string | undefined,
  unit: string | undefined,
): Report {
  const { deviceName, device, gatewayName, gateway, kind, form } = at;
  const value = undefined;
  if (!name) {
    return gatewayName === undefined && deviceName === undefined && unit === undefined
      ? { value, device, gateway, kind, form, identifier, time }
      : putTogether(unit === undefined ? { value } : { value, unit }, at, time);
  }
  if (gatewayName === undefined) {
    if (deviceName !== undefined) {
      return putTogether(unit === undefined ? { name, value } : { name, value, unit }, at, time);
    }
    return unit === undefined
      ? { name, value, device, gateway, kind, form, identifier, time }
      : { name, value, unit, device, gateway, kind, form, identifier, time };
  }
  if (deviceName === undefined) {
    return unit === undefined
      ? { name, value, device, gatewayName, gateway, kind, form, identifier, time }
      : { name, value, unit, device, gatewayName, gateway, kind, form, identifier, time };
  }
  return unit === undefined
    ? { name, value, deviceName, device, gatewayName, gateway, kind, form, identifier, time }
    : { name, value, unit, deviceName, device, gatewayName, gateway, kind, form, identifier, time };
}

/** @param what comes before the place */
function putTogether(what: object, at: NamedPlace, time: string): Report {
  const { deviceName, device, gatewayName, gateway, kind, form, identifier } = at;
  return {
    ...what,
    ...(deviceName !== undefined && { deviceName }),
    device,
    ...(gatewayName !== undefined && { gatewayName }),
    gateway,
    kind,
    form,
    ...(identifier !== undefined && { identifier }),
    time,
  };
}
