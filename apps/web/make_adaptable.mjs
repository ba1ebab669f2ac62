#!/usr/bin/env node
// usage: make_adaptable.mjs MODULE.wasm...
//
// The engine is built with shared memory, for its threads. This lets it run where a browser has none to share: it adds
// a section "tern.adapt" (JSON) that says where the flags of the imported memory are (`shared`): 3 for a shared one, 1
// for one that is not. before.js changes them in the browser. A module that is to run without relaxed SIMD must have
// none of its instructions: all but tern.wasm.
import fs from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

import {leb, Reader, sections, walkCode} from './wasm_walk.mjs';

const [kImport, kCode] = [2, 10];
const kRelaxed = 0x100;  // the first of its instructions

/** Where the flags of the imported memory are; −1: there is none. */
function memoryFlags(bytes, section) {
  const r = new Reader(bytes, section.begin);
  let shared = -1;
  for (let n = r.leb(); n > 0; --n) {
    r.skip(r.leb());
    r.skip(r.leb());
    const kind = r.byte();
    if (kind === 0) r.leb();
    else if (kind === 2) {
      shared = r.at;
      r.lebs(r.byte() & 1 ? 2 : 1);
    } else if (kind === 1) {
      r.skip(1);
      r.lebs(r.byte() & 1 ? 2 : 1);
    } else if (kind === 3) r.skip(2);
    else r.lebs(2);
  }
  return shared;
}

function custom(name, text) {
  const body = new TextEncoder().encode(text);
  const label = new TextEncoder().encode(name);
  return Uint8Array.from([0, ...leb(1 + label.length + body.length), label.length, ...label, ...body]);
}

/** @param {Uint8Array} bytes @param {{relaxed: boolean}} may @returns {Uint8Array} */
export function makeAdaptable(bytes, {relaxed}) {
  const found = new Map(sections(bytes).map((section) => [section.id, section]));
  const shared = memoryFlags(bytes, found.get(kImport));
  if (bytes[shared] !== 3) throw new Error('the module imports no shared memory');
  walkCode(bytes, found.get(kCode), (op, at) => {
    if (op >= kRelaxed && !relaxed) throw new Error(`relaxed instruction ${op.toString(16)} at ${at}`);
  });
  return new Uint8Array(Buffer.concat([bytes, custom('tern.adapt', JSON.stringify({shared}))]));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const files = process.argv.slice(2);
  if (files.length === 0) {
    console.error('usage: make_adaptable.mjs MODULE.wasm...');
    process.exit(2);
  }
  for (const file of files) {
    try {
      fs.writeFileSync(file, makeAdaptable(fs.readFileSync(file), {relaxed: path.basename(file) === 'tern.wasm'}));
    } catch (error) {
      fs.rmSync(file, {force: true});  // or a build that goes on would take it for finished
      console.error(`make_adaptable: ${file}: ${error.message}`);
      process.exit(1);
    }
  }
}
