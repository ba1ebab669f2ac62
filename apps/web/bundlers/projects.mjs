// The projects: what each takes from app/, how it is built, and what serves it.

/**
 * @typedef {object} Project
 * @property {string[]} app files of app/ that it is made of, FILE or FILE:NAME
 * @property {string[][]} [build] commands
 * @property {string} [out] the folder that any web server may then serve; without one, building it is all there is
 * @property {string} [beside] where the package's folder is copied to
 * @property {{command: string[], url: RegExp}} [serve] a server of its own: its address is what `url` finds in its
 *   words
 */

/** @type {Record<string, Project>} */
export const kProjects = {
  plain: {app: ['story.js', 'main_beside.js'], out: '.', beside: 'tern'},
  vite: {app: ['story.js', 'main.js', 'index.html'], build: [['npx', 'vite', 'build']], out: 'dist'},
  'vite dev': {app: ['story.js', 'main.js', 'index.html'],
    serve: {command: ['npx', 'vite', '--port', '0'], url: /Local:\s+(http:\S+)/}},
  'vite preview': {app: ['story.js', 'main.js', 'index.html'], build: [['npx', 'vite', 'build']],
    serve: {command: ['npx', 'vite', 'preview', '--port', '0'], url: /Local:\s+(http:\S+)/}},
  webllm: {app: ['webllm.js:main.js', 'webllm_worker.js:worker.js', 'index.html'],
    build: [['npx', 'vite', 'build']], out: 'dist'},
  webpack: {app: ['story.js', 'main.js'], build: [['npx', 'webpack']], out: 'dist'},
  esbuild: {app: ['story.js', 'main_beside.js'], out: 'dist', beside: 'dist/tern',
    build: [['npx', 'esbuild', 'main_beside.js', '--bundle', '--minify', '--format=esm', '--outdir=dist']]},
  rollup: {app: ['story.js', 'main_beside.js'], out: 'dist', beside: 'dist/tern', build: [['npx', 'rollup', '-c']]},
  parcel: {app: ['story.js', 'main.js', 'index.html'], out: 'dist',
    build: [['npx', 'parcel', 'build', 'index.html', '--no-cache']]},
  types: {app: [], build: [['npx', 'tsc']]},
  next: {app: ['story.js'], build: [['npx', 'next', 'build']], out: 'dist'},
};
