// A model from files that the caller has: chosen by the user, dropped on the page, or bytes in memory. They are read
// where they are.

import {readerOfBlob} from './blob_reader.js';
import {InvalidArgumentError} from './errors.js';
import {checkFirstBytes, kFirstBytes} from './first_bytes.js';
import {readerOfBytes} from './storage/storage_memory.js';
import {splitName, splitParts} from './text.js';

/**
 * Files by their paths, from any of the ways that callers have them.
 * @param {unknown} source a Blob, File, ArrayBuffer, typed array; an array or FileList of Files; {files: those, or
 *   an object of Blobs or bytes by path}
 * @returns {Record<string, Blob | Uint8Array> | null} null where it is none of these
 */
export function filesOf(source) {
  const inner = source?.files ?? source;
  const isBytes = (one) => one instanceof ArrayBuffer || ArrayBuffer.isView(one);
  const asFile = (one) => {
    if (one instanceof Blob) return one;
    if (one instanceof ArrayBuffer) return new Uint8Array(one);
    return isBytes(one) ? new Uint8Array(one.buffer, one.byteOffset, one.byteLength) : null;
  };
  const single = asFile(inner);
  if (single) return {[inner.name || 'model.gguf']: single};
  if (typeof inner !== 'object' || inner === null) return null;
  const isList = typeof inner.length === 'number' || typeof inner[Symbol.iterator] === 'function';
  const entries = isList ? Array.from(inner, (file) => [file?.webkitRelativePath || file?.name, file]) :
    Object.entries(inner);
  const files = {};
  for (const [path, one] of entries) {
    const file = asFile(one);
    if (!path || !file) return null;
    files[path] = file;
  }
  return entries.length > 0 ? files : null;
}

/** The folder that all paths begin with, with its slash; '' for none. */
function commonFolder(paths) {
  const folder = paths[0].slice(0, paths[0].lastIndexOf('/') + 1);
  return paths.every((path) => path.startsWith(folder)) ? folder : '';
}

/**
 * @param {import('./environment.js').Environment} env
 * @param {Record<string, Blob | Uint8Array>} files
 * @returns {Promise<import('./remote_model.js').OpenModel>}
 */
export async function openLocalModel(env, files) {
  const paths = Object.keys(files);
  const folder = commonFolder(paths);
  const names = paths.map((path) => path.slice(folder.length));
  const ggufs = names.filter((name) => /\.gguf$/i.test(name));
  const heads = ggufs.filter((name) => splitName(name).part === 1);
  const [head] = heads;
  const isFolder = names.includes('config.json') || names.includes('mlc-chat-config.json');

  let entry = '';
  if (paths.length === 1 && !isFolder) {
    [entry] = names;
  } else if (heads.length === 1) {
    entry = head;
  } else if (heads.length > 1) {
    const some = heads.slice(0, 4).join(', ');
    throw new InvalidArgumentError(`there are several models among the files (${some}); choose one`);
  } else if (!isFolder) {
    throw new InvalidArgumentError(`the ${paths.length} files are no model: there is neither a first GGUF file nor ` +
      'config.json nor mlc-chat-config.json; choose all files of one model');
  }
  if (entry) {
    const missing = splitParts(entry).filter((name) => !names.includes(name));
    if (missing.length > 0) {
      throw new InvalidArgumentError(`${entry} is one of several parts, and ${missing.join(', ')} ` +
        `${missing.length === 1 ? 'is' : 'are'} missing; choose all of them`);
    }
  }

  if (entry) {
    const file = files[folder + entry];
    const first = file instanceof Uint8Array ? file.subarray(0, kFirstBytes) :
      new Uint8Array(await file.slice(0, kFirstBytes).arrayBuffer());
    checkFirstBytes({kind: 'gguf', path: entry}, first, entry);
  }

  const opened = new Map(paths.map((path, i) => [
    names[i],
    files[path] instanceof Uint8Array ? readerOfBytes(files[path]) : readerOfBlob(env, files[path]),
  ]));
  const name = entry || folder.split('/').at(-2) || 'model';
  return {name, entry, files: opened, fromCache: true, storage: 'file', notes: [], close: () => {}};
}
