// What a listed one is that nobody has heard: the list does not say whether it is a gateway or a device.
import { CostlyResults } from '../collections/costly-results.ts';
import type { ListedDevice, NetworkSource, Subject } from './network-rows.ts';

type Kind = Subject['kind'];

/** A single one may be a gateway of which only the radio is heard, by another gateway. */
const MIN_DEVICES = 2;

/**
 * The list of the service holds gateways. Where it holds devices too, their models tell: one of which several devices have
 * reported and no gateway is a model of devices. What has another id than a MAC brings no reports, so that it is no gateway.
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
    const gateways = new Set<string>();
    const devices = new Map<string, number>();
    for (const { mac, model } of allListed()) {
      if (network.gateway(mac)) {
        gateways.add(model);
      } else if (model !== '' && network.device(mac)?.hasReported) {
        devices.set(model, (devices.get(model) ?? 0) + 1);
      }
    }
    const models = [...devices].filter(([model, count]) => count >= MIN_DEVICES && !gateways.has(model));
    return new Set(models.map(([model]) => model));
  }
}
