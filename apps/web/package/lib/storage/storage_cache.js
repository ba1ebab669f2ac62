// The cache of responses, where the origin private file system is missing or, as outside workers, cannot be written:
// an entry for the text of a key and one for each piece of a file. The addresses exist nowhere else.

import {readerOfBlob} from '../blob_reader.js';

const kCache = 'tern-models';
const kHost = 'https://tern.invalid';

/** Whether something that is put there is there; it stays, to be put there again. */
async function keeps(cache) {
  const probe = `${kHost}/probe`;
  try {
    await cache.put(probe, new Response('probe'));
  } catch (error) {
    if (error?.name === 'QuotaExceededError') return true;  // what is there can still be read
    throw error;
  }
  return (await cache.match(probe)) !== undefined;
}

/** @implements {import('./storage.js').Storage} */
export class CacheStorage {
  kind = 'cache';
  canWrite = true;
  #env;
  #cache;

  /** @returns {Promise<CacheStorage | null>} null where there is none, or it keeps nothing */
  static async open(env) {
    if (!env.caches) return null;
    // In private sessions of WebKit, a cache that nobody has open forgets what was in it, and takes nothing more at the
    // same addresses until it is made anew.
    for (let turn = 0; turn < 2; ++turn) {
      const cache = await env.caches.open(kCache);
      if (await keeps(cache)) return new CacheStorage(env, cache);
      await env.caches.delete(kCache);
    }
    return null;
  }

  constructor(env, cache) {
    this.#env = env;
    this.#cache = cache;
  }

  async #keys() {
    const paths = (await this.#cache.keys()).map((request) => new URL(request.url).pathname.split('/'));
    return paths.filter((path) => path.length > 2);
  }

  async list() {
    return [...new Set((await this.#keys()).map((path) => path[1]))];
  }

  async readText(key) {
    const response = await this.#cache.match(`${kHost}/${key}/manifest`);
    return response ? response.text() : null;
  }

  async writeText(key, text) {
    await this.#cache.put(`${kHost}/${key}/manifest`, new Response(text));
  }

  async openWrite(key, file) {
    const address = (piece) => `${kHost}/${key}/data.${file}/${piece}`;
    return {
      write: async (piece, bytes) => this.#cache.put(address(piece), new Response(bytes.slice())),
      read: async (piece, bytes) => {
        const response = await this.#cache.match(address(piece));
        if (!response) return null;
        const found = new Uint8Array(await response.arrayBuffer());
        return found.length >= bytes ? found.subarray(0, bytes) : null;
      },
      close: async () => {},
    };
  }

  // The pieces' Blobs lie on disk; together they are one.
  async openRead(key, file, pieceBytes) {
    const blobs = [];
    for (;;) {
      const response = await this.#cache.match(`${kHost}/${key}/data.${file}/${blobs.length}`);
      if (!response) break;
      blobs.push(await response.blob());
      if (blobs.at(-1).size !== pieceBytes) break;
    }
    return readerOfBlob(this.#env, new Blob(blobs));
  }

  async remove(key) {
    for (const request of await this.#cache.keys()) {
      if (new URL(request.url).pathname.startsWith(`/${key}/`)) await this.#cache.delete(request);
    }
  }
}
