// What the first bytes of a file say about it, before gigabytes of something else are downloaded.

import {InvalidArgumentError} from './errors.js';

/** So many bytes are enough to tell. */
export const kFirstBytes = 64;

/**
 * Throws an InvalidArgumentError where the bytes cannot begin such a file.
 * @param {{kind: 'gguf' | 'json' | 'safetensors' | 'other', path: string}} file
 * @param {Uint8Array} bytes its first ones, or all
 * @param {string} where the address or the name, for the message
 */
export function checkFirstBytes(file, bytes, where) {
  const text = new TextDecoder().decode(bytes.subarray(0, kFirstBytes)).trimStart();  // drops a byte order mark
  const refuse = (what) => {
    throw new InvalidArgumentError(`${where}: ${what}; check what was chosen`);
  };
  if (/^<(!doctype|html|head|\?xml|!--)/i.test(text)) refuse('this is a web page, not a file of a model');
  if (text.startsWith('version https://git-lfs')) refuse('this is a pointer of Git LFS, not the file itself');
  if (file.kind === 'gguf' && !text.startsWith('GGUF')) refuse('this is not a GGUF file');
  if (file.kind === 'json' && !/^[[{]/.test(text)) refuse(`this is not the JSON that ${file.path} should be`);
  // Eight bytes of length, then JSON.
  if (file.kind === 'safetensors' && bytes[8] !== 0x7b) refuse('this is not a safetensors file');
}
