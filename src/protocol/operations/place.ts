// Which gateway and device an error or a response is about: by name where one is known.
import { ServiceError, showValue, type TextValues } from '../../errors.ts';

interface Place {
  gateway: string;
  device: string;
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
export function placeValues({ gateway, device }: Place, nameOf = NAMELESS): TextValues {
  const key = gateway === device ? 'place.gateway' : 'place.device';
  const values = { gateway: wordsFor(gateway, nameOf), device: wordsFor(device, nameOf) };
  return { gateway, device, place: { key, values } };
}

/** Calls the gateway and the device in the text of an error by their names; the rest of it keeps the addresses. */
export function nameThePlace(error: unknown, nameOf: NameOf): void {
  if (!(error instanceof ServiceError) || error.text.values.place === undefined) {
    return;
  }
  const { gateway, device } = error.text.values as TextValues & Place;
  error.retell(placeValues({ gateway, device }, nameOf));
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
