#!/usr/bin/env node
// usage: make_adaptable.mjs MODULE.wasm
//
// The engine is built once, with shared memory for its threads and with one instruction of relaxed SIMD. This makes it
// run where a browser has only part of that: it adds a function that computes what the instruction does out of plain
// SIMD, and a section "tern.adapt" (JSON) that says which bytes to change:
//   shared    the flags of the imported memory: 3 for a shared one, 1 for one that is not
//   dots      every i32x4.relaxed_dot_i8x16_i7x16_add_s, three bytes each
//   dotCall   the three bytes that call the function instead
// before.js changes them in the browser.
import fs from 'node:fs';
import {fileURLToPath} from 'node:url';

import {leb, Reader, sections, walkCode} from './wasm_walk.mjs';

const kRelaxedDot = 0x113;
const [kType, kImport, kFunction, kCode] = [1, 2, 3, 10];

// (a, b, c: v128) → v128. The products of bytes as 16 bits, their sums of two, then of four, as 32 bits.
const kDotBody = [0x01, 0x02, 0x7b,  // two more locals, v128
  0x20, 0, 0x20, 1, 0xfd, 0x9c, 0x01, 0xfd, 0x7e, 0x21, 3,  // low: extmul_low_i8x16_s, extadd_pairwise_i16x8_s
  0x20, 0, 0x20, 1, 0xfd, 0x9d, 0x01, 0xfd, 0x7e, 0x21, 4,  // high
  0x20, 3, 0x20, 4, 0xfd, 0x0d, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27,
  0x20, 3, 0x20, 4, 0xfd, 0x0d, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31,
  0xfd, 0xae, 0x01, 0x20, 2, 0xfd, 0xae, 0x01, 0x0b];
const kDotType = [0x60, 3, 0x7b, 0x7b, 0x7b, 1, 0x7b];

/** The imports: how many functions, and where the flags of the memory are. */
function readImports(bytes, section) {
  const r = new Reader(bytes, section.begin);
  let functions = 0;
  let shared = -1;
  for (let n = r.leb(); n > 0; --n) {
    r.skip(r.leb());
    r.skip(r.leb());
    const kind = r.byte();
    if (kind === 0) {
      ++functions;
      r.leb();
    } else if (kind === 2) {
      shared = r.at;
      r.lebs(r.byte() & 1 ? 2 : 1);
    } else if (kind === 1) {
      r.skip(1);
      r.lebs(r.byte() & 1 ? 2 : 1);
    } else if (kind === 3) r.skip(2);
    else r.lebs(2);
  }
  return {functions, shared};
}

/** A section with one more entry at its end. */
function appended(bytes, {id, begin, end}, entry) {
  const r = new Reader(bytes, begin);
  const count = leb(r.leb() + 1);
  const rest = bytes.subarray(r.at, end);
  const head = [id, ...leb(count.length + rest.length + entry.length), ...count];
  return [Uint8Array.from(head), rest, Uint8Array.from(entry)];
}

function custom(name, text) {
  const body = new TextEncoder().encode(text);
  const label = new TextEncoder().encode(name);
  return Uint8Array.from([0, ...leb(1 + label.length + body.length), label.length, ...label, ...body]);
}

/** @param {Uint8Array} bytes @returns {Uint8Array} */
export function makeAdaptable(bytes) {
  const found = new Map(sections(bytes).map((section) => [section.id, section]));
  const count = (id) => new Reader(bytes, found.get(id).begin).leb();
  const index = readImports(bytes, found.get(kImport)).functions + count(kFunction);
  const body = [...leb(kDotBody.length), ...kDotBody];
  const extra = new Map([[kType, kDotType], [kFunction, leb(count(kType))], [kCode, body]]);
  const parts = [bytes.subarray(0, 8)];
  for (const section of sections(bytes)) {
    const added = extra.get(section.id);
    const {id, begin, end} = section;
    parts.push(...(added ? appended(bytes, section, added)
      : [Uint8Array.from([id, ...leb(end - begin)]), bytes.subarray(begin, end)]));
  }
  const module = new Uint8Array(Buffer.concat(parts));

  const placed = new Map(sections(module).map((section) => [section.id, section]));
  const {shared} = readImports(module, placed.get(kImport));
  if (module[shared] !== 3) throw new Error('the module imports no shared memory');
  const dots = [];
  walkCode(module, placed.get(kCode), (op, at) => {
    if (op === kRelaxedDot) dots.push(at);
    else if (op >= 0x100) throw new Error(`relaxed instruction ${op.toString(16)} at ${at}: it has no stand-in`);
  });
  const dotCall = [0x10, ...leb(index)];
  if (dotCall.length !== 3) throw new Error(`function ${index}: a call of it does not have three bytes`);
  return new Uint8Array(Buffer.concat([module, custom('tern.adapt', JSON.stringify({shared, dots, dotCall}))]));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [path] = process.argv.slice(2);
  if (!path) {
    console.error('usage: make_adaptable.mjs MODULE.wasm');
    process.exit(2);
  }
  try {
    fs.writeFileSync(path, makeAdaptable(fs.readFileSync(path)));
  } catch (error) {
    fs.rmSync(path, {force: true});  // or a build that goes on would take it for finished
    console.error(`make_adaptable: ${path}: ${error.message}`);
    process.exit(1);
  }
}
