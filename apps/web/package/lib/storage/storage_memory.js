// Bytes in memory, for as long as the model is in use: where nothing else is there, or the caller wants no trace.

export class MemoryStorage {
  kind = 'memory';
  canWrite = true;
  #texts = new Map();
  #files = new Map();  // 'KEY/FILE' to pieces

  async list() {
    return [...this.#texts.keys()];
  }

  async readText(key) {
    return this.#texts.get(key) ?? null;
  }

  async writeText(key, text) {
    this.#texts.set(key, text);
  }

  #pieces(key, file) {
    const name = `${key}/${file}`;
    if (!this.#files.has(name)) this.#files.set(name, []);
    return this.#files.get(name);
  }

  async openWrite(key, file) {
    const pieces = this.#pieces(key, file);
    return {
      write: async (piece, bytes) => {
        pieces[piece] = bytes.slice();
      },
      read: async (piece, bytes) => (pieces[piece]?.length >= bytes ? pieces[piece].subarray(0, bytes) : null),
      close: async () => {},
    };
  }

  async openRead(key, file, pieceBytes) {
    return readerOfPieces(this.#pieces(key, file), pieceBytes);
  }

  async remove(key) {
    this.#texts.delete(key);
    for (const name of [...this.#files.keys()]) {
      if (name.startsWith(`${key}/`)) this.#files.delete(name);
    }
  }
}

/**
 * @param {Uint8Array[]} pieces each of `pieceBytes`, the last one shorter
 * @returns {import('./storage.js').Reader}
 */
export function readerOfPieces(pieces, pieceBytes) {
  let size = 0;
  for (const piece of pieces) {
    size += piece?.length ?? 0;
    if (!piece || piece.length < pieceBytes) break;
  }
  return {
    size,
    sync: true,
    read: (offset, into) => {
      if (offset + into.length > size) {
        throw new Error(`bytes ${offset} to ${offset + into.length} of ${size} are wanted`);
      }
      for (let done = 0; done < into.length;) {
        const at = offset + done;
        const piece = pieces[Math.floor(at / pieceBytes)];
        const part = piece.subarray(at % pieceBytes, (at % pieceBytes) + into.length - done);
        into.set(part, done);
        done += part.length;
      }
    },
    close: () => {},
  };
}

/** @param {Uint8Array} bytes */
export function readerOfBytes(bytes) {
  return readerOfPieces([bytes], Math.max(1, bytes.length));
}
