// WebLLM's engines in a worker of the caller's: the page's side, and the handler that the worker's script makes. What
// they say to each other is in the field `tern` of messages; all others are the caller's own.

import {
  InvalidArgumentError, NotSupportedError, WorkerCrashedError, asTernError, fromPlain, toPlain,
} from './errors.js';

// A worker whose script has no handler never answers.
const kAnswerMs = 60_000;
// Methods that are called as they are.
const kMethods = ['unload', 'getMessage', 'resetChat', 'runtimeStatsText', 'getMaxStorageBufferBindingSize',
  'getGPUVendor', 'forwardTokensAndSample', 'embedding', 'listResumableSessions', 'resumeChatCompletion',
  'deleteResumableSession'];

/** Calls of the methods of an engine elsewhere. */
class Calls {
  #worker;
  #pending = new Map();
  #nextId = 1;
  #end = null;
  #timer;

  constructor(worker) {
    this.#worker = worker;
    worker.addEventListener?.('error', (event) => {
      event.preventDefault?.();
      this.#fail(`the worker stopped (${event.message ?? 'its script failed'})`);
    });
  }

  #fail(why) {
    clearTimeout(this.#timer);
    this.#end = new WorkerCrashedError(`${why}; its script makes a WebWorkerMLCEngineHandler of tern-web/webllm, and ` +
      'hands all messages to it');
    for (const {reject} of this.#pending.values()) reject(this.#end);
    this.#pending.clear();
  }

  async make(method, ...args) {
    if (this.#end) throw this.#end;
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, {resolve, reject});
      this.#timer ??= setTimeout(() => this.#fail(`the worker did not answer for ${kAnswerMs / 1000} s`), kAnswerMs);
      try {
        this.#worker.postMessage({tern: {id, method, args}});
      } catch (error) {
        this.#pending.delete(id);
        reject(new InvalidArgumentError(`${method}: this cannot be sent to a worker (${error.message})`));
      }
    });
  }

  settle({id, result, error}) {
    clearTimeout(this.#timer);
    const waiting = this.#pending.get(id);
    if (!waiting || (result === undefined && !error)) return;
    this.#pending.delete(id);
    if (error) waiting.reject(fromPlain(error));
    else waiting.resolve(result.value);
  }
}

/** @returns {object} the classes that are about workers, over the engine's */
export function makeWorkerSides(MLCEngine) {
  /** The engine is in the worker, together with what the worker's script adds to it. */
  class WebWorkerMLCEngine {
    #config;
    #calls;

    constructor(worker, engineConfig = {}) {
      if (engineConfig.logitProcessorRegistry?.size > 0) {
        throw new NotSupportedError('logitProcessorRegistry: the engine is in the worker, and so are its processors; ' +
          'call setLogitProcessorRegistry of its handler there');
      }
      this.worker = worker;
      this.#config = engineConfig;
      this.#calls = new Calls(worker);
      worker.onmessage = (event) => this.onmessage(event);
      this.chat = {completions: {create: (request) => this.chatCompletion(request)}};
      this.completions = {create: (request) => this.completion(request)};
      this.embeddings = {create: (request) => this.embedding(request)};
      for (const name of kMethods) this[name] = (...args) => this.#calls.make(name, ...args);
    }

    onmessage({data}) {
      if (data?.tern?.progress) this.#config.initProgressCallback?.(data.tern.progress);
      else if (data?.tern) this.#calls.settle(data.tern);
    }

    setInitProgressCallback(callback) {
      this.#config = {...this.#config, initProgressCallback: callback};
    }

    getInitProgressCallback() {
      return this.#config.initProgressCallback;
    }

    setAppConfig(appConfig) {
      this.#config = {...this.#config, appConfig};
    }

    setLogLevel(logLevel) {
      this.#config = {...this.#config, logLevel};
    }

    async reload(modelId, chatOpts) {
      const {appConfig, logLevel, ternOptions} = this.#config;
      await this.#calls.make('reload', modelId, chatOpts, {appConfig, logLevel, ternOptions});
      this.modelId = [modelId].flat();
      this.chatOpts = chatOpts === undefined ? undefined : [chatOpts].flat();
    }

    chatCompletion(request) {
      return this.#create('chatCompletion', request);
    }

    completion(request) {
      return this.#create('completion', request);
    }

    async #create(method, request) {
      if (!request.stream) return this.#calls.make(method, request);
      return this.#chunks(await this.#calls.make('begin', method, request));
    }

    async *#chunks(stream) {
      let isOver = false;
      try {
        for (;;) {
          const {done, value} = await this.#calls.make('next', stream);
          isOver = done;
          if (done) return;
          yield value;
        }
      } catch (error) {
        isOver = true;
        throw error;
      } finally {
        if (!isOver) await this.#calls.make('return', stream);
      }
    }

    interruptGenerate() {
      this.#calls.make('interruptGenerate').catch(() => {});
    }
  }

  async function CreateWebWorkerMLCEngine(worker, modelId, engineConfig, chatOpts) {
    const engine = new WebWorkerMLCEngine(worker, engineConfig);
    await engine.reload(modelId, chatOpts);
    return engine;
  }

  /** What a worker's script makes, and hands its messages to. */
  class WebWorkerMLCEngineHandler {
    #streams = new Map();
    #nextStream = 1;
    #methods = {
      reload: async (modelId, chatOpts, {appConfig, logLevel, ternOptions}) => {
        if (appConfig) this.engine.setAppConfig(appConfig);
        if (logLevel) this.engine.setLogLevel(logLevel);
        // The engine runs here, where the processors of its logits are, and not in another worker.
        this.engine.setTernOptions({worker: false, ...ternOptions});
        await this.engine.reload(modelId, chatOpts);
      },
      begin: async (method, request) => {
        const id = this.#nextStream++;
        this.#streams.set(id, (await this.engine[method](request))[Symbol.asyncIterator]());
        return id;
      },
      next: async (id) => {
        const step = await this.#streams.get(id)?.next().catch((error) => {
          this.#streams.delete(id);
          throw error;
        }) ?? {done: true};
        if (step.done) this.#streams.delete(id);
        return step;
      },
      return: async (id) => {
        await this.#streams.get(id)?.return();
        this.#streams.delete(id);
      },
      interruptGenerate: async () => this.engine.interruptGenerate(),
    };

    constructor() {
      this.engine = new MLCEngine({initProgressCallback: (progress) => this.postMessage({tern: {progress}})});
    }

    postMessage(message) {
      globalThis.postMessage(message);
    }

    setLogitProcessorRegistry(logitProcessorRegistry) {
      this.engine.setLogitProcessorRegistry(logitProcessorRegistry);
    }

    async onmessage(event, onComplete, onError) {
      const {id, method, args} = (event.data ?? event).tern ?? {};
      if (id === undefined) return;  // the caller's own
      this.postMessage({tern: {id}});
      try {
        const own = Object.hasOwn(this.#methods, method) ? this.#methods[method] : null;
        const value = await (own ? own(...args) : this.engine[method](...args));
        this.postMessage({tern: {id, result: {value}}});
        onComplete?.(value);
      } catch (error) {
        this.postMessage({tern: {id, error: toPlain(asTernError(error))}});
        onError?.();
      }
    }
  }

  return {WebWorkerMLCEngine, CreateWebWorkerMLCEngine, WebWorkerMLCEngineHandler};
}

/** What a service worker's script makes. The engine is in the page and its worker, so there is nothing to handle. */
export class ServiceWorkerMLCEngineHandler {
  onmessage() {}

  postMessage() {}

  setLogitProcessorRegistry(registry) {
    if (!(registry?.size > 0)) return;
    throw new NotSupportedError('logit processors: Tern runs nothing in a service worker; give ' +
      'logitProcessorRegistry to the engine in the page, or use CreateWebWorkerMLCEngine');
  }
}

/** The same in an extension, where it holds a port. */
export class ExtensionServiceWorkerMLCEngineHandler extends ServiceWorkerMLCEngineHandler {
  constructor(port) {
    super();
    this.port = port;
  }

  setPort(port) {
    this.port = port;
  }

  onPortDisconnect(port) {
    if (port === this.port) this.port = null;
  }
}
