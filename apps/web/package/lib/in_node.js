// The package's files as Node finds them, and what Node has instead of a browser's.

import {readFile} from 'node:fs/promises';
import {provide} from './environment.js';
import {openNodeModel} from './node_model.js';

provide({
  readFile: (url) => readFile(url),
  isNode: true,
  locks: undefined,
  caches: undefined,
  Worker: undefined,
  origin: undefined,
  openFile: openNodeModel,
  importEngine: (onGpu) => (onGpu ? import('../dist/tern_gpu_node.js') : import('../dist/tern_node.js')),
});
