// Replies of a given form: grammars, and calls of tools. What knows about these is a WebAssembly module of its own,
// dist/tern_forms.wasm, which is fetched when it is first asked for. It says which tokens may come next, and the
// engine's module chooses among them.

import {NotFoundError, NotSupportedError, errorOf} from './errors.js';

const kEndedAlready = 0;

/** What templates want of Unicode, as src/text/web/text.js has it. */
const kUnicode = {
  tern_is_letter: (c) => Number(/\p{L}/u.test(String.fromCodePoint(c))),
  tern_is_word_category: (c) => Number(/[\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}]/u.test(String.fromCodePoint(c))),
  tern_to_case: (c, isUpper) => {
    const from = String.fromCodePoint(c);
    const to = isUpper ? from.toUpperCase() : from.toLowerCase();
    return to.length === String.fromCodePoint(to.codePointAt(0)).length ? to.codePointAt(0) : c;
  },
};

/** What the module wants of a system: a clock, and chance. */
function system(memory) {
  const view = () => new DataView(memory().buffer);
  const nothing = () => kEndedAlready;
  return {
    env: {emscripten_notify_memory_growth: nothing, ...kUnicode},
    wasi_snapshot_preview1: {
      clock_time_get: (_clock, _precision, at) => {
        view().setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
        return 0;
      },
      random_get: (at, n) => {
        crypto.getRandomValues(new Uint8Array(memory().buffer, at, n));
        return 0;
      },
      environ_sizes_get: (count, size) => {
        view().setUint32(count, 0, true);
        view().setUint32(size, 0, true);
        return 0;
      },
      environ_get: nothing,
      fd_close: nothing,
      fd_seek: nothing,
      fd_write: (_file, list, n, written) => {
        let total = 0;
        for (let i = 0; i < n; ++i) total += view().getUint32(list + 8 * i + 4, true);
        view().setUint32(written, total, true);
        return 0;
      },
    },
  };
}

async function bytesOf(env, url) {
  if (env.isNode && url.protocol === 'file:') return env.readFile(url);
  const response = await env.fetch(url.href);
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  return response.arrayBuffer();
}

/** The module, with at most one model and one reply. */
export class Forms {
  #exports;

  constructor(exports) {
    this.#exports = exports;
  }

  /**
   * @param {import('./environment.js').Environment} env
   * @param {string} [baseUrl] where the package is served, if not where this file came from
   * @returns {Promise<Forms>} NotFoundError: its file is not there
   */
  static async open(env, baseUrl) {
    const url = baseUrl ? new URL('dist/tern_forms.wasm', baseUrl) :
      new URL('../dist/tern_forms.wasm', import.meta.url);
    try {
      let instance = null;
      const imports = system(() => instance.exports.memory);
      ({instance} = await WebAssembly.instantiate(await bytesOf(env, url), imports));
      instance.exports._initialize();
      return new Forms(instance.exports);
    } catch (error) {
      if (error instanceof WebAssembly.CompileError) {
        throw new NotSupportedError(`${url.href}: this browser cannot run it (${error.message}); use a newer one`,
          {cause: error});
      }
      throw new NotFoundError(`${url.href}: cannot be loaded (${error.message}); check that dist/ is served whole`,
        {cause: error});
    }
  }

  #textAt(at) {
    const bytes = new Uint8Array(this.#exports.memory.buffer);
    return new TextDecoder().decode(bytes.subarray(at, bytes.indexOf(0, at)));
  }

  #put(text) {
    const bytes = new TextEncoder().encode(text);
    const at = this.#exports.malloc(bytes.length + 1);
    const memory = new Uint8Array(this.#exports.memory.buffer);
    memory.set(bytes, at);
    memory[at + bytes.length] = 0;
    return at;
  }

  /** @returns {any} what forms.cc says; an error of its code */
  call(method, params = {}) {
    const [name, text] = [this.#put(method), this.#put(JSON.stringify(params))];
    const at = this.#exports.tern_forms_call(name, text);
    const {result, error} = JSON.parse(this.#textAt(at));
    for (const used of [name, text, at]) this.#exports.free(used);
    if (error) throw errorOf(error.code, error.message);
    return result;
  }

  /** What the engine's module asks (src/engine/web/token_constraint.js). */
  tokenConstraint = {
    start: (stripsSpace) => this.#exports.tern_forms_start(stripsSpace),
    accept: (token) => this.#exports.tern_forms_accept(token),
    allowed: (heap, at, n) => {
      const flags = this.#exports.tern_forms_allowed();
      if (flags & 1) heap.set(new Uint8Array(this.#exports.memory.buffer, this.#exports.tern_forms_mask(), n), at);
      return flags;
    },
  };
}

/** A message that is put together from what becomes known of a reply. */
export class ReplyMessage {
  content = '';
  reasoning = '';
  toolCalls = [];

  /** @param {object[]} deltas @returns {string} what is new of the content */
  add(deltas) {
    let text = '';
    for (const delta of deltas) {
      if (delta.kind === 'content') text += delta.text;
      else if (delta.kind === 'reasoning') this.reasoning += delta.text;
      else if (delta.kind === 'call') this.toolCalls.push({id: delta.id, name: delta.name, arguments: ''});
      else this.toolCalls.at(-1).arguments += delta.text;
    }
    this.content += text;
    return text;
  }
}
