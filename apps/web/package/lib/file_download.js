// One file on its way: bytes come in over one or several connections, whole pieces go to storage.

import {CancelledError, NetworkError, NotFoundError} from './errors.js';
import {checkFirstBytes, kFirstBytes} from './first_bytes.js';
import {cutShort, openRange, withRetries} from './http.js';
import {sha256Hex} from './sha256.js';

const kWorthMore = 4;   // pieces that are missing before further connections are opened
const kWorthHalf = 2;   // pieces that a connection has before it, before another takes half of them

/** The server has another version of a file than the one that pieces are of. */
export class ChangedError extends Error {}

/**
 * A connection's part of the file: pieces from `piece` to `end`, and the bytes that it has of the first of them.
 * @typedef {object} Lane
 * @property {Uint8Array} buffer of one piece
 * @property {number} piece
 * @property {number} filled bytes
 * @property {number} end one past its last piece; Infinity while nobody knows how many there are
 */

/** Fills the gaps of one file. */
export class FileDownload {
  #job;
  #file;
  #writer;
  #pieceBytes;
  #control = new AbortController();  // ends the further connections
  /** @type {Set<Lane>} */
  #lanes = new Set();
  /** @type {Promise<void>[]} */
  #helpers = [];
  #mayHelp = true;
  #failure = null;  // of a further connection, if it is everybody's
  #received = 0;

  /**
   * @param {object} job env, signal, manifest, and what to call: save, write, onOpened, onBytes, onLost
   * @param {import('./model_store.js').StoredFile} file
   * @param {import('./storage/storage.js').Writer} writer
   */
  constructor(job, file, writer) {
    this.#job = job;
    this.#file = file;
    this.#writer = writer;
    this.#pieceBytes = job.manifest.pieceBytes;
  }

  /** @returns {Promise<void>} the file is complete. Throws as downloadModel does; then what came is kept. */
  async run() {
    const {env, signal} = this.#job;
    const stop = () => this.#control.abort();
    if (signal?.aborted) stop();
    signal?.addEventListener('abort', stop, {once: true});
    const lane = this.#addLane();
    try {
      await withRetries(env, {signal: this.#control.signal, progress: () => this.#received}, async () => {
        while (await this.#hasWork(lane)) await this.#fill(lane, {isMain: true});
      });
    } catch (caught) {
      await this.#endHelpers();
      const error = this.#failure ?? caught;
      if (['cancelled', 'network', 'quota'].includes(error.code)) await this.#saveTails();
      throw error;
    } finally {
      signal?.removeEventListener('abort', stop);
    }
    this.#file.complete = true;
    this.#file.tails = [];
    delete this.#file.expected;
    await this.#job.save();
  }

  #addLane() {
    const lane = {buffer: new Uint8Array(this.#pieceBytes), piece: 0, filled: 0, end: 0};
    this.#lanes.add(lane);
    return lane;
  }

  get #nPieces() {
    const {size} = this.#file;
    return size === null ? Infinity : Math.ceil(size / this.#pieceBytes);
  }

  // ---- Who fetches what

  /** Whether the first connection has something to fetch; waits for what others are at. */
  async #hasWork(lane) {
    for (;;) {
      if (this.#failure) throw this.#failure;
      if (lane.piece < lane.end || await this.#claim(lane)) return true;
      if (this.#helpers.length === 0) return false;
      await Promise.all(this.#helpers.splice(0));
    }
  }

  /** Gives a lane pieces that nobody has or fetches; else half of those that another has before it. */
  async #claim(lane) {
    const {pieces} = this.#file;
    const isFree = (piece) => !pieces[piece] && ![...this.#lanes].some((l) => l.piece <= piece && piece < l.end);
    const n = this.#nPieces;
    let begin = 0;
    while (begin < n && !isFree(begin)) ++begin;
    if (begin < n) {
      let end = begin + 1;
      const last = Math.min(n, Math.max(pieces.length, ...[...this.#lanes].map((l) => l.piece + 1)));
      while (end < last && isFree(end)) ++end;
      return this.#give(lane, begin, end < last ? end : n);
    }
    const [longest] = [...this.#lanes].sort((a, b) => (b.end - b.piece) - (a.end - a.piece));
    const before = longest.end - longest.piece - 1;  // behind the piece that it is at
    if (!(before >= kWorthHalf)) return false;
    const [middle, end] = [longest.end - (before >> 1), longest.end];
    longest.end = middle;
    return this.#give(lane, middle, end);
  }

  /** Also gives it what is stored of its first piece. */
  async #give(lane, begin, end) {
    Object.assign(lane, {piece: begin, filled: 0, end});
    const tail = this.#file.tails.find(({piece}) => piece === begin);
    if (!tail) return true;
    const bytes = await this.#writer.read(tail.piece, tail.bytes);
    if (bytes && (await sha256Hex(this.#job.env, bytes)) === tail.sha256) {
      lane.buffer.set(bytes);
      lane.filled = tail.bytes;
    } else {
      this.#job.onBytes(-tail.bytes);
      this.#dropTail(begin);
    }
    return true;
  }

  #dropTail(piece) {
    this.#file.tails = this.#file.tails.filter((tail) => tail.piece !== piece);
  }

  // ---- Further connections: help where they can. What goes wrong with one is left to the first connection, which
  // tries again and says what is the matter.

  /** @returns {boolean} whether there are some from now on */
  #callHelpers() {
    const missing = this.#nPieces - this.#file.pieces.filter(Boolean).length;
    if (!this.#mayHelp || this.#file.size === null || missing < kWorthMore) return false;
    this.#mayHelp = false;
    for (let i = 1; i < this.#job.env.connections; ++i) this.#helpers.push(this.#help());
    return this.#helpers.length > 0;
  }

  async #help() {
    const lane = this.#addLane();
    try {
      while (await this.#claim(lane)) await this.#fill(lane);
    } catch (error) {
      const isOwn = error.error || error instanceof NetworkError || error instanceof NotFoundError ||
        error instanceof CancelledError;
      if (!isOwn) {
        this.#failure ??= error;
        this.#control.abort();
      }
    }
    // What it began is somebody else's now, and begun anew there.
    if (lane.filled > 0 && !this.#control.signal.aborted) this.#job.onBytes(-lane.filled);
    if (!this.#control.signal.aborted) this.#lanes.delete(lane);
  }

  async #endHelpers() {
    this.#control.abort();
    await Promise.all(this.#helpers);
  }

  // ---- Bytes

  #positionOf(lane) {
    return lane.piece * this.#pieceBytes + lane.filled;
  }

  /** What a lane has before it, in one request. */
  async #fill(lane, {isMain = false} = {}) {
    const {env} = this.#job;
    const {signal} = this.#control;
    const file = this.#file;
    const begin = this.#positionOf(lane);
    const end = lane.end < this.#nPieces ? lane.end * this.#pieceBytes : undefined;
    const answer = await openRange(env, file.url, {begin, end, validator: file.validator, signal});
    try {
      if (answer.changed || (file.size !== null && answer.size !== null && answer.size !== file.size)) {
        throw new ChangedError(file.url);
      }
      if (answer.begin !== begin) {  // the server knows no ranges, or none any more, and sends all of it
        if (!isMain) throw cutShort(file.url, begin, begin);
        await this.#startOver(lane);
      }
      file.validator ??= answer.validator;
      file.size ??= answer.size;
      lane.end = Math.min(lane.end, Math.max(this.#nPieces, 1));  // an empty file is looked at, too
      if (isMain) await this.#job.onOpened();
      const limit = answer.begin === begin && end !== undefined ? end : file.size;
      for await (const chunk of answer.body) {
        await this.#take(lane, chunk, limit);
        if (lane.piece >= lane.end) break;
        const isChecked = lane.piece > 0 || lane.filled >= kFirstBytes;
        // What the others fetch now is not to come here, too: browsers read far ahead. So it is asked for anew.
        if (isMain && answer.ranges && isChecked && this.#callHelpers()) return;
      }
      await this.#finish(lane);
    } finally {
      answer.stop();
    }
  }

  async #startOver(lane) {
    this.#mayHelp = false;
    for (const other of this.#lanes) other.end = other.piece;
    await Promise.all(this.#helpers.splice(0));
    this.#job.onLost(this.#file);
    this.#file.pieces = [];
    this.#file.tails = [];
    Object.assign(lane, {piece: 0, filled: 0, end: Infinity});
  }

  async #take(lane, chunk, limit) {
    if (limit !== null && this.#positionOf(lane) + chunk.length > limit) {
      const {url} = this.#file;
      throw new NetworkError(`${url}: the server sends more than the ${limit} bytes it announced; try later`);
    }
    for (let at = 0; at < chunk.length && lane.piece < lane.end;) {
      const part = chunk.subarray(at, at + this.#pieceBytes - lane.filled);
      const before = lane.filled;
      lane.buffer.set(part, before);
      lane.filled += part.length;
      at += part.length;
      this.#received += part.length;
      if (lane.piece === 0 && before < kFirstBytes && lane.filled >= kFirstBytes) this.#checkFirst(lane);
      this.#job.onBytes(part.length);
      if (lane.filled === this.#pieceBytes) await this.#store(lane);
    }
  }

  #checkFirst(lane) {
    checkFirstBytes(this.#file, lane.buffer.subarray(0, lane.filled), this.#file.url);
  }

  /** The connection has ended: with all that was wanted of it, or cut. */
  async #finish(lane) {
    const file = this.#file;
    if (lane.piece < lane.end) {
      const position = this.#positionOf(lane);
      const wanted = file.size === null ? null : Math.min(file.size, lane.end * this.#pieceBytes);
      if (wanted !== null && position < wanted) throw cutShort(file.url, position, wanted);
      file.size ??= position;
      if (lane.piece === 0 && lane.filled < kFirstBytes) this.#checkFirst(lane);
      if (lane.filled > 0) await this.#store(lane);
    }
    lane.end = lane.piece;
  }

  async #store(lane) {
    const {env, save} = this.#job;
    const file = this.#file;
    const {piece} = lane;
    const bytes = lane.buffer.subarray(0, lane.filled);
    const hash = await sha256Hex(env, bytes);
    const expected = file.expected?.[piece];
    if (expected && expected !== hash) throw new ChangedError(file.url);
    await this.#job.write(this.#writer, piece, bytes);
    file.pieces[piece] = hash;
    this.#dropTail(piece);
    ++lane.piece;
    lane.filled = 0;
    await save();
  }

  // Less than a piece may be minutes of somebody's time. Failing to keep it is no error of its own.
  async #saveTails() {
    try {
      for (const {buffer, piece, filled} of this.#lanes) {
        if (this.#file.pieces[piece] || filled === 0 || (piece === 0 && filled < kFirstBytes)) continue;
        const bytes = buffer.subarray(0, filled);
        const sha256 = await sha256Hex(this.#job.env, bytes);
        await this.#writer.write(piece, bytes);
        this.#dropTail(piece);
        this.#file.tails.push({piece, bytes: filled, sha256});
      }
      await this.#job.save();
    } catch { /* the pieces before it are there */ }
  }
}
