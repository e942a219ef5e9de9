// What a listed one is that nobody has heard: the list does not say whether it is a gateway or a device.
import { CostlyResults } from '../collections/costly-results.ts';
import type { ListedDevice, NetworkSource, Subject } from './network-rows.ts';

type Kind = Subject['kind'];

/**
 * The list of the service holds gateways. Where it holds devices too, their models tell: one of which devices were heard
 * and no gateway is a model of devices. What has another id than a MAC brings no reports, so that it is no gateway.
 */
export class ListedKinds {
  readonly #source: Pick<NetworkSource, 'network' | 'allListed'>;
  readonly #models = new CostlyResults<ReadonlySet<string>>();

  constructor(source: Pick<NetworkSource, 'network' | 'allListed'>) {
    this.#source = source;
  }

  /** @returns which one it is, as far as is known now */
  look(): (listed: ListedDevice) => Kind {
    const models = this.#models.get('', () => this.#deviceModels());
    return ({ mac, model }) => (mac === '' || models.has(model) ? 'device' : 'gateway');
  }

  #deviceModels(): ReadonlySet<string> {
    const { network, allListed } = this.#source;
    const [devices, gateways] = [new Set<string>(), new Set<string>()];
    for (const { mac, model } of allListed()) {
      if (network.gateway(mac)) {
        gateways.add(model);
      } else if (model !== '' && network.device(mac)) {
        devices.add(model);
      }
    }
    return new Set([...devices].filter((model) => !gateways.has(model)));
  }
}
