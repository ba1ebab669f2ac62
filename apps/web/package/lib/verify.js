// Checks that stored bytes are still what was downloaded.

import {CorruptionError, throwIfAborted} from './errors.js';
import {Sha256, sha256Hex} from './sha256.js';

// Small models are hashed whole whenever they are opened (a quarter of a second for 256 MiB); of bigger ones, small
// files, the ends of big ones, and a sample. When the engine finds a model damaged, all of it is hashed before anybody
// is told.
const kWholeBytes = 256 << 20;
const kSample = 16;
const kManyFiles = 8;  // so many have too many ends

function pieceLength(file, piece, pieceBytes) {
  return Math.min(pieceBytes, file.size - piece * pieceBytes);
}

/**
 * Which pieces to look at: [file, piece] pairs.
 * @param {import('./model_store.js').Manifest} manifest
 * @param {boolean} full all of them
 */
export function choosePieces(manifest, full) {
  const all = manifest.files.flatMap((file, f) => file.pieces.map((_, piece) => [f, piece]));
  const bytes = manifest.files.reduce((sum, file) => sum + file.size, 0);
  if (full || bytes <= kWholeBytes) return all;
  const chosen = new Set();
  const nBig = manifest.files.filter((file) => file.pieces.length > 1).length;
  for (const [f, file] of manifest.files.entries()) {
    const isBig = file.pieces.length > 1;
    if (file.pieces.length === 0 || (isBig && nBig > kManyFiles)) continue;
    chosen.add(`${f} 0`).add(`${f} ${file.pieces.length - 1}`);
  }
  for (let i = 0; i < kSample; ++i) chosen.add(all[Math.floor(Math.random() * all.length)].join(' '));
  return [...chosen].map((text) => text.split(' ').map(Number));
}

/**
 * @param {import('./environment.js').Environment} env
 * @param {import('./model_store.js').Manifest} manifest of a complete model
 * @param {(import('./storage/storage.js').Reader | null)[]} readers of its files; null: it cannot be opened
 * @param {{full?: boolean, signal?: AbortSignal, onProgress: (progress: object) => void}} options
 * @returns {Promise<{file: number, piece: number}[]>} what is missing or not what it was
 */
export async function findDamage(env, manifest, readers, {full = false, signal, onProgress}) {
  const damage = [];
  const chosen = choosePieces(manifest, full);
  const {pieceBytes} = manifest;
  const isThere = ([f, piece]) => {
    const file = manifest.files[f];
    return readers[f] && piece * pieceBytes + pieceLength(file, piece, pieceBytes) <= readers[f].size;
  };
  // What is not there at all is found without reading, so all pieces are looked at for that.
  for (const [f, file] of manifest.files.entries()) {
    for (const piece of file.pieces.keys()) {
      if (!isThere([f, piece])) damage.push({file: f, piece});
    }
  }
  const toRead = chosen.filter(isThere);
  const total = toRead.reduce((sum, [f, piece]) => sum + pieceLength(manifest.files[f], piece, pieceBytes), 0);
  let loaded = 0;
  for (const [f, piece] of toRead) {
    throwIfAborted(signal);
    const file = manifest.files[f];
    const bytes = new Uint8Array(pieceLength(file, piece, pieceBytes));
    let hash = '';
    try {
      await readers[f].read(piece * pieceBytes, bytes);
      hash = await sha256Hex(env, bytes);
    } catch { /* unreadable is damaged too */ }
    if (hash !== file.pieces[piece]) damage.push({file: f, piece});
    loaded += bytes.length;
    onProgress({phase: 'verify', loaded, total, file: file.path, fromCache: true});
  }
  return damage;
}

/**
 * Compares whole files with checksums that the caller gave.
 * @param {import('./model_store.js').Manifest} manifest `sha256` gets what was found right
 * @param {import('./storage/storage.js').Reader[]} readers
 * @param {Record<string, string>} wanted by path
 * @param {{signal?: AbortSignal, onProgress: (progress: object) => void}} options
 * @returns {Promise<boolean>} whether anything had to be hashed. CorruptionError: a file is another one
 */
export async function checkSha256(manifest, readers, wanted, {signal, onProgress}) {
  let checked = false;
  for (const [path, sha256] of Object.entries(wanted)) {
    if (manifest.sha256[path] === sha256) continue;
    const f = manifest.files.findIndex((file) => file.path === path);
    if (f < 0) throw new CorruptionError(`${manifest.url}: there is no ${path}, for which a SHA-256 was given`);
    const found = await sha256OfReader(readers[f], manifest.files[f], {signal, onProgress});
    if (found !== sha256) {
      throw new CorruptionError(`${manifest.files[f].url}: its SHA-256 is ${found}, but ${sha256} was asked for; ` +
        'it is another file than expected');
    }
    manifest.sha256[path] = sha256;
    checked = true;
  }
  return checked;
}

/** @returns {Promise<string>} in hexadecimal */
export async function sha256OfReader(reader, file, {signal, onProgress}) {
  const hash = new Sha256();
  const bytes = new Uint8Array(4 << 20);
  for (let at = 0; at < reader.size;) {
    throwIfAborted(signal);
    const part = bytes.subarray(0, Math.min(bytes.length, reader.size - at));
    await reader.read(at, part);
    hash.update(part);
    at += part.length;
    onProgress({phase: 'verify', loaded: at, total: reader.size, file: file.path, fromCache: false});
    await new Promise((resolve) => setTimeout(resolve));
  }
  return hash.hex();
}
