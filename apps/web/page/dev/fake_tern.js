// A stand-in for the package with the same interface and a script instead of a model, for working on the page, its
// tests and its pictures. What it does can be chosen in the page's address:
//   fake=chat       a model with a chat template that answers in Markdown (default: one that goes on with stories)
//   fake=formulas the same, of formulas and code
//   fake=teller     the model that comes with the page, which tells a story when it is asked
//   fake=thinker    thoughts in a reply, and a call of a tool, between tags
//   fake-without=NAME  loading a model whose address has this fails
//   fake-load=CODE  loading fails with this error      fake-run=CODE  the reply breaks off with this error, once
//   fake-ms=N       milliseconds a token takes         fake-load-ms=N milliseconds that loading takes

const kParameters = new URL(globalThis.location?.href ?? 'http://localhost/').searchParams;
const kKind = kParameters.get('fake') ?? 'story';
const kMsPerToken = Number(kParameters.get('fake-ms') ?? 16);
const kLoadMs = Number(kParameters.get('fake-load-ms') ?? 900);

export class TernError extends Error {
  constructor(code, message) {
    super(message);
    this.name = 'TernError';
    this.code = code;
  }
}

const kStory = `, there was a little tern who lived on a quiet shore. She had white wings and a black cap, and she ` +
`could fly farther than any other bird.

One day she said, "I want to see where the summer goes." Her mother smiled. "Then follow the light," she said, ` +
`"and come back when you have seen it."

So the little tern flew over the gray sea, past the ships and the sleeping whales, until the sun did not set at all.`;

const kTale = `Once there was a little tern${kStory.slice(kStory.indexOf(' who'))}`;

const kAnswer = `## Arctic terns

They fly from the **Arctic to the Antarctic and back** every year, about *70,000 km*, and see more daylight than any
other animal.

1. They follow the wind, not the shortest line.
2. They sleep and eat on the wing:
   - small fish
   - krill
3. They live some thirty years.

| stage | leaves | length |
|:--|:--|--:|
| south | August | 35,000 km |
| north | April | 26,000 km |

The way there and back, roughly, in \`km\`:

\`\`\`js
const years = 30;
console.log(years * 70_000);  // to the moon and back, three times
\`\`\`

More at [Wikipedia](https://en.wikipedia.org/wiki/Arctic_tern).`;

const kFormulas = String.raw`For \(ax^2 + bx + c = 0\) with $a \ne 0$ the roots are

$$x_{1,2} = \frac{-b \pm \sqrt{b^2 - 4ac}}{2a}$$

It costs $5 and $10, and \(\nosuchmacro{x}\) stays. Then:

1. Let $f(x) = \sum_{n=0}^{\infty} \frac{f^{(n)}(0)}{n!} x^n$, with $\begin{pmatrix} a & b \\ c & d \end{pmatrix}$.
2. **So** \(\lim_{h \to 0} \frac{f(x + h) - f(x)}{h} = f'(x)\) and
   \(a_1 + a_2 + a_3 + a_4 + a_5 + a_6 + a_7 + a_8 = b\).

\[
\begin{aligned}
\nabla \cdot \mathbf{E} &= \frac{\rho}{\varepsilon_0} &
\nabla \times \mathbf{E} &= -\frac{\partial \mathbf{B}}{\partial t} \\
\nabla \cdot \mathbf{B} &= 0 & \int_0^1 \mathcal{L}\,dx &\le \left\lVert \hat{v} \right\rVert
\end{aligned}
\]

~~~math
E = mc^2
~~~

| number $n$ | ways $n!$ | bits \(\log_2 n\) |
|--:|--:|--:|
| $4$ | $24$ | $2$ |

~~~python
@cache
def far(years: int = 30) -> float:
    """To the moon and back."""
    return sum(70_000 for _ in range(years))  # km
~~~

~~~ts
export const tern = await Tern.load({name: 'tern', size: 0x10});
~~~`.replaceAll('~~~', '\`\`\`');

const kThoughts = `<think>
How far is it? From Greenland to the Weddell Sea and back, with detours.
</think>

About **70,000 km** a year.

<tool_call>
{"name": "look_up", "arguments": {"title": "Arctic tern", "words": 100}}
</tool_call>`;

const kWgsl = `@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> gain: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
var<workgroup> part: array<f32, 256>;

// One workgroup per row.
@compute @workgroup_size(256)
fn NAME(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let row = wg.y * 512u;
  var squares: f32 = 0f;
  for (var i = tid; i < 512u; i += 256u) {
    let v = x[row + i];
    squares += v * v;
  }
  part[tid] = squares;
  workgroupBarrier();
  let factor = 1f / sqrt(part[0u] / 512f + 1e-05f);
  for (var i_1 = tid; i_1 < 512u; i_1 += 256u) {
    y[row + i_1] = x[row + i_1] * factor * gain[i_1];
  }
}
`;
const kKernels = [['ternary_qkv', 10, 310], ['ternary_glu', 10, 402], ['ternary_linear_add', 20, 388],
  ['attention_split_f32', 10, 190], ['attention_merge', 10, 61], ['float_linear_f16', 1, 520], ['rms_norm', 1, 9],
  ['embed_f16', 1, 4], ['argmax_parts', 1, 7], ['argmax_next', 1, 3]];

const sleep = (ms, signal) => new Promise((resolve, reject) => {
  const timer = setTimeout(resolve, ms);
  signal?.addEventListener('abort', () => {
    clearTimeout(timer);
    reject(new TernError('cancelled', 'cancelled'));
  });
});

let stored = [
  {id: 'a1', url: new URL('models/tern-stories.gguf', kParameters.get('base') ?? globalThis.location?.href).href,
    name: 'tern-stories.gguf', bytes: 16329312, complete: true},
  {id: 'b2', url: 'https://example.org/Bonsai-1.7B-Q1_0.gguf', name: 'Bonsai-1.7B-Q1_0.gguf', bytes: 248e6,
    complete: true},
  {id: 'c3', url: 'https://example.org/bitnet-b1.58-2B-4T.gguf', name: 'bitnet-b1.58-2B-4T.gguf', bytes: 1187e6,
    complete: false},
];
const kAdapter = {name: 'Radeon 780M', vendor: 'amd', features: ['shader-f16', 'subgroups', 'timestamp-query']};
// Numbers of 32 bits, as the engine gives them.
const kSampling = {
  story: {source: 'general.sampling', values: {temperature: Math.fround(0.6), minP: Math.fround(0.1)}},
  chat: {source: 'generation_config.json',
    values: {temperature: Math.fround(0.6), topK: 20, topP: Math.fround(0.95), repeatPenalty: Math.fround(1.1)}},
};
let failNext = kParameters.get('fake-run');

export class Tern {
  static models = {
    list: async () => stored.map((model) => ({...model})),
    delete: async (id) => {
      stored = stored.filter((model) => model.id !== id);
    },
    keep: async ({info: {name}}, {onProgress}) => {
      onProgress({phase: 'keep', loaded: 1, total: 2});
      const kept = {id: `k${stored.length}`, url: `kept:${name}?1`, name, bytes: 248e6, complete: true};
      stored.push(kept);
      return kept;
    },
    usage: async () => ({used: stored.reduce((sum, {bytes}) => sum + bytes, 0), quota: 62e9}),
  };

  static async diagnostics() {
    return {version: '0', browser: 'stand-in', gpu: kAdapter};
  }

  static async load(from, {onProgress = () => {}, signal, backend = 'auto', threads} = {}) {
    const total = from?.size ?? (from === stored[0]?.url || String(from).includes('stories') ? 16329312 : 248e6);
    const file = from?.name ?? String(from).split('/').at(-1);
    const steps = Math.max(1, Math.round(kLoadMs / 30));
    for (let i = 1; i <= steps; i++) {
      await sleep(30, signal);
      onProgress({phase: 'download', loaded: Math.round(total * i / steps), total, file, fromCache: false});
    }
    const without = kParameters.get('fake-without');
    if (without && file.toLowerCase().includes(without)) throw new TernError('not_found', `${file}: HTTP 404`);
    const code = kParameters.get('fake-load');
    if (code && backend !== 'cpu') throw new TernError(code, `${file}: made to fail with ${code} for this picture`);
    onProgress({phase: 'compile', loaded: 12, total: 12, file: '', fromCache: false});
    return new Tern(file, backend === 'cpu' ? 'cpu' : 'webgpu', threads);
  }

  constructor(name, backend, threads) {
    this.info = {
      name: !name.includes('stories') ? name : kKind === 'chat' ? 'Terns 1B' : 'Tern Stories 34M',
      architecture: 'bitnet-b1.58',
      backend: backend === 'cpu' ? 'cpu (WASM, 1 thread)' : backend,
      adapter: backend === 'webgpu' ? kAdapter : null,
      engine: backend === 'cpu' ? 'tern' : 'tern_gpu',
      nParams: 34.4e6, fileBytes: 16329312, nCtx: 1024, hasTokenizer: true,
      hasChatTemplate: kKind !== 'story',
      sampling: kSampling[kKind === 'chat' ? 'chat' : 'story'],
      why: backend === 'cpu' ? 'the CPU was asked for' : '',
    };
    this.stats = {
      tokensPerSecond: 0, promptTokensPerSecond: 0, timeToFirstTokenMs: 0, nPrompt: 0, nReused: 0, nGenerated: 0,
      dispatchesPerToken: backend === 'webgpu' ? 74 : 0, gpuBytes: backend === 'webgpu' ? 41e6 : 0, heapBytes: 33.5e6,
      threads: threads || 1, loadMs: kLoadMs, finishReason: null,
    };
  }

  async* generate(prompt, {maxTokens = 512, signal} = {}) {
    const text = {chat: kAnswer, formulas: kFormulas, story: kStory, teller: kTale, thinker: kThoughts}[kKind];
    const pieces = text.match(/\s*\S+|\s+$/g);
    this.stats = {...this.stats, nPrompt: Math.ceil(JSON.stringify(prompt).length / 4), nReused: 0, nGenerated: 0,
      promptTokensPerSecond: 1240, timeToFirstTokenMs: 84, finishReason: null};
    const begin = performance.now();
    try {
      for (const piece of pieces.slice(0, maxTokens)) {
        await sleep(kMsPerToken, signal);
        if (failNext && this.stats.nGenerated > 20) {
          const code = failNext;
          failNext = null;
          throw new TernError(code, `made to fail with ${code} for this picture`);
        }
        this.stats.nGenerated++;
        this.stats.tokensPerSecond = this.stats.nGenerated / (performance.now() - begin) * 1000;
        yield piece;
      }
      this.stats.finishReason = pieces.length > maxTokens ? 'max_tokens' : 'stop_token';
    } catch (error) {
      this.stats.finishReason = error.code;
      throw error;
    }
  }

  async kernels() {
    if (this.info.backend !== 'webgpu') return [];
    return kKernels.map(([name, dispatches, us]) => ({name, dispatches, us, wgsl: kWgsl.replace('NAME', name)}));
  }

  async tokenize(text) {
    return Array.from(text.matchAll(/\s*\S+/g), (_, i) => i);
  }

  reset() {}

  async close() {}
}
