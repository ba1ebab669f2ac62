// Walks a WebAssembly module far enough to find single instructions: sections, and the length of every instruction.

/** Reads LEB128 numbers and bytes. */
export class Reader {
  /** @param {Uint8Array} bytes */
  constructor(bytes, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  byte() {
    return this.bytes[this.at++];
  }

  /** @returns {number} of an unsigned number up to 2^53; of a signed one only its length is right */
  leb() {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.byte();
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  }

  lebs(n) {
    for (let i = 0; i < n; ++i) this.leb();
  }

  skip(n) {
    this.at += n;
  }
}

export function leb(value) {
  const bytes = [];
  do {
    bytes.push((value & 127) | (value > 127 ? 128 : 0));
    value = Math.floor(value / 128);
  } while (value > 0);
  return bytes;
}

/** @returns {{id: number, begin: number, end: number}[]} of the sections' contents */
export function sections(bytes) {
  const found = [];
  for (const reader = new Reader(bytes, 8); reader.at < bytes.length;) {
    const id = reader.byte();
    const length = reader.leb();
    found.push({id, begin: reader.at, end: reader.at + length});
    reader.skip(length);
  }
  return found;
}

function skipMemoryArgument(r) {
  if (r.leb() >= 64) r.leb();
  r.leb();
}

function skipCatches(r) {
  for (let n = r.leb(); n > 0; --n) {
    if (r.byte() < 2) r.leb();
    r.leb();
  }
}

function skipBulk(r) {
  const op = r.leb();
  if (op === 8 || op === 10 || op === 12 || op === 14) r.lebs(2);
  else if (op > 7) r.leb();
}

function skipSimd(r, op) {
  if (op <= 0x0b || op === 0x5c || op === 0x5d) skipMemoryArgument(r);
  else if (op === 0x0c || op === 0x0d) r.skip(16);
  else if (op >= 0x15 && op <= 0x22) r.skip(1);
  else if (op >= 0x54 && op <= 0x5b) {
    skipMemoryArgument(r);
    r.skip(1);
  }
}

const kOneIndex = new Set([
  0x07, 0x08, 0x09, 0x0c, 0x0d, 0x10, 0x12, 0x14, 0x15, 0x18, 0x3f, 0x40, 0x41, 0x42, 0xd0, 0xd2,
]);

/** Moves behind one instruction. `onSimd` is told its number, and where it begins. */
function skipInstruction(r, onSimd) {
  const begin = r.at;
  const op = r.byte();
  if (op === 0xfd) {
    const simd = r.leb();
    skipSimd(r, simd);
    onSimd(simd, begin);
  } else if (op >= 0x28 && op <= 0x3e) skipMemoryArgument(r);
  else if (kOneIndex.has(op) || (op >= 0x20 && op <= 0x26)) r.leb();
  else if (op >= 0x02 && op <= 0x04 || op === 0x06) r.leb();
  else if (op === 0x0e) r.lebs(r.leb() + 1);
  else if (op === 0x11 || op === 0x13) r.lebs(2);
  else if (op === 0x1c) r.lebs(r.leb());
  else if (op === 0x1f) {
    r.leb();
    skipCatches(r);
  } else if (op === 0x43) r.skip(4);
  else if (op === 0x44) r.skip(8);
  else if (op === 0xfc) skipBulk(r);
  else if (op === 0xfe) {
    if (r.leb() === 3) r.skip(1);
    else skipMemoryArgument(r);
  } else if (op === 0xfb || op > 0xd2) throw new Error(`instruction ${op.toString(16)} at ${begin} is not known`);
}

/**
 * Every SIMD instruction of the code section.
 * @param {Uint8Array} bytes
 * @param {{begin: number}} code
 * @param {(op: number, at: number) => void} onSimd
 */
export function walkCode(bytes, code, onSimd) {
  const r = new Reader(bytes, code.begin);
  for (let n = r.leb(); n > 0; --n) {
    const length = r.leb();
    const end = r.at + length;
    for (let groups = r.leb(); groups > 0; --groups) r.lebs(2);
    while (r.at < end) skipInstruction(r, onSimd);
    if (r.at !== end) throw new Error(`a function ends at ${end}, its instructions at ${r.at}`);
  }
}

function textOf(r) {
  const length = r.leb();
  r.skip(length);
  return new TextDecoder().decode(r.bytes.subarray(r.at - length, r.at));
}

/** @param {Uint8Array} bytes @returns {string[]} what the section "name" calls the functions; none without one */
export function functionNames(bytes) {
  const names = [];
  for (const section of sections(bytes)) {
    const r = new Reader(bytes, section.begin);
    if (section.id !== 0 || textOf(r) !== 'name') continue;
    while (r.at < section.end) {
      const kind = r.byte();
      const length = r.leb();
      const end = r.at + length;
      if (kind === 1) {
        for (let n = r.leb(); n > 0; --n) {
          r.leb();
          names.push(textOf(r));
        }
      }
      r.at = end;
    }
  }
  return names;
}
