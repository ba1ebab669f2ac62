// Prints what the package weighs, as it lies and compressed, and with --write puts it into README.md.

import {readFileSync, readdirSync, writeFileSync} from 'node:fs';
import {gzipSync} from 'node:zlib';

const here = (path) => new URL(path, import.meta.url);

/** @returns {string[]} files of a folder that end so; none where there is no such folder */
function filesIn(folder, end) {
  try {
    return readdirSync(here(folder)).filter((name) => name.endsWith(end)).sort().map((name) => `${folder}/${name}`);
  } catch {
    return [];
  }
}

function row(what, files) {
  let [raw, packed] = [0, 0];
  for (const file of files) {
    const bytes = readFileSync(here(file));
    raw += bytes.length;
    packed += gzipSync(bytes, {level: 9}).length;
  }
  const kb = (bytes) => `${(bytes / 1000).toFixed(0)} kB`;
  return `| ${what} | ${kb(raw)} | ${kb(packed)} |`;
}

const kNode = /node|webllm|published/;  // of Node, or of those who ask for it
const scripts = ['index.js', 'worker.js', ...filesIn('lib', '.js').filter((path) => !kNode.test(path))];
const builds = filesIn('dist', '.wasm').map((path) => /dist\/(.*)\.wasm$/.exec(path)[1]);
const table = [
  '| files | bytes | gzip |',
  '|---|---|---|',
  row('index.js, worker.js, lib/', scripts),
  ...builds.map((name) => {
    const glue = filesIn('dist', '.js').filter((path) => new RegExp(`dist/${name}(_glue|_thread)?\\.js$`).test(path));
    return row([...glue, `${name}.wasm`].join(', '), [...glue, `dist/${name}.wasm`]);
  }),
].join('\n');

console.log(table);
if (process.argv.includes('--write')) {
  const readme = readFileSync(here('README.md'), 'utf8');
  const place = /(<!-- sizes -->\n)[^]*?(<!-- \/sizes -->)/;
  if (!place.test(readme)) throw new Error('README.md has no place for the sizes');
  writeFileSync(here('README.md'), readme.replace(place, (_, before, after) => `${before}${table}\n${after}`));
}
