// What goes into WebLLM's calls and comes out of them. null is as good as nothing.

/** Tern's names beside WebLLM's: samplers of llama.cpp, a grammar, a regular expression. */
interface TernRequest {
  top_k?: number | null;
  min_p?: number | null;
  min_tokens?: number | null;
  grammar?: string | null;
  regex?: string | null;
  /** Instead of max_tokens. */
  max_completion_tokens?: number | null;
}

interface Sampling {
  temperature?: number | null;
  top_p?: number | null;
  repetition_penalty?: number | null;
  frequency_penalty?: number | null;
  presence_penalty?: number | null;
  max_tokens?: number | null;
  stop?: string | string[] | null;
  n?: number | null;
  seed?: number | null;
  logit_bias?: Record<string, number> | null;
  logprobs?: boolean | null;
  top_logprobs?: number | null;
  ignore_eos?: boolean;
}

interface RequestBase extends Sampling, TernRequest {
  /** Of several loaded models, the one that is meant. */
  model?: string | null;
  stream?: boolean | null;
  stream_options?: {include_usage?: boolean} | null;
}

export interface ChatCompletionContentPartText {
  type: 'text';
  text: string;
}
/** Refused: Tern's models read text. */
export interface ChatCompletionContentPartImage {
  type: 'image_url';
  image_url: {url: string; detail?: 'auto' | 'low' | 'high'};
}
export interface ChatCompletionAudioInputWav {
  format: 'wav';
  data: string;
}
export interface ChatCompletionAudioInputPCM {
  format: 'pcm_f32';
  data: Float32Array;
  sample_rate: number;
}
export type ChatCompletionAudioInput = ChatCompletionAudioInputWav | ChatCompletionAudioInputPCM;
/** Refused, as images are. */
export interface ChatCompletionContentPartInputAudio {
  type: 'input_audio';
  input_audio: ChatCompletionAudioInput;
}
export type ChatCompletionContentPart =
  | ChatCompletionContentPartText | ChatCompletionContentPartImage | ChatCompletionContentPartInputAudio;

export interface ChatCompletionMessageToolCall {
  id: string;
  type: 'function';
  /** The arguments are JSON. */
  function: {name: string; arguments: string};
}

export interface ChatCompletionSystemMessageParam {
  role: 'system';
  content: string;
}
export interface ChatCompletionUserMessageParam {
  role: 'user';
  content: string | ChatCompletionContentPart[];
  name?: string;
}
export interface ChatCompletionAssistantMessageParam {
  role: 'assistant';
  /** Needed unless there are calls. */
  content?: string | null;
  name?: string;
  tool_calls?: ChatCompletionMessageToolCall[];
}
export interface ChatCompletionToolMessageParam {
  role: 'tool';
  content: string;
  tool_call_id: string;
}
export type ChatCompletionMessageParam =
  | ChatCompletionSystemMessageParam | ChatCompletionUserMessageParam | ChatCompletionAssistantMessageParam
  | ChatCompletionToolMessageParam;
export type ChatCompletionRole = 'system' | 'user' | 'assistant' | 'tool' | 'function';

/** A JSON schema. */
export type FunctionParameters = Record<string, unknown>;
export interface FunctionDefinition {
  name: string;
  description?: string;
  parameters?: FunctionParameters;
  /** Tern's: parameters that cannot be enforced are an error. */
  strict?: boolean;
}
export interface ChatCompletionTool {
  type: 'function';
  function: FunctionDefinition;
}
export interface ChatCompletionNamedToolChoice {
  type: 'function';
  function: {name: string};
}
/** 'required' is Tern's. */
export type ChatCompletionToolChoiceOption = 'none' | 'auto' | 'required' | ChatCompletionNamedToolChoice;

export interface ResponseFormat {
  type?: 'text' | 'json_object' | 'json_schema' | 'grammar' | 'structural_tag';
  /** Of json_object: JSON schema as text. */
  schema?: string;
  /** Of json_schema, as OpenAI has it. */
  json_schema?: {name?: string; schema: object; strict?: boolean};
  /** Of grammar: in EBNF. */
  grammar?: string;
  /** Formats that count tokens are refused. */
  structural_tag?: object | string;
}

export interface ChatCompletionRequestBase extends RequestBase {
  messages: ChatCompletionMessageParam[];
  tools?: ChatCompletionTool[];
  tool_choice?: ChatCompletionToolChoiceOption;
  parallel_tool_calls?: boolean | null;
  response_format?: ResponseFormat;
  /** Of these, only enable_thinking is possible; the others are refused. */
  extra_body?: {
    enable_thinking?: boolean | null;
    enable_latency_breakdown?: boolean | null;
    resumable?: object | null;
  };
}
export interface ChatCompletionRequestNonStreaming extends ChatCompletionRequestBase {
  stream?: false | null;
}
export interface ChatCompletionRequestStreaming extends ChatCompletionRequestBase {
  stream: true;
}
export type ChatCompletionRequest = ChatCompletionRequestNonStreaming | ChatCompletionRequestStreaming;

export type ChatCompletionFinishReason = 'stop' | 'length' | 'tool_calls' | 'abort';

export interface TopLogprob {
  token: string;
  bytes: number[] | null;
  logprob: number;
}
export interface ChatCompletionTokenLogprob extends TopLogprob {
  top_logprobs: TopLogprob[];
}
export type LatencyBreakdown = Record<
  'logitProcessorTime' | 'logitBiasTime' | 'penaltyTime' | 'sampleTime' | 'totalTime' | 'grammarBitmaskTime', number[]>;

export interface CompletionUsage {
  /** Of a conversation that goes on, only what is new; with n > 1, of all choices. */
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  extra: {
    e2e_latency_s: number;
    prefill_tokens_per_s: number;
    decode_tokens_per_s: number;
    time_to_first_token_s: number;
    time_per_output_token_s: number;
    /** These are not measured. */
    grammar_init_s?: number;
    grammar_per_token_s?: number;
    latencyBreakdown?: LatencyBreakdown;
  };
}

interface Envelope {
  id: string;
  created: number;
  model: string;
  usage?: CompletionUsage;
  system_fingerprint?: string;
}

export interface ChatCompletionMessage {
  role: 'assistant';
  content: string | null;
  tool_calls?: ChatCompletionMessageToolCall[];
}
export namespace ChatCompletion {
  interface Choice {
    index: number;
    message: ChatCompletionMessage;
    logprobs: Choice.Logprobs | null;
    finish_reason: ChatCompletionFinishReason;
  }
  namespace Choice {
    interface Logprobs {
      content: ChatCompletionTokenLogprob[] | null;
    }
  }
}
export interface ChatCompletion extends Envelope {
  object: 'chat.completion';
  choices: ChatCompletion.Choice[];
}

export namespace ChatCompletionChunk {
  interface Choice {
    index: number;
    delta: Choice.Delta;
    logprobs?: Choice.Logprobs | null;
    finish_reason: ChatCompletionFinishReason | null;
  }
  namespace Choice {
    interface Delta {
      role?: 'system' | 'user' | 'assistant' | 'tool';
      content?: string | null;
      /** In the last chunk of a choice. */
      tool_calls?: Delta.ToolCall[];
    }
    namespace Delta {
      interface ToolCall {
        index: number;
        id?: string;
        type?: 'function';
        function?: {name?: string; arguments?: string};
      }
    }
    interface Logprobs {
      content: ChatCompletionTokenLogprob[] | null;
    }
  }
}
export interface ChatCompletionChunk extends Envelope {
  object: 'chat.completion.chunk';
  choices: ChatCompletionChunk.Choice[];
}

export interface CompletionCreateParamsBase extends RequestBase {
  prompt: string;
  echo?: boolean | null;
  /** A suffix is refused, and so is more than one in best_of. */
  suffix?: string | null;
  best_of?: number | null;
  user?: string;
  extra_body?: {enable_latency_breakdown?: boolean | null};
}
export interface CompletionCreateParamsNonStreaming extends CompletionCreateParamsBase {
  stream?: false | null;
}
export interface CompletionCreateParamsStreaming extends CompletionCreateParamsBase {
  stream: true;
}
export type CompletionCreateParams = CompletionCreateParamsNonStreaming | CompletionCreateParamsStreaming;
export interface CompletionChoice {
  index: number;
  text: string;
  logprobs?: ChatCompletion.Choice.Logprobs | null;
  finish_reason: ChatCompletionFinishReason | null;
}
export interface Completion extends Envelope {
  object: 'text_completion';
  choices: CompletionChoice[];
}

export interface EmbeddingCreateParams {
  input: string | string[] | number[] | number[][];
  model?: string | null;
  encoding_format?: 'float' | 'base64';
  dimensions?: number;
  user?: string;
}
export interface Embedding {
  object: 'embedding';
  index: number;
  embedding: number[];
}
export interface CreateEmbeddingResponse {
  object: 'list';
  model: string;
  data: Embedding[];
  usage: {prompt_tokens: number; total_tokens: number; extra: {prefill_tokens_per_s: number}};
}
