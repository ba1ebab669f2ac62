// The origin private file system: a folder per key with the text in two files and one file for each file's bytes.
// Writing needs handles that only workers have; reading works anywhere.

import {BusyError} from '../errors.js';
import {readerOfBlob} from '../blob_reader.js';

const kFolder = 'tern-models';

/** @implements {import('./storage.js').Storage} */
export class OpfsStorage {
  kind = 'opfs';
  #env;
  #root;

  /** @returns {Promise<OpfsStorage | null>} null where there is none */
  static async open(env) {
    if (!env.navigator?.storage?.getDirectory) return null;
    const top = await env.navigator.storage.getDirectory();
    return new OpfsStorage(env, await top.getDirectoryHandle(kFolder, {create: true}));
  }

  constructor(env, root) {
    this.#env = env;
    this.#root = root;
    this.canWrite = env.canWriteFiles;
  }

  async list() {
    const keys = [];
    for await (const [name, handle] of this.#root.entries()) {
      if (handle.kind === 'directory') keys.push(name);
    }
    return keys;
  }

  // The text is written to two files in turn, so that a torn write leaves the one before.
  async #texts(key) {
    const folder = await this.#root.getDirectoryHandle(key);
    const read = async (slot) => {
      try {
        const file = await (await folder.getFileHandle(`manifest.${slot}.json`)).getFile();
        const {generation, text} = JSON.parse(await file.text());
        return {slot, generation, text};
      } catch {
        return {slot, generation: -1, text: null};
      }
    };
    const found = [await read(0), await read(1)];
    return found[0].generation > found[1].generation ? found : found.reverse();
  }

  async readText(key) {
    try {
      return (await this.#texts(key))[0].text;
    } catch {
      return null;
    }
  }

  async writeText(key, text) {
    const folder = await this.#root.getDirectoryHandle(key, {create: true});
    const [newest, oldest] = await this.#texts(key);
    const handle = await folder.getFileHandle(`manifest.${oldest.slot}.json`, {create: true});
    const bytes = new TextEncoder().encode(JSON.stringify({generation: newest.generation + 1, text}));
    const access = await handle.createSyncAccessHandle();
    try {
      await access.truncate(0);
      writeAll(access, bytes, 0);
      await access.flush();
    } finally {
      await access.close();
    }
  }

  async openWrite(key, file, pieceBytes) {
    const folder = await this.#root.getDirectoryHandle(key, {create: true});
    const handle = await folder.getFileHandle(`data.${file}`, {create: true});
    const access = await openAccess(handle);
    return {
      write: async (piece, bytes) => {
        writeAll(access, bytes, piece * pieceBytes);
        await access.flush();
      },
      read: async (piece, bytes) => {
        const into = new Uint8Array(bytes);
        return access.read(into, {at: piece * pieceBytes}) === bytes ? into : null;
      },
      close: async () => access.close(),
    };
  }

  async openRead(key, file) {
    const folder = await this.#root.getDirectoryHandle(key);
    const handle = await folder.getFileHandle(`data.${file}`);
    return (await shared(handle)) ?? readerOfBlob(this.#env, await handle.getFile());
  }

  async remove(key) {
    try {
      await this.#root.removeEntry(key, {recursive: true});
    } catch (error) {
      if (error?.name === 'NotFoundError') return;
      if (error?.name !== 'NoModificationAllowedError') throw error;
      throw new BusyError('the stored model is in use, here or in another tab; close it there first', {cause: error});
    }
  }
}

function writeAll(access, bytes, at) {
  const n = access.write(bytes, {at});
  if (n === bytes.length) return;
  // What a full disk looks like in some browsers.
  throw Object.assign(new Error(`only ${n} of ${bytes.length} bytes were written`), {name: 'QuotaExceededError'});
}

async function openAccess(handle) {
  try {
    return await handle.createSyncAccessHandle();
  } catch (error) {
    if (error?.name !== 'NoModificationAllowedError') throw error;
    throw new BusyError('the stored model is in use in another tab; close it there, then load again', {cause: error});
  }
}

// Handles that several tabs can read through at a time exist in some browsers; the others would lock each other out.
async function shared(handle) {
  if (!handle.createSyncAccessHandle) return null;
  let access;
  try {
    access = await handle.createSyncAccessHandle({mode: 'read-only'});
  } catch {
    return null;
  }
  if (access.mode !== 'read-only') {
    await access.close();
    return null;
  }
  return {
    size: await access.getSize(),
    sync: true,
    read: (offset, into) => {
      const n = readShared(access, into, offset);
      if (n !== into.length) throw new Error(`the stored file ends at byte ${offset + n}`);
    },
    close: () => access.close(),
  };
}

// Some browsers refuse to read into memory that threads share.
function readShared(access, into, at) {
  if (typeof SharedArrayBuffer === 'undefined' || !(into.buffer instanceof SharedArrayBuffer)) {
    return access.read(into, {at});
  }
  const copy = new Uint8Array(into.length);
  const n = access.read(copy, {at});
  into.set(copy);
  return n;
}
