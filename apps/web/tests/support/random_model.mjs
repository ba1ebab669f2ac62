// A model of random weights in a shape like Qwen3's, as a GGUF file: for tests of what depends on its size and format.

import fs from 'node:fs';

const kTypes = {F32: 0, F16: 1, Q4_0: 2, Q8_0: 8};
const kBlocks = {F32: [1, 4], F16: [1, 2], Q4_0: [32, 18], Q8_0: [32, 34]};  // values and bytes
const kAlignment = 32;
const kScale = [0x00, 0x20];  // 2^-7 as f16

const u32 = (n) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(n);
  return bytes;
};
const u64 = (n) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(n));
  return bytes;
};
const f32 = (x) => {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(x);
  return bytes;
};
const text = (words) => Buffer.concat([u64(Buffer.byteLength(words)), Buffer.from(words)]);
const kValue = {4: u32, 6: f32, 8: text};

/** Random values of one format. */
function valuesOf(format, n) {
  if (format === 'F32') return Buffer.concat(Array.from({length: n}, () => f32(1)));
  const [values, bytes] = kBlocks[format];
  const data = Buffer.alloc(n / values * bytes);
  let state = 1;
  for (let at = 0; at < data.length; at += 2) {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    data.writeUInt16LE(format === 'F16' ? 0x1c00 | (state >>> 16 & 0x83ff) : state >>> 16, at);
  }
  if (format !== 'F16') for (let at = 0; at < data.length; at += bytes) data.set(kScale, at);
  return data;
}

/**
 * @param {string} file
 * @param {{format: 'F16' | 'Q4_0' | 'Q8_0', width?: number, layers?: number, vocabulary?: number}} shape
 * @returns {number} its bytes
 */
export function writeRandomModel(file, {format, width = 1024, layers = 8, vocabulary = 32000}) {
  const [heads, kvHeads, headSize, inner] = [width / 128, width / 256, 128, 3 * width];
  const values = [['general.architecture', 8, 'qwen3'], ['qwen3.context_length', 4, 4096],
    ['qwen3.embedding_length', 4, width], ['qwen3.block_count', 4, layers], ['qwen3.feed_forward_length', 4, inner],
    ['qwen3.attention.head_count', 4, heads], ['qwen3.attention.head_count_kv', 4, kvHeads],
    ['qwen3.attention.key_length', 4, headSize], ['qwen3.attention.value_length', 4, headSize],
    ['qwen3.attention.layer_norm_rms_epsilon', 6, 1e-6], ['qwen3.rope.freq_base', 6, 1e6]];
  const tensors = [['token_embd.weight', format, width, vocabulary], ['output_norm.weight', 'F32', width]];
  for (let i = 0; i < layers; ++i) {
    const named = (name, kind, ...sizes) => tensors.push([`blk.${i}.${name}.weight`, kind, ...sizes]);
    named('attn_norm', 'F32', width);
    named('attn_q', format, width, heads * headSize);
    named('attn_k', format, width, kvHeads * headSize);
    named('attn_v', format, width, kvHeads * headSize);
    named('attn_q_norm', 'F32', headSize);
    named('attn_k_norm', 'F32', headSize);
    named('attn_output', format, heads * headSize, width);
    named('ffn_norm', 'F32', width);
    named('ffn_gate', format, width, inner);
    named('ffn_up', format, width, inner);
    named('ffn_down', format, inner, width);
  }
  const aligned = (n) => Math.ceil(n / kAlignment) * kAlignment;
  const sizeOf = (kind, sizes) => sizes.reduce((a, b) => a * b) / kBlocks[kind][0] * kBlocks[kind][1];
  let offset = 0;
  const infos = tensors.map(([name, kind, ...sizes]) => {
    const info = [text(name), u32(sizes.length), ...sizes.map(u64), u32(kTypes[kind]), u64(offset)];
    offset += aligned(sizeOf(kind, sizes));
    return Buffer.concat(info);
  });
  const head = Buffer.concat([Buffer.from('GGUF'), u32(3), u64(tensors.length), u64(values.length),
    ...values.map(([key, type, value]) => Buffer.concat([text(key), u32(type), kValue[type](value)])), ...infos]);
  const out = fs.openSync(file, 'w');
  const write = (bytes) => {
    fs.writeSync(out, bytes);
    fs.writeSync(out, Buffer.alloc(aligned(bytes.length) - bytes.length));
  };
  write(head);
  for (const [, kind, ...sizes] of tensors) write(valuesOf(kind, sizes.reduce((a, b) => a * b)));
  fs.closeSync(out);
  return aligned(head.length) + offset;
}
