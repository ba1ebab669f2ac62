// OpenAI's own client, unchanged, against `tern serve`. With OpenAI's published description, answers are checked
// against it:
//
//   npm ci --prefix tests/clients && OPENAI_OPENAPI=openapi.yaml npm test --prefix tests/clients
import assert from 'node:assert/strict';
import {after, before, test} from 'node:test';

import OpenAI from 'openai';
import {zodFunction, zodResponseFormat, zodTextFormat} from 'openai/helpers/zod';
import {z} from 'zod';

import {checkWeather, kStart, kWeather, openaiSchemas, startServer} from './server.mjs';

let server;
let client;
let check = () => {};

before(async () => {
  server = await startServer('--api-key', 'secret');
  client = new OpenAI({baseURL: server.url, apiKey: 'secret', maxRetries: 0});
  const schemas = await openaiSchemas();
  if (schemas) check = schemas;
});

after(async () => {
  assert.equal(await server.stop(), 0);
});

if (process.env.OPENAI_OPENAPI) {
  test('a wrong answer is seen', () => {
    assert.throws(() => check('CreateChatCompletionResponse', {id: 1}));
  });
}

const kMessages = [{role: 'user', content: kStart}];
const kGreedy = {model: 'tern-stories', messages: kMessages, temperature: 0, max_completion_tokens: 24};

const kResponse = {model: 'tern-stories', input: kStart, temperature: 0, max_output_tokens: 24};

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

const kTool = {name: 'weather', description: 'The weather of a place', parameters: kWeather, strict: true};

test('a call and its result, whole and streamed', async () => {
  const tools = [{type: 'function', function: kTool}];
  for (const toolChoice of ['required', {type: 'function', function: {name: 'weather'}}]) {
    const params = {...kGreedy, max_completion_tokens: 100, tools, tool_choice: toolChoice, parallel_tool_calls: false};
    const {message} = (await client.chat.completions.create(params)).choices[0];
    const [call] = message.tool_calls;
    assert.equal(call.function.name, 'weather');
    checkWeather(JSON.parse(call.function.arguments));
    const streamed = await client.chat.completions.stream(params).finalMessage();
    assert.deepEqual(JSON.parse(streamed.tool_calls[0].function.arguments), JSON.parse(call.function.arguments));
    const reply = await client.chat.completions.create({...kGreedy, tools, tool_choice: 'none', messages: [
      ...kMessages, message, {role: 'tool', tool_call_id: call.id, content: 'It rains.'}]});
    assert.ok(reply.choices[0].message.content);
  }
});

test('the helper runs tools', async () => {
  const asked = [];
  const parameters = z.object({place: z.enum(['Rome', 'Oslo']), days: z.int().min(1).max(9)});
  const weather = (input) => {
    asked.push(input);
    runner.abort();  // the model would go on to call it
    return 'It rains.';
  };
  const runner = client.chat.completions.runTools({...kGreedy, max_completion_tokens: 100, tool_choice: 'required',
    tools: [zodFunction({name: 'weather', parameters, function: weather})]});
  await assert.rejects(runner.done(), OpenAI.APIUserAbortError);
  assert.equal(asked.length, 1);
  checkWeather(asked[0]);
});

test('a call in a response, and its result', async () => {
  const params = {...kResponse, max_output_tokens: 100, tools: [{type: 'function', ...kTool}], tool_choice: 'required'};
  const whole = await client.responses.create(params);
  const call = whole.output.find(({type}) => type === 'function_call');
  checkWeather(JSON.parse(call.arguments));
  const streamed = await client.responses.stream(params).finalResponse();
  assert.equal(streamed.output.find(({type}) => type === 'function_call').arguments, call.arguments);
  const reply = await client.responses.create({...kResponse, previous_response_id: whole.id, tools: params.tools,
    tool_choice: 'none', input: [{type: 'function_call_output', call_id: call.call_id, output: 'It rains.'}]});
  assert.ok(reply.output_text);
});

test('objects by schemas of zod', async () => {
  const long = {...kGreedy, max_completion_tokens: 200};
  const schemas = {
    addresses: z.object({address: z.url().max(30)}),
    others: z.object({day: z.iso.date(), kind: z.enum(['a', 'b']), some: z.array(z.boolean()).min(1).max(3)}),
  };
  for (const [name, schema] of Object.entries(schemas)) {
    const format = zodResponseFormat(schema, name);
    const params = {...long, response_format: format};
    const {parsed, content} = (await client.chat.completions.parse(params)).choices[0].message;
    assert.deepEqual(schema.parse(parsed), JSON.parse(content), name);
    const stream = client.chat.completions.stream(params);
    assert.equal(await stream.finalContent(), content, name);
    const response = await client.responses.parse(
      {...kResponse, max_output_tokens: 200, text: {format: zodTextFormat(schema, name)}});
    assert.deepEqual(response.output_parsed, parsed, name);
  }
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
    const short = await other.embeddings.create({model: 'tern-stories', input: 'a dog', dimensions: 64});
    assert.equal(short.data[0].embedding.length, 64);
  } finally {
    assert.equal(await embedder.stop(), 0);
  }
});

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
