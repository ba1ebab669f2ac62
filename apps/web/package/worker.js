// The worker that Tern.load starts. It has the engine's script in it: bundlers make one file of a worker.

import importedEngine from './dist/tern.js';
import {environment, provide} from './lib/environment.js';
import {serve} from './lib/worker_server.js';

provide({importEngine: async () => ({default: importedEngine})});
serve(globalThis, environment());
