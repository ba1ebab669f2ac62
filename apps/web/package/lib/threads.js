// The engine's threads: workers that this worker starts. Firefox sometimes never comes back from starting one, and only
// who holds this worker can tell. So they are started before a model is fetched, and what is about to happen is said.

import {importEngine} from './engine_module.js';

/** Threads that were started and wait for their engine. */
export class Threads {
  #waiting = [];

  /**
   * @param {import('./environment.js').Environment} env
   * @param {import('./choose_flavour.js').Flavour} flavour
   * @param {{baseUrl?: string, onThreads?: (state: 'starting' | 'started') => void}} options
   */
  static async start(env, {backend, threads}, {baseUrl, onThreads = () => {}}) {
    const made = new Threads();
    // Where the script is not there, the engine says so.
    const engine = threads > 1 ? await importEngine(env, {isOnGpu: backend === 'webgpu', baseUrl}).catch(() => null) : null;
    if (!engine?.startThread) return made;
    onThreads('starting');
    try {
      for (let i = 1; i < threads; ++i) made.#waiting.push(engine.startThread());
    } finally {
      onThreads('started');
    }
    return made;
  }

  /** One of them, for the engine to keep; undefined where none is left. */
  take() {
    return this.#waiting.pop();
  }

  /** Ends those that no engine took. */
  close() {
    for (const thread of this.#waiting.splice(0)) thread.terminate();
  }
}
