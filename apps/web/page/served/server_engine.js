// The engine of a page that `tern serve` has sent: that server, asked over HTTP. It has as much of the package's `Tern`
// as the page uses: load, info, stats, generate, close.

import {eventsIn} from './events.js';

/** What goes wrong between the page and the server; `code` is what the page looks its plain words up by. */
export class ServerError extends Error {
  constructor(code, message) {
    super(message);
    this.name = 'ServerError';
    this.code = code;
  }
}

const kCodes = {
  400: 'invalid_argument', 403: 'unauthorized', 413: 'invalid_argument', 429: 'too_many',
  503: 'unavailable', 504: 'timeout',
};
/** An error that comes in the middle of a stream has no status. */
const kTypes = {unavailable_error: 'unavailable', invalid_request_error: 'invalid_argument'};

/**
 * @typedef {object} Model as /v1/models tells of it
 * @property {string} id
 * @property {'loaded'|'loading'|'downloading'|'unloaded'} [status]
 * @property {string} [error] why it could not be loaded
 * @property {string[]} [capabilities] 'completion' or 'embedding'
 * @property {{n_params: number, size: number, n_ctx: number}} [meta] once it has been loaded
 */

/** The page's names of what a reply may be given, and the server's. */
const kFields = {
  temperature: 'temperature', topK: 'top_k', topP: 'top_p', minP: 'min_p', repeatPenalty: 'repeat_penalty',
  maxTokens: 'max_tokens', seed: 'seed',
};

const kStranger = 'What came is no answer of `tern serve`.';

/** Out of an answer that is an error. Proxies have words of their own, which nobody wants to read. */
async function errorOf(response) {
  if (response.status === 401) return new ServerError('unauthorized', 'Whoever runs it can give you one.');
  const {error} = await response.json().catch(() => ({})) ?? {};
  const seconds = Number(response.headers.get('Retry-After'));
  const when = seconds > 0 ? `; try again in ${seconds} s` : '';
  return new ServerError(kCodes[response.status] ?? 'server',
    `${error?.message ?? `the answer was HTTP ${response.status}`}${when}`);
}

/** Like fetch, but all that goes wrong is a ServerError, except that the caller wanted no more. */
async function ask(address, {key, fetch = globalThis.fetch, signal, body}) {
  const headers = new Headers(body ? {'Content-Type': 'application/json'} : {});
  if (key) headers.set('Authorization', `Bearer ${key}`);
  let response;
  try {
    response = await fetch(address, {method: body ? 'POST' : 'GET', headers, signal, cache: 'no-store',
      ...(body ? {body: JSON.stringify(body)} : {})});
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ServerError('unreachable', 'It has ended, or the network between does not let the page through.');
  }
  if (!response.ok) throw await errorOf(response);
  return response;
}

/** @param {Response} response */
async function jsonOf(response) {
  try {
    return await response.json();
  } catch (error) {
    if (error?.name === 'AbortError') throw error;
    throw new ServerError('server', kStranger);
  }
}

export class ServerTern {
  #base;
  #options;
  info;
  /** Of the last reply; while it is written, as far as can be seen from here. */
  stats = {};

  /** Those of the server that can chat. @type {Model[]} */
  models;

  /**
   * What the server has, the first as it would answer who names none.
   * @param {string} base
   * @returns {Promise<Model[]>}
   */
  static async list(base, {key = () => '', signal, fetch} = {}) {
    const {data} = await jsonOf(await ask(new URL('v1/models', base), {key: key(), signal, fetch}));
    const models = (data ?? []).filter(({capabilities}) => capabilities?.includes('completion') ?? true);
    if (models.length === 0) throw new ServerError('server', kStranger);
    return models;
  }

  /**
   * What is served, and how. Of several models the one that the address names (`?model=NAME`), if there is such a one.
   * @param {string} address of the server's routes, its path ending in '/'
   * @param {{key?: () => string, signal?: AbortSignal, fetch?: typeof fetch}} [options] key: the API key, '' for none
   * @returns {Promise<ServerTern>}
   */
  static async load(address, {key = () => '', signal, fetch} = {}) {
    const {searchParams} = new URL(address);
    const base = new URL('.', address).href;
    const list = () => ServerTern.list(base, {key, signal, fetch});
    const before = await list();
    const wanted = before.find(({id}) => id === searchParams.get('model')) ?? before[0];
    const path = before.length > 1 ? `props?model=${encodeURIComponent(wanted.id)}` : 'props';
    const props = await jsonOf(await ask(new URL(path, base), {key: key(), signal, fetch}));
    // Of a model that has just been loaded more is known than before.
    const models = wanted.meta ? before : await list();
    const model = models.find(({id}) => id === wanted.id) ?? wanted;
    return new ServerTern(base, {key, fetch}, props, model, models);
  }

  constructor(base, options, props, {id, meta = {}}, models) {
    this.#base = base;
    this.#options = options;
    this.models = models;
    const by = props.default_generation_settings ?? {};
    const values = {
      temperature: by.temperature, topK: by.top_k, topP: by.top_p, minP: by.min_p, repeatPenalty: by.repeat_penalty,
      ...(by.max_tokens > 0 ? {maxTokens: by.max_tokens} : {}),
    };
    this.info = {
      name: id, architecture: props.architecture ?? '–', backend: `server: ${props.backend ?? '–'}`,
      nParams: meta.n_params, fileBytes: meta.size, nCtx: by.n_ctx ?? meta.n_ctx, hasTokenizer: true,
      hasChatTemplate: props.chat_template ?? true, sampling: {source: '', values}, why: '', server: props.build_info,
    };
  }

  /**
   * A reply, piece by piece: texts, and thoughts that come before them as {thought}.
   * @param {string|{role: string, content: string}[]} prompt a text goes on, messages are answered
   * @param {object} options as Settings.generateOptions() has them, and `signal`
   * @returns {AsyncGenerator<string|{thought: string}>}
   */
  async* generate(prompt, {signal, ...options} = {}) {
    const isText = typeof prompt === 'string';
    const body = {...(isText ? {prompt} : {messages: prompt}), stream: true, stream_options: {include_usage: true}};
    for (const [name, field] of Object.entries(kFields)) {
      if (options[name] !== undefined) body[field] = options[name];
    }
    if (this.models.length > 1) body.model = this.info.name;
    const watch = this.#begin();
    const address = new URL(`v1/${isText ? 'completions' : 'chat/completions'}`, this.#base);
    const response = await ask(address, {key: this.#options.key(), fetch: this.#options.fetch, signal, body});
    const type = response.headers.get('Content-Type');
    if (!type?.startsWith('text/event-stream')) throw new ServerError('server', kStranger);
    let isWhole = false;
    try {
      for await (const data of eventsIn(response.body)) {
        isWhole = data === '[DONE]';
        if (isWhole) break;
        const event = JSON.parse(data);
        if (event.error) throw ServerTern.#errorInStream(event.error);
        const piece = this.#take(event, watch);
        if (piece) yield piece;
      }
    } catch (error) {
      if (signal?.aborted || error instanceof ServerError) throw error;
      throw new ServerError('broken_off', 'The connection ended, or something else came over it.');
    }
    signal?.throwIfAborted();
    if (!isWhole) throw new ServerError('broken_off', 'The server ended, or the network between did.');
  }

  #begin() {
    this.stats = {
      tokensPerSecond: 0, promptTokensPerSecond: 0, timeToFirstTokenMs: 0, nPrompt: 0, nReused: 0, nGenerated: 0,
      finishReason: null,
    };
    return {begin: performance.now(), first: 0};
  }

  /** What an event says: into the stats, and the piece of text that it brings. */
  #take({choices, usage, timings}, watch) {
    const [choice] = choices ?? [];
    const stats = this.stats;
    if (choice?.finish_reason) stats.finishReason = choice.finish_reason;
    if (usage) {
      stats.nPrompt = usage.prompt_tokens;
      stats.nGenerated = usage.completion_tokens;
      stats.nReused = usage.prompt_tokens_details?.cached_tokens ?? 0;
      if (stats.finishReason === 'length' && stats.nPrompt + stats.nGenerated >= this.info.nCtx) {
        stats.finishReason = 'context_full';
      }
    }
    if (timings) {
      stats.tokensPerSecond = timings.predicted_per_second;
      stats.promptTokensPerSecond = timings.prompt_per_second;
    }
    const text = choice?.text ?? choice?.delta?.content ?? '';
    const thought = choice?.delta?.reasoning_content ?? '';
    if (!text && !thought) return '';
    // As a rule an event brings one token.
    const now = performance.now();
    if (++stats.nGenerated === 1) stats.timeToFirstTokenMs = (watch.first = now) - watch.begin;
    else stats.tokensPerSecond = (stats.nGenerated - 1) / Math.max(now - watch.first, 1) * 1000;
    return text || {thought};
  }

  static #errorInStream({message, type, code}) {
    return new ServerError(code === 'timeout' ? 'timeout' : kTypes[type] ?? 'server', message);
  }

  reset() {}

  async close() {}
}
