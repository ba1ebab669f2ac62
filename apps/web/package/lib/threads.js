// The engine's threads: workers that this worker starts. Firefox sometimes never comes back from starting one, and only
// who holds this worker can tell. So they are started before a model is fetched, and what is about to happen is said.

import {importEngine} from './engine_module.js';
import {NotSupportedError} from './errors.js';

/** Threads of one engine, until it has ended them itself. */
export class Threads {
  #started = [];
  #waiting = [];
  #error = null;

  /**
   * @param {import('./environment.js').Environment} env
   * @param {import('./choose_flavor.js').Flavor} flavor
   * @param {{baseUrl?: string, onThreads?: (state: 'starting' | 'started') => void}} options
   */
  static async start(env, {backend, threads}, {baseUrl, onThreads = () => {}}) {
    const made = new Threads();
    if (threads <= 1) return made;
    // Where the script is not there, the engine says so.
    const engine = await importEngine(env, {isOnGpu: backend === 'webgpu', baseUrl}).catch(() => null);
    if (!engine?.startThread) return made;
    onThreads('starting');
    try {
      for (let i = 1; i < threads; ++i) made.#add(engine.startThread());
    } catch {
      made.close();  // the engine tries again, and says what is wrong
    } finally {
      onThreads('started');
    }
    return made;
  }

  #add(thread) {
    thread.addEventListener?.('error', (event) => {
      event.preventDefault?.();
      this.#error ??= new NotSupportedError(`a thread could not be started (${event.message ?? 'its script failed'})`);
    });
    this.#started.push(thread);
    this.#waiting.push(thread);
  }

  /** One of them, for the engine; undefined where none is left. NotSupportedError: one of them has failed. */
  take() {
    if (this.#error) throw this.#error;
    return this.#waiting.pop();
  }

  /** Ends them. */
  close() {
    for (const thread of this.#started.splice(0)) thread.terminate();
    this.#waiting = [];
  }
}
