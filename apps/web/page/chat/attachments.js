// Texts that go along with a message: read from files, refused where they are none. Fetched with the first of them.

import {formatBytes} from '../base/format.js';

/** @typedef {{name: string, text: string}} Attachment */

const kMost = 1e6;  // bytes of one, about 300,000 tokens, which is more than most models can read

/**
 * @param {File[]} files
 * @returns {Promise<{texts: Attachment[], refused: string[]}>} refused: a sentence for each that cannot be taken
 */
export async function readTexts(files) {
  const texts = [], refused = [];
  for (const file of files) {
    try {
      texts.push({name: file.name, text: await readText(file)});
    } catch (error) {
      refused.push(`${file.name} ${error.message}.`);
    }
  }
  return {texts, refused};
}

/** @param {File} file */
async function readText(file) {
  if (file.size > kMost) {
    throw new Error(`has ${formatBytes(file.size)}, and texts of up to ${formatBytes(kMost)} can be attached`);
  }
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text;
  try {
    text = new TextDecoder('utf-8', {fatal: true}).decode(bytes);
  } catch {
    throw new Error('is no text in UTF-8, so the model cannot read it');
  }
  if (text.includes('\0')) throw new Error('is no text, so the model cannot read it');
  if (!text.trim()) throw new Error('is empty');
  return text;
}
