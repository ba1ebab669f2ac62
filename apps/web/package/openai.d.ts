// What goes into OpenAI's calls, and what comes out: see OpenAI's API reference.

/** As OpenAI's, plus llama.cpp's samplers and vLLM's min_tokens; null is as good as nothing. What would change the reply and cannot be
 * done is refused. */
export interface CompletionBody {
  model?: string | null;
  temperature?: number | null;
  top_p?: number | null;
  top_k?: number | null;
  min_p?: number | null;
  repeat_penalty?: number | null;
  presence_penalty?: number | null;
  frequency_penalty?: number | null;
  dry_multiplier?: number | null;
  dry_base?: number | null;
  dry_allowed_length?: number | null;
  dry_penalty_last_n?: number | null;
  dry_sequence_breakers?: string[] | null;
  top_n_sigma?: number | null;
  typical_p?: number | null;
  xtc_probability?: number | null;
  xtc_threshold?: number | null;
  mirostat?: number | null;
  mirostat_tau?: number | null;
  mirostat_eta?: number | null;
  samplers?: string[] | null;
  min_tokens?: number | null;
  logit_bias?: Record<string, number> | null;
  n?: number | null;
  max_tokens?: number | null;
  max_completion_tokens?: number | null;
  seed?: number | null;
  stop?: string | string[] | null;
  stream?: boolean | null;
  stream_options?: {include_usage?: boolean} | null;
}

export interface Usage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  prompt_tokens_details: {cached_tokens: number};
}

interface Envelope<Name extends string, Choice> {
  id: string;
  object: Name;
  created: number;
  model: string;
  choices: Choice[];
}

type PlainFinish = 'stop' | 'length';
type Finish = PlainFinish | 'tool_calls';

export interface ChatToolCall {
  id: string;
  type: 'function';
  function: {name: string; arguments: string};
}

/** What a chat's reply is held to. */
export interface ChatForms {
  tools?: object[] | null;
  /** A function is possible; OpenAI's other objects are refused. */
  tool_choice?: 'auto' | 'none' | 'required' | {type: string; function?: {name: string}} | null;
  parallel_tool_calls?: boolean | null;
  response_format?: {
    type: 'text' | 'json_object' | 'json_schema' | 'structural_tag';
    json_schema?: object;
    schema?: object;
    format?: object;
    structural_tag?: object | string;
  } | null;
}

interface ChatTokenLogprob {
  token: string;
  logprob: number;
  bytes: number[] | null;
}
interface ChatLogprobs {
  content: (ChatTokenLogprob & {top_logprobs: ChatTokenLogprob[]})[];
  refusal: null;
}
interface PlainLogprobs {
  tokens: string[];
  token_logprobs: number[];
  top_logprobs: Record<string, number>[];
  text_offset: number[];
}

export type ChatCompletion = Envelope<'chat.completion', {
  index: number;
  message: {
    role: 'assistant';
    content: string | null;
    refusal: null;
    reasoning_content?: string;
    tool_calls?: ChatToolCall[];
  };
  logprobs: ChatLogprobs | null;
  finish_reason: Finish;
}> & {usage: Usage};
export type ChatCompletionChunk = Envelope<'chat.completion.chunk', {
  index: number;
  delta: {role?: 'assistant'; content?: string; tool_calls?: (ChatToolCall & {index: number})[]};
  logprobs: ChatLogprobs | null;
  finish_reason: Finish | null;
}> & {usage?: Usage | null};
export type Completion = Envelope<'text_completion', {
  index: number;
  text: string;
  logprobs: PlainLogprobs | null;
  finish_reason: PlainFinish;
}> & {usage?: Usage};
/** Of a stream: no reason until the last. */
export type CompletionChunk = Envelope<'text_completion', {
  index: number;
  text: string;
  logprobs: PlainLogprobs | null;
  finish_reason: PlainFinish | null;
}> & {usage?: Usage | null};

export interface EmbeddingBody {
  input: string | string[] | number[] | number[][];
  model?: string;
  encoding_format?: 'float' | 'base64';
  dimensions?: number;
}

export interface Embeddings {
  object: 'list';
  data: {object: 'embedding'; index: number; embedding: number[] | string}[];
  model: string;
  usage: {prompt_tokens: number; total_tokens: number};
}

/** What else a body may have, as OpenAI's do, is without effect or refused when it is called. */
export interface Create<Body, Whole, Chunk> {
  create<B extends Body & {stream: true}>(body: B, options?: {signal?: AbortSignal}): Promise<AsyncIterable<Chunk>>;
  create<B extends Body & {stream?: false | null}>(body: B, options?: {signal?: AbortSignal}): Promise<Whole>;
  create<B extends Body>(body: B, options?: {signal?: AbortSignal}): Promise<Whole | AsyncIterable<Chunk>>;
}
