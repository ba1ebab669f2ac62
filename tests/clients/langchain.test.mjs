// LangChain.js, unchanged, against `tern serve`: by the APIs of OpenAI, Anthropic and Ollama.
import assert from 'node:assert/strict';
import {after, before, describe, test} from 'node:test';

import {ChatAnthropic} from '@langchain/anthropic';
import {AIMessageChunk, HumanMessage, ToolMessage} from '@langchain/core/messages';
import {tool} from '@langchain/core/tools';
import {ChatOllama, OllamaEmbeddings} from '@langchain/ollama';
import {ChatOpenAI, OpenAIEmbeddings} from '@langchain/openai';
import {z} from 'zod';

import {checkWeather, joined, kStart, kWeather, startServer} from './server.mjs';

let server;

before(async () => {
  server = await startServer();
});

after(async () => {
  assert.equal(await server.stop(), 0);
});

const kShared = {model: 'tern-stories', temperature: 0, maxRetries: 0};
const kClients = {
  'OpenAI (chat)': (options) => new ChatOpenAI(
    {...kShared, apiKey: 'none', configuration: {baseURL: server.url}, maxTokens: options.most, topP: options.topP}),
  'OpenAI (responses)': (options) => new ChatOpenAI({...kShared, apiKey: 'none', configuration: {baseURL: server.url},
    useResponsesApi: true, maxTokens: options.most, topP: options.topP}),
  'Anthropic': (options) => new ChatAnthropic(
    {...kShared, apiKey: 'none', anthropicApiUrl: server.root, maxTokens: options.most, topP: options.topP}),
  'Ollama': (options) => new ChatOllama(
    {...kShared, baseUrl: server.root, numPredict: options.most, topP: options.topP}),
};
// To Anthropic's API the client sends what its schemas demand of values as descriptions, unless they are a function's.
const methodOf = (api) => api === 'Anthropic' ? 'functionCalling' : 'jsonSchema';
const weather = tool(() => 'It rains.', {name: 'weather', description: 'The weather of a place', schema: kWeather});

for (const [api, make] of Object.entries(kClients)) {
  describe(`LangChain by ${api}`, () => {
    test('a message, whole and streamed', async () => {
      const whole = await make({most: 24}).invoke(kStart);
      assert.equal(whole.usage_metadata.output_tokens, 24);
      assert.equal(await joined(await make({most: 24}).stream(kStart), ({text}) => text), whole.text);
    });

    // Ollama's API forces no calls.
    if (api !== 'Ollama') test('a call, its result and the next turn', async () => {
      const model = make({most: 100});
      const forced = model.bindTools([weather], {tool_choice: 'weather'});
      const messages = [new HumanMessage(kStart)];
      const whole = await forced.invoke(messages);
      assert.equal(whole.tool_calls.length, 1);
      assert.equal(whole.tool_calls[0].name, 'weather');
      checkWeather(whole.tool_calls[0].args);
      let streamed = new AIMessageChunk('');
      for await (const part of await forced.stream(messages)) streamed = streamed.concat(part);
      assert.deepEqual(streamed.tool_calls.map(({args}) => args), [whole.tool_calls[0].args]);
      const result = await weather.invoke(whole.tool_calls[0]);
      assert.ok(result instanceof ToolMessage);
      const reply = await model.bindTools([weather], {tool_choice: 'none'}).invoke([...messages, whole, result]);
      assert.ok(reply.text);
      assert.deepEqual(reply.tool_calls, []);
    });

    test('objects by schemas of zod', async () => {
      const schemas = [
        z.object({place: z.enum(['Rome', 'Oslo']), days: z.int().min(1).max(9)}),
        z.object({ages: z.record(z.string().regex(/^[abc]$/), z.int().min(0).max(9))}),
        z.object({address: z.url().max(30)}),
      ];
      for (const schema of schemas) {
        const object = await make({most: 200}).withStructuredOutput(schema, {method: methodOf(api)}).invoke(kStart);
        assert.deepEqual(schema.parse(object), object);
      }
    });

    test('errors are the ones that the client knows', async () => {
      await assert.rejects(make({most: 24, topP: 7}).invoke(kStart), (error) => {
        assert.equal(error.status ?? error.status_code, 400, `${error}`);
        assert.match(error.message, /top_p/);
        return true;
      });
    });
  });
}

test('vectors', async () => {
  const embedder = await startServer('--embedding');
  try {
    const shared = {model: 'tern-stories', apiKey: 'none', configuration: {baseURL: embedder.url}};
    const vectors = await new OpenAIEmbeddings(shared).embedDocuments(['a dog', 'a cat']);
    assert.deepEqual(vectors.map((vector) => vector.length), [512, 512]);
    assert.equal((await new OpenAIEmbeddings({...shared, dimensions: 64}).embedQuery('a dog')).length, 64);
    const ollama = new OllamaEmbeddings({model: 'tern-stories', baseUrl: embedder.root, dimensions: 64});
    assert.equal((await ollama.embedQuery('a dog')).length, 64);
  } finally {
    assert.equal(await embedder.stop(), 0);
  }
});
