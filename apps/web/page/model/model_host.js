// The one model of the page: loading it, what became of it, and what it is asked to do.

import {describe, isCancelled} from '../base/errors.js';

/**
 * @typedef {object} Source where a model comes from
 * @property {string|File|File[]} from an address, a file, or the files of a folder
 * @property {string} label short, for people
 * @property {boolean} [isStory] known once it was loaded
 *
 * @typedef {object} Progress
 * @property {string} phase of loading: 'wait', 'download', 'verify', 'load', 'compile', 'ready'
 * @property {number} loaded bytes, or steps of the phase
 * @property {number} total 0: not known
 * @property {string} file
 * @property {boolean} fromCache
 * @property {number} bytesPerSecond 0: not known yet
 *
 * @typedef {'empty'|'loading'|'ready'|'failed'|'lost'} Phase
 */

export const kDefaultModel = 'models/tern-stories.gguf';
/** What it can do, for where it is shown. */
export const kDefaultModelLimits = 'tells short children’s stories and knows little else';

/** Sends 'phase' when the phase changes, 'progress' while it loads. */
export class ModelHost extends EventTarget {
  /** @type {Phase} */
  phase = 'empty';
  /** @type {Source|null} */
  source = null;
  /** @type {Progress|null} */
  progress = null;
  /** @type {import('../base/errors.js').Trouble|null} */
  trouble = null;
  tern = null;
  #Tern;
  #settings;
  #gpuWithout;
  /** @type {AbortController|null} */
  #loading = null;
  /** @type {Source|null} the last one that could be loaded */
  #last = null;
  /** @type {Source|null} the one that could not, after which the last one was loaded again */
  #failed = null;

  /**
   * @param {object} Tern the package's class
   * @param {import('../base/settings.js').Settings} settings
   * @param {string[]} gpuWithout features and limits that WebGPU shall do without
   */
  constructor(Tern, settings, gpuWithout = []) {
    super();
    this.#Tern = Tern;
    this.#settings = settings;
    this.#gpuWithout = gpuWithout;
  }

  /** What the loaded model is, or null. */
  get info() {
    return this.tern?.info ?? null;
  }

  /** What computes; '' without a model. @returns {'webgpu'|'cpu'|'ref'|''} */
  get backend() {
    // The engine says more than the name: 'cpu (WASM, 1 thread)'.
    return /^\w*/.exec(this.info?.backend ?? '')[0];
  }

  /** Whether the model only continues text, which is known once it was loaded. */
  get isStory() {
    return this.source?.isStory ?? false;
  }

  /** Whether it is the model that comes with Tern; a guess from its address until it is loaded. */
  get isStoryteller() {
    if (this.isStory) return false;
    if (this.info) return /^tern.stories/i.test(this.info.name);
    return String(this.source?.from ?? kDefaultModel).endsWith(kDefaultModel);
  }

  /**
   * Loads a model in the place of the one that is there. Where that fails, or is stopped, the one before comes back.
   * Never rejects: see phase and trouble.
   * @param {Source} source
   */
  async load(source) {
    this.#failed = null;
    const {error, isCurrent} = await this.#attempt(source, null);
    if (!error || !isCurrent()) return;
    const trouble = isCancelled(error) ? null : describe(error, 'load', this.#settings.get('backend'));
    const last = this.#last;
    if (last && last !== source) {
      this.#failed = trouble ? source : null;
      const again = await this.#attempt(last, trouble);
      if (!again.error || !again.isCurrent()) return;
      this.source = source;
    }
    this.trouble = trouble;
    this.#enter(trouble ? 'failed' : 'empty');
  }

  /** One try. @param {Source} source @param {Trouble|null} trouble that stays where this is what comes after another */
  async #attempt(source, trouble) {
    this.#loading?.abort();
    const loading = this.#loading = new AbortController();
    this.source = source;
    this.trouble = trouble;
    this.progress = {phase: 'start', loaded: 0, total: 0, file: '', fromCache: false, bytesPerSecond: 0};
    const old = this.tern;
    this.tern = null;
    this.#enter('loading');  // first: whoever generates with the old model must stop
    const isCurrent = () => this.#loading === loading;
    await close(old);
    if (!isCurrent()) return {isCurrent};
    const speed = new Speedometer();
    const options = {
      signal: loading.signal,
      backend: this.#settings.get('backend'),
      shared: typeof source.from === 'string',  // with other tabs of this page
      onProgress: (progress) => {
        if (!isCurrent()) return;
        this.progress = {...progress, bytesPerSecond: speed.update(progress)};
        this.dispatchEvent(new Event('progress'));
      },
    };
    if (this.#settings.get('threads') > 0) options.threads = this.#settings.get('threads');
    if (this.#gpuWithout.length > 0) options.gpuWithout = this.#gpuWithout;
    try {
      const tern = await this.#Tern.load(source.from, options);
      if (!isCurrent()) {
        close(tern);
        return {isCurrent};
      }
      if (tern.info.hasTokenizer === false) {
        await close(tern);
        throw Object.assign(new Error(`${tern.info.name} has no tokenizer, so it can read and write no text; ` +
          'choose all files of the model'), {code: 'not_supported'});
      }
      this.tern = tern;
      this.#last = source;
      this.#settings.advise(tern.info.sampling?.values ?? {});
      source.isStory = !tern.info.hasChatTemplate;
      source.label = tern.info.name || source.label;
      this.#enter('ready');
      return {isCurrent};
    } catch (error) {
      return {error, isCurrent};
    }
  }

  /** Loads the same model again, or once more the one that could not be loaded, with the settings as they are now. */
  async reload() {
    const source = this.#failed ?? this.source;
    if (source) await this.load(source);
  }

  cancelLoad() {
    this.#loading?.abort();
  }

  /** The model is gone (device lost, worker crashed): it must be loaded again. @param {unknown} error */
  async lose(error) {
    this.trouble = describe(error, 'run', this.backend);
    const old = this.tern;
    this.tern = null;
    this.#enter('lost');
    await close(old);
  }

  #enter(phase) {
    this.phase = phase;
    this.dispatchEvent(new Event('phase'));
  }
}

async function close(tern) {
  try {
    await tern?.close();
  } catch {
    // A worker that crashed cannot be closed either.
  }
}

/** Bytes a second over the last few seconds of a download. */
export class Speedometer {
  #samples = [];

  /** @param {{loaded: number, file?: string, phase?: string, fromCache?: boolean}} progress @param {number} [now] ms */
  update({loaded, file, phase, fromCache}, now = performance.now()) {
    const kWindow = 3000;  // ms
    const last = this.#samples.at(-1);
    if (fromCache || (last && (last.file !== file || last.phase !== phase || loaded < last.loaded))) this.#samples = [];
    this.#samples.push({loaded, file, phase, now});
    while (this.#samples.length > 2 && now - this.#samples[0].now > kWindow) this.#samples.shift();
    const first = this.#samples[0];
    return now - first.now < 200 ? 0 : (loaded - first.loaded) / (now - first.now) * 1000;
  }
}

/** @param {string} address absolute, relative to `base`, or hf:owner/name @param {string} base @returns {Source} */
export function addressSource(address, base) {
  const path = address.split(/[?#]/)[0].replace(/\/+$/, '');
  const from = URL.canParse(address, base) ? new URL(address, base).href : address;
  return {from, label: decoded(path.slice(path.lastIndexOf('/') + 1)) || address};
}

/** @param {File[]} files one model's @returns {Source} */
export function filesSource(files) {
  if (files.length === 1) return {from: files[0], label: files[0].name};
  const folder = files[0].webkitRelativePath?.split('/')[0];
  return {from: files, label: folder || `${files.length} files`};
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
