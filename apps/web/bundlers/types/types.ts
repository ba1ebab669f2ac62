// Programs that are written against OpenAI's types take what Tern gives, and Tern takes what they send.
import type OpenAI from 'openai';
import {Tern, TernError} from 'tern-web';

type Chat = OpenAI.Chat.Completions.ChatCompletion;
type Chunk = OpenAI.Chat.Completions.ChatCompletionChunk;
type Params = OpenAI.Chat.Completions.ChatCompletionCreateParams;
type Whole = OpenAI.Chat.Completions.ChatCompletionCreateParamsNonStreaming;
type Streaming = OpenAI.Chat.Completions.ChatCompletionCreateParamsStreaming;

const tern = await Tern.load('model.gguf', {backend: 'auto', onProgress: ({phase, loaded}) => console.log(phase, loaded)});

const body: Whole = {model: 'any', messages: [{role: 'user', content: 'Hello'}], temperature: null, max_tokens: 5};
const whole: Chat = await tern.chat.completions.create(body);
console.log(whole.choices[0]?.message.content, whole.usage?.total_tokens);

const streaming: Streaming = {...body, stream: true, stream_options: {include_usage: true}};
const chunks: AsyncIterable<Chunk> = await tern.chat.completions.create(streaming);
for await (const chunk of chunks) console.log(chunk.choices[0]?.delta.content ?? '', chunk.usage);

async function either(params: Params): Promise<Chat | AsyncIterable<Chunk>> {
  return tern.chat.completions.create(params);
}
console.log(await either(body));

const plain: OpenAI.Completions.Completion = await tern.completions.create({prompt: 'Once', stop: null, stream: false});
console.log(plain.choices[0]?.text);

for await (const piece of tern.generate('Once upon a time', {maxTokens: 3})) console.log(piece.length);
try {
  await tern.close();
} catch (error) {
  if (error instanceof TernError && error.code === 'busy') console.log(error.message);
}
// @ts-expect-error an option that does not exist
await Tern.load('model.gguf', {backends: 'cpu'});

// WebLLM's programs, with the import changed.
import * as webllm from 'tern-web/webllm';

class Zero implements webllm.LogitProcessor {
  processLogits(logits: Float32Array): Float32Array {
    logits[0] = 100;
    return logits;
  }

  processSampledToken(token: number): void {
    console.log(token);
  }

  resetState(): void {}
}

const record: webllm.ModelRecord = {model: 'https://huggingface.co/a/b', model_id: 'b', model_lib: '',
  model_type: webllm.ModelType.LLM, integrity: {config: 'sha256-x', onFailure: 'error'}};
const appConfig: webllm.AppConfig = {model_list: [...webllm.prebuiltAppConfig.model_list, record]};
const config: webllm.MLCEngineConfig = {
  appConfig, logLevel: 'INFO', logitProcessorRegistry: new Map<string, webllm.LogitProcessor>([['b', new Zero()]]),
  initProgressCallback: (report: webllm.InitProgressReport) => console.log(report.text),
};
const engine: webllm.MLCEngineInterface = await webllm.CreateMLCEngine('b', config, {context_window_size: 2048});
const tools: Array<webllm.ChatCompletionTool> = [{type: 'function', function: {name: 'f', parameters: {type: 'object'}}}];
const messages: webllm.ChatCompletionMessageParam[] = [{role: 'user', content: 'List three US states.'}];
const asked: webllm.ChatCompletionRequest = {messages, n: 3, temperature: 1.5, tools, tool_choice: 'auto',
  response_format: {type: 'json_object', schema: '{}'} as webllm.ResponseFormat, extra_body: {enable_thinking: false}};
async function show(request: webllm.ChatCompletionRequest) {
  if (!request.stream) {
    const reply = await engine.chat.completions.create(request);
    console.log(reply.choices[0]?.message.tool_calls?.[0]?.function.arguments, reply.usage?.extra.e2e_latency_s);
  } else {
    let last: webllm.ChatCompletionChunk | undefined;
    for await (const chunk of await engine.chat.completions.create(request)) last = chunk;
    console.log(last?.choices[0]?.delta.tool_calls);
  }
}
await show(asked);
const vectors: webllm.CreateEmbeddingResponse = await engine.embeddings.create({input: ['a', 'b']});
console.log(vectors.data[0]?.embedding.length, webllm.functionCallingModelIds.length, webllm.isValidSRI('a'));
const parts: webllm.CompletionCreateParamsStreaming = {prompt: 'Once', stream: true, logprobs: true};
for await (const part of await engine.completions.create(parts)) console.log(part.choices[0]?.text);
const handler = new webllm.WebWorkerMLCEngineHandler();
handler.setLogitProcessorRegistry(config.logitProcessorRegistry);
const extension: webllm.MLCEngineInterface = await webllm.CreateExtensionServiceWorkerMLCEngine('b');
try {
  await extension.reload('b');
} catch (error) {
  if (error instanceof webllm.IntegrityError) console.log(error.url, error.expected, error.actual);
}
