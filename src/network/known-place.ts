// What a report of one topic is recorded at: to look it up for each report takes longer than to record it.
import type { DeviceState, GatewayState } from './device-state.ts';
import type { Link } from './links.ts';
import type { PropertyValue } from './property-values.ts';

/** Of one topic. It is the network's to fill: whoever has the topic only keeps it. */
export class KnownPlace {
  /** Where another one is pushed out, what is known here may be, too; a replaced link says so itself. */
  version = -1;
  gateway: GatewayState | undefined;
  device: DeviceState | undefined;
  link: Link | undefined;
  value: PropertyValue | undefined;

  forget(version: number): void {
    this.version = version;
    this.gateway = undefined;
    this.device = undefined;
    this.link = undefined;
    this.value = undefined;
  }
}
