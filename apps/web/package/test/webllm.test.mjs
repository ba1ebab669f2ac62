// WebLLM's interface: what its programs do.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {fakeWorkerEnv} from '../fakes/browser.mjs';
import {fakeEngine} from '../fakes/engine.mjs';
import {FakeServer, fakeGguf} from '../fakes/server.mjs';
import {IntegrityError} from '../lib/errors.js';
import {verifyIntegrity} from '../lib/integrity.js';
import {makeWebLlm} from '../lib/webllm.js';
import {ModelType, functionCallingModelIds, prebuiltAppConfig} from '../lib/webllm_models.js';
import {ServiceWorkerMLCEngineHandler} from '../lib/webllm_worker.js';
import {bodyOf} from '../lib/webllm_requests.js';
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
  assert.deepEqual(reply.choices[0].message, {role: 'assistant', content: 'Once upon a time'});
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
  const mlc = await webllm.CreateServiceWorkerMLCEngine('mine', {appConfig});
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
  const mlc = new webllm.MLCEngine({appConfig: undefined});
  await assert.rejects(mlc.reload('no-such-model'), {name: 'NotFoundError', message: /no-such-model.*bonsai-1\.7b/});
  for (const [name, source] of [['bonsai-1.7b', 'hf:prism-ml/Bonsai-1.7B-gguf/Bonsai-1.7B-Q1_0.gguf'],
    ['Llama-3.2-1B-Instruct-q4f16_1-MLC', 'hf:mlc-ai/Llama-3.2-1B-Instruct-q4f16_1-MLC'],
    ['Phi-3.5-mini-instruct-q4f32_1-MLC-1k', 'hf:mlc-ai/Phi-3.5-mini-instruct-q4f32_1-MLC'],
    ['snowflake-arctic-embed-m-q0f32-MLC-b4', 'hf:mlc-ai/snowflake-arctic-embed-m-q0f32-MLC']]) {
    await mlc.reload(name).catch(() => {});
    assert.equal(loads.at(-1).source, source);
    assert.equal(loads.at(-1).options.embeddings, name.endsWith('b4') ? true : undefined);
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
  await assert.rejects(mlc.reload(['a', 'a']), /once/);
  for (const [options, message] of [[{sliding_window_size: 1024}, /sliding_window_size 1024/],
    [{conv_template: {}}, /conv_template/]]) {
    await assert.rejects(mlc.reload('mine', options), {name: 'NotSupportedError', message});
  }
  await mlc.reload('mine', {sliding_window_size: -1, attention_sink_size: 0});
  for (const [more, message] of [[{response_format: {type: 'structural_tag'}}, /structural_tag is missing/],
    [{response_format: {type: 'grammar'}}, /response_format\.grammar is missing/],
    [{response_format: {type: 'json_object', grammar: 'root ::= "a"'}}, /"json_object" has no 'grammar'/],
    [{extra_body: {enable_latency_breakdown: true}}, /enable_latency_breakdown/], [{model: 'other'}, /other is not/]]) {
    await assert.rejects(mlc.chat.completions.create({messages: kMessages, ...more}), message);
  }
  const registry = new Map([['a', {}]]);
  assert.throws(() => new ServiceWorkerMLCEngineHandler().setLogitProcessorRegistry(registry), /service worker/);
  assert.throws(() => new webllm.WebWorkerMLCEngine({}, {logitProcessorRegistry: registry}), /in the worker/);
  await assert.rejects(mlc.resumeChatCompletion('a'), {name: 'NotSupportedError'});
});

test('forms of replies, and a prompt that is echoed', async () => {
  const tag = {type: 'structural_tag', format: {type: 'const_string', value: 'a'}};
  const formOf = (format) => {
    const {ebnf, response_format: made} = bodyOf('chat', {messages: kMessages, response_format: format});
    return ebnf ?? made;
  };
  assert.equal(formOf({type: 'grammar', grammar: 'root ::= "a"'}), 'root ::= "a"');
  const asked = {type: 'structural_tag', structural_tag: tag};
  assert.deepEqual(formOf(asked), asked);
  assert.deepEqual(formOf({}), {type: 'text'});
  const {webllm} = setUp();
  const mlc = await webllm.CreateMLCEngine('mine', {appConfig});
  const {choices} = await mlc.completions.create({prompt: 'Well. ', echo: true, n: 2});
  assert.deepEqual(choices.map(({text}) => text), Array(2).fill('Well. Once upon a time'));
});

// Weather's call, as a model with tools writes it.
const kCall = {id: '0', type: 'function', function: {name: 'weather', arguments: '{"city": "Rome"}'}};

/** A Tern whose replies are OpenAI's chunks, as they are given. */
function withReplies(...replies) {
  const stats = {nPrompt: 30, nReused: 20, nGenerated: 4, tokensPerSecond: 8, timeToFirstTokenMs: 500};
  const create = async () => (async function* chunks() {
    const chunk = (choices, more) => ({id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices,
      usage: null, ...more});
    for (const [delta, reason = null] of replies.shift()) {
      yield chunk([{index: 0, delta, logprobs: null, finish_reason: reason}]);
    }
    yield chunk([], {usage: {}});
  })();
  const tern = {chat: {completions: {create}}, stats, close: async () => {}, reset: async () => {}};
  return makeWebLlm({load: async () => tern});
}

test('calls of tools: in the message, and in the last chunk of a stream', async () => {
  const reply = [[{role: 'assistant', content: ''}], [{tool_calls: [{index: 0, ...kCall}]}], [{}, 'tool_calls']];
  const mlc = await withReplies(reply, reply, [[{content: 'I ask. '}], ...reply]).CreateMLCEngine('mine', {appConfig});
  const {choices: [choice]} = await mlc.chat.completions.create({messages: kMessages, tools: [{}]});
  assert.deepEqual(choice, {index: 0, message: {role: 'assistant', content: null, tool_calls: [kCall]}, logprobs: null,
    finish_reason: 'tool_calls'});
  let last;
  for await (const chunk of await mlc.chat.completions.create({messages: kMessages, stream: true})) last = chunk;
  assert.deepEqual(last.choices[0].delta, {tool_calls: [{index: 0, ...kCall}]});
  assert.equal(last.choices[0].finish_reason, 'tool_calls');
  assert.ok(!('usage' in last));
  const {choices: [mixed]} = await mlc.chat.completions.create({messages: kMessages});
  assert.equal(mixed.message.content, 'I ask. ');
  assert.deepEqual(mixed.message.tool_calls, [kCall]);
});

test('tokens of a prompt are counted as WebLLM counts: of a conversation that goes on only the new ones', async () => {
  const reply = [[{content: 'hello'}, 'stop']];
  const mlc = await withReplies(...Array(5).fill(reply)).CreateMLCEngine('mine', {appConfig});
  const ask = async (messages) => (await mlc.chat.completions.create({messages})).usage;
  const {extra, ...first} = await ask(kMessages);
  assert.deepEqual(first, {prompt_tokens: 30, completion_tokens: 4, total_tokens: 34});
  assert.ok(extra.e2e_latency_s >= 0);
  assert.equal(extra.time_to_first_token_s, 0.5);
  assert.equal(extra.time_per_output_token_s, 1 / 8);
  const second = [...kMessages, {role: 'assistant', content: 'hello'}, {role: 'user', content: 'more'}];
  assert.equal((await ask(second)).prompt_tokens, 10);
  assert.equal((await ask(second)).prompt_tokens, 30, 'the same again goes on with nothing');
  const third = [...second, {role: 'assistant', content: 'other words'}, {role: 'user', content: 'more'}];
  assert.equal((await ask(third)).prompt_tokens, 30);
  await mlc.resetChat();
  assert.equal((await ask([...third, {role: 'assistant', content: 'hello'}, kMessages[1]])).prompt_tokens, 30);
});

test('log probabilities of a text have a chat\'s shape', async () => {
  const {webllm} = setUp();
  const mlc = await webllm.CreateMLCEngine('mine', {appConfig});
  const {choices: [{logprobs}]} = await mlc.completions.create({prompt: 'Once', logprobs: true, top_logprobs: 1});
  assert.deepEqual(logprobs.content[0], {token: '<101>', bytes: [60, 49, 48, 49, 62], logprob: -0.5,
    top_logprobs: [{token: '<101>', bytes: [60, 49, 48, 49, 62], logprob: -0.5}]});
});

test('several models in one engine', async () => {
  const {engine, webllm} = setUp();
  const two = {model_list: [...appConfig.model_list, {model: kUrl, model_id: 'other', overrides: {}}]};
  const mlc = await webllm.CreateMLCEngine(['mine', 'other'], {appConfig: two}, [{temperature: 0.9}, {temperature: 0}]);
  await assert.rejects(mlc.chat.completions.create({messages: kMessages}), /several models.*mine, other/);
  const ask = (model) => mlc.chat.completions.create({messages: kMessages, model});
  assert.deepEqual((await Promise.all([ask('mine'), ask('other')])).map(({model}) => model), ['mine', 'other']);
  const begun = engine.state.calls.filter(({method}) => method === 'begin').map(({params}) => params.temperature);
  assert.deepEqual(begun.sort(), [0, 0.9]);
  await assert.rejects(mlc.getMessage(), /several/);
  assert.match(await mlc.getMessage('other'), /time$/);
});

test('integrity: another file is an IntegrityError, or a warning', async (t) => {
  const {webllm} = setUp();
  const sha256 = 'sha256-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=';
  const load = (integrity) => webllm.CreateMLCEngine('mine', {appConfig: {model_list: [
    {model: kUrl, model_id: 'mine', integrity}]}});
  const wrong = await load({tokenizer: {'m.gguf': sha256}}).catch((error) => error);
  assert.ok(wrong instanceof IntegrityError);
  assert.deepEqual([wrong.name, wrong.code, wrong.url, wrong.expected], ['IntegrityError', 'corruption', kUrl, sha256]);
  await (await load({tokenizer: {'m.gguf': wrong.actual}, model_lib: sha256})).unload();
  await assert.rejects(load({config: sha256}), /mlc-chat-config.json is not among the files/);
  await assert.rejects(load({weights: sha256}), /no 'weights'/);
  await assert.rejects(load({config: 'sha1-abc'}), {name: 'InvalidArgumentError'});
  const warn = t.mock.method(console, 'warn', () => {});
  await (await load({tokenizer: {'m.gguf': sha256}, onFailure: 'warn'})).unload();
  assert.match(warn.mock.calls[0].arguments[0], /another file/);

  const data = new TextEncoder().encode('a').buffer;
  const right = 'sha384-VKWaEFUD4wlgEqG86N1Fh0MBeQjmP4Pt5VMSWuZ7lkHXnxPY1q6TLuz7gXnSFWde';
  const other = await verifyIntegrity(data, right, 'a').catch((error) => error);
  await verifyIntegrity(data, other.actual, 'a');
  await assert.rejects(verifyIntegrity(data, 'md5-x', 'a'), {name: 'InvalidArgumentError'});
});

test('models for vectors, and names that WebLLM exports', async () => {
  const {loads, webllm} = setUp();
  const vectors = {model_list: [{model: kUrl, model_id: 'mine', model_type: ModelType.embedding}]};
  const mlc = await webllm.CreateMLCEngine('mine', {appConfig: vectors});
  const {data, usage} = await mlc.embeddings.create({input: 'x'});
  assert.deepEqual(data[0].embedding, [0.5, -0.5]);
  assert.ok(usage.extra.prefill_tokens_per_s > 0);
  assert.equal(loads[0].options.embeddings, true);
  assert.ok(functionCallingModelIds.length > 0);
  const exported = await import('../webllm.js');
  for (const name of ['IntegrityError', 'verifyIntegrity', 'isValidSRI', 'ModelType', 'functionCallingModelIds',
    'ExtensionServiceWorkerMLCEngine', 'CreateExtensionServiceWorkerMLCEngine',
    'ExtensionServiceWorkerMLCEngineHandler', 'ServiceWorkerMLCEngineHandler', 'WebWorkerMLCEngineHandler']) {
    assert.equal(typeof exported[name], name === 'ModelType' || name === 'functionCallingModelIds' ? 'object' :
      'function', name);
  }
});
