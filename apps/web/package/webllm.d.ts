// WebLLM's interface (@mlc-ai/web-llm) on Tern: change the import, and the rest stays.

import type {ChatCompletion, ChatCompletionChunk, Completion, CompletionBody, CompletionChunk, LoadOptions} from './index.js';

export interface InitProgressReport {
  /** 0 to 1. */
  progress: number;
  /** Seconds. */
  timeElapsed: number;
  text: string;
}
export type InitProgressCallback = (report: InitProgressReport) => void;

export interface ChatOptions {
  context_window_size?: number;
  temperature?: number;
  top_p?: number;
  repetition_penalty?: number;
  /** Tern's: a Jinja template instead of the model's. */
  chat_template?: string;
  [ignored: string]: unknown;
}

export interface ModelRecord {
  /** https://huggingface.co/OWNER/NAME, hf:OWNER/NAME[/FILE], or the address of a .gguf file or a folder. */
  model: string;
  model_id: string;
  /** Not needed here. */
  model_lib?: string;
  overrides?: ChatOptions;
  vram_required_MB?: number;
  low_resource_required?: boolean;
  [ignored: string]: unknown;
}

export interface AppConfig {
  model_list: ModelRecord[];
  [ignored: string]: unknown;
}

export interface MLCEngineConfig {
  appConfig?: AppConfig;
  initProgressCallback?: InitProgressCallback;
  logLevel?: string;
  /** Tern's: what Tern.load takes beside the rest. */
  ternOptions?: LoadOptions;
}

/** Of models that Tern is known to run. Names that end with -MLC need not be here: they are mlc-ai's on Hugging Face. */
export const prebuiltAppConfig: AppConfig;

interface Extra {
  n?: number | null;
  ignore_eos?: boolean;
  extra_body?: {enable_thinking?: boolean | null} | null;
}
type Chat = CompletionBody & Extra & {messages: object[]};
type Plain = CompletionBody & Extra & {prompt: string};

interface Create<Body, Whole, Chunk> {
  <B extends Body & {stream: true}>(request: B): Promise<AsyncIterable<Chunk>>;
  <B extends Body & {stream?: false | null}>(request: B): Promise<Whole>;
  <B extends Body>(request: B): Promise<Whole | AsyncIterable<Chunk>>;
}

export interface MLCEngineInterface {
  chat: {completions: {create: Create<Chat, ChatCompletion, ChatCompletionChunk>}};
  completions: {create: Create<Plain, Completion, CompletionChunk>};
  chatCompletion: Create<Chat, ChatCompletion, ChatCompletionChunk>;
  completion: Create<Plain, Completion, CompletionChunk>;
  setInitProgressCallback(callback: InitProgressCallback): void;
  getInitProgressCallback(): InitProgressCallback | undefined;
  setAppConfig(appConfig: AppConfig): void;
  setLogLevel(level: string): void;
  reload(modelId: string | string[], chatOpts?: ChatOptions | ChatOptions[]): Promise<void>;
  unload(): Promise<void>;
  interruptGenerate(): void;
  getMessage(modelId?: string): Promise<string>;
  resetChat(keepStats?: boolean, modelId?: string): Promise<void>;
  runtimeStatsText(modelId?: string): Promise<string>;
  getMaxStorageBufferBindingSize(): Promise<number>;
  getGPUVendor(): Promise<string>;
  forwardTokensAndSample(inputIds: number[], isPrefill: boolean, modelId?: string): Promise<number>;
}

export class MLCEngine {
  constructor(engineConfig?: MLCEngineConfig);
}
export interface MLCEngine extends MLCEngineInterface {}
export function CreateMLCEngine(
  modelId: string | string[], engineConfig?: MLCEngineConfig, chatOpts?: ChatOptions | ChatOptions[]): Promise<MLCEngine>;

/** Tern runs in a worker of its own; the one that is given is ended. */
export class WebWorkerMLCEngine extends MLCEngine {
  constructor(worker: Worker, engineConfig?: MLCEngineConfig);
}
export function CreateWebWorkerMLCEngine(worker: Worker, modelId: string | string[], engineConfig?: MLCEngineConfig,
  chatOpts?: ChatOptions | ChatOptions[]): Promise<WebWorkerMLCEngine>;
export class WebWorkerMLCEngineHandler {
  onmessage(event: unknown): void;
  postMessage(message: unknown): void;
}

export class ServiceWorkerMLCEngine extends MLCEngine {}
export const CreateServiceWorkerMLCEngine: typeof CreateMLCEngine;
export const ServiceWorkerMLCEngineHandler: typeof WebWorkerMLCEngineHandler;

export function hasModelInCache(modelId: string, appConfig?: AppConfig): Promise<boolean>;
export function deleteModelInCache(modelId: string, appConfig?: AppConfig): Promise<void>;
export function deleteModelAllInfoInCache(modelId: string, appConfig?: AppConfig): Promise<void>;
export function deleteChatConfigInCache(modelId: string, appConfig?: AppConfig): Promise<void>;
export function deleteModelWasmInCache(modelId: string, appConfig?: AppConfig): Promise<void>;
export const modelLibURLPrefix: string;
export const modelVersion: string;
