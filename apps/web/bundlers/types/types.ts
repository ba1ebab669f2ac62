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

const engine: webllm.MLCEngineInterface = await webllm.CreateMLCEngine('bonsai-1.7b', {
  initProgressCallback: (report: webllm.InitProgressReport) => console.log(report.text), logLevel: 'INFO',
}, {context_window_size: 2048});
const asked: Whole = {model: '', messages: [{role: 'user', content: 'List three US states.'}], n: 3, temperature: 1.5};
const reply: Chat = await engine.chat.completions.create(asked);
console.log(reply.usage?.prompt_tokens, await engine.getMessage());
