// The files of an open model, as the engine asks for them.

import {IoError, NotFoundError} from './errors.js';
import {readerOfBytes} from './storage/storage_memory.js';

const kRoot = '/model';

/** Names become parts of paths in the engine, so they are kept plain. */
function plain(name) {
  return name.split('/').pop().replace(/[^\w.-]+/g, '_') || 'model';
}

/** @returns {string} what the engine is told to open */
export function enginePath(model) {
  return model.entry ? `${kRoot}/${model.entry}` : `${kRoot}/${plain(model.name)}`;
}

/**
 * @param {import('./remote_model.js').OpenModel} model
 * @returns {{list(): string[], size(path: string): number,
 *   read(path: string, offset: number, into: Uint8Array): void | Promise<void>}} as the engine wants it
 */
export function engineFiles(model) {
  const folder = model.entry ? kRoot : enginePath(model);
  const files = new Map([...model.files].map(([path, reader]) => [`${folder}/${path}`, reader]));
  const get = (path) => {
    const reader = files.get(path);
    if (!reader) throw new NotFoundError(`${path}: the model has no such file`);
    return reader;
  };
  // The engine puts the path before it.
  const explain = (error) => new IoError(`it cannot be read (${error.message}); load the model again`, {cause: error});
  return {
    list: () => [...files.keys()],
    size: (path) => get(path).size,
    read: (path, offset, into) => {
      const reader = get(path);
      try {
        const result = reader.read(Number(offset), into);
        return result instanceof Promise ? result.catch((error) => Promise.reject(explain(error))) : result;
      } catch (error) {
        throw explain(error);
      }
    },
  };
}

/** Engines that cannot wait get what can only be read with a Promise from memory. */
export async function makeSync(model) {
  for (const [path, reader] of model.files) {
    if (reader.sync) continue;
    const bytes = new Uint8Array(reader.size);
    await reader.read(0, bytes);
    reader.close();
    model.files.set(path, readerOfBytes(bytes));
  }
}
