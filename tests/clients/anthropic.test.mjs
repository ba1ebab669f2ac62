// Anthropic's own client, unchanged, against `tern serve`.
import assert from 'node:assert/strict';
import {after, before, test} from 'node:test';

import Anthropic from '@anthropic-ai/sdk';
import {zodOutputFormat} from '@anthropic-ai/sdk/helpers/zod';
import {z} from 'zod';

import {checkWeather, kStart, kWeather, startServer} from './server.mjs';

let server;
let client;

before(async () => {
  server = await startServer('--api-key', 'secret');
  client = new Anthropic({baseURL: server.root, apiKey: 'secret', maxRetries: 0});
});

after(async () => {
  assert.equal(await server.stop(), 0);
});

const kGreedy = {
  model: 'tern-stories', max_tokens: 24, temperature: 0, messages: [{role: 'user', content: kStart}],
};
const kTools = [{name: 'weather', description: 'The weather of a place', input_schema: kWeather}];

test('a message, whole and streamed', async () => {
  const whole = await client.messages.create(kGreedy);
  assert.equal(whole.stop_reason, 'max_tokens');
  assert.equal(whole.usage.output_tokens, 24);
  assert.equal(whole.content[0].type, 'text');
  const stream = client.messages.stream(kGreedy);
  let text = '';
  stream.on('text', (piece) => {
    text += piece;
  });
  const streamed = await stream.finalMessage();
  assert.equal(text, whole.content[0].text);
  assert.deepEqual(streamed.content, whole.content);
  assert.equal(streamed.stop_reason, whole.stop_reason);
  assert.equal(streamed.usage.output_tokens, 24);
});

test('a system prompt, a stop and the beginning of the reply', async () => {
  const whole = await client.messages.create(kGreedy);
  const split = await client.messages.create({...kGreedy, system: 'Once upon', messages: [
    {role: 'user', content: [{type: 'text', text: 'a time there was a little'}]}]});
  assert.deepEqual(split.content, whole.content);
  const stopped = await client.messages.create({...kGreedy, max_tokens: 200, stop_sequences: ['.']});
  assert.equal(stopped.stop_reason, 'stop_sequence');
  assert.equal(stopped.stop_sequence, '.');
  const begun = await client.messages.create({...kGreedy, messages: [
    ...kGreedy.messages, {role: 'assistant', content: whole.content[0].text.trim()}]});
  assert.ok(begun.content[0].text);
  assert.notEqual(begun.content[0].text, whole.content[0].text);
});

test('a call and its result, whole and streamed', async () => {
  for (const toolChoice of [{type: 'any'}, {type: 'tool', name: 'weather'}]) {
    const params = {...kGreedy, max_tokens: 100, tools: kTools, tool_choice: toolChoice};
    const whole = await client.messages.create(params);
    assert.equal(whole.stop_reason, 'tool_use');
    const [call] = whole.content.filter(({type}) => type === 'tool_use');
    assert.equal(call.name, 'weather');
    checkWeather(call.input);
    const streamed = await client.messages.stream(params).finalMessage();
    const [again] = streamed.content.filter(({type}) => type === 'tool_use');
    assert.deepEqual({...again, id: ''}, {...call, id: ''});
    assert.equal(streamed.stop_reason, 'tool_use');
    const reply = await client.messages.create({...kGreedy, tools: kTools, tool_choice: {type: 'none'}, messages: [
      ...kGreedy.messages, {role: 'assistant', content: whole.content},
      {role: 'user', content: [{type: 'tool_result', tool_use_id: call.id, content: 'It rains.'}]}]});
    assert.ok(reply.content[0].text);
  }
});

test('a reply by a schema', async () => {
  const params = {...kGreedy, max_tokens: 100, output_config: {format: {type: 'json_schema', schema: kWeather}}};
  checkWeather(JSON.parse((await client.messages.create(params)).content[0].text));
  const format = zodOutputFormat(z.object({rains: z.boolean(), cold: z.boolean()}));
  const parsed = await client.messages.parse({...params, output_config: {format}});
  assert.deepEqual(Object.values(parsed.parsed_output).map((value) => typeof value), ['boolean', 'boolean']);
  const streamed = await client.messages.stream({...params, output_config: {format}}).finalMessage();
  assert.deepEqual(streamed.parsed_output, parsed.parsed_output);
});

test('tokens are counted', async () => {
  const {messages, model} = kGreedy;
  const {input_tokens: counted} = await client.messages.countTokens({messages, model});
  assert.equal(counted, (await client.messages.create(kGreedy)).usage.input_tokens);
});

test('errors are the ones that the client knows', async () => {
  await assert.rejects(client.messages.create({...kGreedy, model: 'claude-9'}), Anthropic.NotFoundError);
  await assert.rejects(client.messages.create({...kGreedy, temperature: 'hot'}), (error) => {
    assert.ok(error instanceof Anthropic.BadRequestError);
    assert.equal(error.error.error.type, 'invalid_request_error');
    assert.match(error.message, /temperature/);
    return true;
  });
  const stream = client.messages.stream({...kGreedy, temperature: 'hot'});
  await assert.rejects(stream.finalMessage(), Anthropic.BadRequestError);
  const stranger = new Anthropic({baseURL: server.root, apiKey: 'wrong', maxRetries: 0});
  await assert.rejects(stranger.messages.create(kGreedy), Anthropic.AuthenticationError);
});
