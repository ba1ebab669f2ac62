// Fills the gaps of a stored model from the network: all of it, what an interrupted download left, or damaged pieces.

import {NotFoundError} from './errors.js';
import {FileDownload} from './file_download.js';
import {checkMemory} from './memory_limit.js';
import {markComplete, writeManifest} from './model_store.js';
import {sha256Hex} from './sha256.js';
import {checkQuota, explainWriteError} from './storage/storage.js';

/** Forgets the pieces of a partial file that are not what they were when they were stored. */
async function checkStored(env, file, writer, pieceBytes, onBytes) {
  for (let i = 0; i < file.pieces.length; ++i) {
    if (!file.pieces[i]) continue;
    const length = Math.min(pieceBytes, file.size === null ? pieceBytes : file.size - i * pieceBytes);
    const bytes = await writer.read(i, length);
    if (!bytes || (await sha256Hex(env, bytes)) !== file.pieces[i]) file.pieces[i] = null;
    else onBytes(length);
  }
}

/**
 * Downloads what a model lacks.
 * @param {import('./environment.js').Environment} env
 * @param {import('./storage/storage.js').Storage} storage
 * @param {import('./model_store.js').Manifest} manifest kept up to date, here and in storage
 * @param {{signal?: AbortSignal, onProgress: (progress: object) => void, memory?: {most: number, why: string}}} options
 * @returns {Promise<void>} the manifest is complete. Throws ChangedError or what Tern.load may; then what came is
 *   kept
 */
export async function downloadModel(env, storage, manifest, {signal, onProgress, memory}) {
  let loaded = 0;
  let saving = Promise.resolve();  // one after the other
  const total = () => Math.max(loaded, manifest.files.reduce((sum, f) => sum + (f.size ?? f.sizeHint ?? 0), 0));
  const report = (file) => {
    onProgress({phase: 'download', loaded, total: total(), file: file.path, fromCache: false});
  };
  const job = {
    env,
    signal,
    manifest,
    save: () => (saving = saving.catch(() => {}).then(() => guarded(() => writeManifest(storage, manifest)))),
    write: (writer, piece, bytes) => guarded(() => writer.write(piece, bytes)),
  };
  async function guarded(write) {
    try {
      await write();
    } catch (error) {
      throw await explainWriteError(env, error, total() - loaded, manifest.name);
    }
  }

  await job.save();
  for (const [index, file] of manifest.files.entries()) {
    if (file.complete || file.absent) {
      loaded += file.size ?? 0;
      continue;
    }
    const before = loaded;
    const writer = await storage.openWrite(manifest.key, index, manifest.pieceBytes);
    try {
      await checkStored(env, file, writer, manifest.pieceBytes, (n) => {
        loaded += n;
      });
      const download = new FileDownload({
        ...job,
        onOpened: () => {
          if (memory) checkMemory(memory, total(), manifest.name);
          return checkQuota(env, storage, total() - loaded, manifest.name);
        },
        onBytes: (n) => {
          loaded += n;
          report(file);
        },
        onLost: () => {
          loaded = before;
        },
      }, file, writer);
      loaded += file.tails.reduce((sum, {bytes}) => sum + bytes, 0);
      await download.run();
      loaded = before + file.size;
      report(file);
    } catch (error) {
      if (!(error instanceof NotFoundError) || !file.optional) throw error;
      file.absent = true;
      file.size = 0;
    } finally {
      await writer.close();
    }
  }
  markComplete(manifest);
  await job.save();
}
