// WebLLM's interface (@mlc-ai/web-llm, as of 0.2.86) on Tern, so that a program changes its import and goes on.

import {CancelledError, InvalidArgumentError, NotSupportedError} from './errors.js';
import {addressOf, identityOf, prebuiltAppConfig, recordOf, settingsOf} from './webllm_models.js';
import {History, bodyOf, usageOf, webLlmChunks, wholeReply} from './webllm_requests.js';
import {makeWorkerSides} from './webllm_worker.js';

const kWords = {
  wait: 'Another tab is busy with the model', download: 'Fetching the model', verify: 'Checking the stored model',
  load: 'Loading the model', compile: 'Compiling the kernels of the GPU', ready: 'The model is ready',
};

/** One after the other. */
class Queue {
  #last = Promise.resolve();

  /** @returns {Promise<() => void>} once it is one's turn: what ends it */
  async turn() {
    let end;
    const before = this.#last;
    this.#last = new Promise((resolve) => {
      end = resolve;
    });
    await before;
    return end;
  }
}

/** A model of an engine. */
class LoadedModel {
  message = '';
  writing = null;
  queue = new Queue();
  forwarded = [];
  history = new History();

  constructor(id, tern, {request, generate}, processor) {
    Object.assign(this, {id, tern, request, generate, processor});
  }

  /** The chunks of a request, in its turn; where it is interrupted they end, too, with all choices. */
  async *stream(kind, request, {wantsUsage}) {
    const asked = performance.now();
    const end = await this.queue.turn();
    const writing = this.writing = new AbortController();
    this.message = '';
    const goesOn = this.history.continuesWith(request.messages);
    const choices = [];
    const echo = kind === 'text' && request.echo ? request.prompt : '';
    let last = null;
    try {
      for await (const chunk of webLlmChunks(await this.#begin(kind, request, writing.signal), echo)) {
        const [choice] = chunk.choices;
        if (choice && choice.index !== last?.choices[0].index) this.message = '';  // it is that of the last choice
        this.message += choice?.delta?.content ?? choice?.text ?? '';
        if (choice) last = chunk;
        if (choice?.finish_reason) choices.push(this.tern.stats);
        if (chunk.usage) chunk.usage = usageOf(choices, {goesOn, seconds: (performance.now() - asked) / 1000});
        if (choice || wantsUsage) yield chunk;
      }
    } catch (error) {
      if (!(error instanceof CancelledError) || !writing.signal.aborted) throw error;
      yield this.#aborted(kind, last);
    } finally {
      this.history.remember(request.messages, this.message);
      this.writing = null;
      end();
    }
  }

  #begin(kind, request, signal) {
    const body = bodyOf(kind, {...this.request, ...request, model: this.id});
    const api = kind === 'chat' ? this.tern.chat.completions : this.tern.completions;
    return api.create(body, {signal, logitProcessor: this.processor});
  }

  #aborted(kind, last) {
    const empty = kind === 'chat' ? {delta: {}} : {text: ''};
    const choices = [{index: last?.choices[0].index ?? 0, ...empty, logprobs: null, finish_reason: 'abort'}];
    const object = kind === 'chat' ? 'chat.completion.chunk' : 'text_completion';
    return {id: 'abort', object, created: Math.floor(Date.now() / 1000), model: this.id, ...last, choices};
  }

  async embed(request) {
    const end = await this.queue.turn();
    try {
      const begin = performance.now();
      const {usage, ...made} = await this.tern.embeddings.create({...request, model: this.id});
      const seconds = (performance.now() - begin) / 1000;
      return {...made, usage: {...usage, extra: {prefill_tokens_per_s: usage.prompt_tokens / seconds}}};
    } finally {
      end();
    }
  }

  /** The next token after these and all that came before them since the last reset. */
  async forward(ids) {
    const end = await this.queue.turn();
    try {
      this.forwarded.push(...ids);
      const options = {...this.generate, maxTokens: 1, ignoreEos: true, logitProcessor: this.processor};
      for await (const _ of this.tern.generate(this.forwarded, options)) { /* one token */ }
      this.history.remember(undefined);
      return this.tern.stats.tokens[0];
    } finally {
      end();
    }
  }

  async reset() {
    this.message = '';
    this.forwarded = [];
    this.history.remember(undefined);
    this.processor?.resetState?.();
    await this.tern.reset();
  }

  async close() {
    this.writing?.abort();
    await this.tern.close();
  }
}

/** Every part of the interface, over a class like Tern. */
export function makeWebLlm(Tern) {
  class MLCEngine {
    #config;
    #models = new Map();
    #loading = null;

    constructor(engineConfig = {}) {
      this.#config = {...engineConfig, appConfig: engineConfig.appConfig ?? prebuiltAppConfig};
      this.chat = {completions: {create: (request) => this.chatCompletion(request)}};
      this.completions = {create: (request) => this.completion(request)};
      this.embeddings = {create: (request) => this.embedding(request)};
    }

    setInitProgressCallback(callback) {
      this.#config.initProgressCallback = callback;
    }

    getInitProgressCallback() {
      return this.#config.initProgressCallback;
    }

    setAppConfig(appConfig) {
      this.#config.appConfig = appConfig ?? prebuiltAppConfig;
    }

    /** Takes effect for models that are loaded from then on. */
    setLogitProcessorRegistry(registry) {
      this.#config.logitProcessorRegistry = registry;
    }

    /** What Tern.load takes beside the rest, for models that are loaded from then on. */
    setTernOptions(options) {
      this.#config.ternOptions = options;
    }

    setLogLevel(level) {
      this.#config.logLevel = level;
    }

    async reload(modelId, chatOpts = []) {
      const ids = [modelId].flat();
      const options = [chatOpts].flat();
      if (new Set(ids).size !== ids.length || ids.length === 0) {
        throw new InvalidArgumentError('reload: each of the models is named once');
      }
      if (options.length > 0 && options.length !== ids.length) {
        throw new InvalidArgumentError(`reload: there are ${ids.length} models and the options of ${options.length}`);
      }
      await this.unload();
      const loading = this.#loading = new AbortController();
      try {
        for (const [i, id] of ids.entries()) this.#models.set(id, await this.#load(id, options[i], loading.signal));
      } catch (error) {
        await this.#close();
        throw error;
      } finally {
        if (this.#loading === loading) this.#loading = null;
      }
    }

    async #load(id, chatOpts, signal) {
      const {appConfig, logitProcessorRegistry, ternOptions} = this.#config;
      const record = recordOf(id, appConfig);
      const {load, ...defaults} = settingsOf({...record.overrides, ...chatOpts});
      const processor = logitProcessorRegistry?.get(id);
      const tern = await Tern.load(addressOf(record), {
        onProgress: this.#progress(), signal, ...load, ...identityOf(record),
        ...(processor ? {worker: false} : {}), ...ternOptions,
      });
      return new LoadedModel(id, tern, defaults, processor);
    }

    #progress() {
      const begin = performance.now();
      return ({phase, loaded, total, file}) => {
        const share = phase === 'ready' ? 1 : total > 0 ? Math.min(loaded / total, 0.999) : 0;
        const percent = total > 0 && phase !== 'ready' ? `: ${Math.floor(share * 100)} %` : '';
        this.#config.initProgressCallback?.({
          progress: share, timeElapsed: (performance.now() - begin) / 1000,
          text: `${kWords[phase] ?? phase}${file ? ` (${file})` : ''}${percent}`,
        });
      };
    }

    /** The model of this name; without one the only model. */
    #need(modelId) {
      const names = [...this.#models.keys()].join(', ');
      if (this.#models.size === 0) {
        throw new InvalidArgumentError('no model is loaded; call reload(modelId), or CreateMLCEngine');
      }
      if (modelId && !this.#models.has(modelId)) {
        throw new InvalidArgumentError(`${modelId} is not loaded; there are ${names}`);
      }
      if (!modelId && this.#models.size > 1) {
        throw new InvalidArgumentError(`several models are loaded (${names}); name one of them`);
      }
      return modelId ? this.#models.get(modelId) : this.#models.values().next().value;
    }

    async chatCompletion(request) {
      return this.#create('chat', request);
    }

    async completion(request) {
      return this.#create('text', request);
    }

    #create(kind, request) {
      const model = this.#need(request.model);
      bodyOf(kind, request);  // says at once what cannot be done
      const {stream} = request;
      const chunks = model.stream(kind, request,
        {wantsUsage: !stream || request.stream_options?.include_usage === true});
      return stream ? chunks : wholeReply(chunks);
    }

    async embedding(request) {
      return this.#need(request.model).embed(request);
    }

    interruptGenerate() {
      for (const {writing} of this.#models.values()) writing?.abort();
    }

    async getMessage(modelId) {
      return this.#models.size === 0 && !modelId ? '' : this.#need(modelId).message;
    }

    async runtimeStatsText(modelId) {
      const {promptTokensPerSecond: prefill = 0, tokensPerSecond: decode = 0} = this.#need(modelId).tern.stats;
      return `prefill: ${prefill.toFixed(4)} tokens/sec, decoding: ${decode.toFixed(4)} tokens/sec`;
    }

    async resetChat(_keepStats, modelId) {
      if (this.#models.size > 0 || modelId) await this.#need(modelId).reset();
    }

    async unload() {
      this.#loading?.abort();
      await this.#close();
    }

    async #close() {
      const models = [...this.#models.values()];
      this.#models.clear();
      await Promise.all(models.map((model) => model.close()));
    }

    async getMaxStorageBufferBindingSize() {
      const adapter = await globalThis.navigator?.gpu?.requestAdapter();
      return adapter?.limits.maxStorageBufferBindingSize ?? 0;
    }

    async getGPUVendor() {
      const adapter = await globalThis.navigator?.gpu?.requestAdapter();
      return adapter?.info?.vendor ?? '';
    }

    async forwardTokensAndSample(inputIds, _isPrefill, modelId) {
      return this.#need(modelId).forward(inputIds);
    }

    /** Tern keeps no replies that were broken off. */
    async listResumableSessions() {
      return [];
    }

    async resumeChatCompletion() {
      throw new NotSupportedError('resumeChatCompletion: Tern keeps no replies that were broken off');
    }

    async deleteResumableSession() {
      throw new NotSupportedError('deleteResumableSession: Tern keeps no replies that were broken off');
    }
  }

  async function CreateMLCEngine(modelId, engineConfig, chatOpts) {
    const engine = new MLCEngine(engineConfig);
    await engine.reload(modelId, chatOpts);
    return engine;
  }

  // In a page, Tern has a worker of its own, so a service worker has nothing to do.
  class ServiceWorkerMLCEngine extends MLCEngine {}

  async function CreateServiceWorkerMLCEngine(modelId, engineConfig, chatOpts) {
    const engine = new ServiceWorkerMLCEngine(engineConfig);
    await engine.reload(modelId, chatOpts);
    return engine;
  }

  const stored = async (modelId, {appConfig = prebuiltAppConfig} = {}) => {
    const address = addressOf(recordOf(modelId, appConfig));
    return (await Tern.models.list()).filter(({url}) => url === address || url === new URL(address, pageUrl()).href);
  };
  const pageUrl = () => globalThis.document?.baseURI ?? globalThis.location?.href ?? 'http://localhost/';

  const hasModelInCache = async (modelId, appConfig) => (
    (await stored(modelId, {appConfig})).some(({complete}) => complete));
  const deleteModelInCache = async (modelId, appConfig) => {
    for (const {id} of await stored(modelId, {appConfig})) await Tern.models.delete(id);
  };

  return {
    MLCEngine, CreateMLCEngine, ServiceWorkerMLCEngine, CreateServiceWorkerMLCEngine, ...makeWorkerSides(MLCEngine),
    hasModelInCache, deleteModelInCache, deleteModelAllInfoInCache: deleteModelInCache,
  };
}
