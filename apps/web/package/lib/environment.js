// What the package uses of its surroundings, in one object, so that tests can put their own in its place.

import {CancelledError, NotSupportedError, throwIfAborted} from './errors.js';

/**
 * @typedef {object} Environment
 * @property {typeof fetch} fetch
 * @property {Navigator | undefined} navigator for storage, onLine, gpu, hardwareConcurrency
 * @property {LockManager | undefined} locks shared by all tabs of the site
 * @property {typeof BroadcastChannel | undefined} BroadcastChannel to other tabs of the site
 * @property {CacheStorage | undefined} caches
 * @property {Crypto | undefined} crypto
 * @property {typeof FileReaderSync | undefined} FileReaderSync there in workers only
 * @property {boolean} canWriteFiles of the origin private file system, as only dedicated workers can
 * @property {typeof Worker | undefined} Worker
 * @property {string | undefined} origin of the page; undefined outside browsers
 * @property {boolean} crossOriginIsolated
 * @property {boolean} isNode
 * @property {typeof WebAssembly} [webAssembly] instead of the real one, to ask for features
 * @property {number} pieceBytes models are stored, checked and resumed in pieces of this size
 * @property {number} connections that a large file is downloaded over, at most
 * @property {number} stallMs a connection that brings nothing for so long is given up
 * @property {number} startMs a worker, threads or an adapter that is not there after so long is done without
 * @property {number} threadsMs starting threads may keep a worker so long, by the page's clock; then others
 *   are tried with twice and four times as long, and at last one without threads
 * @property {number} gpuStallMs a GPU that gets nowhere for so long while a model is loaded is done without
 * @property {() => number} now milliseconds
 * @property {(ms: number, signal?: AbortSignal) => Promise<void>} sleep
 * @property {() => Promise<void>} nextTurn lets events that wait be handled
 * @property {(url: string) => Promise<any>} importModule of an address that is known only here
 * @property {(onGpu: boolean) => Promise<{default: Function}>} importEngine the package's own engine, one of two
 * @property {(url: URL) => Promise<Uint8Array>} [readFile] where there are files
 * @property {() => Worker} newWorker the package's own worker
 * @property {(url: string) => import('./remote_model.js').OpenModel} [openFile] of a file: address, outside browsers
 */

/** @returns {Promise<void>} after `ms` milliseconds; a CancelledError when `signal` is aborted */
export function sleep(ms, signal) {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(new CancelledError('stopped on request'));
    const stop = () => {
      clearTimeout(timer);
      reject(new CancelledError('stopped on request'));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, {once: true});
  });
}

/**
 * What `promise` gives, if it does so in time; else a NotSupportedError that `isLate`. `moved()` begins the time anew.
 * @template T
 * @param {number} ms
 * @param {string} what of the error: "the threads did not start"
 * @param {Promise<T> | ((moved: () => void) => Promise<T>)} promise
 * @returns {Promise<T>}
 */
export function withinTime(ms, what, promise) {
  return new Promise((resolve, reject) => {
    let timer;
    const moved = () => {
      clearTimeout(timer);
      const late = () => Object.assign(new NotSupportedError(`${what} within ${ms / 1000} s`), {isLate: true});
      timer = setTimeout(() => reject(late()), ms);
    };
    moved();
    const end = (settle) => (value) => {
      clearTimeout(timer);
      settle(value);
    };
    (typeof promise === 'function' ? promise(moved) : promise).then(end(resolve), end(reject));
  });
}

// A message to itself, because browsers make nested timers wait for 4 ms.
function makeNextTurn() {
  if (typeof setImmediate === 'function') return () => new Promise((resolve) => setImmediate(resolve));
  let channel;
  const waiting = [];
  return () => new Promise((resolve) => {
    if (!channel) {
      channel = new MessageChannel();
      channel.port1.onmessage = () => waiting.shift()();
    }
    waiting.push(resolve);
    channel.port2.postMessage(0);
  });
}

/** @type {Partial<Environment>} */
let parts = {};

/** What index.js, worker.js and node.js each bring: the way to the engine, and where they run. */
export function provide(more) {
  parts = {...parts, ...more};
}

/** @returns {Environment} a browser's, with what was provided */
export function environment() {
  const root = globalThis;
  return {
    fetch: (...args) => root.fetch(...args),
    navigator: root.navigator,
    locks: root.navigator?.locks,
    BroadcastChannel: root.BroadcastChannel,
    caches: root.caches,
    crypto: root.crypto,
    FileReaderSync: root.FileReaderSync,
    canWriteFiles: 'createSyncAccessHandle' in (root.FileSystemFileHandle?.prototype ?? {}),
    Worker: root.Worker,
    origin: root.location?.origin,
    crossOriginIsolated: root.crossOriginIsolated === true,
    isNode: false,
    pieceBytes: 8 << 20,
    connections: 4,
    stallMs: 60_000,
    startMs: 20_000,
    threadsMs: 2_000,
    gpuStallMs: 60_000,
    now: () => performance.now(),
    sleep,
    nextTurn: makeNextTurn(),
    importModule: (url) => import(/* @vite-ignore */ /* webpackIgnore: true */ url),
    ...parts,
  };
}

/**
 * Runs `work` while it holds a lock that all tabs of this site share; without locks, just runs it.
 * @template T
 * @param {Environment} env
 * @param {string} name
 * @param {{mode?: 'shared' | 'exclusive', signal?: AbortSignal, onWait?: () => void}} options
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withLock(env, name, {mode = 'exclusive', signal, onWait}, work) {
  throwIfAborted(signal);
  const {locks} = env;
  if (!locks) return work();
  const atOnce = await locks.request(name, {mode, ifAvailable: true}, async (lock) => lock && {value: await work()});
  if (atOnce) return atOnce.value;
  onWait?.();
  try {
    return await locks.request(name, {mode, signal}, work);
  } catch (error) {
    throwIfAborted(signal);
    throw error;
  }
}

/**
 * Takes a shared lock and keeps it.
 * @returns {Promise<() => Promise<void>>} gives it back
 */
export async function holdShared(env, name, {signal, onWait}) {
  let release = () => {};
  let released;
  const done = new Promise((resolve) => {
    release = resolve;
  });
  await new Promise((resolve, reject) => {
    released = withLock(env, name, {mode: 'shared', signal, onWait}, () => {
      resolve();
      return done;
    }).catch(reject);
  });
  return () => {
    release();
    return released;
  };
}
