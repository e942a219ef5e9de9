// Which header can carry the token of the service.

const NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i;

/** What HTTP itself needs, and what each call has of its own: the token would not arrive, or nothing would be sent. */
const RESERVED = new Set([
  'accept',
  'connection',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Why a token cannot be sent in this header, as the reason of an `INVALID_INPUT`; undefined when it can. */
export function findHeaderProblem(name: string): 'notHeader' | 'reservedHeader' | undefined {
  if (!NAME.test(name)) {
    return 'notHeader';
  }
  return RESERVED.has(name.toLowerCase()) ? 'reservedHeader' : undefined;
}
