// A model on disk, under Node.

import {closeSync, fstatSync, openSync, readSync, readdirSync, statSync} from 'node:fs';
import {basename, dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {IoError, NotFoundError} from './errors.js';
import {splitParts} from './text.js';

/**
 * @param {string} url file:///… of a GGUF file or a directory
 * @returns {import('./remote_model.js').OpenModel}
 */
export function openNodeModel(url) {
  const path = fileURLToPath(url);
  const files = new Map();
  const close = () => {
    for (const reader of files.values()) reader.close();
  };
  try {
    const isFolder = statSync(path).isDirectory();
    const folder = isFolder ? path : dirname(path);
    const names = isFolder ? filesIn(path) : splitParts(basename(path));
    for (const name of names) files.set(name, readerOf(join(folder, name)));
    const entry = isFolder ? '' : names[0];
    return {name: basename(path), entry, files, fromCache: true, storage: 'file', notes: [], close};
  } catch (error) {
    close();
    if (error.code === 'ENOENT') {
      throw new NotFoundError(`${error.path ?? path}: there is no such file; check the path`, {cause: error});
    }
    throw new IoError(`${path}: ${error.message}`, {cause: error});
  }
}

function filesIn(folder) {
  return readdirSync(folder, {withFileTypes: true}).filter((one) => one.isFile()).map((one) => one.name);
}

function readerOf(path) {
  const file = openSync(path, 'r');
  const {size} = fstatSync(file);
  return {
    size,
    sync: true,
    read: (offset, into) => {
      for (let done = 0; done < into.length;) {
        const n = readSync(file, into, done, into.length - done, offset + done);
        if (n === 0) throw new Error(`the file ends at byte ${offset + done}`);
        done += n;
      }
    },
    close: () => closeSync(file),
  };
}
