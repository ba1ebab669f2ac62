// An engine module that says what it is told to: the contract of dist/*.js without a model.

/**
 * @param {{reply?: string[], reason?: string, on?: Record<string, (params: object, state: object) => any>,
 *   onOpen?: (options: object) => void}} script `reply`: the text of each token; `on`: instead of a method's own answer
 * @returns {{create: (options: object) => Promise<object>, state: object}}
 */
export function fakeEngine(script = {}) {
  const state = {calls: [], options: null, opened: 0, read: {}, unloaded: 0};
  const reply = script.reply ?? ['Once', ' upon', ' a', ' time'];
  let at = 0;
  let nPrompt = 0;
  let nLogprobs;
  let isHeld;
  const logprobOf = (token, logprob) => ({token, text: `<${token}>`, bytes: [60, token, 62], logprob});

  const usual = {
    load: async ({path, backend, nCtx}) => {
      for (const file of state.options.files.list()) {
        const into = new Uint8Array(state.options.files.size(file));
        const result = state.options.files.read(file, 0, into);
        if (result instanceof Promise) await result;
        state.read[file] = into;
      }
      state.options.onProgress?.('loading', 1, 2, 'B');
      state.options.onProgress?.('compiling kernels', 2, 2, 'kernels');
      return {
        name: path.split('/').pop(),
        architecture: 'fake',
        backend: `${backend} (fake)`,
        nParams: 10,
        fileBytes: 20,
        bytesPerToken: 5,
        nVocab: 3,
        nCtx: nCtx ?? 512,
        nLayers: 1,
        hasTokenizer: true,
        hasChatTemplate: true,
        ...(backend === 'webgpu' ? {adapter: {name: 'Fake GPU', vendor: 'f', driver: 'd', features: ['f16']}} : {}),
      };
    },
    begin: (params) => {
      at = 0;
      nLogprobs = params.logprobs;
      isHeld = params.isHeld;
      nPrompt = (params.prompt ?? params.tokens ?? params.messages).length;
      return {nPrompt, nReused: 1};
    },
    step: (params, {options: {tokenConstraint}}) => {
      const i = at++;
      if (i === 0) return {text: '', tokens: [], done: false};
      if (isHeld && tokenConstraint.accept(0) & 8) {
        const logits = Float32Array.of(0, 1, 2);
        if (!tokenConstraint.logits(logits.buffer, 0, logits.length)) {
          throw Object.assign(new Error('the logit processor has failed'), {code: 'invalid_argument'});
        }
        const best = logits.indexOf(Math.max(...logits));
        return {text: `${best} `, tokens: [best], done: i >= reply.length, reason: 'max_tokens'};
      }
      const step = {text: reply[i - 1] ?? '', tokens: [100 + i], done: i >= reply.length};
      if (nLogprobs !== undefined) {
        const top = Array.from({length: nLogprobs}, (_, k) => logprobOf(100 + i + k, -0.5 - k));
        step.logprobs = {...logprobOf(100 + i, -0.5), top};
      }
      return step.done ? {...step, reason: script.reason ?? 'stop_token'} : step;
    },
    cancel: () => ({}),
    stats: () => ({
      loadSeconds: 0.1,
      nPrompt,
      nReused: 1,
      nGenerated: at - 1,
      promptSeconds: 0.5,
      decodeSeconds: 0.3,
      heapBytes: 1 << 20,
      gpu: {dispatchesPerToken: 7, deviceBytes: 99},
    }),
    kernels: () => [{name: 'add', wgsl: '// add', dispatches: 2, us: 3}],
    reset: () => ({}),
    tokenize: ({text}) => ({tokens: [...text].map((c) => c.charCodeAt(0))}),
    detokenize: ({tokens}) => ({text: String.fromCharCode(...tokens)}),
    embed: ({prompt, tokens}) => {
      const values = new Float32Array([0.5, -0.5]);
      return {rows: 1, columns: 2, base64: Buffer.from(values.buffer).toString('base64'),
        nTokens: (prompt ?? tokens).length};
    },
    render_chat: ({messages}) => ({text: messages.map((m) => `<${m.role}>${m.content}`).join('')}),
    logits: ({tokens}) => {
      const values = new Float32Array(tokens.flatMap((id) => [id, id + 0.5]));
      return {rows: tokens.length, columns: 2, base64: Buffer.from(values.buffer).toString('base64')};
    },
    unload: () => {
      ++state.unloaded;
      return {};
    },
  };

  const create = async (options) => {
    state.options = options;
    ++state.opened;
    script.onOpen?.(options);
    let isBusy = false;
    return {
      call: async (method, params) => {
        if (isBusy) throw new Error('two calls at once');
        isBusy = true;
        state.calls.push({method, params});
        try {
          const answer = await (script.on?.[method] ?? usual[method])(params, state);
          return structuredClone(answer);
        } finally {
          isBusy = false;
        }
      },
    };
  };
  return {create, state, usual};
}
