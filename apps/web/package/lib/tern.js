// The class that callers hold: a loaded model.

import {diagnose, kVersion} from './diagnostics.js';
import {environment} from './environment.js';
import {
  BusyError, CancelledError, InvalidArgumentError, NotFoundError, NotSupportedError, throwIfAborted,
} from './errors.js';
import {EngineModule} from './engine_module.js';
import {StoredModels} from './model_store.js';
import {checkLoadOptions, checkSource, checkTokens, generateParams} from './options.js';
import {Runner} from './runner.js';
import {sha256Hex} from './sha256.js';
import {SharedRunner} from './shared_runner.js';
import {WorkerClient} from './worker_client.js';

// Fetched when a program first uses it.
const openai = () => import('./openai.js');

/** What relative addresses of models are relative to. */
function pageUrl(env) {
  if (!env.isNode) return globalThis.document?.baseURI ?? globalThis.location?.href;
  const folder = globalThis.process.cwd().split(/[\\/]/).map(encodeURIComponent).join('/');
  return `file://${folder.startsWith('/') ? '' : '/'}${folder}/`;
}

/** Addresses that mean something only here and now become what they name. */
async function readHere(env, source) {
  if (!/^(blob|data):/.test(source.where ?? '')) return source;
  try {
    return {files: {'model.gguf': await (await env.fetch(source.where)).blob()}};
  } catch (error) {
    throw new NotFoundError(`Tern.load: nothing is behind ${source.where.slice(0, 80)} any more`, {cause: error});
  }
}

/** Where the engine runs: in a worker unless it cannot, or the caller has a GPU that cannot go there. */
function makeRunner(env, {worker, gpu, baseUrl}) {
  if (gpu && worker) throw new InvalidArgumentError('a gpu of your own cannot go to a worker; pass worker: false');
  if (worker === false || gpu || !env.Worker) return new Runner(env);
  const own = typeof worker === 'string' || worker instanceof URL ? String(worker) : baseUrl && 'worker.js';
  return new WorkerClient(env, own && new URL(own, baseUrl ?? pageUrl(env)).href);
}

/**
 * Loads a model; what Tern.load does, in any surroundings.
 * @param {import('./environment.js').Environment} env
 * @returns {Promise<Tern>}
 */
export async function loadTern(env, source, given) {
  const {onProgress = () => {}, onLog, signal, worker, shared, ...options} = checkLoadOptions(given);
  throwIfAborted(signal);
  if (options.baseUrl !== undefined) options.baseUrl = new URL(options.baseUrl, pageUrl(env)).href;
  const checked = await readHere(env, checkSource(source, pageUrl(env)));
  if (checked.where && options.storage) {
    // Only pages may ask; nothing depends on the answer.
    Promise.resolve(env.navigator?.storage?.persist?.()).catch(() => {});
  }
  const open = (events) => openRunner(env, checked, {...options, worker}, events);
  const {runner, info} = await (shared ? share(env, checked, options, open) : open)({onProgress, onLog, signal});
  return new Tern(env, runner, info, options);
}

/** Loads the model where the engine is to run. @returns {Promise<{runner: Runner | WorkerClient, info: object}>} */
async function openRunner(env, source, {worker, ...options}, events) {
  const runner = makeRunner(env, {...options, worker});
  try {
    return {runner, info: await runner.load(source, options, events)};
  } catch (error) {
    // Some browsers start no worker and do not say so. The page itself is slower, but better than nothing.
    if (!runner.isLate || worker !== undefined || events.signal?.aborted) throw error;
    const inPage = new Runner(env);
    const info = await inPage.load(source, options, events);
    const why = [`it runs in the page because ${error.message}`, info.why].filter(Boolean).join('; ');
    return {runner: inPage, info: {...info, why}};
  }
}

/** The same in one tab for all that load the same in the same way. */
function share(env, source, options, open) {
  if (!source.where || options.gpu) {
    throw new InvalidArgumentError('Tern.load: only a model with an address can be shared, on a GPU of the browser; ' +
      'keep files first (Tern.models.keep), or leave out shared');
  }
  return async (events) => {
    if (!env.locks || !env.BroadcastChannel) {
      const {runner, info} = await open(events);
      const note = 'the model is not shared, because this browser has no locks or channels between tabs';
      return {runner, info: {...info, notes: [...info.notes, note]}};
    }
    const what = JSON.stringify([kVersion, source.where, options]);
    const name = `tern-shared:${(await sha256Hex(env, new TextEncoder().encode(what))).slice(0, 32)}`;
    const runner = new SharedRunner(env, name, open);
    return {runner, info: await runner.load(events)};
  };
}

/** A loaded model. */
export class Tern {
  #env;
  #runner;
  #embeddings;
  #isBusy = false;
  #isClosed = false;
  #stats;

  /** OpenAI's shapes: tern.chat.completions.create(…), tern.completions.create(…). */
  chat = {completions: {create: async (body, options) => (await openai()).chatCompletions(this, body, options)}};
  completions = {create: async (body, options) => (await openai()).completions(this, body, options)};
  embeddings = {create: async (body) => (await import('./openai_embeddings.js')).embeddings(this, body)};

  /** The stored models of this site. */
  static models = new StoredModels(environment());

  /** What this browser is and can, for reports. @returns {Promise<object>} */
  static diagnostics() {
    return diagnose(environment());
  }

  /**
   * Loads a model from an address, a name on Hugging Face (hf:OWNER/NAME), a File or several. See index.d.ts.
   * @returns {Promise<Tern>}
   */
  static load(source, options) {
    return loadTern(environment(), source, options);
  }

  /** Use Tern.load. */
  constructor(env, runner, info, {embeddings = false} = {}) {
    this.#env = env;
    this.#embeddings = embeddings;
    this.#runner = runner;
    this.info = Object.freeze(info);
    this.#stats = {
      backend: info.backend,
      adapter: info.adapter?.name,
      features: info.adapter?.features ?? [],
      threads: info.threads,
      loadMs: info.loadMs,
      nPrompt: 0,
      nReused: 0,
      nGenerated: 0,
    };
  }

  /** Numbers of the last generation, or of the one in progress. */
  get stats() {
    return {...this.#stats};
  }

  /**
   * Continues a text or a conversation. Ending the loop early ends the generation.
   * @param {string | {role: string, content: string}[] | ArrayLike<number>} input
   * @param {object} [options]
   * @returns {AsyncGenerator<string, void, void>} pieces of text, whole characters
   */
  async *generate(input, options = {}) {
    const params = generateParams(input, options);
    const {signal} = options;
    if (this.#embeddings) throw new NotSupportedError('the model was loaded for vectors; load it without embeddings');
    if (params.messages && this.info.hasChatTemplate === false) {
      throw new NotSupportedError(`${this.info.name} has no chat template, so it holds no conversation; ` +
        'pass a text for it to continue');
    }
    if (params.logitProcessor && !(this.#runner instanceof Runner)) {
      throw new NotSupportedError('logitProcessor: a function runs where the engine does; load with worker: false ' +
        'and without shared');
    }
    throwIfAborted(signal);
    this.#take();
    const pieces = [];
    let wake = () => {};
    let end = null;
    const stop = () => this.#runner.cancel();
    signal?.addEventListener('abort', stop, {once: true});
    this.#note({seed: params.seed, nPrompt: 0, nReused: 0, nGenerated: 0, finishReason: undefined,
      toolCalls: undefined, reasoning: undefined,
      logprobs: params.logprobs === undefined ? undefined : []});

    const running = this.#runner.generate(params, (piece) => {
      if (piece.text) pieces.push(piece.text);
      this.#noteProgress(piece);
      wake();
    });
    const finished = running.then((outcome) => {
      this.#noteOutcome(outcome);
      if (outcome.rest) pieces.push(outcome.rest);
      end = {};
    }, (error) => {
      end = {error};
    }).then(() => {
      this.#isBusy = false;
      wake();
    });
    try {
      for (;;) {
        while (pieces.length > 0) {
          throwIfAborted(signal);
          yield pieces.splice(0).join('');
        }
        if (end) break;
        await new Promise((resolve) => {
          wake = resolve;
        });
      }
      throwIfAborted(signal);
      if (end.error) throw end.error;
    } finally {
      signal?.removeEventListener('abort', stop);
      if (!end) this.#runner.cancel();
      await finished;
    }
  }

  #take() {
    if (this.#isClosed) throw new CancelledError('the model was closed; load it again');
    if (this.#isBusy) throw new BusyError('a generation is in progress; wait for its end, or stop it first');
    this.#isBusy = true;
  }

  #note(what) {
    Object.assign(this.#stats, what);
  }

  #noteProgress({nGenerated, nPrompt, nReused, ms, logprobs = []}) {
    const first = this.#stats.nGenerated === 0 ? ms : this.#stats.timeToFirstTokenMs;
    const seconds = (ms - first) / 1000;
    const tokensPerSecond = seconds > 0 ? (nGenerated - 1) / seconds : undefined;
    this.#note({nGenerated, nPrompt, nReused, timeToFirstTokenMs: first, tokensPerSecond});
    this.#stats.logprobs?.push(...logprobs);
  }

  #noteOutcome({reason, tokens, logprobs, nPrompt, nReused, timeToFirstTokenMs, stats, message}) {
    const rate = (n, seconds) => (n > 0 && seconds > 0 ? n / seconds : undefined);
    this.#note({
      finishReason: reason,
      ...(message ? {toolCalls: message.toolCalls, reasoning: message.reasoning} : {}),
      tokens,
      ...(this.#stats.logprobs ? {logprobs} : {}),
      nPrompt,
      nReused,
      nGenerated: tokens.length,
      timeToFirstTokenMs,
      tokensPerSecond: rate(tokens.length - 1, stats.decodeSeconds),
      promptTokensPerSecond: rate(nPrompt - nReused, stats.promptSeconds),
      dispatchesPerToken: stats.gpu?.dispatchesPerToken,
      gpuBytes: stats.gpu?.deviceBytes,
      gpu: stats.gpu,
      heapBytes: stats.heapBytes,
      contextUsed: nPrompt + tokens.length,
    });
  }

  async #call(method, params) {
    if (this.#isClosed) throw new CancelledError('the model was closed; load it again');
    return this.#runner.call(method, params);
  }

  /** Forgets the conversation, so that the next prompt is read from its beginning. */
  async reset() {
    await this.#call('reset', {});
  }

  /**
   * @param {string} text
   * @param {{addBos?: boolean, parseSpecial?: boolean}} [options]
   * @returns {Promise<number[]>} token ids
   */
  async tokenize(text, options = {}) {
    if (typeof text !== 'string') throw new InvalidArgumentError('tokenize wants a text');
    return (await this.#call('tokenize', {text, ...options})).tokens;
  }

  /**
   * @param {ArrayLike<number>} tokens
   * @param {{special?: boolean}} [options] `special`: spell control tokens out
   * @returns {Promise<string>}
   */
  async detokenize(tokens, {special = false} = {}) {
    const list = Array.from(tokens ?? []);
    return list.length === 0 ? '' : (await this.#call('detokenize', {tokens: checkTokens(list), special})).text;
  }

  /**
   * What a text means, as a vector of length 1. The model has to be loaded with `embeddings: true`.
   * @param {string | ArrayLike<number>} input
   * @param {{pooling?: 'auto' | 'last' | 'mean'}} [options]
   * @returns {Promise<Float32Array & {nTokens: number}>}
   */
  async embed(input, {pooling = 'auto'} = {}) {
    if (!['auto', 'last', 'mean'].includes(pooling)) {
      throw new InvalidArgumentError(`embed: pooling ${JSON.stringify(pooling)} is not one of "auto", "last", "mean"`);
    }
    if (!this.#embeddings) throw new NotSupportedError('embed: load the model with embeddings: true for vectors');
    const what = typeof input === 'string' ? {prompt: input} : {tokens: checkTokens(input)};
    const made = await this.#call('embed', {...what, pooling});
    return Object.assign(EngineModule.decodeLogits(made).data, {nTokens: made.nTokens});
  }

  /** What Tern.models.keep does. @returns {Promise<string>} the address to load the model by */
  async keep({onProgress = () => {}, signal} = {}) {
    throwIfAborted(signal);
    if (this.#isClosed) throw new CancelledError('the model was closed; load it again');
    if (!this.#env.isNode) Promise.resolve(this.#env.navigator?.storage?.persist?.()).catch(() => {});
    return this.#runner.keep({onProgress, signal});
  }

  /** @returns {Promise<string>} messages in the model's chat template */
  async renderChat(messages) {
    const {messages: checked, turn} = generateParams(messages);
    if (turn) throw new NotSupportedError('renderChat: calls of tools and their results are for generate');
    if (!checked) throw new InvalidArgumentError('renderChat wants messages [{role, content}, …]');
    return (await this.#call('render_chat', {messages: checked})).text;
  }

  /**
   * Logits after each of some tokens, from an empty context.
   * @param {ArrayLike<number>} tokens
   * @returns {Promise<{rows: number, columns: number, data: Float32Array}>} a row per token, a column per id
   */
  async logits(tokens) {
    return EngineModule.decodeLogits(await this.#call('logits', {tokens: checkTokens(tokens)}));
  }

  /**
   * The GPU's kernels of the last token; none on the CPU.
   * @returns {Promise<{name: string, wgsl: string, dispatches: number, us: number}[]>} `us`: 0 where no time is taken
   */
  async kernels() {
    return this.#call('kernels', {});
  }

  /** Ends everything and gives its memory back; calls after it are refused. */
  async close() {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#runner.close();
  }
}
