#!/usr/bin/env node
// usage: split_module.mjs TOOLS MODULE.wasm [RARE.txt]
//
// TOOLS is the folder of Binaryen's programs, and MODULE.wasm has names of its functions (--profiling-funcs), which are
// gone afterwards. Functions are sorted by name, so that those that are alike are near each other: gzip looks no
// further back than 32 kB. With RARE.txt, a regular expression of names in each line, the functions that match go into
// MODULE_more.wasm, which is fetched when one of them is first called (more.js). MODULE.wasm.placeholders says which
// has which place in the table.
import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

import {functionNames} from './wasm_walk.mjs';

const kFeatures = ['simd', 'threads', 'bulk-memory', 'bulk-memory-opt', 'mutable-globals', 'nontrapping-float-to-int',
  'sign-ext', 'exception-handling', 'reference-types', 'multivalue', 'relaxed-simd', 'call-indirect-overlong',
].map((name) => `--enable-${name}`);

/** @param {string} text of RARE.txt @param {string[]} names @returns {string[]} those that match */
export function rareOf(text, names) {
  const patterns = text.split('\n').filter((line) => line && !line.startsWith('#')).map((line) => new RegExp(line));
  const unused = patterns.filter((pattern) => !names.some((name) => pattern.test(name)));
  if (unused.length > 0) throw new Error(`no function is called ${unused.join(', or ')}; change RARE.txt`);
  return names.filter((name) => patterns.some((pattern) => pattern.test(name)));
}

function run(tools, file, rare) {
  const call = (program, args) => execFileSync(path.join(tools, program), [...kFeatures, ...args],
    {stdio: ['ignore', 'ignore', 'inherit']});
  const sorted = `${file}.sorted`;
  const list = `${file}.rare`;
  try {
    if (!rare) return void call('wasm-opt', [file, '--reorder-functions-by-name', '--strip-debug', '-o', file]);
    call('wasm-opt', [file, '--reorder-functions-by-name', '-g', '-o', sorted]);
    fs.writeFileSync(list, rareOf(fs.readFileSync(rare, 'utf8'), functionNames(fs.readFileSync(sorted))).join('\n'));
    call('wasm-split', ['--split', sorted, `--split-funcs=@${list}`, '--export-prefix=%', '--import-namespace=primary',
      '--placeholder-namespace=placeholder', '--placeholdermap',
      '-o1', file, '-o2', file.replace(/\.wasm$/, '_more.wasm')]);
  } finally {
    for (const made of [sorted, list]) fs.rmSync(made, {force: true});
  }
}

if (fileURLToPath(import.meta.url) === path.resolve(process.argv[1] ?? '')) {  // Node 18 has no import.meta.filename
  const [tools, file, rare] = process.argv.slice(2);
  if (!file) {
    console.error('usage: split_module.mjs TOOLS MODULE.wasm [RARE.txt]');
    process.exit(2);
  }
  try {
    run(tools, file, rare);
  } catch (error) {
    fs.rmSync(file, {force: true});  // or a build that goes on would take it for finished
    console.error(`split_module: ${file}: ${error.message}`);
    process.exit(1);
  }
}
