// The parser that Emscripten brings for its own tools.
import {createRequire} from 'node:module';

const kFolders = ['/usr/share/nodejs', '/usr/lib/node_modules', '/usr/share/emscripten',
  process.env.EMSDK ? `${process.env.EMSDK}/upstream/emscripten` : '/'];
const require = createRequire(import.meta.url);

/** @type {import('acorn').parse} */
export const {parse} = require(require.resolve('acorn', {paths: kFolders}));
