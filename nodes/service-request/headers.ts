// The headers of a response as a message carries them, for the nodes behind.
import hashSum from 'hash-sum';

/** They say something of this one connection, or of the body as it came: anywhere else that is wrong. */
const OF_THIS_RESPONSE = new Set([
  ...['connection', 'content-length', 'keep-alive', 'proxy-authenticate', 'proxy-connection'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade'],
]);
/** As the node *http request* marks what it has received: it and *http response* do not send on what nobody has changed. */
const MARK = 'x-node-red-request-node';

export function headersOf(received: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const headers = Object.fromEntries(
    Object.entries(received).filter(([name]) => !OF_THIS_RESPONSE.has(name)),
  );
  return { ...headers, [MARK]: hashSum(headers) };
}
