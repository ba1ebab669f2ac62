// Bytes of a Blob or File: at once in workers, with a Promise elsewhere.

// Small reads, as of a file's header, come from a block of this size, because each request to a Blob takes long.
const kBlock = 1 << 20;

/**
 * @param {{FileReaderSync?: typeof FileReaderSync}} env
 * @param {Blob} blob
 * @returns {import('./storage/storage.js').Reader}
 */
export function readerOfBlob(env, blob) {
  const fileReader = env.FileReaderSync && new env.FileReaderSync();
  let block = {begin: 0, bytes: new Uint8Array(0)};

  /** The part of the Blob to ask for; null where the block has what is wanted. */
  const partFor = (offset, into) => {
    if (offset + into.length > blob.size) {
      throw new Error(`bytes ${offset} to ${offset + into.length} of ${blob.size} are wanted`);
    }
    if (offset >= block.begin && offset + into.length <= block.begin + block.bytes.length) return null;
    return blob.slice(offset, offset + Math.max(into.length, kBlock));
  };
  const copy = (offset, into, buffer) => {
    if (buffer) block = {begin: offset, bytes: new Uint8Array(buffer)};
    into.set(block.bytes.subarray(offset - block.begin, offset - block.begin + into.length));
    if (block.bytes.length > kBlock) block = {begin: 0, bytes: new Uint8Array(0)};
  };

  const readSync = (offset, into) => {
    const part = partFor(offset, into);
    copy(offset, into, part && fileReader.readAsArrayBuffer(part));
  };
  const read = async (offset, into) => {
    const part = partFor(offset, into);
    copy(offset, into, part && await part.arrayBuffer());
  };
  return {size: blob.size, sync: Boolean(fileReader), read: fileReader ? readSync : read, close: () => {}};
}
