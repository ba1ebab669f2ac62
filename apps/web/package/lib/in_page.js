// The package's files as a page finds them. Bundlers know these expressions: each becomes a file of the bundle.

import {provide} from './environment.js';
import {startForeign} from './worker_client.js';

const here = import.meta.url;

provide({
  importEngine: (onGpu) => (onGpu ? import('../dist/tern_gpu.js') : import('../dist/tern.js')),
  newWorker: () => {
    // A page may start workers of its own site only.
    const {origin} = globalThis.location ?? {};
    const isForeign = origin && /^https?:/.test(here) && new URL(here).origin !== origin;
    if (isForeign) return startForeign(globalThis.Worker, new URL('../worker.js', here).href);
    return new Worker(new URL('../worker.js', import.meta.url), {type: 'module', name: 'tern'});
  },
});
