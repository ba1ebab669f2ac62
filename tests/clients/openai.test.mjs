// OpenAI's own client, unchanged, against `tern serve`:
//
//   npm install --prefix tests/clients && OPENAI_OPENAPI=openapi.yaml npm test --prefix tests/clients
import assert from 'node:assert/strict';
import {after, before, test} from 'node:test';

import OpenAI from 'openai';

import {openaiSchemas, startServer} from './server.mjs';

let server;
let client;
let check = () => {};
let hasSchemas = false;

before(async () => {
  server = await startServer('--api-key', 'secret');
  client = new OpenAI({baseURL: server.url, apiKey: 'secret', maxRetries: 0});
  const schemas = await openaiSchemas();
  hasSchemas = Boolean(schemas);
  if (schemas) check = schemas;
});

after(async () => {
  assert.equal(await server.stop(), 0);
});

test('the schemas are there', {skip: process.env.OPENAI_OPENAPI ? false : '$OPENAI_OPENAPI names no file'}, () => {
  assert.ok(hasSchemas);
  assert.throws(() => check('CreateChatCompletionResponse', {id: 1}));
});

const kMessages = [{role: 'user', content: 'Once upon a time there was a little'}];
const kGreedy = {model: 'tern-stories', messages: kMessages, temperature: 0, max_completion_tokens: 24};

test('models', async () => {
  const list = await client.models.list();
  assert.equal(list.data[0].id, 'tern-stories');
  check('ListModelsResponse', {object: 'list', data: list.data});
  check('Model', await client.models.retrieve('tern-stories'));
});

test('a chat, whole and streamed', async () => {
  const whole = await client.chat.completions.create(kGreedy);
  check('CreateChatCompletionResponse', whole);
  assert.equal(whole.choices[0].finish_reason, 'length');
  assert.equal(whole.usage.completion_tokens, 24);
  const stream = await client.chat.completions.create(
    {...kGreedy, stream: true, stream_options: {include_usage: true}});
  let text = '';
  let usage;
  for await (const chunk of stream) {
    check('CreateChatCompletionStreamResponse', chunk);
    text += chunk.choices[0]?.delta.content ?? '';
    usage = chunk.usage ?? usage;
  }
  assert.equal(text, whole.choices[0].message.content);
  assert.deepEqual({...usage, prompt_tokens_details: 0}, {...whole.usage, prompt_tokens_details: 0});
});

test('the stream helper puts the message together', async () => {
  const whole = await client.chat.completions.create(kGreedy);
  const stream = client.chat.completions.stream(kGreedy);
  assert.equal(await stream.finalContent(), whole.choices[0].message.content);
});

test('log probabilities, several choices, stops', async () => {
  const got = await client.chat.completions.create({...kGreedy, logprobs: true, top_logprobs: 3});
  check('CreateChatCompletionResponse', got);
  assert.equal(got.choices[0].logprobs.content.length, 24);
  assert.equal(got.choices[0].logprobs.content[0].top_logprobs.length, 3);
  const several = await client.chat.completions.create({...kGreedy, temperature: 0.9, n: 3, seed: 5, stop: ['.']});
  check('CreateChatCompletionResponse', several);
  assert.equal(several.choices.length, 3);
  assert.ok(several.choices.every(({message}) => !message.content.includes('.')));
});

test('a completion, whole and streamed', async () => {
  const params = {model: 'tern-stories', prompt: 'Once upon a time', max_tokens: 12, temperature: 0, logprobs: 2};
  const whole = await client.completions.create(params);
  check('CreateCompletionResponse', whole);
  let text = '';
  for await (const chunk of await client.completions.create({...params, stream: true})) {
    // The document knows only the last of a stream's reasons; OpenAI's servers send null before, as we do.
    const choices = chunk.choices.map((choice) => ({...choice, finish_reason: choice.finish_reason ?? 'stop'}));
    check('CreateCompletionResponse', {...chunk, choices});
    text += chunk.choices[0]?.text ?? '';
  }
  assert.equal(text, whole.choices[0].text);
});

test('errors are the ones that the client knows', async () => {
  await assert.rejects(client.chat.completions.create({...kGreedy, model: 'gpt-9'}), (error) => {
    assert.ok(error instanceof OpenAI.NotFoundError);
    assert.equal(error.code, 'model_not_found');
    return true;
  });
  await assert.rejects(client.chat.completions.create({...kGreedy, temperature: 'hot'}), (error) => {
    assert.ok(error instanceof OpenAI.BadRequestError);
    assert.equal(error.param, 'temperature');
    return true;
  });
  const stranger = new OpenAI({baseURL: server.url, apiKey: 'wrong', maxRetries: 0});
  await assert.rejects(stranger.models.list(), OpenAI.AuthenticationError);
});

test('a reply that nobody wants any more', async () => {
  const stream = await client.chat.completions.create({...kGreedy, max_completion_tokens: 400, stream: true});
  for await (const chunk of stream) {
    if (chunk.choices[0]?.delta.content) break;
  }
  assert.ok((await client.chat.completions.create(kGreedy)).choices[0].message.content);
});

test('vectors', async () => {
  const embedder = await startServer('--embedding');
  try {
    const other = new OpenAI({baseURL: embedder.url, apiKey: 'none', maxRetries: 0});
    const got = await other.embeddings.create({model: 'tern-stories', input: ['a dog', 'a cat']});
    assert.equal(got.data.length, 2);
    assert.equal(got.data[0].embedding.length, 512);
    const numbers = await other.embeddings.create({model: 'tern-stories', input: 'a dog', encoding_format: 'float'});
    check('CreateEmbeddingResponse', numbers);
    for (const [i, value] of numbers.data[0].embedding.entries()) {
      assert.ok(Math.abs(value - got.data[0].embedding[i]) < 1e-6);
    }
  } finally {
    assert.equal(await embedder.stop(), 0);
  }
});

const kResponse = {model: 'tern-stories', input: 'Once upon a time there was a little', temperature: 0,
  max_output_tokens: 24};

test('a response, whole and streamed', async () => {
  const whole = await client.responses.create(kResponse);
  check('Response', whole);
  assert.equal(whole.status, 'incomplete');
  const chat = await client.chat.completions.create(kGreedy);
  assert.equal(whole.output_text, chat.choices[0].message.content);
  let text = '';
  let last;
  let number = 0;
  for await (const event of await client.responses.create({...kResponse, stream: true})) {
    check('ResponseStreamEvent', event);
    assert.equal(event.sequence_number, number++);
    if (event.type === 'response.output_text.delta') text += event.delta;
    last = event;
  }
  assert.equal(text, whole.output_text);
  assert.equal(last.type, 'response.incomplete');
  assert.deepEqual(last.response.usage.output_tokens, 24);
});

test('a response to items, with instructions', async () => {
  const got = await client.responses.create({...kResponse, instructions: 'Once', input: [
    {role: 'user', content: 'upon a'},
    {type: 'message', role: 'assistant', content: [{type: 'output_text', text: 'time there was a', annotations: []}]},
    {role: 'user', content: [{type: 'input_text', text: 'little'}]},
  ]});
  check('Response', got);
  assert.equal(got.output_text, (await client.responses.create(kResponse)).output_text);
});
