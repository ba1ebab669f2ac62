// Models that were downloaded, whole or in part. A model is a manifest, which says what its files are and how far each
// has come, and the files' bytes in pieces; every piece has its SHA-256 in the manifest before it counts as there.

import {BusyError, InvalidArgumentError, NotFoundError} from './errors.js';
import {Sha256, sha256Hex} from './sha256.js';
import {openStorages} from './storage/storage.js';

const kVersion = 1;
const kLockMs = 500;

/**
 * @typedef {object} StoredFile
 * @property {string} path below the model's folder, as the engine will see it
 * @property {string} url
 * @property {'gguf' | 'json' | 'safetensors' | 'other'} kind what its first bytes must look like
 * @property {number | null} size bytes; null until the server told
 * @property {number} [sizeHint] bytes that it will have, about, from the model's index
 * @property {boolean} [optional] the model works without it
 * @property {boolean} [absent] the server does not have it, and it is optional
 * @property {import('./http.js').Validator | null} validator the version that the pieces are of
 * @property {(string | null)[]} pieces SHA-256 of each; null: not there
 * @property {(string | null)[]} [expected] what pieces that were found damaged must be
 * @property {{piece: number, bytes: number, sha256: string}[]} tails beginnings of pieces that were on their way
 * @property {boolean} complete
 *
 * @typedef {object} Manifest
 * @property {number} version
 * @property {string} key where it is stored: a hash of the address
 * @property {string} url what the caller asked for
 * @property {string} name
 * @property {string} entry what the engine opens: a file's path, or '' for the folder
 * @property {number} pieceBytes
 * @property {StoredFile[]} files
 * @property {'partial' | 'complete'} state
 * @property {string | null} id of the content: SHA-256 of the pieces' hashes; null until it is complete
 * @property {Record<string, string>} sha256 of whole files, as far as they were checked
 * @property {number} used when it was last opened, ms since 1970
 */

/** @returns {string} the name of the lock that guards a stored model */
export function lockOf(key) {
  return `tern-model:${key}`;
}

/** @returns {Promise<string>} where the model of an address is stored */
export async function keyOf(env, url) {
  return (await sha256Hex(env, new TextEncoder().encode(url))).slice(0, 32);
}

/** @returns {Manifest} of a model of which nothing is there yet */
export function newManifest({key, url, name, entry, files, pieceBytes}) {
  return {
    version: kVersion,
    key,
    url,
    name,
    entry,
    pieceBytes,
    files: files.map((file) => ({size: null, ...file, validator: null, pieces: [], tails: [], complete: false})),
    state: 'partial',
    id: null,
    sha256: {},
    used: Date.now(),
  };
}

/** The id of what a complete model holds: the same wherever it came from. */
export function contentId(manifest) {
  const hash = new Sha256();
  for (const file of manifest.files) {
    hash.update(new TextEncoder().encode(`${file.path} ${file.size} ${file.pieces.join(' ')}\n`));
  }
  return hash.hex();
}

/** All of its files are there: says so in the manifest, which is to be written then. */
export function markComplete(manifest) {
  manifest.id = contentId(manifest);
  manifest.state = 'complete';
}

/** @returns {Promise<Manifest | null>} null for none, or one that cannot be read */
export async function readManifest(storage, key) {
  try {
    const manifest = JSON.parse((await storage.readText(key)) ?? 'null');
    if (manifest?.version !== kVersion || manifest.key !== key) return null;
    for (const file of manifest.files) file.tails ??= file.tail ? [file.tail] : [];  // there was only one
    return manifest;
  } catch {
    return null;
  }
}

/** @returns {Promise<void>} */
export function writeManifest(storage, manifest) {
  return storage.writeText(manifest.key, JSON.stringify(manifest));
}

/**
 * The stored model of a key, a complete one rather than a part.
 * @param {import('./storage/storage.js').Storage[]} storages
 * @param {string} key
 * @returns {Promise<{storage: import('./storage/storage.js').Storage, manifest: Manifest} | null>}
 */
export async function findModel(storages, key) {
  let found = null;
  for (const storage of storages) {
    const manifest = await readManifest(storage, key);
    if (!manifest) continue;
    if (manifest.state === 'complete') return {storage, manifest};
    if (storage.canWrite) found ??= {storage, manifest};
  }
  return found;
}

/**
 * A complete model whose one big file has this SHA-256, whatever address it came from.
 * @returns {Promise<string | null>} its key
 */
export async function keyWithSha256(storages, sha256) {
  for (const storage of storages) {
    for (const key of await storage.list()) {
      const manifest = await readManifest(storage, key);
      if (manifest?.state !== 'complete' || manifest.files.length !== 1) continue;
      if (manifest.sha256[manifest.files[0].path] === sha256) return key;
    }
  }
  return null;
}

function bytesThere(manifest) {
  let bytes = 0;
  for (const file of manifest.files) {
    const tails = file.tails.reduce((sum, tail) => sum + tail.bytes, 0);
    bytes += file.complete ? file.size : file.pieces.filter(Boolean).length * manifest.pieceBytes + tails;
  }
  return bytes;
}

/** What Tern.models is: the stored models of this site. */
export class StoredModels {
  #env;

  /** @param {import('./environment.js').Environment} env */
  constructor(env) {
    this.#env = env;
  }

  async #storages() {
    return (await openStorages(this.#env)).storages.filter((storage) => storage.kind !== 'memory');
  }

  /** @returns {Promise<object[]>} last used first */
  async list() {
    const models = [];
    for (const storage of await this.#storages()) {
      for (const key of await storage.list()) {
        const manifest = await readManifest(storage, key);
        if (!manifest) continue;
        models.push({
          id: key,
          contentId: manifest.id,
          url: manifest.url,
          name: manifest.name,
          bytes: bytesThere(manifest),
          totalBytes: manifest.files.reduce((sum, file) => sum + (file.size ?? file.sizeHint ?? 0), 0),
          complete: manifest.state === 'complete',
          storage: storage.kind,
          lastUsed: manifest.used,
        });
      }
    }
    return models.sort((a, b) => b.lastUsed - a.lastUsed);
  }

  /**
   * Keeps a loaded model of the user's own files for the next visit.
   * @param {import('./tern.js').Tern} tern
   * @param {{onProgress?: (progress: object) => void, signal?: AbortSignal}} [options]
   * @returns {Promise<object>} as list() has it; its url is what to load
   */
  async keep(tern, options) {
    const url = await tern.keep(options);
    return (await this.list()).find((model) => model.url === url);
  }

  /**
   * Deletes a stored model, or what there is of one.
   * @param {string} id of list()
   */
  async delete(id) {
    if (typeof id !== 'string' || !/^[\w-]+$/.test(id)) {
      throw new InvalidArgumentError(`Tern.models.delete wants an id of Tern.models.list(), not ${JSON.stringify(id)}`);
    }
    let found = false;
    const remove = async () => {
      for (const storage of await this.#storages()) {
        if (!(await storage.list()).includes(id)) continue;
        await storage.remove(id);
        found = true;
      }
    };
    const {locks} = this.#env;
    if (!locks) {
      await remove();
    } else {
      // A worker that was just ended has its lock for a moment more.
      const control = new AbortController();
      const message = 'the model is loaded or being downloaded, here or in another tab; close it first';
      const timer = setTimeout(() => control.abort(new BusyError(message)), kLockMs);
      await locks.request(lockOf(id), {signal: control.signal}, () => {
        clearTimeout(timer);
        return remove();
      });
    }
    if (!found) throw new NotFoundError(`there is no stored model ${id}; Tern.models.list() has those there are`);
  }

  /** @returns {Promise<{used: number, quota: number, models: number, persisted: boolean}>} bytes */
  async usage() {
    const storage = this.#env.navigator?.storage;
    const {usage = 0, quota = 0} = (await storage?.estimate?.().catch(() => ({}))) ?? {};
    const models = (await this.list()).reduce((sum, model) => sum + model.bytes, 0);
    return {used: usage, quota, models, persisted: (await storage?.persisted?.().catch(() => false)) ?? false};
  }
}
