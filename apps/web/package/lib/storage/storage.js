// Where bytes of models are kept. Three places with one interface, best first: the origin private file system, the
// cache of responses, memory. None of them knows what a model is; model_store.js does.

import {QuotaError} from '../errors.js';
import {CacheStorage} from './storage_cache.js';
import {MemoryStorage} from './storage_memory.js';
import {OpfsStorage} from './storage_opfs.js';
import {humanSize} from '../text.js';

/**
 * Where a file's bytes are read from. `read` fills `into` from `offset` on or throws; it gives a Promise unless `sync`.
 * @typedef {object} Reader
 * @property {number} size bytes there are, from the beginning without a gap
 * @property {boolean} sync
 * @property {(offset: number, into: Uint8Array) => void | Promise<void>} read
 * @property {() => void} close
 */

/**
 * Where the pieces of a file are written, in any order.
 * @typedef {object} Writer
 * @property {(piece: number, bytes: Uint8Array) => Promise<void>} write durable when it returns
 * @property {(piece: number, bytes: number) => Promise<Uint8Array | null>} read null where they are not all there
 * @property {() => Promise<void>} close
 */

/**
 * @typedef {object} Storage
 * @property {'opfs' | 'cache' | 'memory'} kind
 * @property {boolean} canWrite
 * @property {() => Promise<string[]>} list keys of what is kept
 * @property {(key: string) => Promise<string | null>} readText of the one text that a key has
 * @property {(key: string, text: string) => Promise<void>} writeText the old text stays until the new one is there
 * @property {(key: string, file: number, pieceBytes: number) => Promise<Writer>} openWrite
 * @property {(key: string, file: number, pieceBytes: number) => Promise<Reader>} openRead
 * @property {(key: string) => Promise<void>} remove
 */

/**
 * Every place that can be used here, best first; at least memory.
 * @param {import('../environment.js').Environment} env
 * @param {{enabled?: boolean}} [options] `enabled` false: memory only
 * @returns {Promise<{storages: Storage[], note?: string}>} `note`: why nothing outlasts the page
 */
export async function openStorages(env, {enabled = true} = {}) {
  const storages = [];
  if (enabled) {
    for (const open of [OpfsStorage.open, CacheStorage.open]) {
      const storage = await open(env).catch(() => null);
      if (storage) storages.push(storage);
    }
  }
  const persistent = storages.some((storage) => storage.canWrite);
  storages.push(new MemoryStorage());
  if (persistent || !enabled) return {storages};
  return {
    storages,
    note: 'the model is kept in memory only, ' +
      'because this browser gives the page no storage (a private window, or plain http)',
  };
}

/** Throws a QuotaError where `need` more bytes will not fit, as far as the browser tells. */
export async function checkQuota(env, storage, need, what) {
  if (storage.kind === 'memory' || !env.navigator?.storage?.estimate) return;
  const {quota, usage} = await env.navigator.storage.estimate().catch(() => ({}));
  if (quota === undefined || need <= quota - usage) return;
  throw tooSmall(what, need, Math.max(0, quota - usage));
}

/** What a failed write means. */
export async function explainWriteError(env, error, need, what) {
  if (error?.name !== 'QuotaExceededError') return error;
  const {quota = 0, usage = 0} = (await env.navigator?.storage?.estimate?.().catch(() => ({}))) ?? {};
  const have = Math.max(0, quota - usage);
  if (have < need) return tooSmall(what, need, have, error);
  // Browsers may say more than there is, to hide how large the disk is.
  return new QuotaError(`${what} needs ${humanSize(need)} of storage, and the browser stores no more for this site, ` +
    `although it speaks of ${humanSize(have)}; delete stored models, or free disk space`, {cause: error});
}

function tooSmall(what, need, have, cause) {
  return new QuotaError(`${what} needs ${humanSize(need)} of storage, and the browser has ${humanSize(have)} left ` +
    'for this site; delete stored models, or free disk space', {cause});
}
