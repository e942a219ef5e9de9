// All reports there are, for people: listened to for a while or recorded; and whether they come, or at least those for flows.
import type { MqttState } from '../mqtt/state.ts';
import type { DeviceWatches } from '../network/device-watches.ts';
import type { NetworkState } from '../network/network-state.ts';
import type { HeardRecordState } from '../protocol/record-state.ts';
import type { OpenReports } from '../reports/open-reports.ts';
import type { Recording } from '../reports/recording.ts';
import type { Subscribers } from '../reports/subscribers.ts';

/** All that is granted comes. While something is refused and the rest has still to be granted, nobody is heard yet. */
const bringsReports = (state: MqttState): boolean =>
  state.name === 'connected' || state.name === 'overloaded' || (state.name === 'limited' && state.isSettled);

interface AllReportsContext {
  client: { readonly state: MqttState; readonly hearsOn: boolean };
  open: Pick<OpenReports, 'isHeldUp'>;
  subscribers: Pick<Subscribers, 'listenToEverything' | 'hearsEverything' | 'recording'>;
  network: Pick<NetworkState, 'setListening'>;
  watches: Pick<DeviceWatches, 'setListening'>;
}

export class AllReports {
  readonly #context: AllReportsContext;
  /** The broker has granted what flows want, or refused it. */
  #isGranted = false;

  constructor(context: AllReportsContext) {
    this.#context = context;
  }

  /**
   * Has the broker send all reports there are for 15 s, beside what flows want, which get none of them twice and nothing
   * that they have not asked for. Ask again while somebody looks: one subscription serves all who do.
   * @returns `seconds` from now on; `isHearing`: false while the broker has not granted it, has refused it, or allows no
   *   further subscription, and in a shared group, whose members get no more than their share
   */
  listen(): { seconds: number; isHearing: boolean } {
    const seconds = this.#context.subscribers.listenToEverything(() => this.update());
    return { seconds, isHearing: this.update() };
  }

  /** Recorded for a person. */
  get recording(): Recording {
    return this.#context.subscribers.recording;
  }

  /** See `Recording.state`. @returns `isHearing` as `listen` */
  recordState(): HeardRecordState {
    return { ...this.recording.state(), isHearing: this.update() };
  }

  /**
   * Call it when it may have changed whether reports come. A time without the broker is no silence of a device, nor one
   * in which flows hold it up.
   * @returns whether all reports there are come here
   */
  update(): boolean {
    const { client, open, subscribers, network, watches } = this.#context;
    this.#isGranted = bringsReports(client.state) || (this.#isGranted && client.hearsOn);
    const isListening = this.#isGranted && !open.isHeldUp;
    const isHearing = isListening && subscribers.hearsEverything;
    network.setListening(isListening, isHearing);
    watches.setListening(isListening);
    return isHearing;
  }
}
