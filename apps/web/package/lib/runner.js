// Everything behind the API, in one place: finds the model's files and how the engine can run here, and runs it.
// In a worker as a rule; in the page or under Node where the caller wants that.

import {withinTime} from './environment.js';
import {
  BusyError, NotFoundError, NotSupportedError, asTernError, throwIfAborted,
} from './errors.js';
import {chooseFlavors, detect, mayFallBack} from './choose_flavor.js';
import {Forms, ReplyMessage} from './forms.js';
import {EngineModule} from './engine_module.js';
import {keepModel, notOfFiles} from './keep.js';
import {runGeneration} from './generation.js';
import {checkLocal} from './integrity.js';
import {openLocalModel} from './local_model.js';
import {memoryOfTab} from './memory_limit.js';
import {LogitProcessing} from './logit_processing.js';
import {engineFiles, enginePath, makeSync} from './model_files.js';
import {openRemoteModel} from './remote_model.js';
import {Threads} from './threads.js';

const kProgressMs = 50;
// Of a reply that is held to nothing: flags as src/engine/web/token_constraint.cc has them.
const kFree = {start: () => 1, accept: () => 1, allowed: () => 0};
const kSeesLogits = 8;
// Calls of the engine that do not touch the conversation.
export const kAnyTime = new Set(['tokenize', 'detokenize', 'render_chat']);

/** At most one report in 50 ms of a file in a phase, and its last one. */
function throttled(env, onProgress) {
  let last = {at: -Infinity, phase: '', file: ''};
  return (progress) => {
    const at = env.now();
    const isNew = progress.phase !== last.phase || progress.file !== last.file;
    if (!isNew && progress.loaded < progress.total && at - last.at < kProgressMs) return;
    last = {at, phase: progress.phase, file: progress.file};
    onProgress(progress);
  };
}

/** One model and its engine. */
export class Runner {
  #env;
  #engine = null;
  #threads = null;
  #model = null;
  #forms = null;
  #tokenConstraint = {};  // what the engine asks of them
  #baseUrl;
  #isGenerating = false;
  #isCancelled = false;

  /** @param {import('./environment.js').Environment} env */
  constructor(env) {
    this.#env = env;
  }

  /**
   * @param {{where?: string, files?: Record<string, Blob | Uint8Array>}} source
   * @param {object} options as options.js makes them; `gpu` where the caller gave one
   * @param {{onProgress: (progress: object) => void, onLog?: (text: string) => void, signal?: AbortSignal,
   *   onThreads?: (state: 'starting' | 'again' | 'started') => void}} events 'again': with a model that is open
   * @returns {Promise<object>} what tern.info is
   */
  async load(source, options, {onProgress, onLog, signal, onThreads}) {
    const begin = this.#env.now();
    this.#baseUrl = options.baseUrl;
    const events = {onProgress: throttled(this.#env, onProgress), onLog, signal, onThreads};
    try {
      const {whyNoThreads} = options;
      const can = await detect(this.#env, {gpu: options.gpu});
      const {flavors, why} = chooseFlavors(options, whyNoThreads ? {...can, threads: false, whyNoThreads} : can);
      const memory = memoryOfTab(this.#env, {isOnGpu: flavors[0].backend === 'webgpu', limit: options.memoryLimit});
      const open = () => this.#openModel(source, {...options, memory}, events);
      await this.#startThreads(flavors[0], options, events);
      this.#model = await open();
      const {info, flavor} = await this.#mendOnce(open, events, () => this.#start(flavors, why, options, events));
      const {name, fromCache, storage, notes} = this.#model;
      for (const failed of info.adapter?.failedTests ?? []) {
        why.push(`the GPU computes wrongly with a feature that is left out now: ${failed}`);
      }
      events.onProgress({phase: 'ready', loaded: 1, total: 1, file: name, fromCache});
      return {
        ...info,
        threads: info.threads ?? flavor.threads,
        flavor: flavor.name,
        engine: flavor.backend === 'webgpu' ? 'tern_gpu' : flavor.relaxed ? 'tern' : 'tern_plain',
        storage,
        fromCache,
        loadMs: this.#env.now() - begin,
        why: why.join('; '),
        notes,
      };
    } catch (error) {
      await this.close();
      throw asTernError(error);
    }
  }

  async #openModel({where, files}, options, events) {
    if (files) return checkLocal(await openLocalModel(this.#env, files), {...options, ...events});
    if (this.#env.openFile && where.startsWith('file:')) {
      return checkLocal(await this.#env.openFile(where), {...options, ...events});
    }
    return openRemoteModel(this.#env, where, {...options, ...events});
  }

  /** When the engine finds a stored model damaged, it is hashed, mended, and tried once more. */
  async #mendOnce(open, events, start) {
    try {
      return await start();
    } catch (error) {
      if (error.code !== 'corruption' || !this.#model.repair) throw error;
      throwIfAborted(events.signal);
      if (!(await this.#model.repair())) throw error;
      this.#model = await open();
      return start();
    }
  }

  /** Tries them in turn. The GPU's failure is the CPU's turn; those of the CPU differ only in where they run. */
  async #start(flavors, why, options, events) {
    for (let left = flavors; left.length > 0;) {
      const [flavor, ...others] = left;
      let isOpen = false;
      try {
        if (!flavor.canWait) await makeSync(this.#model);
        throwIfAborted(events.signal);
        let moved = () => {};
        await this.#startThreads(flavor, options, events);
        this.#engine = await this.#openEngine(flavor, options, {...events, onMove: () => moved()});
        isOpen = true;
        const loading = this.#engine.call('load', this.#loadParams(flavor, options));
        // A GPU that was asked for by name may take as long as it takes.
        const isWatched = flavor.backend === 'webgpu' && others.some(({backend}) => backend !== 'webgpu');
        const info = !isWatched ? await loading : await withinTime(this.#env.gpuStallMs, 'the GPU got no further',
          (start) => {
            moved = start;
            return loading;
          });
        throwIfAborted(events.signal);
        return {info, flavor};
      } catch (error) {
        if (error.isLate) this.#engine?.giveUp(error);
        await this.#engine?.close();
        this.#engine = null;
        const cannotOpen = !isOpen && (error instanceof NotFoundError || error instanceof NotSupportedError);
        this.#threads?.close();
        this.#threads = null;
        const isNext = cannotOpen || (flavor.backend === 'webgpu' && mayFallBack(error));
        // What a GPU cannot do it cannot do with fewer threads either.
        left = isOpen ? others.filter(({backend}) => backend !== flavor.backend) : others;
        if (left.length === 0 || !isNext) throw error;
        const isOnlyThreads = !isOpen && left[0].backend === flavor.backend;
        const what = isOnlyThreads ? 'threads were' : {webgpu: 'WebGPU was', threads: 'threads were'}[flavor.name] ??
          `${flavor.name} was`;
        why.push(`${what} tried first and failed: ${error.message}`);
      }
    }
    throw new NotSupportedError('the engine does not run here');
  }

  /** Unless they are there: the first engine's are started while there is nothing yet to lose. */
  async #startThreads(flavor, {baseUrl}, {onThreads}) {
    const tell = (state) => onThreads?.(this.#model && state === 'starting' ? 'again' : state);
    this.#threads ??= await Threads.start(this.#env, flavor, {baseUrl, onThreads: tell});
  }

  #openEngine(flavor, options, {onProgress, onLog, onMove}) {
    const {fromCache} = this.#model;
    const isOnGpu = flavor.backend === 'webgpu';
    const gpu = isOnGpu ? options.gpu ?? this.#env.navigator?.gpu : undefined;
    return EngineModule.open(this.#env, {
      isOnGpu,
      threads: flavor.threads,
      relaxed: flavor.relaxed,
      baseUrl: options.baseUrl,
      gpu,
      files: engineFiles(this.#model),
      tokenConstraint: this.#tokenConstraint,
      overrides: options.emscripten,
      started: this.#threads,
      onProgress: (what, done, total) => {
        onMove();
        onProgress({phase: EngineModule.phaseOf(what), loaded: done, total, file: what, fromCache});
      },
      onLog,
    });
  }

  #loadParams(flavor, {threads, context, kv, gpuWithout, chatTemplate, embeddings}) {
    const params = {path: enginePath(this.#model), backend: flavor.backend};
    // Otherwise the engine keeps those of its threads that are fast.
    if (flavor.backend === 'cpu' && (threads !== undefined || flavor.threads === 1)) params.nThreads = flavor.threads;
    if (context !== undefined) params.nCtx = context;
    if (kv !== undefined) params.kv = kv;
    if (flavor.backend === 'webgpu' && gpuWithout?.length > 0) params.gpuWithout = gpuWithout;
    if (embeddings) params.embeddings = true;
    if (chatTemplate !== undefined) params.chatTemplate = chatTemplate;
    return params;
  }

  /**
   * @param {object} params of the engine's 'begin'
   * @param {(piece: object) => void} onPiece
   * @returns {Promise<import('./generation.js').Outcome>}
   */
  async generate(params, onPiece) {
    this.#checkIdle();
    this.#isGenerating = true;
    this.#isCancelled = false;
    try {
      const {form, turn, ...plain} = params;
      if (form || turn) return await this.#generateInForm(form, turn, plain, onPiece);
      return await this.#run(plain, onPiece);
    } finally {
      this.#isGenerating = false;
    }
  }

  async #run({logitProcessor, ...params}, onPiece) {
    const isCancelled = () => this.#isCancelled;
    if (!logitProcessor) return runGeneration(this.#env, this.#engine, params, {onPiece, isCancelled});
    const processing = new LogitProcessing(logitProcessor);
    const constraint = params.isHeld ? this.#forms.tokenConstraint : kFree;
    Object.assign(this.#tokenConstraint, constraint, {
      start: (stripsSpace) => constraint.start(stripsSpace) | kSeesLogits,
      accept: (token) => constraint.accept(token) | kSeesLogits,
      logits: (buffer, at, n) => processing.process(new Float32Array(buffer, at, n)),
    });
    try {
      return await runGeneration(this.#env, this.#engine, {...params, isHeld: true},
        {onPiece, isCancelled, onToken: (token) => processing.accept(token)});
    } catch (error) {
      throw processing.error ?? error;
    } finally {
      Object.assign(this.#tokenConstraint, this.#forms?.tokenConstraint);
    }
  }

  /** A reply that is held to something, or may have calls of tools in it. */
  async #generateInForm(form, turn, params, onPiece) {
    const forms = await this.#openForms();
    const begun = forms.call('begin', {...form, ...turn});
    if (!turn) return this.#run({...params, isHeld: begun.isHeld}, onPiece);
    const {messages: _, ...rest} = params;
    const {prompt: rendered, shownTokens, isHeld} = begun;
    const message = new ReplyMessage();
    message.add(begun.deltas);
    const outcome = await this.#run({...rest, rendered, shownTokens, isHeld}, (piece) => (
      onPiece({...piece, text: message.add(forms.call('feed', {text: piece.text}))})));
    const text = message.add(forms.call('finish', {whole: outcome.reason === 'stop_token'}));
    return {...outcome, rest: text, message: {...message}};
  }

  /** They are told of the model when they are first asked for. */
  async #openForms() {
    if (this.#forms) return this.#forms;
    const words = await this.#engine.call('words');
    const forms = await Forms.open(this.#env, this.#baseUrl);
    forms.call('model', words);
    Object.assign(this.#tokenConstraint, forms.tokenConstraint);
    this.#forms = forms;
    return forms;
  }

  /**
   * Keeps a model of the user's files on the device. A generation may go on meanwhile.
   * @param {{onProgress: (progress: object) => void, signal?: AbortSignal}} events
   * @returns {Promise<string>} the address to load it by
   */
  async keep({onProgress, signal}) {
    if (this.#model?.storage !== 'file') throw notOfFiles();
    return keepModel(this.#env, this.#model, {signal, onProgress: throttled(this.#env, onProgress)});
  }

  /** Ends the generation in progress after the step it is at. */
  cancel() {
    this.#isCancelled = true;
  }

  /** @returns {Promise<any>} a call of the engine that is allowed between generations; some also during one */
  call(method, params) {
    if (!kAnyTime.has(method)) this.#checkIdle();
    return this.#engine.call(method, params);
  }

  #checkIdle() {
    if (!this.#engine) throw new BusyError('the model is not loaded; wait for Tern.load');
    if (this.#isGenerating) throw new BusyError('a generation is in progress; wait for its end, or stop it first');
  }

  /** @returns {boolean} nothing can be called any more */
  get isDead() {
    return this.#engine?.crashed?.code === 'worker_crashed' || this.#engine?.crashed?.code === 'out_of_memory';
  }

  async close() {
    this.#isCancelled = true;
    const [engine, model] = [this.#engine, this.#model];
    this.#engine = this.#model = this.#forms = null;
    await engine?.close();
    this.#threads?.close();
    await model?.close();
  }
}
