// Keeps a model of the user's own files on the device, where it is found again at the next visit.

import {withLock} from './environment.js';
import {InvalidArgumentError, NotSupportedError, throwIfAborted} from './errors.js';
import {kindOf} from './locate_model.js';
import {findModel, keyOf, lockOf, markComplete, newManifest, writeManifest} from './model_store.js';
import {sha256Hex} from './sha256.js';
import {checkQuota, explainWriteError, openStorages} from './storage/storage.js';

const kProbeBytes = 1 << 16;

/** @returns {InvalidArgumentError} of a model that came from an address */
export function notOfFiles() {
  return new InvalidArgumentError('only a model of files that you chose can be kept; others are kept as they come');
}

async function bytesOf(reader, offset, length) {
  const into = new Uint8Array(length);
  await reader.read(offset, into);
  return into;
}

/** The address that a kept model is loaded by: its name, and a hash of its files' names, sizes, beginnings and ends. */
async function addressOf(env, {name, files}) {
  const parts = [];
  for (const [path, reader] of files) {
    const n = Math.min(kProbeBytes, reader.size);
    const ends = [await bytesOf(reader, 0, n), await bytesOf(reader, reader.size - n, n)];
    parts.push(path, reader.size, ...await Promise.all(ends.map((bytes) => sha256Hex(env, bytes))));
  }
  const hash = await sha256Hex(env, new TextEncoder().encode(parts.join('\n')));
  return `kept:${encodeURIComponent(name)}?${hash.slice(0, 16)}`;
}

/**
 * @param {import('./environment.js').Environment} env
 * @param {import('./remote_model.js').OpenModel} model of local files
 * @param {{signal?: AbortSignal, onProgress: (progress: object) => void}} options
 * @returns {Promise<string>} the address to load it by. What was written is gone again if this fails
 */
export async function keepModel(env, model, {signal, onProgress}) {
  const {storages, note} = await openStorages(env);
  const storage = storages.find(({canWrite, kind}) => canWrite && kind !== 'memory');
  if (!storage) throw new NotSupportedError(`${model.name} cannot be kept: ${note}`);
  const url = await addressOf(env, model);
  const key = await keyOf(env, url);
  await withLock(env, lockOf(key), {signal, onWait: () => {}}, async () => {
    const found = await findModel(storages, key);
    if (found?.manifest.state === 'complete') return;
    const total = [...model.files.values()].reduce((sum, {size}) => sum + size, 0);
    await checkQuota(env, storage, total, model.name);
    let written = 0;
    try {
      await write(env, storage, model, {url, key, signal, onWritten: (n, file) => {
        written += n;
        onProgress({phase: 'keep', loaded: written, total, file, fromCache: false});
      }});
    } catch (error) {
      await storage.remove(key).catch(() => {});
      throw await explainWriteError(env, error, total - written, model.name);
    }
  });
  return url;
}

async function write(env, storage, {name, entry, files}, {url, key, signal, onWritten}) {
  const {pieceBytes} = env;
  const listed = [...files].map(([path, {size}]) => ({path, url, kind: kindOf(path), size}));
  const manifest = newManifest({key, url, name, entry, files: listed, pieceBytes});
  await writeManifest(storage, manifest);
  for (const [index, [path, reader]] of [...files].entries()) {
    const file = manifest.files[index];
    const writer = await storage.openWrite(key, index, pieceBytes);
    try {
      for (let begin = 0; begin < reader.size; begin += pieceBytes) {
        throwIfAborted(signal);
        const bytes = await bytesOf(reader, begin, Math.min(pieceBytes, reader.size - begin));
        await writer.write(begin / pieceBytes, bytes);
        file.pieces.push(await sha256Hex(env, bytes));
        onWritten(bytes.length, path);
      }
    } finally {
      await writer.close();
    }
    file.complete = true;
  }
  markComplete(manifest);
  await writeManifest(storage, manifest);
}
