// WebLLM's interface: what its programs do.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {fakeWorkerEnv} from '../fakes/browser.mjs';
import {fakeEngine} from '../fakes/engine.mjs';
import {FakeServer, fakeGguf} from '../fakes/server.mjs';
import {makeWebLlm, prebuiltAppConfig} from '../lib/webllm.js';
import {StoredModels} from '../lib/model_store.js';
import {loadTern} from '../lib/tern.js';

const kMessages = [{role: 'system', content: 'Be brief.'}, {role: 'user', content: 'hi'}];
const kUrl = 'https://page.example/m.gguf';
const overrides = {context_window_size: 64, temperature: 0.3};
const appConfig = {model_list: [{model: kUrl, model_id: 'mine', overrides}]};

function setUp(script) {
  const engine = fakeEngine(script);
  const server = new FakeServer();
  server.put(kUrl, fakeGguf(5000));
  const env = fakeWorkerEnv({server, engine});
  const loads = [];
  const Tern = {models: new StoredModels(env), load: (source, options) => {
    loads.push({source, options});
    return loadTern(env, source, options);
  }};
  return {engine, loads, webllm: makeWebLlm(Tern)};
}

test('a conversation of two rounds', async () => {
  const {engine, webllm} = setUp();
  const reports = [];
  const mlc = await webllm.CreateMLCEngine('mine', {appConfig, initProgressCallback: (report) => reports.push(report)});
  assert.equal(reports.at(-1).progress, 1);
  assert.ok(reports.every(({progress, text, timeElapsed}) => progress <= 1 && text && timeElapsed >= 0));
  const messages = [...kMessages];
  const reply = await mlc.chat.completions.create({stream: false, messages});
  assert.equal(reply.object, 'chat.completion');
  assert.deepEqual(reply.choices[0].message, {role: 'assistant', content: 'Once upon a time', refusal: null});
  assert.equal(reply.choices[0].finish_reason, 'stop');
  assert.equal(reply.usage.completion_tokens, 4);
  assert.equal(reply.usage.extra.decode_tokens_per_s, 10);
  assert.equal(await mlc.getMessage(), 'Once upon a time');
  messages.push({role: 'assistant', content: await mlc.getMessage()}, {role: 'user', content: 'more'});
  await mlc.chat.completions.create({messages, temperature: 0});
  const begun = engine.state.calls.filter(({method}) => method === 'begin').map(({params}) => params);
  assert.deepEqual(begun.map(({temperature}) => temperature), [0.3, 0]);
  assert.equal(begun[1].messages.length, 4);
  assert.equal(engine.state.calls.find(({method}) => method === 'load').params.nCtx, 64);
  assert.match(await mlc.runtimeStatsText(), /prefill: 6.0000 tokens\/sec, decoding: 10.0000/);
  await mlc.unload();
  await assert.rejects(mlc.chat.completions.create({messages}), {name: 'InvalidArgumentError', message: /reload/});
});

test('a stream, with usage where it is asked for', async () => {
  const {webllm} = setUp();
  const mlc = new webllm.MLCEngine({appConfig});
  await mlc.reload('mine');
  for (const wanted of [true, false]) {
    let text = '';
    let usage = null;
    const request = {stream: true, messages: kMessages, ...(wanted ? {stream_options: {include_usage: true}} : {})};
    for await (const chunk of await mlc.chat.completions.create(request)) {
      assert.equal(chunk.object, 'chat.completion.chunk');
      text += chunk.choices[0]?.delta?.content || '';
      usage = chunk.usage ?? usage;
    }
    assert.equal(text, 'Once upon a time');
    assert.equal(usage !== null, wanted);
  }
});

test('several choices, thinking, texts without a template', async () => {
  const {engine, webllm} = setUp();
  const mlc = await webllm.CreateWebWorkerMLCEngine({terminate: () => {}}, 'mine', {appConfig});
  const {choices, usage} = await mlc.chat.completions.create(
    {messages: kMessages, n: 3, extra_body: {enable_thinking: false}});
  assert.deepEqual(choices.map(({index}) => index), [0, 1, 2]);
  assert.equal(usage.completion_tokens, 12);
  assert.equal(engine.state.calls.findLast(({method}) => method === 'begin').params.think, false);
  const plain = await mlc.completions.create({prompt: 'Once', max_tokens: 5});
  assert.equal(plain.object, 'text_completion');
  assert.equal(plain.choices[0].text, 'Once upon a time');
  await assert.rejects(mlc.chat.completions.create({messages: kMessages, n: 2, stream: true}), /cannot be streamed/);
});

test('a reply that is interrupted ends', async () => {
  const {webllm} = setUp({reply: Array(100_000).fill(' word')});
  const mlc = await webllm.CreateMLCEngine('mine', {appConfig});
  let chunks = 0;
  let reason = null;
  for await (const chunk of await mlc.chat.completions.create({messages: kMessages, stream: true})) {
    if (++chunks === 3) mlc.interruptGenerate();
    reason = chunk.choices[0]?.finish_reason;
  }
  assert.equal(reason, 'abort');
  assert.ok((await mlc.getMessage()).length < 500_000);
  await mlc.resetChat();
  const whole = mlc.chat.completions.create({messages: kMessages});
  while (await mlc.getMessage() === '') await new Promise((go) => setTimeout(go, 1));
  mlc.interruptGenerate();
  assert.equal((await whole).choices[0].finish_reason, 'abort');
  await mlc.resetChat();
  const several = mlc.chat.completions.create({messages: kMessages, n: 3});
  while (await mlc.getMessage() === '') await new Promise((go) => setTimeout(go, 1));
  mlc.interruptGenerate();
  assert.deepEqual((await several).choices.map(({finish_reason: reason}) => reason), ['abort'], 'all choices end');
});

test('requests wait for one another', async () => {
  const {webllm} = setUp();
  const mlc = await webllm.CreateMLCEngine('mine', {appConfig});
  const replies = await Promise.all([1, 2, 3].map(() => mlc.chat.completions.create({messages: kMessages})));
  assert.equal(replies.length, 3);
});

test('names: of the list, of mlc-ai, and none', async () => {
  const {loads, webllm} = setUp();
  const mlc = new webllm.MLCEngine();
  await assert.rejects(mlc.reload('no-such-model'), {name: 'NotFoundError', message: /no-such-model.*bonsai-1\.7b/});
  for (const [name, source] of [['bonsai-1.7b', 'hf:prism-ml/Bonsai-1.7B-gguf/Bonsai-1.7B-Q1_0.gguf'],
    ['Llama-3.2-1B-Instruct-q4f16_1-MLC', 'hf:mlc-ai/Llama-3.2-1B-Instruct-q4f16_1-MLC']]) {
    await mlc.reload(name).catch(() => {});
    assert.equal(loads.at(-1).source, source);
  }
  assert.ok(prebuiltAppConfig.model_list.every(({model, model_id: id, vram_required_MB: mb}) => (
    model.startsWith('hf:') && id && mb > 0)));
});

test('what is stored is found and deleted', async () => {
  const {webllm} = setUp();
  assert.equal(await webllm.hasModelInCache('mine', appConfig), false);
  const mlc = await webllm.CreateMLCEngine('mine', {appConfig});
  assert.equal(await webllm.hasModelInCache('mine', appConfig), true);
  await mlc.unload();
  await webllm.deleteModelAllInfoInCache('mine', appConfig);
  assert.equal(await webllm.hasModelInCache('mine', appConfig), false);
});

// What WebLLM's first example asks for.
test('biases, log probabilities and several choices', async () => {
  const {engine, webllm} = setUp();
  const mlc = await webllm.CreateMLCEngine('mine', {appConfig});
  const reply = await mlc.chat.completions.create({messages: kMessages, n: 3, temperature: 1.5, max_tokens: 256,
    seed: 1, logit_bias: {46510: -100, 7188: 5}, top_logprobs: 2, logprobs: true});
  assert.equal(reply.choices.length, 3);
  assert.deepEqual(reply.choices[2].logprobs.content.map(({token, top_logprobs: top}) => [token, top.length]),
    [['<101>', 2], ['<102>', 2], ['<103>', 2]]);
  const begun = engine.state.calls.filter(({method}) => method === 'begin').map(({params}) => params);
  assert.deepEqual(begun.map(({seed}) => seed), [1, 2, 3]);
  assert.deepEqual(begun[0].logitBias, [[7188, 5], [46510, -100]]);
  const vectors = await webllm.CreateMLCEngine('mine', {appConfig, ternOptions: {embeddings: true}});
  const {data} = await vectors.embeddings.create({input: 'x'});
  assert.deepEqual(data[0].embedding, [0.5, -0.5]);
});

test('what cannot be done is refused', async () => {
  const {webllm} = setUp();
  const mlc = await webllm.CreateMLCEngine('mine', {appConfig});
  await assert.rejects(mlc.chat.completions.create({messages: kMessages, functions: [{}]}), /functions/);
  await assert.rejects(mlc.reload(['a', 'b']), /one model/);
  assert.throws(() => new webllm.MLCEngine({logitProcessorRegistry: new Map([['a', {}]])}), /logit processors/);
});
