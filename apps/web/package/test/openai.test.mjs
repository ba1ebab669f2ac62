// OpenAI's shapes.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {fakeWorkerEnv} from '../fakes/browser.mjs';
import {fakeEngine} from '../fakes/engine.mjs';
import {FakeServer, fakeGguf} from '../fakes/server.mjs';
import {loadTern} from '../lib/tern.js';

const kMessages = [{role: 'user', content: 'hi'}];

async function open(script, options) {
  const engine = fakeEngine(script);
  const tern = await loadTern(fakeWorkerEnv({server: new FakeServer(), engine}), fakeGguf(100), options);
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
    presence_penalty: 0.5,
    frequency_penalty: -1,
    dry_multiplier: 0.8,
    typical_p: 0.5,
    mirostat_tau: 3,
    samplers: ['top_k', 'temperature'],
    min_tokens: 2,
    logit_bias: {50: -100},
    response_format: {type: 'text'},
    tools: [],
    user: 'u',
  });
  const params = begun(engine);
  assert.deepEqual(params.messages, [{role: 'system', content: 'be brief'}, ...kMessages]);
  const {temperature, topP, topK, minP, repeatPenalty, maxTokens, seed, stop} = params;
  assert.deepEqual([temperature, topP, topK, minP, repeatPenalty], [0.1, 0.2, 3, 0.4, 1.5]);
  assert.deepEqual([maxTokens, seed, stop], [6, 7, ['x']]);
  assert.deepEqual([params.presencePenalty, params.frequencyPenalty, params.logitBias], [0.5, -1, [[50, -100]]]);
  assert.deepEqual([params.dryMultiplier, params.typicalP, params.mirostatTau, params.samplers, params.minTokens],
    [0.8, 0.5, 3, 'top_k;temperature', 2]);
});

test('what would change the reply and cannot be done is refused by name', async () => {
  const {create} = await open({});
  const cases = [
    [{n: 0}, 'InvalidArgumentError', /n is a whole number/],
    [{n: 1.5}, 'InvalidArgumentError', /n is a whole number/],
    [{functions: [{}]}, 'NotSupportedError', /functions/],
    [{tools: {}}, 'InvalidArgumentError', /tools: {} is not a list/],
    [{tool_choice: 3}, 'InvalidArgumentError', /tool_choice is auto/],
    [{response_format: {type: 'xml'}}, 'NotSupportedError', /response_format "xml"/],
    [{response_format: {type: 'json_schema'}}, 'InvalidArgumentError', /json_schema.schema is missing/],
    [{response_format: {type: 'json_object'}, regex: 'a'}, 'InvalidArgumentError', /regex and json are given/],
    [{json_schema: []}, 'InvalidArgumentError', /jsonSchema/],
    [{logprobs: 3}, 'InvalidArgumentError', /logprobs is true or false/],
    [{top_logprobs: 3}, 'InvalidArgumentError', /needs logprobs/],
    [{logprobs: true, top_logprobs: 21}, 'InvalidArgumentError', /from 0 to 20/],
    [{presence_penalty: 'much'}, 'InvalidArgumentError', /presencePenalty/],
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

test('several choices, each with a seed of its own', async () => {
  const {create, engine} = await open({});
  const whole = await create({messages: kMessages, n: 3, seed: 7});
  assert.deepEqual(whole.choices.map(({index, message}) => [index, message.content]),
    [0, 1, 2].map((i) => [i, 'Once upon a time']));
  assert.deepEqual(whole.usage, {prompt_tokens: 1, completion_tokens: 12, total_tokens: 13,
    prompt_tokens_details: {cached_tokens: 1}});
  const seeds = engine.state.calls.filter(({method}) => method === 'begin').map(({params}) => params.seed);
  assert.deepEqual(seeds, [7, 8, 9]);
  const texts = ['', ''];
  for await (const {choices: [choice]} of await create({messages: kMessages, n: 2, stream: true})) {
    texts[choice.index] += choice.delta.content ?? '';
  }
  assert.deepEqual(texts, ['Once upon a time', 'Once upon a time']);
});

test('log probabilities, in a chat and of a text, whole and streamed', async () => {
  const {tern, create} = await open({});
  const shown = (token, logprob) => ({token: `<${token}>`, logprob, bytes: [60, token, 62]});
  const expected = [101, 102, 103].map((token) => ({...shown(token, -0.5),
    top_logprobs: [shown(token, -0.5), shown(token + 1, -1.5)]}));
  const chat = {messages: kMessages, logprobs: true, top_logprobs: 2};
  assert.deepEqual((await create(chat)).choices[0].logprobs, {content: expected, refusal: null});
  const streamed = [];
  for await (const {choices: [{logprobs}]} of await create({...chat, stream: true})) {
    streamed.push(...logprobs?.content ?? []);
  }
  assert.deepEqual(streamed, expected);
  const plain = await tern.completions.create({prompt: 'x', logprobs: 1});
  assert.deepEqual(plain.choices[0].logprobs, {
    tokens: ['<101>', '<102>', '<103>'], token_logprobs: [-0.5, -0.5, -0.5],
    top_logprobs: [{'<101>': -0.5}, {'<102>': -0.5}, {'<103>': -0.5}], text_offset: [0, 5, 10],
  });
  assert.equal((await create({messages: kMessages, logprobs: false})).choices[0].logprobs, null);
});

test('embeddings', async () => {
  const {tern} = await open({}, {embeddings: true});
  const made = await tern.embeddings.create({model: 'm', input: ['abc', 'de']});
  assert.deepEqual(made, {
    object: 'list', model: 'm', usage: {prompt_tokens: 5, total_tokens: 5},
    data: [0, 1].map((index) => ({object: 'embedding', index, embedding: [0.5, -0.5]})),
  });
  const {data: [one]} = await tern.embeddings.create({input: [1, 2, 3], encoding_format: 'base64'});
  assert.equal(one.embedding, Buffer.from(new Float32Array([0.5, -0.5]).buffer).toString('base64'));
  await assert.rejects(tern.embeddings.create({input: []}), {name: 'InvalidArgumentError'});
  await assert.rejects(tern.embeddings.create({input: ['a', 1]}), {name: 'InvalidArgumentError'});
  await assert.rejects(tern.embeddings.create({input: 'a', dimensions: 1}), {name: 'NotSupportedError'});
  await assert.rejects(tern.embeddings.create({input: 'a', banana: 1}), /banana/);
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
