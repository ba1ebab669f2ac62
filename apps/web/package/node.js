// The package under Node: no worker, no storage, models from disk.

import './lib/in_node.js';

export * from './lib/api.js';
