// The worker that Tern.load starts.

import {environment} from './lib/environment.js';
import {serve} from './lib/worker_server.js';

serve(globalThis, environment());
