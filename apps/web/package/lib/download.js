// Fills the gaps of a stored model from the network: all of it, what an interrupted download left, or damaged pieces.

import {NetworkError, NotFoundError} from './errors.js';
import {checkFirstBytes, kFirstBytes} from './first_bytes.js';
import {cutShort, openRange, withRetries} from './http.js';
import {markComplete, writeManifest} from './model_store.js';
import {sha256Hex} from './sha256.js';
import {checkQuota, explainWriteError} from './storage.js';

/** The server has another version of a file than the one that pieces are of. */
export class ChangedError extends Error {}

/** The next bytes that are missing: up to a piece that is there, or (no `end`) to the end; null where all are there. */
function nextGap(file, pieceBytes) {
  let first = 0;
  while (file.pieces[first]) ++first;
  const tail = file.tail?.piece === first ? file.tail.bytes : 0;
  const begin = first * pieceBytes + tail;
  if (file.size === null) return {begin};
  if (first * pieceBytes >= file.size) return null;
  const n = Math.ceil(file.size / pieceBytes);
  for (let next = first + 1; next < n; ++next) {
    if (file.pieces[next]) return {begin, end: next * pieceBytes};
  }
  return {begin};
}

/** One file on its way: bytes come in, whole pieces go to storage. */
class FileDownload {
  #job;
  #file;
  #writer;
  #buffer;
  #filled = 0;  // bytes of the piece at hand
  #piece = 0;   // its number
  received = 0;

  constructor(job, file, writer) {
    this.#job = job;
    this.#file = file;
    this.#writer = writer;
    this.#buffer = new Uint8Array(job.manifest.pieceBytes);
  }

  get #position() {
    return this.#piece * this.#buffer.length + this.#filled;
  }

  async run() {
    const {env, signal} = this.#job;
    await this.#restoreTail();
    try {
      await withRetries(env, {signal, progress: () => this.received}, async () => {
        for (let gap; (gap = nextGap(this.#file, this.#buffer.length));) await this.#fill(gap);
      });
    } catch (error) {
      if (['cancelled', 'network', 'quota'].includes(error.code)) await this.#saveTail();
      throw error;
    }
    this.#file.complete = true;
    delete this.#file.expected;
    await this.#job.save();
  }

  async #fill(gap) {
    const {env, signal} = this.#job;
    const file = this.#file;
    const answer = await openRange(env, file.url, {...gap, validator: file.validator, signal});
    try {
      if (answer.changed || (file.size !== null && answer.size !== null && answer.size !== file.size)) {
        throw new ChangedError(file.url);
      }
      if (answer.begin !== gap.begin) this.#startOver();  // the server knows no ranges and sends all of it
      file.validator ??= answer.validator;
      file.size ??= answer.size;
      await this.#job.onOpened();
      this.#goTo(answer.begin);
      const end = answer.begin === gap.begin ? gap.end : undefined;
      for await (const chunk of answer.body) await this.#take(chunk, end);
      await this.#end(end);
    } finally {
      answer.stop();
    }
  }

  // A tail that is in the buffer stays there.
  #goTo(begin) {
    if (begin === this.#position) return;
    this.#piece = Math.floor(begin / this.#buffer.length);
    this.#filled = begin % this.#buffer.length;
  }

  #startOver() {
    this.#job.onLost(this.#file);
    this.#file.pieces = [];
    this.#file.tail = null;
    this.#piece = this.#filled = 0;
  }

  async #take(chunk, end) {
    const file = this.#file;
    const limit = end ?? file.size;
    if (limit !== null && this.#position + chunk.length > limit) {
      throw new NetworkError(`${file.url}: the server sends more than the ${limit} bytes it announced; try later`);
    }
    for (let at = 0; at < chunk.length;) {
      const part = chunk.subarray(at, at + this.#buffer.length - this.#filled);
      const before = this.#filled;
      this.#buffer.set(part, before);
      this.#filled += part.length;
      at += part.length;
      this.received += part.length;
      if (this.#piece === 0 && before < kFirstBytes && this.#filled >= kFirstBytes) this.#checkFirst();
      this.#job.onBytes(part.length);
      // What withRetries would ask for next begins here.
      file.tail = {piece: this.#piece, bytes: this.#filled, sha256: ''};
      if (this.#filled === this.#buffer.length) await this.#store();
    }
  }

  #checkFirst() {
    checkFirstBytes(this.#file, this.#buffer.subarray(0, this.#filled), this.#file.url);
  }

  async #end(end) {
    const file = this.#file;
    const wanted = end ?? file.size;
    if (wanted !== null && this.#position < wanted) throw cutShort(file.url, this.#position, wanted);
    file.size ??= this.#position;
    if (this.#piece === 0 && this.#filled < kFirstBytes) this.#checkFirst();
    if (this.#filled > 0) await this.#store();
  }

  async #store() {
    const {env, save} = this.#job;
    const file = this.#file;
    const bytes = this.#buffer.subarray(0, this.#filled);
    const hash = await sha256Hex(env, bytes);
    const expected = file.expected?.[this.#piece];
    if (expected && expected !== hash) throw new ChangedError(file.url);
    await this.#job.write(this.#writer, this.#piece, bytes);
    file.pieces[this.#piece] = hash;
    file.tail = null;
    ++this.#piece;
    this.#filled = 0;
    await save();
  }

  // Less than a piece may be minutes of somebody's time. Failing to keep it is no error of its own.
  async #saveTail() {
    const file = this.#file;
    const bytes = this.#buffer.subarray(0, this.#filled);
    file.tail = null;
    try {
      if (bytes.length >= kFirstBytes || (bytes.length > 0 && this.#piece > 0)) {
        const sha256 = await sha256Hex(this.#job.env, bytes);
        await this.#writer.write(this.#piece, bytes);
        file.tail = {piece: this.#piece, bytes: bytes.length, sha256};
      }
      await this.#job.save();
    } catch { /* the pieces before it are there */ }
  }

  async #restoreTail() {
    const {tail} = this.#file;
    if (!tail) return;
    const bytes = await this.#writer.read(tail.piece, tail.bytes);
    if (bytes && (await sha256Hex(this.#job.env, bytes)) === tail.sha256) {
      this.#buffer.set(bytes);
      this.#piece = tail.piece;
      this.#filled = tail.bytes;
    } else {
      this.#file.tail = null;
    }
  }
}

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
 * @param {import('./storage.js').Storage} storage
 * @param {import('./model_store.js').Manifest} manifest kept up to date, here and in storage
 * @param {{signal?: AbortSignal, onProgress: (progress: object) => void}} options
 * @returns {Promise<void>} the manifest is complete. Throws ChangedError or what Tern.load may; then what came is
 *   kept
 */
export async function downloadModel(env, storage, manifest, {signal, onProgress}) {
  let loaded = 0;
  const total = () => Math.max(loaded, manifest.files.reduce((sum, f) => sum + (f.size ?? f.sizeHint ?? 0), 0));
  const report = (file) => {
    onProgress({phase: 'download', loaded, total: total(), file: file.path, fromCache: false});
  };
  const job = {
    env,
    signal,
    manifest,
    save: () => guarded(() => writeManifest(storage, manifest)),
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
        onOpened: () => checkQuota(env, storage, total() - loaded, manifest.name),
        onBytes: (n) => {
          loaded += n;
          report(file);
        },
        onLost: () => {
          loaded = before;
        },
      }, file, writer);
      loaded += file.tail?.bytes ?? 0;
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
