// A conversation as a link: all of it is in the part of the address that browsers do not send. Fetched when a link
// is made or opened.

import {isRecord, newRecord, picked} from './library.js';

const kMark = '#chat=';   // as in main.js
const kMostLink = 2e6;    // characters, about what browsers take
const kMostText = 16e6;   // bytes that a link may unfold to

/**
 * @param {import('./library.js').Record} record
 * @param {string} page its address
 * @returns {Promise<string>} the link
 */
export async function linkTo(record, page) {
  const {changed: _, ...shared} = picked(record);
  const text = new TextEncoder().encode(JSON.stringify(shared));
  const bytes = await throughStream(text, new CompressionStream('deflate-raw'));
  const link = new URL(page);
  link.search = '';
  link.hash = kMark + toBase64(bytes);
  if (link.href.length > kMostLink) {
    throw new Error('This conversation is too long for a link; save it to a file instead.');
  }
  return link.href;
}

/**
 * @param {string} hash
 * @returns {Promise<import('./library.js').Record>} a new one; throws an Error of one sentence
 */
export async function recordOf(hash) {
  if (hash.length > kMostLink) throw new Error('This link is too long to hold a conversation that was shared.');
  let record;
  try {
    const bytes = fromBase64(hash.slice(kMark.length));
    const text = await throughStream(bytes, new DecompressionStream('deflate-raw'), kMostText);
    record = {version: 1, ...JSON.parse(new TextDecoder().decode(text))};
  } catch {
    throw new Error('This link is damaged, so the conversation in it cannot be read.');
  }
  record = {...newRecord(), ...picked({name: '', ...record, changed: Date.now()})};
  if (!isRecord(record) || record.messages.length === 0) {
    throw new Error('This link holds no conversation that this page can read.');
  }
  return record;
}

/** @param {Uint8Array} bytes @param {GenericTransformStream} stream @param {number} [most] bytes that may come out */
async function throughStream(bytes, stream, most = Infinity) {
  const writer = stream.writable.getWriter();
  const written = writer.write(bytes).then(() => writer.close());
  written.catch(() => {});  // the reader gets the same error
  const chunks = [];
  let n = 0;
  const reader = stream.readable.getReader();
  for (let next; !(next = await reader.read()).done;) {
    n += next.value.length;
    if (n > most) {
      reader.cancel().catch(() => {});
      throw new Error('too much');
    }
    chunks.push(next.value);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

function toBase64(bytes) {
  let text = '';
  for (let i = 0; i < bytes.length; i += 0x8000) text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

const fromBase64 = (text) => (
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0)));
