// First in, first out, of records kept as bytes: however many wait, the garbage collector finds one object.

const HEADER_BYTES = 16;
const MIN_BYTES = 16 * 1024;
/** A character of a text has at most so many bytes. */
const MAX_CHARACTER_BYTES = 3;

export interface PackedRecord {
  readonly order: number;
  readonly text: string;
  readonly content: Buffer;
}

export class PackedQueue {
  #bytes = Buffer.alloc(0);
  #start = 0;
  #end = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** @param order not less than that of the last one */
  push(order: number, text: string, content: Buffer): void {
    const bytes = this.#withRoomFor(HEADER_BYTES + text.length * MAX_CHARACTER_BYTES + content.length);
    const at = this.#end;
    const contentAt = at + HEADER_BYTES + bytes.write(text, at + HEADER_BYTES);
    bytes.writeDoubleLE(order, at);
    bytes.writeUInt32LE(contentAt - at, at + 8);
    this.#end = contentAt + content.length;
    bytes.writeUInt32LE(this.#end - at, at + 12);
    bytes.set(content, contentAt);
    this.#size++;
  }

  /** Removes the oldest ones, up to this order. */
  dropTo(order: number): void {
    while (this.#size > 0 && this.#bytes.readDoubleLE(this.#start) <= order) {
      this.drop();
    }
  }

  /** Removes the oldest one. */
  drop(): void {
    if (this.#size > 0) {
      this.#start += this.#bytes.readUInt32LE(this.#start + 12);
      this.#size--;
    }
  }

  /** @returns all, which are not in the queue any more */
  clear(): PackedRecord[] {
    const bytes = this.#bytes;
    const records: PackedRecord[] = [];
    for (let at = this.#start; at < this.#end; ) {
      const contentAt = at + bytes.readUInt32LE(at + 8);
      const end = at + bytes.readUInt32LE(at + 12);
      records.push({
        order: bytes.readDoubleLE(at),
        text: bytes.toString('utf8', at + HEADER_BYTES, contentAt),
        content: bytes.subarray(contentAt, end),
      });
      at = end;
    }
    this.#bytes = Buffer.alloc(0);
    this.#start = 0;
    this.#end = 0;
    this.#size = 0;
    return records;
  }

  /** In constant time on average: what is moved is less than what was written since it was moved before. */
  #withRoomFor(count: number): Buffer {
    if (this.#end + count > this.#bytes.length) {
      const used = this.#end - this.#start;
      const isSparse = 2 * (used + count) <= this.#bytes.length;
      const bytes = isSparse ? this.#bytes : Buffer.alloc(Math.max(MIN_BYTES, 2 * (used + count)));
      this.#bytes.copy(bytes, 0, this.#start, this.#end);
      this.#bytes = bytes;
      this.#start = 0;
      this.#end = used;
    }
    return this.#bytes;
  }
}
