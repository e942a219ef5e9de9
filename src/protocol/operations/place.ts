// Which gateway, device and property an error or a response is about: by name where one is known.
import { ServiceError, showValue, type TextValues } from '../../errors.ts';
import type { Catalogue } from '../catalogue.ts';
import { isHexId } from '../identifier-text.ts';
import { hintFor } from '../similar-name.ts';

interface Place {
  gateway: string;
  device: string;
  /** As in the topic: lowercase hex or a name. */
  identifier?: string;
}

/** The name of a device by its MAC address, without asking anybody; undefined where none is known. */
export type NameOf = (mac: string) => string | undefined;

/** What texts call a device: by its name with the address behind, since names need not be unique; else by its address. */
export function wordsFor(mac: string, nameOf: NameOf): string {
  const name = nameOf(mac);
  return name ? `${showValue(name)} (${mac})` : mac;
}

const NAMELESS: NameOf = () => undefined;

/** What a text about a request can name; a request to the gateway itself names it once. */
export function placeValues(
  { gateway, device, identifier }: Place,
  nameOf = NAMELESS,
  catalogue?: Catalogue,
): TextValues {
  const key = gateway === device ? 'place.gateway' : 'place.device';
  const place = { key, values: { gateway: wordsFor(gateway, nameOf), device: wordsFor(device, nameOf) } };
  if (identifier === undefined) {
    return { gateway, device, place };
  }
  const values = {
    property: propertyWords(identifier, catalogue),
    hint: hintFor(identifier, catalogue),
    place,
  };
  return { gateway, device, identifier, place: { key: 'place.property', values } };
}

/** A property that is asked for in hex by its name, with the hex behind. */
function propertyWords(identifier: string, catalogue: Catalogue | undefined): string {
  const name = isHexId(identifier) ? catalogue?.find(identifier)?.name : undefined;
  return name ? `${name} (${identifier})` : showValue(identifier);
}

/**
 * Calls gateway, device and property in the text of an error by their names; the rest of it keeps the addresses.
 * Once more changes nothing.
 */
export function nameThePlace(error: unknown, nameOf: NameOf, catalogue: Catalogue): void {
  if (!(error instanceof ServiceError) || error.text.values.place === undefined) {
    return;
  }
  const { gateway, device, identifier } = error.text.values as TextValues & Place;
  error.retell(placeValues({ gateway, device, identifier }, nameOf, catalogue));
}

/** Adds the names to a response, as a report has them. @returns the same response */
export function addNames(
  response: Record<string, unknown>,
  { gateway, device }: Place,
  nameOf: NameOf,
): Record<string, unknown> {
  const deviceName = nameOf(device);
  const gatewayName = nameOf(gateway);
  if (deviceName !== undefined) {
    response.deviceName = deviceName;
  }
  if (gatewayName !== undefined) {
    response.gatewayName = gatewayName;
  }
  return response;
}
