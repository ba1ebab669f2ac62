// Bytes of a Blob or File: at once in workers, with a Promise elsewhere.

/**
 * @param {{FileReaderSync?: typeof FileReaderSync}} env
 * @param {Blob} blob
 * @returns {import('./storage.js').Reader}
 */
export function readerOfBlob(env, blob) {
  const check = (offset, into) => {
    if (offset + into.length <= blob.size) return;
    throw new Error(`bytes ${offset} to ${offset + into.length} of ${blob.size} are wanted`);
  };
  if (env.FileReaderSync) {
    const reader = new env.FileReaderSync();
    return {
      size: blob.size,
      sync: true,
      read: (offset, into) => {
        check(offset, into);
        into.set(new Uint8Array(reader.readAsArrayBuffer(blob.slice(offset, offset + into.length))));
      },
      close: () => {},
    };
  }
  return {
    size: blob.size,
    sync: false,
    read: async (offset, into) => {
      check(offset, into);
      into.set(new Uint8Array(await blob.slice(offset, offset + into.length).arrayBuffer()));
    },
    close: () => {},
  };
}
