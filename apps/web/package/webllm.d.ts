// WebLLM's interface (@mlc-ai/web-llm) on Tern: change the import, and the rest stays.

import type {LoadOptions, LogitProcessorOf} from './index.js';
import type {
  ChatCompletion, ChatCompletionChunk, ChatCompletionRequest, ChatCompletionRequestBase,
  ChatCompletionRequestNonStreaming, ChatCompletionRequestStreaming, Completion, CompletionCreateParams,
  CompletionCreateParamsBase, CompletionCreateParamsNonStreaming, CompletionCreateParamsStreaming,
  CreateEmbeddingResponse, EmbeddingCreateParams, ResponseFormat,
} from './webllm_types.js';

export type * from './webllm_types.js';
export {IntegrityError} from './index.js';

export interface InitProgressReport {
  /** 0 to 1. */
  progress: number;
  /** Seconds. */
  timeElapsed: number;
  text: string;
}
export type InitProgressCallback = (report: InitProgressReport) => void;

/** Sees the logits of a model before each choice of a token; runs where its engine is. */
export interface LogitProcessor extends LogitProcessorOf {
  processSampledToken: (token: number) => void;
  /** With resetChat. */
  resetState: () => void;
}

/** Of these, what is not said to be possible is refused. */
export interface ChatOptions {
  context_window_size?: number;
  temperature?: number;
  top_p?: number;
  repetition_penalty?: number;
  frequency_penalty?: number;
  presence_penalty?: number;
  /** Tern's: a Jinja template instead of the model's. */
  chat_template?: string;
  /** Possible where they are not above 0. */
  sliding_window_size?: number;
  attention_sink_size?: number;
  [refused: string]: unknown;
}
/** A request's settings, all in one. */
export interface GenerationConfig {
  temperature?: number | null;
  top_p?: number | null;
  repetition_penalty?: number | null;
  frequency_penalty?: number | null;
  presence_penalty?: number | null;
  max_tokens?: number | null;
  stop?: string | string[] | null;
  n?: number | null;
  logit_bias?: Record<string, number> | null;
  logprobs?: boolean | null;
  top_logprobs?: number | null;
  response_format?: ResponseFormat | null;
  ignore_eos?: boolean;
  enable_thinking?: boolean | null;
  enable_latency_breakdown?: boolean | null;
}

export enum ModelType {
  LLM = 0,
  embedding = 1,
  VLM = 2,
}

/** 'sha256-BASE64', 'sha384-…' or 'sha512-…'. */
export type SRIString = string;
export type FileIntegrityMap = Record<string, SRIString>;
export interface ModelIntegrity {
  /** Of mlc-chat-config.json. */
  config?: SRIString;
  /** Compared with nothing, because Tern fetches no library. */
  model_lib?: SRIString;
  /** Of files of the model by their paths, as tokenizer.json. */
  tokenizer?: FileIntegrityMap;
  /** 'error' by default: an IntegrityError. 'warn': the console is told. */
  onFailure?: 'error' | 'warn';
}
/** An IntegrityError where the data has another hash. */
export function verifyIntegrity(
  data: ArrayBuffer, expectedSRI: SRIString, url: string, onFailure?: 'error' | 'warn'): Promise<void>;
export function isValidSRI(sri: string): boolean;

export interface ModelRecord {
  /** https://huggingface.co/OWNER/NAME, hf:OWNER/NAME[/FILE], or the address of a .gguf file or a folder. */
  model: string;
  model_id: string;
  /** Not needed here: '' will do. */
  model_lib: string;
  overrides?: ChatOptions;
  vram_required_MB?: number;
  low_resource_required?: boolean;
  buffer_size_required_bytes?: number;
  required_features?: string[];
  /** With ModelType.embedding it is loaded for vectors. */
  model_type?: ModelType;
  integrity?: ModelIntegrity;
  /** Refused. */
  model_manifest?: string;
}

export type CacheBackend = 'cache' | 'indexeddb' | 'cross-origin' | 'opfs';
export type OPFSAccessMode = 'async' | 'sync' | 'auto';
export interface AppConfig {
  model_list: ModelRecord[];
  /** Tern chooses by itself where models are kept. */
  cacheBackend?: CacheBackend;
  opfsAccessMode?: OPFSAccessMode;
  useIndexedDBCache?: boolean;
}

export type LogLevel = 'TRACE' | 'DEBUG' | 'INFO' | 'WARN' | 'ERROR' | 'SILENT';
export interface MLCEngineConfig {
  appConfig?: AppConfig;
  initProgressCallback?: InitProgressCallback;
  /** By model_id. A model that has one runs in the page: a function cannot go to a worker. */
  logitProcessorRegistry?: Map<string, LogitProcessor>;
  logLevel?: LogLevel;
  /** Tern's: what Tern.load takes beside the rest. */
  ternOptions?: LoadOptions;
}

/** Of models that Tern is known to run. Names that end with -MLC need not be here: they are mlc-ai's on Hugging Face. */
export const prebuiltAppConfig: AppConfig;
export const functionCallingModelIds: string[];
export const modelLibURLPrefix: string;
export const modelVersion: string;

/** @internal */
export interface CreateChat {
  (request: ChatCompletionRequestNonStreaming): Promise<ChatCompletion>;
  (request: ChatCompletionRequestStreaming): Promise<AsyncIterable<ChatCompletionChunk>>;
  (request: ChatCompletionRequestBase): Promise<AsyncIterable<ChatCompletionChunk> | ChatCompletion>;
  (request: ChatCompletionRequest): Promise<AsyncIterable<ChatCompletionChunk> | ChatCompletion>;
}
/** @internal */
export interface CreateText {
  (request: CompletionCreateParamsNonStreaming): Promise<Completion>;
  (request: CompletionCreateParamsStreaming): Promise<AsyncIterable<Completion>>;
  (request: CompletionCreateParamsBase): Promise<AsyncIterable<Completion> | Completion>;
  (request: CompletionCreateParams): Promise<AsyncIterable<Completion> | Completion>;
}

export interface Completions {
  create: CreateText;
}
export interface Chat {
  completions: {create: CreateChat};
}
export interface Embeddings {
  create(request: EmbeddingCreateParams): Promise<CreateEmbeddingResponse>;
}

/** Replies that were broken off are not kept: there are none, and resuming is refused. */
export interface ResumeProbeResult {
  sessionId: string;
  resumable: boolean;
  reason?: string;
  modelId: string;
  emittedTokens: number;
  processedSeqLen: number;
  recoveryMode: 'kv' | 'token_replay' | 'text_only' | 'none';
}

/** Refused, as resuming is. */
export interface ResumableGenerationConfig {
  enabled: boolean;
  sessionId?: string;
  checkpointIntervalTokens?: number;
  checkpointPrompt?: boolean;
  durabilityMode?: 'exact' | 'relaxed';
  strictPersistence?: boolean;
  storeCheckpointLogits?: boolean;
}
export interface ResumeChatCompletionOptions {
  continueGeneration?: boolean;
  stream?: boolean;
}
export interface ResumeResult {
  sessionId: string;
  recoveredText: string;
  emittedTokens: number;
  processedSeqLen: number;
  replayedTokens: number;
  recoveryMode: 'kv' | 'token_replay' | 'text_only';
}

export interface MLCEngineInterface {
  chat: Chat;
  completions: Completions;
  embeddings: Embeddings;
  chatCompletion: CreateChat;
  completion: CreateText;
  embedding(request: EmbeddingCreateParams): Promise<CreateEmbeddingResponse>;
  setInitProgressCallback(callback: InitProgressCallback): void;
  getInitProgressCallback(): InitProgressCallback | undefined;
  setAppConfig(appConfig: AppConfig): void;
  setLogLevel(level: LogLevel): void;
  /** Several models may be loaded; then each call names its own. */
  reload(modelId: string | string[], chatOpts?: ChatOptions | ChatOptions[]): Promise<void>;
  unload(): Promise<void>;
  interruptGenerate(): void;
  getMessage(modelId?: string): Promise<string>;
  resetChat(keepStats?: boolean, modelId?: string): Promise<void>;
  runtimeStatsText(modelId?: string): Promise<string>;
  getMaxStorageBufferBindingSize(): Promise<number>;
  getGPUVendor(): Promise<string>;
  forwardTokensAndSample(inputIds: number[], isPrefill: boolean, modelId?: string): Promise<number>;
  listResumableSessions(): Promise<ResumeProbeResult[]>;
  resumeChatCompletion(sessionId: string, options?: ResumeChatCompletionOptions): Promise<never>;
  deleteResumableSession(sessionId: string): Promise<void>;
}

export class MLCEngine {
  constructor(engineConfig?: MLCEngineConfig);
  setLogitProcessorRegistry(registry?: Map<string, LogitProcessor>): void;
  /** Tern's: what Tern.load takes beside the rest. */
  setTernOptions(options: LoadOptions): void;
}
export interface MLCEngine extends MLCEngineInterface {}
export function CreateMLCEngine(
  modelId: string | string[], engineConfig?: MLCEngineConfig, chatOpts?: ChatOptions | ChatOptions[]): Promise<MLCEngine>;

/** The engine is in the worker, whose script makes a WebWorkerMLCEngineHandler of this package. */
export interface ChatWorker {
  onmessage: any;
  postMessage(message: any): void;
}
export class WebWorkerMLCEngine {
  constructor(worker: ChatWorker, engineConfig?: MLCEngineConfig);
  worker: ChatWorker;
  modelId?: string[] | undefined;
  chatOpts?: ChatOptions[] | undefined;
  onmessage(event: any): void;
}
export interface WebWorkerMLCEngine extends MLCEngineInterface {}
export function CreateWebWorkerMLCEngine(worker: ChatWorker, modelId: string | string[], engineConfig?: MLCEngineConfig,
  chatOpts?: ChatOptions | ChatOptions[]): Promise<WebWorkerMLCEngine>;
export class WebWorkerMLCEngineHandler {
  engine: MLCEngine;
  setLogitProcessorRegistry(registry?: Map<string, LogitProcessor>): void;
  onmessage(event: any, onComplete?: (value: any) => void, onError?: () => void): void;
  postMessage(message: any): void;
}

/** The engine is in the page, with a worker of Tern's own; the service worker has nothing to do. */
export class ServiceWorkerMLCEngine extends MLCEngine {
  constructor(engineConfig?: MLCEngineConfig, keepAliveMs?: number);
}
export function CreateServiceWorkerMLCEngine(modelId: string | string[], engineConfig?: MLCEngineConfig,
  chatOpts?: ChatOptions | ChatOptions[], keepAliveMs?: number): Promise<ServiceWorkerMLCEngine>;
export class ServiceWorkerMLCEngineHandler {
  setLogitProcessorRegistry(registry?: Map<string, LogitProcessor>): void;
  onmessage(event: any, onComplete?: (value: any) => void, onError?: () => void): void;
  postMessage(message: any): void;
}

/** The same in an extension. */
export interface ExtensionMLCEngineConfig extends MLCEngineConfig {
  extensionId?: string;
  onDisconnect?: () => void;
}
export class ExtensionServiceWorkerMLCEngine extends ServiceWorkerMLCEngine {
  constructor(engineConfig?: ExtensionMLCEngineConfig, keepAliveMs?: number);
}
export function CreateExtensionServiceWorkerMLCEngine(modelId: string | string[],
  engineConfig?: ExtensionMLCEngineConfig, chatOpts?: ChatOptions | ChatOptions[],
  keepAliveMs?: number): Promise<ExtensionServiceWorkerMLCEngine>;
export class ExtensionServiceWorkerMLCEngineHandler extends ServiceWorkerMLCEngineHandler {
  constructor(port: any);
  port: any;
  setPort(port: any): void;
  onPortDisconnect(port: any): void;
}

/** What a worker and its page say to each other; messages without this field are the program's own. */
export interface WorkerRequest {
  tern?: {id: number; method: string; args: unknown[]};
  [own: string]: unknown;
}
export interface WorkerResponse {
  tern?: object;
  [own: string]: unknown;
}
export interface CustomRequestParams {
  requestName: string;
  requestMessage: string;
}

export function hasModelInCache(modelId: string, appConfig?: AppConfig): Promise<boolean>;
export function deleteModelInCache(modelId: string, appConfig?: AppConfig): Promise<void>;
export function deleteModelAllInfoInCache(modelId: string, appConfig?: AppConfig): Promise<void>;
export function deleteChatConfigInCache(modelId: string, appConfig?: AppConfig): Promise<void>;
export function deleteModelWasmInCache(modelId: string, appConfig?: AppConfig): Promise<void>;
