// How one gateway is connected to a broker: as a client of its own, or inside the process of the embedded broker.

export interface GatewayLink {
  /** Resolved when the broker has the message. */
  publish(topic: string, payload: string | Buffer, retain: boolean): Promise<void>;
  /** Goes away without a word. */
  close(): Promise<void>;
}

/** @param qos with which the message reached the gateway. */
export type Receive = (topic: string, payload: Buffer, qos: number) => void;

/** Connects a gateway; resolved when it hears all `filters`. */
export type OpenLink = (mac: string, filters: string[], receive: Receive) => Promise<GatewayLink>;
