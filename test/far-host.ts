// A host that is far away, with a second address that leads nowhere: Node's sockets to it take their time to connect.
import dns from 'node:dns';

interface Wrap {
  oncomplete: (...results: unknown[]) => void;
}

type Connect = (this: unknown, wrap: Wrap, address: string, ...rest: unknown[]) => unknown;

interface Bindings {
  binding(name: 'tcp_wrap'): { TCP: { prototype: Record<'connect' | 'connect6', Connect> } };
}

/** The name of the host. */
export const FAR_HOST = 'far.test';

/** Longer than Node waits for one of several addresses. */
const ROUND_TRIP_MS = 400;

/** While a suite runs, FAR_HOST is this machine behind a long line; its IPv6 address cannot be reached. */
export function useFarHost(): void {
  const { TCP } = (process as unknown as Bindings).binding('tcp_wrap');
  const { connect } = TCP.prototype;
  const { lookup } = dns;

  before(() => {
    TCP.prototype.connect = function (wrap, ...where) {
      const { oncomplete } = wrap;
      wrap.oncomplete = (...results) =>
        void setTimeout(() => Reflect.apply(oncomplete, wrap, results), ROUND_TRIP_MS);
      return connect.call(this, wrap, ...where);
    };
    const answer = (host: string, options: dns.LookupAllOptions, callback: (...found: unknown[]) => void) => {
      if (host !== FAR_HOST) {
        lookup(host, options, callback);
        return;
      }
      const addresses = [
        { address: '127.0.0.1', family: 4 },
        // Of no machine (RFC 3849).
        { address: '2001:db8::1', family: 6 },
      ];
      setImmediate(() => (options.all ? callback(null, addresses) : callback(null, '127.0.0.1', 4)));
    };
    dns.lookup = answer as unknown as typeof dns.lookup;
  });

  after(() => {
    TCP.prototype.connect = connect;
    dns.lookup = lookup;
  });
}
