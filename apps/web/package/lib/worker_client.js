// The page's side of the worker: the methods of Runner, by messages. When the worker dies, everything that waits fails.
// A worker that never comes back from starting threads, as some of Firefox's do, is replaced: as a rule it has fetched
// nothing yet.

import {CancelledError, InvalidArgumentError, WorkerCrashedError, fromPlain, throwIfAborted} from './errors.js';

// A load that is stopped gets so long to put away what came; an engine that reads weights cannot be asked.
const kGraceMs = 1000;
// So many workers are tried with threads, then one without.
const kTriesOfThreads = 3;
// A page that was busy until now hears first what has been said meanwhile.
const kListenMs = 500;

/** Starts a worker of another site, through a script that the page may start. */
export function startForeign(Worker, url) {
  const script = URL.createObjectURL(new Blob([`import ${JSON.stringify(url)};`], {type: 'text/javascript'}));
  return new Worker(script, {type: 'module', name: 'tern'});
}

function startWorker(env, url) {
  const {Worker} = env;
  if (!url) return env.newWorker();
  if (env.origin && new URL(url).origin !== env.origin) return startForeign(Worker, url);
  return new Worker(url, {type: 'module', name: 'tern'});
}

/** @implements the interface of Runner */
export class WorkerClient {
  #env;
  #address;
  #worker;
  #nTries = 0;
  #pending = new Map();
  #nextId = 1;
  #end = null;
  #timer;
  /** Whether the worker's script never ran, though nothing was said against it. */
  isLate = false;

  /**
   * @param {import('./environment.js').Environment} env
   * @param {string} [address] of worker.js, where it is not the package's own
   */
  constructor(env, address) {
    this.#env = env;
    this.#address = address;
    this.#startWorker();
  }

  #startWorker() {
    const url = this.#address ?? 'tern-web/worker.js';
    const env = this.#env;
    try {
      this.#worker = startWorker(env, this.#address);
    } catch (error) {
      throw new WorkerCrashedError(`${url}: the worker cannot be started (${error.message})`, {cause: error});
    }
    let isReady = false;
    this.#timer = setTimeout(() => {
      this.isLate = true;
      this.#fail(new WorkerCrashedError(`${url}: the worker did not start within ${env.startMs / 1000} s`));
    }, env.startMs);
    const worker = this.#worker;
    worker.addEventListener('message', ({data}) => {
      if (worker !== this.#worker) return;
      if (data.ready) {
        isReady = true;
        clearTimeout(this.#timer);
      } else {
        this.#receive(data);
      }
    });
    worker.addEventListener('error', (event) => {
      event.preventDefault?.();
      if (worker !== this.#worker) return;
      const why = event.message ? ` (${event.message})` : '';
      this.#fail(new WorkerCrashedError(isReady ? `the worker stopped${why}; load the model again` :
        `${url}: the worker could not be started${why}; check that the file is served and the page may run it`));
    });
    worker.addEventListener('messageerror', () => {
      if (worker !== this.#worker) return;
      this.#fail(new WorkerCrashedError('a message of the worker could not be read; load the model again'));
    });
  }

  /**
   * @param {'starting' | 'again' | 'started'} state as Runner.load tells it
   * @param {() => void} again sends the request to another worker
   */
  #watchThreads(state, again) {
    clearTimeout(this.#timer);
    if (state === 'started') return;
    const replace = () => {
      this.#worker.terminate();
      // What has been fetched may have to be fetched again, so it is not tried again.
      this.#nTries = state === 'again' ? kTriesOfThreads : this.#nTries + 1;
      try {
        this.#startWorker();
        again();
      } catch (error) {
        this.#fail(error);
      }
    };
    this.#timer = setTimeout(() => {
      this.#timer = setTimeout(replace, Math.min(kListenMs, this.#env.threadsMs));
    }, this.#env.threadsMs * 2 ** this.#nTries);
  }

  #receive({id, event, result, error, isDead}) {
    const waiting = this.#pending.get(id);
    if (event !== undefined) return waiting?.onEvent?.(event);
    this.#pending.delete(id);
    if (!error) return waiting?.resolve(result);
    const made = fromPlain(error);
    waiting?.reject(made);
    if (isDead) this.#fail(made.code === 'worker_crashed' ? made : new WorkerCrashedError(made.message, {cause: made}));
  }

  #fail(error) {
    clearTimeout(this.#timer);
    if (this.#end) return;
    this.#end = error;
    this.#worker.terminate();
    for (const {reject} of this.#pending.values()) reject(error);
    this.#pending.clear();
  }

  #request(method, params, onEvent) {
    if (this.#end) return Promise.reject(this.#end);
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, {resolve, reject, onEvent});
      try {
        this.#worker.postMessage({id, method, params});
      } catch (error) {
        this.#pending.delete(id);
        const message = `an option cannot go to a worker (${error.message}); leave it out, or pass worker: false`;
        reject(new InvalidArgumentError(message, {cause: error}));
      }
    });
  }

  async load(source, options, {onProgress, onLog, signal}) {
    const stop = () => {
      this.#worker.postMessage({abort: id});
      setTimeout(() => this.#fail(new CancelledError('stopped on request', {cause: signal.reason})), kGraceMs);
    };
    const id = this.#nextId;
    signal?.addEventListener('abort', stop, {once: true});
    try {
      const paramsNow = () => {
        const whyNoThreads = 'starting them stood still';
        const isWithout = this.#nTries >= kTriesOfThreads;
        return {source, options: isWithout ? {...options, whyNoThreads} : options, wantsLog: Boolean(onLog)};
      };
      const again = () => {
        throwIfAborted(signal);
        this.#worker.postMessage({id, method: 'load', params: paramsNow()});
      };
      const onEvent = (event) => {
        if ('threads' in event) this.#watchThreads(event.threads, again);
        else if ('log' in event) onLog?.(event.log);
        else onProgress(event);
      };
      const info = await this.#request('load', paramsNow(), onEvent);
      throwIfAborted(signal);
      return info;
    } catch (error) {
      this.#fail(error);
      throw error;
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }

  generate(params, onPiece) {
    return this.#request('generate', {params}, onPiece);
  }

  async keep({onProgress, signal}) {
    const id = this.#nextId;
    const stop = () => this.#worker.postMessage({abort: id});
    signal?.addEventListener('abort', stop, {once: true});
    try {
      return await this.#request('keep', {}, onProgress);
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }

  cancel() {
    if (!this.#end) this.#worker.postMessage({cancel: true});
  }

  call(method, params) {
    return this.#request('call', {method, params});
  }

  async close() {
    // Files and locks are free for others when this returns, if the engine is not in the middle of something long.
    if (!this.#end) await Promise.race([this.#request('close', {}), this.#env.sleep(kGraceMs)]).catch(() => {});
    // Ending the worker gives back everything it has, also what the engine would keep.
    this.#fail(new CancelledError('the model was closed; load it again'));
  }
}
