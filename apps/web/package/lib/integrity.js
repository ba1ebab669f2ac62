// Files as the caller names them: by hashes in the notation of the web (Subresource Integrity), or by SHA-256.

import {CorruptionError, IntegrityError, InvalidArgumentError, NotSupportedError} from './errors.js';
import {sha256OfReader} from './verify.js';

/** @typedef {{files: Record<string, string>, onFailure: 'error' | 'warn'}} Integrity hashes by path */

const kForms = {256: /^[A-Za-z0-9+/]{43}=$/, 384: /^[A-Za-z0-9+/]{64}$/, 512: /^[A-Za-z0-9+/]{86}==$/};
// Browsers hash these at once only, so the file has to fit in memory.
const kMostBytes = 256 << 20;

/** @returns {{bits: string, hash: string} | null} */
function parsed(sri) {
  const [, bits, hash] = /^sha(256|384|512)-(.*)$/.exec(sri) ?? [];
  return bits && kForms[bits].test(hash) ? {bits, hash} : null;
}

/** @param {string} sri @returns {boolean} whether it is 'sha256-…', 'sha384-…' or 'sha512-…' with a hash */
export function isValidSRI(sri) {
  return parsed(sri) !== null;
}

function base64Of(bytes) {
  return btoa(String.fromCharCode(...bytes));
}

function mismatch(url, expected, actual, onFailure) {
  const error = new IntegrityError(url, expected, actual);
  if (onFailure !== 'warn') throw error;
  console.warn(error.message);
  return [error.message];
}

/**
 * Compares bytes with a hash.
 * @param {ArrayBuffer | Uint8Array} data
 * @param {string} expected 'sha256-…'
 * @param {string} url for the error
 * @param {'error' | 'warn'} [onFailure] 'warn': the console is told, and nothing else happens
 */
export async function verifyIntegrity(data, expected, url, onFailure = 'error') {
  const form = parsed(expected);
  if (!form) {
    throw new InvalidArgumentError(`${JSON.stringify(expected)} is no hash of the form sha256-…, sha384-… or ` +
      'sha512-… with base64');
  }
  const {subtle} = globalThis.crypto ?? {};
  if (!subtle) throw new NotSupportedError('hashes need crypto.subtle, which pages without https do not have');
  const actual = `sha${form.bits}-${base64Of(new Uint8Array(await subtle.digest(`SHA-${form.bits}`, data)))}`;
  if (actual !== expected) mismatch(url, expected, actual, onFailure);
}

async function hashOf(bits, reader, path, options) {
  if (bits === '256') {
    const hex = await sha256OfReader(reader, {path}, options);
    return `sha256-${base64Of(hex.match(/../g).map((byte) => parseInt(byte, 16)))}`;
  }
  const {subtle} = globalThis.crypto ?? {};
  if (!subtle || reader.size > kMostBytes) {
    throw new NotSupportedError(`integrity of ${path}: SHA-${bits} needs a page with https and a file of at most ` +
      '256 MiB; give its sha256-…');
  }
  const bytes = new Uint8Array(reader.size);
  await reader.read(0, bytes);
  return `sha${bits}-${base64Of(new Uint8Array(await subtle.digest(`SHA-${bits}`, bytes)))}`;
}

/**
 * @param {{get: (path: string) => import('./storage/storage.js').Reader | undefined}} files
 * @param {Integrity | undefined} integrity
 * @param {{signal?: AbortSignal, onProgress: (progress: object) => void, urlOf?: (path: string) => string}} options
 * @returns {Promise<string[]>} what is not as it should be, where that is only to be told. IntegrityError
 */
export async function checkIntegrity(files, integrity, {urlOf = (path) => path, ...options}) {
  const notes = [];
  for (const [path, expected] of Object.entries(integrity?.files ?? {})) {
    const reader = files.get(path);
    if (!reader) {
      throw new InvalidArgumentError(`integrity: ${path} is not among the files that are loaded of this model; ` +
        'leave it out');
    }
    const actual = await hashOf(parsed(expected).bits, reader, path, options);
    if (actual !== expected) notes.push(...mismatch(urlOf(path), expected, actual, integrity.onFailure));
  }
  return notes;
}

/** @returns {Record<string, string>} `sha256` by path; '' stands for the only file */
export function checksums(sha256) {
  const wanted = typeof sha256 === 'string' ? {'': sha256} : {...sha256};
  for (const [path, hex] of Object.entries(wanted)) {
    if (/^[0-9a-f]{64}$/i.test(hex)) wanted[path] = hex.toLowerCase();
    else throw new InvalidArgumentError(`sha256 ${path}: ${JSON.stringify(hex)} is not 64 hexadecimal digits`);
  }
  return wanted;
}

/**
 * The same for files that are not downloaded.
 * @param {import('./remote_model.js').OpenModel} model
 * @param {{sha256?: string | Record<string, string>, integrity?: Integrity, signal?: AbortSignal,
 *   onProgress: (progress: object) => void}} options
 * @returns {Promise<import('./remote_model.js').OpenModel>} `model`
 */
export async function checkLocal(model, {sha256, integrity, signal, onProgress}) {
  if (sha256 === undefined && !integrity) return model;
  const options = {signal, onProgress};
  try {
    for (const [path, wanted] of Object.entries(checksums(sha256))) {
      if (!path && model.files.size !== 1) {
        throw new InvalidArgumentError(`${model.name}: it has ${model.files.size} files; give sha256 as {PATH: HEX}`);
      }
      const [name, reader] = path ? [path, model.files.get(path)] : [...model.files][0];
      if (!reader) throw new CorruptionError(`${model.name}: there is no ${name}, for which a SHA-256 was given`);
      const found = await sha256OfReader(reader, {path: name}, options);
      if (found === wanted) continue;
      throw new CorruptionError(`${name}: its SHA-256 is ${found}, but ${wanted} was asked for; it is another file ` +
        'than expected');
    }
    model.notes.push(...await checkIntegrity(model.files, integrity, options));
    return model;
  } catch (error) {
    await model.close();
    throw error;
  }
}
