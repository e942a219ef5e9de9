// What leaves together goes to the broker as one piece: system calls and streams cost more than the packets.
import { performance } from 'node:perf_hooks';
import type { MqttClient } from 'mqtt';

type Stream = MqttClient['stream'];

/**
 * MQTT.js writes a packet in some three to eight pieces. Brokers leave 10 to 100 packets unacknowledged and then wait,
 * which ends the gathering too: a quiet turn follows.
 */
const MAX_PIECES = 256;
/** With a slow flow a turn takes long, and the broker ends a connection from which it hears nothing. */
const MAX_HELD_MS = 100;
const BLOCK_SIZE = 64 * 1024;
/** Bytes that a character of a text can take in UTF-8. */
const MAX_BYTES_PER_CHARACTER = 3;
/** Bytes up to which a loop is faster than a call. */
const SHORT_TEXT = 16;

/**
 * Makes the stream of one connection hold what is written to it until a turn of the event loop brings no more of it, or
 * until it is enough, or old: a lone packet leaves with the next turn, many together in few writes. The order stays; what is
 * held when the stream is destroyed is lost as if it had been on its way.
 */
export function batchWrites(stream: Stream): void {
  const write = stream.write.bind(stream) as (piece: string | Uint8Array) => boolean;
  const end = stream.end.bind(stream) as (...args: unknown[]) => Stream;
  let block = Buffer.alloc(0);
  let from = 0;
  let to = 0;
  let pieces = 0;
  let piecesBefore = 0;
  let isWaiting = false;
  /** In milliseconds of `performance.now()`. */
  let heldSince = 0;

  const release = (): void => {
    if (to > from && stream.writable) {
      write(block.subarray(from, to));
    }
    from = to;
    pieces = 0;
    piecesBefore = 0;
  };

  const turn = (): void => {
    const isQuiet = pieces === piecesBefore;
    if (isQuiet || pieces >= MAX_PIECES || performance.now() - heldSince >= MAX_HELD_MS) {
      isWaiting = false;
      release();
    } else {
      piecesBefore = pieces;
      setImmediate(turn);
    }
  };

  /** False when the piece is too long to be held. */
  const hold = (piece: string | Uint8Array): boolean => {
    const isText = typeof piece === 'string';
    const size = isText ? piece.length * MAX_BYTES_PER_CHARACTER : piece.length;
    if (size > BLOCK_SIZE) {
      return false;
    }
    if (to + size > block.length) {
      release();
      // Never used again: the stream may still be sending from it.
      block = Buffer.allocUnsafeSlow(BLOCK_SIZE);
      from = 0;
      to = 0;
    }
    if (!isWaiting) {
      isWaiting = true;
      heldSince = performance.now();
      setImmediate(turn);
    }
    pieces++;
    if (isText) {
      to += block.write(piece, to);
    } else if (size > SHORT_TEXT) {
      block.set(piece, to);
      to += size;
    } else {
      for (let i = 0; i < size; i++) {
        block[to++] = piece[i]!;
      }
    }
    return true;
  };

  stream.write = (piece: string | Uint8Array, ...rest: unknown[]): boolean => {
    if (rest.length === 0 && hold(piece)) {
      return !stream.writableNeedDrain;
    }
    release();
    return (write as (...args: unknown[]) => boolean)(piece, ...rest);
  };
  stream.end = (...args: unknown[]): Stream => {
    release();
    return end(...args);
  };
}
