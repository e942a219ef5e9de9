// Leaves a broker with a deadline.

/** What this needs of a client of MQTT.js. */
interface ConnectedClient {
  readonly connected: boolean;
  readonly stream: { readonly writable: boolean; end(data: Buffer): unknown; destroy(): unknown };
  once(event: 'close', listener: () => void): unknown;
  unsubscribe(filters: string[], done: () => void): unknown;
  end(force: boolean): unknown;
}

const CLOSE_DEADLINE_MS = 1_500;
/** A DISCONNECT packet without reason or properties, the same in MQTT 3.1.1 and 5. */
const DISCONNECT = Buffer.from([0xe0, 0x00]);

/**
 * Disconnects and ends the socket, whatever is still under way. The library's own end waits for
 * acknowledgements, and the broker would go on giving this client its share of the reports meanwhile.
 * @param passing topic filters to unsubscribe before, as they go into packets
 */
export async function endClient(client: ConnectedClient, passing: Iterable<string[]>): Promise<void> {
  const { stream } = client;
  if (client.connected && stream.writable) {
    const closed = new Promise<void>((resolve) => client.once('close', () => resolve()));
    for (const portion of passing) {
      client.unsubscribe(portion, () => {});
    }
    stream.end(DISCONNECT);
    let deadline: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      deadline = setTimeout(resolve, CLOSE_DEADLINE_MS);
    });
    await Promise.race([closed, late]);
    clearTimeout(deadline);
  }
  client.end(true);
  stream.destroy();
}
