// Which gateway and device an error is about: in its text by name where one is known, else by address.
import { ServiceError, showValue, type TextValues } from '../../errors.ts';

interface Place {
  gateway: string;
  device: string;
}

/** What a text about a request can name; a request to the gateway itself names it once. */
export function placeValues({ gateway, device }: Place, nameOf = (mac: string) => mac): TextValues {
  const key = gateway === device ? 'place.gateway' : 'place.device';
  return { gateway, device, place: { key, values: { gateway: nameOf(gateway), device: nameOf(device) } } };
}

/**
 * Calls the gateway and the device in the text of an error by their names; the rest of it keeps the addresses.
 * @param nameOf asks nobody; undefined where no name is known
 */
export function nameThePlace(error: unknown, nameOf: (mac: string) => string | undefined): void {
  if (!(error instanceof ServiceError) || error.text.values.place === undefined) {
    return;
  }
  const { gateway, device } = error.text.values as TextValues & Place;
  error.retell(placeValues({ gateway, device }, (mac) => showValue(nameOf(mac) || mac)));
}
