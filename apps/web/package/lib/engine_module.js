// The engine: WebAssembly built by Emscripten from C++. All that the package knows about that module is in this file.

import {withinTime} from './environment.js';
import {
  CancelledError, NotFoundError, NotSupportedError, OutOfMemoryError, TernError, WorkerCrashedError, errorOf,
} from './errors.js';

const kCodes = new Set(['not_found', 'corruption', 'not_supported', 'invalid_argument', 'out_of_memory', 'device_lost',
  'io', 'cancelled', 'internal']);

/** Errors that WebAssembly and its memory throw by themselves: nothing can be called after them. */
function explainCrash(error) {
  const text = String(error?.message ?? error);
  if (/OOM|out of memory|cannot enlarge memory|could not allocate|allocation failed/i.test(text)) {
    return new OutOfMemoryError('the tab has too little memory for this model; use a smaller one, or a shorter context',
      {cause: error});
  }
  return new WorkerCrashedError(`the engine stopped (${text.split('\n', 1)[0]}); load the model again`, {cause: error});
}

/**
 * The module once its threads are there. Where memory cannot be shared with them (WebKit refuses it to a worker of a
 * worker), Emscripten waits for ever, and all there is to see of it is a rejection that nobody handles.
 */
function withThreads(env, ready, bytesCame) {
  const what = 'the threads did not start';
  const refused = new Promise((_, reject) => {
    const listen = (event) => {
      if (event.reason?.name !== 'DataCloneError') return;
      event.preventDefault();
      reject(new NotSupportedError(`${what} (${event.reason.message})`));
    };
    globalThis.addEventListener?.('unhandledrejection', listen);
    const stop = () => globalThis.removeEventListener?.('unhandledrejection', listen);
    ready.then(stop, stop);
  });
  return Promise.race([ready, refused, bytesCame.then(() => withinTime(env.startMs, what, ready))]);
}

/**
 * The script that makes an engine.
 * @param {import('./environment.js').Environment} env
 * @param {{isOnGpu: boolean, baseUrl?: string}} options
 * @returns {Promise<Function & {startThread?: () => Worker}>} NotFoundError: it is not there
 */
export async function importEngine(env, {isOnGpu, baseUrl}) {
  const url = engineUrl({isOnGpu, baseUrl});
  try {
    const {default: create} = await (baseUrl ? env.importModule(url) : env.importEngine(isOnGpu));
    return create;
  } catch (error) {
    const message = `${url}: the engine cannot be loaded; check the connection, and that dist/ is served, too`;
    throw new NotFoundError(message, {cause: error});
  }
}

function engineUrl({isOnGpu, baseUrl}) {
  const file = `dist/${isOnGpu ? 'tern_gpu' : 'tern'}.js`;
  return baseUrl ? new URL(file, baseUrl).href : `tern-web/${file}`;
}

/** An engine with at most one model, called from one place at a time. */
export class EngineModule {
  #module;
  #queue = Promise.resolve();
  /** @type {TernError | null} what ended it */
  crashed = null;

  constructor(module) {
    this.#module = module;
  }

  /**
   * @param {import('./environment.js').Environment} env
   * @param {{isOnGpu: boolean, threads: number, relaxed: boolean, baseUrl?: string, gpu?: object, files: object,
   *   tokenConstraint?: object, overrides?: object, started?: import('./threads.js').Threads,
   *   onProgress?: (what: string, done: number, total: number, unit: string) => void,
   *   onLog?: (text: string) => void}} options
   * @returns {Promise<EngineModule>} NotFoundError: the engine's files are not there
   */
  static async open(env, {
    isOnGpu, threads, relaxed, baseUrl, gpu, files, tokenConstraint, overrides, started, onProgress, onLog,
  }) {
    const create = await importEngine(env, {isOnGpu, baseUrl});
    const url = engineUrl({isOnGpu, baseUrl});
    let abortText = '';
    let onBytes = () => {};
    const bytesCame = new Promise((resolve) => {
      onBytes = resolve;
    });
    try {
      const ready = create({
        ...overrides,
        ...(gpu ? {gpu} : {}),
        ...(create.startThread ? {startThread: () => started?.take() ?? create.startThread()} : {}),
        threads,
        relaxed,
        files,
        tokenConstraint,
        onProgress,
        onLog,
        onBytes,
        ...(onLog ? {print: onLog, printErr: onLog} : {}),
        onAbort: (what) => {
          abortText = String(what ?? '');
        },
      });
      return new EngineModule(threads > 1 ? await withThreads(env, ready, bytesCame) : await ready);
    } catch (error) {
      if (error instanceof TernError) throw error;
      if (error instanceof WebAssembly.CompileError || /CompileError/.test(error?.message)) {
        const message = `${url}: this browser cannot run it (${error.message}); use a newer one`;
        throw new NotSupportedError(message, {cause: error});
      }
      if (/fetch|failed to load|404|network|both async and sync/i.test(`${abortText} ${error?.message}`)) {
        const message = `${url}: its .wasm file cannot be loaded; check the connection, and that it is served, too`;
        throw new NotFoundError(message, {cause: error});
      }
      throw explainCrash(error);
    }
  }

  /**
   * Calls of several callers are done one after the other.
   * @param {string} method
   * @param {object} [params]
   * @returns {Promise<any>}
   */
  call(method, params = {}) {
    const result = this.#queue.then(() => this.#call(method, params));
    this.#queue = result.catch(() => {});
    return result;
  }

  async #call(method, params) {
    if (this.crashed) throw this.crashed;
    try {
      return await this.#module.call(method, params);
    } catch (error) {
      if (error instanceof TernError) throw error;
      if (kCodes.has(error?.code) && typeof error.message === 'string') {
        // Callers know the model's files, not where the engine sees them.
        throw errorOf(error.code, error.message.replaceAll('/model/', ''));
      }
      this.crashed = explainCrash(error);
      throw this.crashed;
    }
  }

  /** Nothing more is asked of the engine, which may still be busy. @param {TernError} why */
  giveUp(why) {
    this.crashed ??= why;
  }

  /** Gives memory and GPU back as far as the module can. */
  async close() {
    if (!this.crashed) await this.call('unload').catch(() => {});
    this.#module?.PThread?.terminateAllThreads?.();
    this.#module = null;
    this.crashed ??= new CancelledError('the model was closed; load it again');
  }

  /** What an engine's progress is called here: its words are for people. */
  static phaseOf(what) {
    return /compil|kernel|shader|pipeline/i.test(what) ? 'compile' : 'load';
  }

  /** @returns {{rows: number, columns: number, data: Float32Array}} of the answer to 'logits' */
  static decodeLogits({rows, columns, base64}) {
    const text = atob(base64);
    const bytes = Uint8Array.from(text, (c) => c.charCodeAt(0));
    return {rows, columns, data: new Float32Array(bytes.buffer, 0, rows * columns)};
  }
}
