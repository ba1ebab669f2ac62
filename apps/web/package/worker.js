// The worker that Tern.load starts. It has the engines' scripts in it: bundlers make one file of a worker.

import onCpu from './dist/tern.js';
import onGpu from './dist/tern_gpu.js';
import {environment, provide} from './lib/environment.js';
import {serve} from './lib/worker_server.js';

provide({importEngine: async (isOnGpu) => ({default: isOnGpu ? onGpu : onCpu})});
serve(globalThis, environment());
