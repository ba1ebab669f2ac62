// WebLLM's interface (@mlc-ai/web-llm, as of 0.2.86) on Tern, so that a program changes its import and goes on.

import {CancelledError, InvalidArgumentError, NotFoundError, NotSupportedError} from './errors.js';
import {kPublished} from './published.js';

const kHuggingFace = 'https://huggingface.co/';

/** WebLLM's list, of the models that Tern is known to run. */
export const prebuiltAppConfig = {
  model_list: kPublished.map(({name, address, memoryBytes, memoryTokens, downloadBytes}) => ({
    model: address,
    model_id: name,
    model_lib: '',
    vram_required_MB: Math.ceil(memoryBytes / 1e6),
    low_resource_required: memoryBytes < 2e9,
    download_MB: Math.ceil(downloadBytes / 1e6),
    overrides: {context_window_size: memoryTokens},
  })),
};

/** Where a model's files are. Names that WebLLM knows and Tern does not list are repositories of mlc-ai. */
function recordOf(modelId, appConfig) {
  const record = appConfig.model_list.find(({model_id: id}) => id === modelId);
  if (record) return record;
  if (/-MLC(-1k)?$/.test(modelId)) return {model: `hf:mlc-ai/${modelId.replace(/-1k$/, '')}`, model_id: modelId};
  const known = appConfig.model_list.map(({model_id: id}) => id).join(', ');
  throw new NotFoundError(`${modelId}: there is no model of this name in appConfig.model_list, which has ${known}`);
}

function addressOf({model}) {
  if (!model.startsWith(kHuggingFace)) return model;
  const [owner, name] = model.slice(kHuggingFace.length).split('/');
  return `hf:${owner}/${name}`;
}

// Settings of a conversation that WebLLM lets a model's configuration have.
const kChatOptions = ['temperature', 'top_p', 'repetition_penalty', 'frequency_penalty', 'presence_penalty'];
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

/** Every part of the interface, over a class like Tern. */
export function makeWebLlm(Tern) {
  class MLCEngine {
    #config;
    #tern = null;
    #modelId = null;
    #defaults = {};
    #loading = null;
    #writing = null;
    #queue = new Queue();
    #message = '';
    #forwarded = [];

    constructor(engineConfig = {}) {
      this.#config = {appConfig: prebuiltAppConfig, ...engineConfig};
      if (engineConfig.logitProcessorRegistry?.size > 0) {
        throw new NotSupportedError('logitProcessorRegistry: Tern has no logit processors; leave it out');
      }
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
      this.#config.appConfig = appConfig;
    }

    setLogLevel(level) {
      this.#config.logLevel = level;
    }

    async reload(modelId, chatOpts = {}) {
      const ids = [modelId].flat();
      if (ids.length !== 1) {
        throw new NotSupportedError('reload: Tern has one model in an engine; make an engine for each');
      }
      const record = recordOf(ids[0], this.#config.appConfig);
      await this.unload();
      const options = {...record.overrides, ...[chatOpts].flat()[0]};
      this.#defaults = Object.fromEntries(kChatOptions.filter((name) => options[name] !== undefined)
        .map((name) => [name, options[name]]));
      const loading = this.#loading = new AbortController();
      const begin = performance.now();
      const onProgress = ({phase, loaded, total, file}) => {
        const share = phase === 'ready' ? 1 : total > 0 ? Math.min(loaded / total, 0.999) : 0;
        const percent = total > 0 && phase !== 'ready' ? `: ${Math.floor(share * 100)} %` : '';
        this.#config.initProgressCallback?.({
          progress: share, timeElapsed: (performance.now() - begin) / 1000,
          text: `${kWords[phase] ?? phase}${file ? ` (${file})` : ''}${percent}`,
        });
      };
      try {
        const tern = await Tern.load(addressOf(record), {
          onProgress, signal: loading.signal,
          ...(options.context_window_size > 0 ? {context: options.context_window_size} : {}),
          ...(options.chat_template ? {chatTemplate: options.chat_template} : {}),
          ...this.#config.ternOptions,
        });
        [this.#tern, this.#modelId] = [tern, ids[0]];
      } finally {
        this.#loading = null;
      }
    }

    #need() {
      if (!this.#tern) throw new InvalidArgumentError('no model is loaded; call reload(modelId), or CreateMLCEngine');
      return this.#tern;
    }

    async chatCompletion(request) {
      return this.#create(request, (tern, body, options) => tern.chat.completions.create(body, options));
    }

    async completion(request) {
      return this.#create(request, (tern, body, options) => tern.completions.create(body, options));
    }

    async embedding(request) {
      const end = await this.#queue.turn();
      try {
        return await this.#need().embeddings.create({model: this.#modelId, ...request});
      } finally {
        end();
      }
    }

    async #create(request, create) {
      const tern = this.#need();
      const {stream, ...body} = {...this.#defaults, model: this.#modelId, ...request};
      if (stream && body.n > 1) throw new NotSupportedError('n > 1 cannot be streamed; leave stream or n out');
      const chunks = this.#stream(tern, (options) => create(tern,
        {...body, stream: true, stream_options: {include_usage: true}}, options), {
        wantsUsage: !stream || body.stream_options?.include_usage === true,
      });
      return stream ? chunks : whole(chunks);
    }

    /** The chunks of a request, in its turn; where it is interrupted they end, too, with all choices. */
    async *#stream(tern, create, {wantsUsage}) {
      const end = await this.#queue.turn();
      const writing = this.#writing = new AbortController();
      this.#message = '';
      let last = null;
      try {
        for await (const chunk of await create({signal: writing.signal})) {
          const [choice] = chunk.choices;
          if (choice && choice.index !== last?.choices[0].index) this.#message = '';  // it is that of the last choice
          this.#message += choice?.delta?.content ?? choice?.text ?? '';
          if (choice) last = chunk;
          if (chunk.usage) chunk.usage.extra = speedOf(tern.stats);
          if (choice || wantsUsage) yield chunk;
        }
      } catch (error) {
        if (!(error instanceof CancelledError) || !writing.signal.aborted) throw error;
        // A chat's first chunk comes before anything is computed, so only a plain text can end without one.
        const empty = last && 'delta' in last.choices[0] ? {delta: {}} : {text: ''};
        const choices = [{index: last?.choices[0].index ?? 0, ...empty, logprobs: null, finish_reason: 'abort'}];
        yield {id: 'abort', object: 'text_completion', created: Math.floor(Date.now() / 1000), model: this.#modelId,
          ...last, choices};
      } finally {
        this.#writing = null;
        end();
      }
    }

    interruptGenerate() {
      this.#writing?.abort();
    }

    async getMessage() {
      return this.#message;
    }

    async runtimeStatsText() {
      const {promptTokensPerSecond: prefill = 0, tokensPerSecond: decode = 0} = this.#need().stats;
      return `prefill: ${prefill.toFixed(4)} tokens/sec, decoding: ${decode.toFixed(4)} tokens/sec`;
    }

    async resetChat() {
      this.#message = '';
      this.#forwarded = [];
      await this.#tern?.reset();
    }

    async unload() {
      this.#loading?.abort();
      this.interruptGenerate();
      const tern = this.#tern;
      [this.#tern, this.#modelId, this.#forwarded] = [null, null, []];
      await tern?.close();
    }

    async getMaxStorageBufferBindingSize() {
      const adapter = await globalThis.navigator?.gpu?.requestAdapter();
      return adapter?.limits.maxStorageBufferBindingSize ?? 0;
    }

    async getGPUVendor() {
      const adapter = await globalThis.navigator?.gpu?.requestAdapter();
      return adapter?.info?.vendor ?? '';
    }

    /** The next token after these and all that came before them since the last resetChat. */
    async forwardTokensAndSample(inputIds) {
      const tern = this.#need();
      this.#forwarded.push(...inputIds);
      for await (const _ of tern.generate(this.#forwarded, {maxTokens: 1, ignoreEos: true})) { /* one token */ }
      return tern.stats.tokens[0];
    }
  }

  async function CreateMLCEngine(modelId, engineConfig, chatOpts) {
    const engine = new MLCEngine(engineConfig);
    await engine.reload(modelId, chatOpts);
    return engine;
  }

  /** Tern runs in a worker of its own, so the one that is given has nothing to do. */
  class WebWorkerMLCEngine extends MLCEngine {
    constructor(worker, engineConfig) {
      super(engineConfig);
      worker?.terminate?.();
    }
  }

  async function CreateWebWorkerMLCEngine(worker, modelId, engineConfig, chatOpts) {
    const engine = new WebWorkerMLCEngine(worker, engineConfig);
    await engine.reload(modelId, chatOpts);
    return engine;
  }

  class ServiceWorkerMLCEngine extends MLCEngine {}

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
    MLCEngine, CreateMLCEngine, WebWorkerMLCEngine, CreateWebWorkerMLCEngine, ServiceWorkerMLCEngine,
    CreateServiceWorkerMLCEngine: CreateMLCEngine, hasModelInCache, deleteModelInCache,
    deleteModelAllInfoInCache: deleteModelInCache,
  };
}

/** What a script of a worker makes: there is nothing for it to handle. */
export class WebWorkerMLCEngineHandler {
  onmessage() {}

  postMessage() {}
}

function speedOf(stats) {
  return {
    prefill_tokens_per_s: stats.promptTokensPerSecond ?? 0,
    decode_tokens_per_s: stats.tokensPerSecond ?? 0,
    time_to_first_token_s: (stats.timeToFirstTokenMs ?? 0) / 1000,
  };
}

/** A reply from its chunks. */
async function whole(chunks) {
  const parts = [];
  let made = null;
  let isChat = true;
  for await (const chunk of chunks) {
    const [choice] = chunk.choices;
    isChat = made ? isChat : Boolean(choice) && 'delta' in choice;
    made = {...made, ...chunk};
    if (!choice) continue;
    const part = parts[choice.index] ??= {text: '', logprobs: null};
    part.text += choice.delta?.content ?? choice.text ?? '';
    if (choice.logprobs) part.logprobs = merged(part.logprobs, choice.logprobs);
    part.reason = choice.finish_reason;
  }
  const contentOf = (text) => (isChat ? {message: {role: 'assistant', content: text, refusal: null}} : {text});
  return {
    ...made, object: isChat ? 'chat.completion' : 'text_completion',
    choices: parts.map(({text, logprobs, reason}, index) => (
      {index, ...contentOf(text), logprobs, finish_reason: reason})),
  };
}

/** Two objects of lists as one. */
function merged(first, second) {
  const lists = Object.entries(second).map(([name, list]) => [name, list && [...(first?.[name] ?? []), ...list]]);
  return Object.fromEntries(lists);
}
