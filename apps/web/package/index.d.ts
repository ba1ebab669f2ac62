// Low-bit language models in a browser tab, or under Node.

import type {
  ChatCompletion, ChatCompletionChunk, ChatForms, ChatToolCall, Completion, CompletionBody, CompletionChunk, Create,
  EmbeddingBody, Embeddings,
} from './openai.js';

export type * from './openai.js';
export * from './errors.js';

/** Where a model comes from: an address, or files that are there already. */
export type ModelSource =
  | string  // URL of a GGUF file, or of a folder (ending in /); hf:OWNER/NAME[@REVISION][/FILE or :PART_OF_A_NAME]
  | URL
  | Blob  // a File that the user chose
  | ArrayBuffer
  | Uint8Array
  | Iterable<File>
  | ArrayLike<File>  // a FileList: all parts of a split GGUF, or all files of a folder
  | {files: ModelSource | Record<string, Blob | ArrayBuffer | Uint8Array>};

export interface Progress {
  /**
   * wait: another tab has the model · download · verify: stored bytes are hashed · load: weights go to the engine ·
   * compile: GPU kernels · ready · keep: files of the user are written to the device
   */
  phase: 'wait' | 'download' | 'verify' | 'load' | 'compile' | 'ready' | 'keep';
  /** Bytes in 'download' and 'verify'. */
  loaded: number;
  /** 0 where it is not known. */
  total: number;
  /** Which file, or what the engine is doing, in words. */
  file: string;
  fromCache: boolean;
}

export interface LoadOptions {
  onProgress?: (progress: Progress) => void;
  /** What the engine has to say, a line at a time; without it, it goes to the console. */
  onLog?: (text: string) => void;
  /** Stops the load. What was downloaded stays, and the next load goes on from there. */
  signal?: AbortSignal;
  /** 'auto' (the default): the GPU where there is a way to it, else the CPU; info.why has the reason. */
  backend?: 'auto' | 'webgpu' | 'cpu';
  /**
   * Of the CPU; by default one for each processor that a measurement at load finds fast, since phones have slow ones,
   * too. More than one needs a cross-origin isolated page.
   */
  threads?: number;
  /** Tokens of context; by default what the model was trained for, as far as memory allows. */
  context?: number;
  /** How the KV cache holds keys and values; 'f16' by default, 'f32' takes twice the memory, 'q8_0' half. */
  kv?: 'f16' | 'f32' | 'q8_0';
  /**
   * A model whose files have more bytes than this is refused before it is downloaded. By default what a tab gets, as far
   * as the browser tells: of a phone's memory a third, without a GPU 3.6 GB. Infinity refuses none.
   */
  memoryLimit?: number;
  /** Of the whole file, in hexadecimal; of a model of several files, by path. Another file is a CorruptionError. */
  sha256?: string | Record<string, string>;
  /**
   * Of files by their paths, as the web has it: 'sha256-BASE64', 'sha384-…' or 'sha512-…'. Another file is an
   * IntegrityError, or with onFailure 'warn' a note.
   */
  integrity?: {files: Record<string, string>; onFailure?: 'error' | 'warn'};
  /** Hash all of a stored model before it is used, whatever its size. */
  verify?: boolean;
  /** false: keep nothing on the device. */
  storage?: boolean;
  /** For embed() and embeddings.create(), and for nothing else: without what makes words of vectors. */
  embeddings?: boolean;
  /** Tabs of this site that load the same with it use one engine, one after the other; info.isShared. */
  shared?: boolean;
  /** false: run in the page, which stutters while the engine computes. A string or URL: the worker's address. */
  worker?: boolean | string | URL;
  /** A GPU of your own, such as that of npm's webgpu under Node; implies worker: false. */
  gpu?: object;
  /** Features to leave unused: 'f16', 'subgroups', 'subgroup-matrix', 'dot4', 'timestamps', 'limits'. */
  gpuWithout?: string[];
  /** Jinja source, instead of the model's own. */
  chatTemplate?: string;
  /** Where hf: names are looked up; https://huggingface.co by default. */
  hub?: string;
  /** Where this package is served, if not where index.js came from. */
  baseUrl?: string | URL;
  /** More options for Emscripten's module: wasmBinary, locateFile, … Functions need worker: false. */
  emscripten?: object;
}

export interface Message {
  role: 'system' | 'user' | 'assistant' | (string & {});
  /** null only beside calls. */
  content: string | null;
  /** Of the assistant: the calls that it made, as chat.completions.create() gives them. */
  tool_calls?: ChatToolCall[];
  /** Of the role 'tool': the call whose result the content is. */
  tool_call_id?: string;
}

/** A function that the model may call, as OpenAI has it. */
export interface Tool {
  type: 'function';
  function: {name: string; description?: string; parameters?: object; strict?: boolean};
}

/** Your own functions between the model and the choice of a token. */
export interface LogitProcessorOf {
  /** Gets a logit for each token of the vocabulary, and returns as many. The choice is made by these. */
  processLogits: (logits: Float32Array) => Float32Array;
  processSampledToken?: (token: number) => void;
}

/** Sampling that is not given is as the model's makers recommend (`info.sampling`), and else as said here. */
export interface GenerateOptions {
  /** 0.7 by default; 0: always the most probable token. */
  temperature?: number;
  /** Keep the k most probable tokens; 40 by default, 0: all. */
  topK?: number;
  /** Keep the smallest set with this much probability; 1 by default, which is all. */
  topP?: number;
  /** Drop tokens less probable than this fraction of the best; 0 by default, which drops none. */
  minP?: number;
  /** 1 by default, which is none. */
  repeatPenalty?: number;
  /** How many of the last tokens the penalty looks at; 64 by default, -1: all. */
  repeatLastN?: number;
  /** Subtracted from the logits of the reply's own tokens, once; 0 by default. */
  presencePenalty?: number;
  /** The same for each time that they occur. */
  frequencyPenalty?: number;
  /**
   * DRY: a token that would extend a repetition of n tokens, at least dryAllowedLength (2 by default), loses
   * dryMultiplier * dryBase ** (n - dryAllowedLength) of its logit. 0 by default, which is off; the base is 1.75.
   */
  dryMultiplier?: number;
  dryBase?: number;
  dryAllowedLength?: number;
  /** How many of the last tokens are compared; -1 by default, which is all. */
  dryPenaltyLastN?: number;
  /** Texts that no repetition reaches across; by default a line break, a colon, a quotation mark and an asterisk. */
  drySequenceBreakers?: string[];
  /** Drop logits more than this many standard deviations below the greatest; -1 by default; 0 or less is off. */
  topNSigma?: number;
  /** Locally typical: keep tokens near the expected surprise, with this much probability; 1 by default, which is off. */
  typicalP?: number;
  /** XTC: how often only the least probable of the top choices is kept; 0 by default. */
  xtcProbability?: number;
  /** The least probability of a top choice; 0.1 by default. */
  xtcThreshold?: number;
  /** Mirostat 1 or 2, in place of all filters; 0 by default, which is off. */
  mirostat?: 0 | 1 | 2;
  /** The average surprise in bits, 5 by default, and how fast it adapts, 0.1 by default. */
  mirostatTau?: number;
  mirostatEta?: number;
  /**
   * The steps that run, in this order: penalties, dry, top_n_sigma, top_k, typ_p, top_p, min_p, xtc, temperature by
   * default. At temperature 0, only the penalties and DRY matter.
   */
  samplers?: string[];
  /** Added to the logits of tokens, by their ids; -Infinity forbids one. */
  logitBias?: Record<number, number>;
  /** stats.logprobs gets the log probability of each token, and of so many of the most probable. */
  logprobs?: number;
  /** By default until the model stops or the context is full. */
  maxTokens?: number;
  /** Nothing but a form that allows no more ends the reply before so many tokens; 0 by default, at most maxTokens. */
  minTokens?: number;
  /** A random one by default; stats.seed tells which. The same seed gives the same text. */
  seed?: number;
  /** Text that ends the generation; it is not part of the output. */
  stop?: string | string[];
  /** Go on past the model's stop tokens. */
  ignoreEos?: boolean;
  /** For models that can think first: whether they do. */
  think?: boolean;
  /** Control tokens count in the text or messages, too; by default they are text. Only for texts that you trust. */
  parseSpecial?: boolean;
  /** For texts, true by default: one that ends inside a word goes on with that word. */
  heal?: boolean;
  /**
   * At most so many tokens, up to 63, are guessed from what the text repeats and checked in one pass: the same text,
   * sooner where guesses are right. 0 by default, which is none. On the GPU nothing is guessed, nor with `logprobs`.
   */
  speculate?: number;
  /**
   * Where the context is full, go on with its first so many tokens and the later half of the others, instead of ending
   * with 'context_full'. At most half of the context; -1 by default, which ends.
   */
  keepPastContext?: number;
  /** The reply is JSON that is valid by this schema, given as a value or as text. What cannot be held to is refused. */
  jsonSchema?: object | boolean | string;
  /** The reply is a JSON object. */
  json?: boolean;
  /** The reply is a text of this grammar, in llama.cpp's notation (GBNF). */
  grammar?: string;
  /** The same in xgrammar's notation (EBNF), which is GBNF with fewer rules about lines. */
  ebnf?: string;
  /** A structural tag as xgrammar has it: {type: 'structural_tag', format}, as a value or as text. */
  structuralTag?: object | string;
  /** The reply matches this regular expression, from its first to its last character. */
  regex?: string;
  /**
   * Functions that the model may call. A call is held to its function's parameters. What is yielded is the reply's
   * content; calls are in stats.toolCalls, thoughts in stats.reasoning.
   */
  tools?: Tool[];
  /** 'auto' by default: the model decides. With 'required' or a function's name the reply is a call. */
  toolChoice?: 'auto' | 'none' | 'required' | (string & {});
  /** Several calls in a reply, as by default. */
  parallelToolCalls?: boolean;
  /** Functions run where the engine does: for models that were loaded with `worker: false`. */
  logitProcessor?: LogitProcessorOf;
  /** Stops the generation with a CancelledError. Leaving the loop stops it, too, quietly. */
  signal?: AbortSignal;
}

export interface ModelInfo {
  readonly name: string;
  readonly architecture: string;
  /** What computes, in words. */
  readonly backend: string;
  readonly nParams: number;
  readonly fileBytes: number;
  readonly bytesPerToken: number;
  readonly nVocab: number;
  readonly nCtx: number;
  readonly nLayers: number;
  readonly hasTokenizer: boolean;
  /** false: the model continues texts, and messages are refused. */
  readonly hasChatTemplate: boolean;
  readonly adapter?: {name: string; vendor: string; driver: string; features: string[]; failedTests: string[]};
  readonly threads: number;
  /** What the model's makers recommend, and where they say so; no values and '' where they say nothing. */
  readonly sampling: {
    source: string;
    values: Pick<GenerateOptions, 'temperature' | 'topK' | 'topP' | 'minP' | 'repeatPenalty' | 'repeatLastN' |
      'presencePenalty' | 'frequencyPenalty' | 'typicalP' | 'xtcProbability' | 'xtcThreshold' | 'mirostat' |
      'mirostatTau' | 'mirostatEta'>;
  };
  /** How the engine runs: on the GPU, or on the CPU with threads, with relaxed SIMD only, or with neither. */
  readonly flavor: 'webgpu' | 'threads' | 'relaxed' | 'simd';
  /** The file of the engine, in the package's dist/, without its ending. */
  readonly engine: 'tern' | 'tern_plain' | 'tern_gpu';
  /** Where the model's bytes are. */
  readonly storage: 'opfs' | 'cache' | 'memory' | 'file';
  readonly fromCache: boolean;
  readonly loadMs: number;
  /** Why nothing faster was chosen; '' where nothing is faster. */
  readonly why: string;
  /** Whether tabs share it. When the one that computes is closed, another goes on. */
  readonly isShared?: boolean;
  /** What else may be worth knowing: that nothing can be stored, or what was mended. */
  readonly notes: string[];
}

export type FinishReason = 'stop_token' | 'stop_string' | 'max_tokens' | 'context_full' | 'cancelled';

export interface TokenLogprob {
  token: number;
  text: string;
  /** Of the text, which may be less than a character. */
  bytes: number[];
  /** Natural logarithm of its probability, before biases, penalties and temperature. */
  logprob: number;
}

/** Of the last generation, or of the one in progress; undefined where not measured. */
export interface Stats {
  backend: string;
  adapter?: string;
  features: string[];
  threads: number;
  loadMs: number;
  /** Tokens of the prompt, of which … */
  nPrompt: number;
  /** … were still known from the generation before. */
  nReused: number;
  nGenerated: number;
  /** Ids of what was generated, the stop token included; after the end. */
  tokens?: number[];
  /** Of the tokens so far, without the stop token, where they were asked for. */
  logprobs?: (TokenLogprob & {top: TokenLogprob[]})[];
  seed?: number;
  finishReason?: FinishReason;
  /** Of a reply with tools, after its end; the arguments are JSON. A call that was cut off is content. */
  toolCalls?: {id: string; name: string; arguments: string}[];
  reasoning?: string;
  timeToFirstTokenMs?: number;
  tokensPerSecond?: number;
  promptTokensPerSecond?: number;
  contextUsed?: number;
  dispatchesPerToken?: number;
  gpuBytes?: number;
  gpu?: Record<string, number>;
  heapBytes?: number;
}

export interface Kernel {
  name: string;
  wgsl: string;
  dispatches: number;
  /** Microseconds of all its dispatches; 0 where the GPU takes no time stamps. */
  us: number;
}

export interface StoredModel {
  id: string;
  url: string;
  name: string;
  /** Stored so far. */
  bytes: number;
  totalBytes: number;
  complete: boolean;
  /** Of what it holds, the same wherever it came from; null until it is complete. */
  contentId: string | null;
  storage: 'opfs' | 'cache';
  /** Milliseconds since 1970. */
  lastUsed: number;
}

export interface StoredModels {
  /** Last used first. */
  list(): Promise<StoredModel[]>;
  /** Keeps a model that was loaded from the user's own files. Its `url` is what to load at the next visit. */
  keep(tern: Tern, options?: {onProgress?: (progress: Progress) => void; signal?: AbortSignal}): Promise<StoredModel>;
  /** BusyError while it is loaded or being downloaded; NotFoundError. */
  delete(id: string): Promise<void>;
  /** Bytes that the site uses, may use, and that models take; whether the browser promised to keep them. */
  usage(): Promise<{used: number; quota: number; models: number; persisted: boolean}>;
}

/** What this browser is and can: plain data, to be put into a report. Nothing is sent anywhere. */
export interface Diagnostics {
  version: string;
  browser: string;
  cpus: number;
  crossOriginIsolated: boolean;
  simd: boolean;
  relaxedSimd: boolean;
  jspi: boolean;
  workers: boolean;
  storage: 'opfs' | 'cache' | 'memory';
  gpu: null | {error: string} | {
    vendor: string;
    architecture: string;
    device: string;
    description: string;
    isFallback: boolean;
    features: string[];
    limits: Record<string, number | undefined>;
    wgsl: string[];
  };
  whyNoGpu: string;
  software: string;
}

/** A loaded model. One generation at a time; a second is a BusyError. */
export class Tern {
  private constructor();
  static load(source: ModelSource, options?: LoadOptions): Promise<Tern>;
  static readonly models: StoredModels;
  static diagnostics(): Promise<Diagnostics>;

  readonly info: ModelInfo;
  readonly stats: Stats;
  readonly chat: {completions: Create<
    CompletionBody & ChatForms & {messages: object[]; logprobs?: boolean | null; top_logprobs?: number | null},
    ChatCompletion, ChatCompletionChunk>};
  readonly completions: Create<
    CompletionBody & {prompt: string | number[]; logprobs?: number | null}, Completion, CompletionChunk>;
  readonly embeddings: {create(body: EmbeddingBody): Promise<Embeddings>};

  /** Continues a text (as it is, without a chat template) or token ids, or answers messages; yields pieces of text. */
  generate(
    input: string | Message[] | ArrayLike<number>, options?: GenerateOptions): AsyncGenerator<string, void, void>;
  /** Forgets the conversation. Not needed between conversations: what differs is read anew by itself. */
  reset(): Promise<void>;
  tokenize(text: string, options?: {addBos?: boolean; parseSpecial?: boolean}): Promise<number[]>;
  detokenize(tokens: ArrayLike<number>, options?: {special?: boolean}): Promise<string>;
  /** What a text means, as a vector of length 1, for a model loaded with `embeddings: true`. */
  embed(input: string | ArrayLike<number>, options?: {pooling?: 'auto' | 'last' | 'mean'}):
    Promise<Float32Array & {nTokens: number}>;
  /** The conversation as text, for display: it does not tell the template's control tokens from a message's text. */
  renderChat(messages: Message[]): Promise<string>;
  /** Logits after each of the tokens, from an empty context: a row per token, a column per id. */
  logits(tokens: ArrayLike<number>): Promise<{rows: number; columns: number; data: Float32Array}>;
  /** Of the last token; [] on the CPU. */
  kernels(): Promise<Kernel[]>;
  /** Ends what runs and gives the memory back. */
  close(): Promise<void>;
}
