// One engine for all tabs of a site that want the same model. The tab that holds a lock has the engine; the others ask
// it over a channel. When that tab is closed, the lock goes to the next, which loads the model from storage and goes
// on.

import {CancelledError, WorkerCrashedError, asTernError, fromPlain, throwIfAborted, toPlain} from './errors.js';
import {notOfFiles} from './keep.js';
import {kAnyTime} from './runner.js';

// What a generation is that was ended before its turn.
const kNeverBegun = {
  reason: 'cancelled', tokens: [], logprobs: [], nPrompt: 0, nReused: 0, timeToFirstTokenMs: 0, stats: {},
};
// After these nothing can be asked of the engine any more.
const kDeadly = new Set(['worker_crashed', 'device_lost']);

/** Where the engine is: what all tabs ask, one after the other. */
class Host {
  #runner;
  #post;
  #jobs = [];
  #active = null;
  #known = new Map();  // ids of requests, by tab: a tab asks again when it hears of a new host
  #onNewTab;

  /**
   * @param {import('./runner.js').Runner} runner with a model
   * @param {(to: string, message: object) => void} post
   * @param {(tab: string) => void} onNewTab
   */
  constructor(runner, post, onNewTab) {
    this.#runner = runner;
    this.#post = post;
    this.#onNewTab = onNewTab;
  }

  accept(from, {id, method, params}) {
    if (!this.#known.has(from)) {
      this.#known.set(from, new Set());
      this.#onNewTab(from);
    }
    if (this.#known.get(from).has(id)) return;
    this.#known.get(from).add(id);
    const job = {from, id, method, params};
    if (method === 'call' && kAnyTime.has(params.method)) return void this.#do(job);
    this.#jobs.push(job);
    if (!this.#active) void this.#work();
  }

  cancel(from, id) {
    if (this.#active?.from === from && this.#active.id === id) return this.#runner.cancel();
    const job = this.#jobs.find((one) => one.from === from && one.id === id);
    if (!job) return;
    this.#jobs = this.#jobs.filter((one) => one !== job);
    this.#post(from, {id, result: kNeverBegun});
  }

  /** A tab is gone: nobody waits for its replies. */
  drop(from) {
    this.#jobs = this.#jobs.filter((job) => job.from !== from);
    if (this.#active?.from === from) this.#runner.cancel();
    this.#known.delete(from);
  }

  async #work() {
    while ((this.#active = this.#jobs.shift())) await this.#do(this.#active);
  }

  async #do({from, id, method, params}) {
    try {
      const event = (what) => this.#post(from, {id, event: what});
      const result = await (method === 'generate' ? this.#runner.generate(params, event) :
        this.#runner.call(params.method, params.params));
      this.#post(from, {id, result});
    } catch (error) {
      this.#post(from, {id, error: toPlain(asTernError(error))});
    }
  }
}

/**
 * The pieces of a generation that may have to be begun again. Its random numbers are those of its seed, so it says the
 * same again, and that is left out.
 */
class Pieces {
  #onPiece;
  #said = '';
  #again = '';  // what is still to be said again

  constructor(onPiece) {
    this.#onPiece = onPiece;
  }

  beginAgain() {
    this.#again = this.#said;
  }

  /** @returns {boolean} false: it says something else */
  take(piece) {
    const {text} = piece;
    const again = this.#again;
    this.#again = again.slice(text.length);
    if (!again.startsWith(text) && !text.startsWith(again)) return false;
    const more = text.slice(again.length);
    this.#said += more;
    this.#onPiece({...piece, text: more});
    return true;
  }
}

/** @implements the interface of Runner */
export class SharedRunner {
  #env;
  #name;
  #open;
  #me;
  #channel;
  #host = null;
  #hosting;
  #pending = new Map();
  #nextId = 1;
  #generation = 0;  // the request that it is
  #ready;
  #onProgress;
  #end = null;
  #leaving = new AbortController();
  #left = new Promise((resolve) => this.#leaving.signal.addEventListener('abort', resolve));

  /**
   * @param {import('./environment.js').Environment} env with locks and channels
   * @param {string} name the same for all who may share
   * @param {(events: object) => Promise<{runner: import('./runner.js').Runner, info: object}>} open loads the model
   */
  constructor(env, name, open) {
    this.#env = env;
    this.#name = name;
    this.#open = open;
    this.#me = env.crypto.randomUUID();
  }

  async load({onProgress, onLog, signal}) {
    throwIfAborted(signal);
    const stop = () => this.#fail(new CancelledError('stopped on request', {cause: signal.reason}));
    signal?.addEventListener('abort', stop, {once: true});
    const ready = new Promise((resolve, reject) => {
      this.#ready = {resolve, reject};
    });
    this.#onProgress = onProgress;
    this.#channel = new this.#env.BroadcastChannel(this.#name);
    this.#channel.onmessage = ({data}) => this.#receive(data);
    // Held for as long as this tab lives: who gets it knows that the tab is gone.
    this.#env.locks.request(this.#lockOf(this.#me), {}, () => this.#left).catch(() => {});
    this.#hosting = this.#hostInTurn({onProgress: (progress) => this.#tellProgress(progress), onLog});
    this.#send({hello: true});
    try {
      const info = await ready;
      if (!this.#host) onProgress({phase: 'ready', loaded: 1, total: 1, file: info.name, fromCache: true});
      return {...info, isShared: true};
    } finally {
      signal?.removeEventListener('abort', stop);
      this.#ready = null;
    }
  }

  #lockOf(tab) {
    return `${this.#name}:${tab}`;
  }

  // ---- The engine here

  /** Waits for its turn, which may never come, and then has the engine until this tab lets it go. */
  async #hostInTurn(events) {
    const {signal} = this.#leaving;
    const gone = (tab) => this.#env.locks.request(this.#lockOf(tab), {signal, mode: 'shared'},
      () => this.#host?.drop(tab)).catch(() => {});
    try {
      await this.#env.locks.request(this.#name, {signal}, async () => {
        const {runner, info} = await this.#open({...events, signal});
        try {
          if (signal.aborted) return;
          const post = (to, message) => (to === this.#me ? this.#settle(message) : this.#send({to, ...message}));
          this.#host = Object.assign(new Host(runner, post, (tab) => tab !== this.#me && gone(tab)), {info});
          this.#send({ready: info});
          this.#meetHost(info);
          await this.#left;
        } finally {
          this.#host = null;
          await runner.close();
        }
      });
    } catch (error) {
      if (signal.aborted) return;
      this.#send({failed: toPlain(asTernError(error))});
      this.#fail(asTernError(error));
    }
  }

  #tellProgress(progress) {
    this.#onProgress(progress);
    this.#send({progress});
  }

  // ---- Messages

  #send(message) {
    try {
      this.#channel.postMessage({from: this.#me, ...message});
    } catch { /* it was closed */ }
  }

  #receive({from, to, hello, ready, failed, progress, request, cancel, ...answer}) {
    if (to !== undefined && to !== this.#me) return;
    if (hello && this.#host) return this.#send({to: from, ready: this.#host.info});
    if (request) return this.#host?.accept(from, request);
    if (cancel !== undefined) return this.#host?.cancel(from, cancel);
    if (ready) return this.#meetHost(ready);
    if (failed) return this.#fail(fromPlain(failed));
    if (progress) return this.#ready && this.#onProgress(progress);
    if (answer.id !== undefined) this.#settle(answer);
  }

  /** Somebody has the engine: asks for all that is not answered. */
  #meetHost(info) {
    this.#ready?.resolve(info);
    for (const [id, {request, hasBegun, pieces, isCancelled, reject}] of this.#pending) {
      if (isCancelled) {
        this.#settle({id, result: kNeverBegun});
      } else if (!hasBegun || pieces) {
        pieces?.beginAgain();
        this.#ask(id, request);
      } else {
        this.#lose(id, reject);
      }
    }
  }

  #lose(id, reject) {
    this.#pending.delete(id);
    reject(new WorkerCrashedError('the tab that computed was closed in the middle of this; ask again'));
  }

  #ask(id, request) {
    if (this.#host) this.#host.accept(this.#me, {id, ...request});
    else this.#send({request: {id, ...request}});
  }

  #settle({id, event, result, error}) {
    const waiting = this.#pending.get(id);
    if (event !== undefined) {
      if (!waiting) return;
      waiting.hasBegun = true;
      if (!waiting.pieces) return waiting.onEvent(event);
      if (waiting.pieces.take(event)) return;
      this.cancel();
      return this.#lose(id, waiting.reject);
    }
    this.#pending.delete(id);
    if (!error) return waiting?.resolve(result);
    const made = fromPlain(error);
    waiting?.reject(made);
    if (this.#host && kDeadly.has(made.code)) {
      this.#send({failed: error});
      this.#fail(made);
    }
  }

  #request(method, params, onEvent) {
    if (this.#end) return Promise.reject(this.#end);
    const id = this.#nextId++;
    if (method === 'generate') this.#generation = id;
    // Log probabilities are told with the pieces, which may be cut elsewhere the second time.
    const pieces = method === 'generate' && params.logprobs === undefined ? new Pieces(onEvent) : null;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, {request: {method, params}, resolve, reject, onEvent, pieces, hasBegun: false});
      this.#ask(id, {method, params});
    });
  }

  #fail(error) {
    if (this.#end) return;
    this.#end = error;
    this.#leaving.abort();
    this.#channel?.close();
    this.#ready?.reject(error);
    for (const {reject} of this.#pending.values()) reject(error);
    this.#pending.clear();
  }

  // ---- What a Tern asks for

  generate(params, onPiece) {
    return this.#request('generate', params, onPiece);
  }

  call(method, params) {
    return this.#request('call', {method, params});
  }

  async keep() {
    throw notOfFiles();
  }

  cancel() {
    const waiting = this.#pending.get(this.#generation);
    if (waiting) waiting.isCancelled = true;
    if (this.#host) this.#host.cancel(this.#me, this.#generation);
    else if (!this.#end) this.#send({cancel: this.#generation});
  }

  async close() {
    this.#fail(new CancelledError('the model was closed; load it again'));
    await this.#hosting;
  }
}
