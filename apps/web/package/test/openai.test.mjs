// OpenAI's shapes.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {fakeWorkerEnv} from '../fakes/browser.mjs';
import {fakeEngine} from '../fakes/engine.mjs';
import {FakeServer, fakeGguf} from '../fakes/server.mjs';
import {loadTern} from '../lib/tern.js';

const kMessages = [{role: 'user', content: 'hi'}];

async function open(script) {
  const engine = fakeEngine(script);
  const tern = await loadTern(fakeWorkerEnv({server: new FakeServer(), engine}), fakeGguf(100));
  return {tern, engine, create: (body, options) => tern.chat.completions.create(body, options)};
}

function begun(engine) {
  return engine.state.calls.findLast(({method}) => method === 'begin').params;
}

test('a whole reply', async () => {
  const {create} = await open({reason: 'max_tokens'});
  const {id, created, ...rest} = await create({model: 'm', messages: kMessages});
  assert.match(id, /^chatcmpl-[0-9a-f]{24}$/);
  assert.ok(Math.abs(created - Date.now() / 1000) < 60);
  assert.deepEqual(rest, {
    object: 'chat.completion',
    model: 'm',
    system_fingerprint: null,
    choices: [{
      index: 0,
      message: {role: 'assistant', content: 'Once upon a time', refusal: null},
      logprobs: null,
      finish_reason: 'length',
    }],
    usage: {prompt_tokens: 1, completion_tokens: 4, total_tokens: 5, prompt_tokens_details: {cached_tokens: 1}},
  });
});

test('a streamed reply: a role, the text, the reason, the usage', async () => {
  const {create} = await open({});
  const chunks = [];
  for await (const chunk of await create({messages: kMessages, stream: true, stream_options: {include_usage: true}})) {
    chunks.push(chunk);
  }
  assert.equal(new Set(chunks.map(({id}) => id)).size, 1);
  assert.ok(chunks.every(({object}) => object === 'chat.completion.chunk'));
  assert.deepEqual(chunks[0].choices[0].delta, {role: 'assistant', content: ''});
  assert.equal(chunks.map(({choices}) => choices[0]?.delta.content ?? '').join(''), 'Once upon a time');
  assert.ok(chunks.slice(0, -2).every(({choices, usage}) => choices[0].finish_reason === null && usage === null));
  assert.deepEqual(chunks.at(-2).choices, [{index: 0, delta: {}, logprobs: null, finish_reason: 'stop'}]);
  assert.deepEqual(chunks.at(-1).choices, []);
  assert.equal(chunks.at(-1).usage.completion_tokens, 4);
});

test('without include_usage there is none', async () => {
  const {create} = await open({});
  for await (const chunk of await create({messages: kMessages, stream: true})) assert.ok(!('usage' in chunk));
});

test('leaving a stream ends the generation', async () => {
  const {tern, create} = await open({reply: Array(100_000).fill('x')});
  for await (const chunk of await create({messages: kMessages, stream: true})) {
    if (chunk.choices[0].delta.content) break;
  }
  assert.equal(tern.stats.finishReason, 'cancelled');
});

test('a plain completion', async () => {
  const {tern, engine} = await open({});
  const whole = await tern.completions.create({prompt: 'Once', max_tokens: 4});
  assert.match(whole.id, /^cmpl-/);
  assert.equal(whole.object, 'text_completion');
  assert.equal(whole.choices[0].text, 'Once upon a time');
  assert.equal(begun(engine).prompt, 'Once');
  let text = '';
  const stream = await tern.completions.create({prompt: [1, 2], stream: true});
  for await (const chunk of stream) text += chunk.choices[0].text;
  assert.equal(text, 'Once upon a time');
  assert.deepEqual(begun(engine).tokens, [1, 2]);
  await assert.rejects(tern.completions.create({prompt: ['a', 'b']}), {name: 'InvalidArgumentError'});
});

test('parameters get their names', async () => {
  const {create, engine} = await open({});
  await create({
    messages: [
      {role: 'developer', content: [{type: 'text', text: 'be '}, {type: 'text', text: 'brief'}]},
      ...kMessages,
    ],
    temperature: 0.1,
    top_p: 0.2,
    top_k: 3,
    min_p: 0.4,
    repeat_penalty: 1.5,
    max_completion_tokens: 6,
    seed: 7,
    stop: ['x'],
    n: 1,
    presence_penalty: 0,
    response_format: {type: 'text'},
    tools: [],
    user: 'u',
  });
  const params = begun(engine);
  assert.deepEqual(params.messages, [{role: 'system', content: 'be brief'}, ...kMessages]);
  const {temperature, topP, topK, minP, repeatPenalty, maxTokens, seed, stop} = params;
  assert.deepEqual([temperature, topP, topK, minP, repeatPenalty], [0.1, 0.2, 3, 0.4, 1.5]);
  assert.deepEqual([maxTokens, seed, stop], [6, 7, ['x']]);
});

test('what would change the reply and cannot be done is refused by name', async () => {
  const {create} = await open({});
  const cases = [
    [{n: 2}, 'NotSupportedError', /n 2 is not supported/],
    [{tools: [{}]}, 'NotSupportedError', /tools/],
    [{response_format: {type: 'json_object'}}, 'NotSupportedError', /response_format/],
    [{logprobs: true}, 'NotSupportedError', /logprobs/],
    [{presence_penalty: 1}, 'NotSupportedError', /presence_penalty/],
    [{messages: [{role: 'user', content: [{type: 'image_url'}]}]}, 'NotSupportedError', /image_url/],
    [{messages: []}, 'InvalidArgumentError', /messages/],
    [{banana: 1}, 'InvalidArgumentError', /banana/],
    [{temperature: -1}, 'InvalidArgumentError', /temperature/],
  ];
  for (const [body, name, message] of cases) {
    await assert.rejects(create({messages: kMessages, ...body}), {name, message});
  }
  await assert.rejects(create(undefined), {name: 'InvalidArgumentError'});
});

test('a model without a chat template says what it can do instead', async () => {
  const load = () => ({name: 'Stories', hasChatTemplate: false});
  const {create} = await open({on: {load}});
  await assert.rejects(create({messages: kMessages}), {name: 'NotSupportedError', message: /Stories.*pass a text/});
});

test('a signal stops it', async () => {
  const {create} = await open({});
  await assert.rejects(create({messages: kMessages}, {signal: AbortSignal.abort()}), {code: 'cancelled'});
});
