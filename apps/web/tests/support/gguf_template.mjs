// A GGUF file with another chat template and a longer context, for tests of what depends on these.

const kFixedBytes = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8};
const kString = 8;
const kList = 9;
const kKey = 'tokenizer.chat_template';
const kAlignment = 32;

/** Bytes of a string as GGUF has it: its length, then its text. */
function stringOf(text) {
  const bytes = Buffer.from(text);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(bytes.length));
  return Buffer.concat([length, bytes]);
}

/** Reads one value after another. */
class Cursor {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  u32() {
    return this.bytes.readUInt32LE((this.at += 4) - 4);
  }

  u64() {
    return Number(this.bytes.readBigUInt64LE((this.at += 8) - 8));
  }

  string() {
    const length = this.u64();
    this.at += length;
    return this.bytes.toString('utf8', this.at - length, this.at);
  }

  skip(type) {
    if (type === kString) this.string();
    else if (type === kList) this.skipList();
    else this.at += kFixedBytes[type];
  }

  skipList() {
    const type = this.u32();
    const n = this.u64();
    if (kFixedBytes[type]) this.at += n * kFixedBytes[type];
    else for (let i = 0; i < n; ++i) this.skip(type);
  }
}

/** @param {Buffer} original @param {{template: string, context: number}} changes @returns {Buffer} */
export function changedGguf(original, {template, context}) {
  const gguf = Buffer.from(original);
  const cursor = new Cursor(gguf);
  cursor.at = 8;
  const nTensors = cursor.u64();
  const nValues = cursor.u64();
  let value = null;
  for (let i = 0; i < nValues; ++i) {
    const key = cursor.string();
    const type = cursor.u32();
    const begin = cursor.at;
    cursor.skip(type);
    if (key === kKey) value = [begin, cursor.at];
    if (key.endsWith('.context_length')) gguf.writeUInt32LE(context, begin);
  }
  for (let i = 0; i < nTensors; ++i) {
    cursor.string();
    const nDims = cursor.u32();
    cursor.at += 8 * nDims + 12;
  }
  if (!value) throw new Error(`the file has no ${kKey}`);
  const head = Buffer.concat([gguf.subarray(0, value[0]), stringOf(template), gguf.subarray(value[1], cursor.at)]);
  const aligned = (n) => Math.ceil(n / kAlignment) * kAlignment;
  return Buffer.concat([head, Buffer.alloc(aligned(head.length) - head.length), gguf.subarray(aligned(cursor.at))]);
}
