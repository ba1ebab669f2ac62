// Ollama's own client, unchanged, against `tern serve`.
import assert from 'node:assert/strict';
import {after, before, test} from 'node:test';

import {Ollama} from 'ollama';

import {checkWeather, joined, kStart, kWeather, startServer} from './server.mjs';

let server;
let client;

before(async () => {
  server = await startServer();
  client = new Ollama({host: server.root});
});

after(async () => {
  assert.equal(await server.stop(), 0);
});

const kGreedy = {
  model: 'tern-stories', messages: [{role: 'user', content: kStart}], options: {temperature: 0, num_predict: 24},
};
const kLong = {...kGreedy, options: {temperature: 0, num_predict: 100}};
const kTool = {name: 'weather', description: 'The weather of a place', parameters: kWeather};
const kTools = [{type: 'function', function: kTool}];

test('models', async () => {
  const {models} = await client.list();
  assert.equal(models[0].model, 'tern-stories');
  assert.ok((await client.show({model: 'tern-stories'})).capabilities.includes('completion'));
  assert.ok((await client.show({model: 'tern-stories:latest'})).capabilities.includes('completion'));
  assert.equal((await client.ps()).models.length, 1);
  assert.ok((await client.version()).version);
});

test('a chat, whole and streamed', async () => {
  const whole = await client.chat(kGreedy);
  assert.equal(whole.done_reason, 'length');
  assert.equal(whole.eval_count, 24);
  const text = await joined(await client.chat({...kGreedy, stream: true}), ({message}) => message.content);
  assert.equal(text, whole.message.content);
});

test('a text that goes on, whole and streamed', async () => {
  const params = {model: 'tern-stories', prompt: kStart, options: kGreedy.options};
  const whole = await client.generate(params);
  assert.equal(whole.response, (await client.chat(kGreedy)).message.content);
  const text = await joined(await client.generate({...params, stream: true}), ({response}) => response);
  assert.equal(text, whole.response);
});

test('a call and its result, whole and streamed', async () => {
  // Ollama's API forces no calls. The client passes on what it does not know.
  const params = {...kLong, tools: kTools, tool_choice: 'required'};
  const {message} = await client.chat(params);
  assert.equal(message.tool_calls.length, 1);
  assert.equal(message.tool_calls[0].function.name, 'weather');
  checkWeather(message.tool_calls[0].function.arguments);
  const streamed = [];
  for await (const part of await client.chat({...params, stream: true})) {
    streamed.push(...part.message.tool_calls ?? []);
  }
  assert.deepEqual(streamed.map((call) => call.function), message.tool_calls.map((call) => call.function));
  const later = await client.chat({...kGreedy, tools: kTools, messages: [
    ...kGreedy.messages, message, {role: 'tool', tool_name: 'weather', content: 'It rains.'}]});
  assert.ok(later.message.content);
});

test('a reply by a schema, and any JSON', async () => {
  checkWeather(JSON.parse((await client.chat({...kLong, format: kWeather})).message.content));
  const {response} = await client.generate(
    {model: 'tern-stories', prompt: kStart, format: kWeather, options: kLong.options});
  checkWeather(JSON.parse(response));
});

test('errors are the ones that the client knows', async () => {
  const isError = (status) => (error) => {
    assert.equal(error.name, 'ResponseError');
    assert.equal(error.status_code, status);
    return true;
  };
  await assert.rejects(client.chat({...kGreedy, model: 'llama9'}), isError(404));
  await assert.rejects(client.chat({...kGreedy, options: {temperature: 'hot'}}), isError(400));
  await assert.rejects(client.chat({...kGreedy, options: {temperature: 'hot'}, stream: true}), isError(400));
  await assert.rejects(client.embed({model: 'tern-stories', input: 'a dog'}), isError(501));
});

test('a reply that the client breaks off', async () => {
  const stream = await client.chat({...kGreedy, options: {temperature: 0, num_predict: 400}, stream: true});
  await assert.rejects(async () => {
    for await (const part of stream) if (part.message.content) stream.abort();
  }, {name: 'AbortError'});
  assert.ok((await client.chat(kGreedy)).message.content);
});

test('vectors', async () => {
  const embedder = await startServer('--embedding');
  try {
    const other = new Ollama({host: embedder.root});
    const {embeddings} = await other.embed({model: 'tern-stories', input: ['a dog', 'a cat']});
    assert.deepEqual(embeddings.map((vector) => vector.length), [512, 512]);
    const short = await other.embed({model: 'tern-stories', input: 'a dog', dimensions: 64});
    assert.equal(short.embeddings[0].length, 64);
    const {embedding} = await other.embeddings({model: 'tern-stories', prompt: 'a dog'});
    assert.equal(embedding.length, 512);
  } finally {
    assert.equal(await embedder.stop(), 0);
  }
});
