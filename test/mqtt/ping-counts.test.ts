// What was sent before a ping that the broker has answered will not be answered any more.
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { PingCounts } from '../../src/mqtt/ping-counts.ts';

describe('the pings that follow a moment', () => {
  const source = () => {
    const events = new EventEmitter();
    const counts = new PingCounts(events);
    return {
      counts,
      ping: (event: 'packetsend' | 'packetreceive', ...cmds: string[]) => {
        for (const cmd of cmds) {
          events.emit(event, { cmd });
        }
      },
    };
  };
  const stateOf = ({ isSent, isAnswered }: ReturnType<PingCounts['fromNow']>) => [isSent(), isAnswered()];

  it('are sent and answered one after the other', () => {
    const { counts, ping } = source();
    const later = counts.fromNow();
    assert.deepEqual(stateOf(later), [false, false]);
    ping('packetsend', 'pingreq');
    assert.deepEqual(stateOf(later), [true, false]);
    ping('packetreceive', 'pingresp');
    assert.deepEqual(stateOf(later), [true, true]);
  });

  it('are not those that were under way before it, however late these are answered', () => {
    const { counts, ping } = source();
    ping('packetsend', 'pingreq', 'pingreq');
    ping('packetreceive', 'pingresp');
    const later = counts.fromNow();
    assert.deepEqual(stateOf(later), [false, false]);
    ping('packetsend', 'pingreq');
    ping('packetreceive', 'pingresp');
    assert.deepEqual(stateOf(later), [true, false]);
    ping('packetreceive', 'pingresp');
    assert.deepEqual(stateOf(later), [true, true]);
  });

  it('are no other packets', () => {
    const { counts, ping } = source();
    const later = counts.fromNow();
    ping('packetsend', 'publish', 'subscribe');
    ping('packetreceive', 'puback', 'suback');
    assert.deepEqual(stateOf(later), [false, false]);
  });
});
