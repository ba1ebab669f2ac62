// Vercel's AI SDK, unchanged, against `tern serve`: by OpenAI's API and by Anthropic's.
import assert from 'node:assert/strict';
import {after, before, describe, test} from 'node:test';

import {createAnthropic} from '@ai-sdk/anthropic';
import {createOpenAICompatible} from '@ai-sdk/openai-compatible';
import {
  APICallError, embed, embedMany, generateText, jsonSchema, Output, stepCountIs, streamText, tool,
} from 'ai';
import {z} from 'zod';

import {checkWeather, joined, kStart, kWeather, startServer} from './server.mjs';

let server;
const models = {};

before(async () => {
  server = await startServer('--api-key', 'secret');
  const options = {baseURL: server.url, apiKey: 'secret'};
  models.OpenAI = createOpenAICompatible(
    {...options, name: 'tern', includeUsage: true, supportsStructuredOutputs: true})('tern-stories');
  models.Anthropic = createAnthropic(options)('tern-stories');
});

after(async () => {
  assert.equal(await server.stop(), 0);
});

const kAsked = {prompt: kStart, temperature: 0, maxOutputTokens: 24, maxRetries: 0};
const kLong = {...kAsked, maxOutputTokens: 200};

for (const api of ['OpenAI', 'Anthropic']) {
  describe(`the AI SDK by ${api}'s API`, () => {
    test('a text, whole and streamed', async () => {
      const whole = await generateText({...kAsked, model: models[api]});
      assert.equal(whole.finishReason, 'length');
      assert.equal(whole.usage.outputTokens, 24);
      const stream = streamText({...kAsked, model: models[api]});
      assert.equal(await joined(stream.textStream), whole.text);
      assert.equal((await stream.usage).outputTokens, 24);
    });

    test('a call, its result and the next turn, whole and streamed', async () => {
      const asked = [];
      const execute = (input) => {
        asked.push(input);
        return {degrees: 21};
      };
      const weather = tool({description: 'The weather of a place', inputSchema: jsonSchema(kWeather), execute});
      // The first step has to be a call, and the second one must not.
      const params = {...kLong, model: models[api], tools: {weather}, toolChoice: 'required',
        stopWhen: stepCountIs(2), prepareStep: ({stepNumber}) => stepNumber ? {toolChoice: 'none'} : {}};
      const whole = await generateText(params);
      assert.equal(whole.steps[0].finishReason, 'tool-calls');
      assert.equal(whole.steps[0].toolCalls[0].toolName, 'weather');
      assert.deepEqual(whole.steps[0].toolResults[0].output, {degrees: 21});
      assert.ok(whole.text);
      const stream = streamText(params);
      assert.equal(await joined(stream.textStream), whole.text);
      assert.equal(asked.length, 2);
      asked.forEach(checkWeather);
      assert.deepEqual(asked[1], asked[0]);
    });

    test('a call of a certain tool among two', async () => {
      const tools = {now: tool({inputSchema: z.object({})}), weather: tool({inputSchema: jsonSchema(kWeather)})};
      const toolChoice = {type: 'tool', toolName: 'weather'};
      const {toolCalls} = await generateText({...kLong, model: models[api], tools, toolChoice});
      assert.deepEqual(toolCalls.map(({toolName}) => toolName), ['weather']);
      checkWeather(toolCalls[0].input);
    });

    test('objects by schemas of zod', async () => {
      const schemas = {
        weather: z.object({place: z.enum(['Rome', 'Oslo']), days: z.int().min(1).max(9)}),
        records: z.object({
          ages: z.record(z.enum(['Tom', 'Anna']), z.int().min(0).max(99)),
          homes: z.partialRecord(z.enum(['cat', 'dog']), z.boolean())}),
        open: z.object({ages: z.record(z.string().regex(/^[abc]$/), z.int().min(0).max(9))}),
        address: z.object({address: z.url().max(30)}),
        day: z.object({day: z.iso.date()}),
        others: z.object({maybe: z.string().max(4).nullable(), pair: z.tuple([z.boolean(), z.literal('end')]),
          many: z.array(z.enum(['x', 'y'])).min(1).max(3)}),
        union: z.object({one: z.discriminatedUnion('kind', [
          z.object({kind: z.literal('a'), x: z.number().min(0).max(9)}),
          z.object({kind: z.literal('b'), y: z.boolean()})])}),
      };
      for (const [name, schema] of Object.entries(schemas)) {
        const params = {...kLong, model: models[api], output: Output.object({schema})};
        const whole = await generateText(params);
        assert.deepEqual(schema.parse(whole.output), whole.output, name);
        const stream = streamText(params);
        assert.deepEqual(JSON.parse(await joined(stream.textStream)), whole.output, name);
        assert.deepEqual(await stream.output, whole.output, name);
      }
    });

    test('errors are the ones that the client knows', async () => {
      const isError = (error) => {
        assert.ok(APICallError.isInstance(error), `${error}`);
        assert.equal(error.statusCode, 400);
        assert.match(error.message, /top_p/);
        assert.ok(!error.isRetryable);
        return true;
      };
      await assert.rejects(generateText({...kAsked, model: models[api], topP: 7}), isError);
      let streamed;
      const stream = streamText({...kAsked, model: models[api], topP: 7, onError: ({error}) => {
        streamed = error;
      }});
      await joined(stream.textStream);
      assert.ok(isError(streamed));
    });
  });
}

test('vectors', async () => {
  const embedder = await startServer('--embedding');
  try {
    const model = createOpenAICompatible({name: 'tern', baseURL: embedder.url}).embeddingModel('tern-stories');
    const {embeddings} = await embedMany({model, values: ['a dog', 'a cat']});
    assert.deepEqual(embeddings.map((vector) => vector.length), [512, 512]);
    const {embedding} = await embed({model, value: 'a dog', providerOptions: {openaiCompatible: {dimensions: 64}}});
    assert.equal(embedding.length, 64);
  } finally {
    assert.equal(await embedder.stop(), 0);
  }
});
