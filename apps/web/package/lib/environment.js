// What the package uses of its surroundings, in one object, so that tests can put their own in its place.

import {CancelledError, throwIfAborted} from './errors.js';

/**
 * @typedef {object} Environment
 * @property {typeof fetch} fetch
 * @property {Navigator | undefined} navigator for storage, locks, onLine, gpu, hardwareConcurrency
 * @property {CacheStorage | undefined} caches
 * @property {Crypto | undefined} crypto
 * @property {typeof FileReaderSync | undefined} FileReaderSync there in workers only
 * @property {typeof Worker | undefined} Worker
 * @property {string | undefined} origin of the page; undefined outside browsers
 * @property {boolean} crossOriginIsolated
 * @property {boolean} isNode
 * @property {number} pieceBytes models are stored, checked and resumed in pieces of this size
 * @property {number} stallMs a connection that brings nothing for so long is given up
 * @property {() => number} now milliseconds
 * @property {(ms: number, signal?: AbortSignal) => Promise<void>} sleep
 * @property {() => Promise<void>} nextTurn lets events that wait be handled
 * @property {(url: string) => Promise<any>} importModule
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

// A message to itself, because browsers make nested timers wait for 4 ms.
function makeNextTurn() {
  if (typeof setImmediate === 'function') return () => new Promise((resolve) => setImmediate(resolve));
  const {port1, port2} = new MessageChannel();
  const waiting = [];
  port1.onmessage = () => waiting.shift()();
  return () => new Promise((resolve) => {
    waiting.push(resolve);
    port2.postMessage(0);
  });
}

/** @returns {Environment} */
export function environment() {
  const root = globalThis;
  const isNode = typeof root.process?.versions?.node === 'string' && typeof root.window === 'undefined' &&
    typeof root.WorkerGlobalScope === 'undefined';
  return {
    fetch: (...args) => root.fetch(...args),
    navigator: root.navigator,
    caches: isNode ? undefined : root.caches,
    crypto: root.crypto,
    FileReaderSync: root.FileReaderSync,
    Worker: isNode ? undefined : root.Worker,
    origin: isNode ? undefined : root.location?.origin,
    crossOriginIsolated: root.crossOriginIsolated === true,
    isNode,
    pieceBytes: 8 << 20,
    stallMs: 60_000,
    now: () => performance.now(),
    sleep,
    nextTurn: makeNextTurn(),
    importModule: (url) => import(/* @vite-ignore */ /* webpackIgnore: true */ url),
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
  const locks = env.navigator?.locks;
  if (!locks || (env.isNode && !env.useLocks)) return work();
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
 * @returns {Promise<() => void>} gives it back
 */
export async function holdShared(env, name, {signal, onWait}) {
  let release = () => {};
  const done = new Promise((resolve) => {
    release = resolve;
  });
  await new Promise((resolve, reject) => {
    withLock(env, name, {mode: 'shared', signal, onWait}, () => {
      resolve();
      return done;
    }).catch(reject);
  });
  return release;
}
