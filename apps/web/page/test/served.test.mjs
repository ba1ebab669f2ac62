import assert from 'node:assert/strict';
import test from 'node:test';

import {describe} from '../base/errors.js';
import {eventsIn} from '../served/events.js';
import {ApiKey} from '../served/key.js';
import {chosenFor, sourceOf} from '../served/models.js';
import {ServerTern} from '../served/server_engine.js';
import {TinyStorage} from './tiny_storage.js';

const kBase = 'http://host/below/';
const kProps = {
  architecture: 'qwen3', backend: 'cpu (AVX2, 4 threads)', build_info: 'tern 1', chat_template: true,
  default_generation_settings: {n_ctx: 64, temperature: 0.6, top_k: 20, top_p: 0.95, min_p: 0, repeat_penalty: 1.1,
    max_tokens: -1},
};
const kModels = {data: [{id: 'bird', meta: {n_params: 34e6, size: 16e6}}]};

const json = (value, status = 200, headers = {}) => new Response(JSON.stringify(value),
  {status, headers: {'Content-Type': 'application/json', ...headers}});
const stream = (body) => new Response(body, {headers: {'Content-Type': 'text/event-stream'}});
const data = (...events) => events.map((event) => (
  `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`)).join('');
const delta = (text, field = 'content') => ({choices: [{index: 0, delta: {[field]: text}, finish_reason: null}]});
const kEnd = [{choices: [{delta: {}, finish_reason: 'stop'}]}, {choices: [], usage: {prompt_tokens: 9,
  completion_tokens: 3, prompt_tokens_details: {cached_tokens: 4}}, timings: {predicted_per_second: 50,
  prompt_per_second: 700}}, '[DONE]'];

/** Bytes in pieces of `n`; `fail`: what reading ends with, or null. */
function inPieces(text, n, fail = null) {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at < bytes.length) controller.enqueue(bytes.slice(at, at += n));
      else if (fail) controller.error(fail);
      else controller.close();
    },
  });
}

/** A server that answers what `answer` gives for a POST; what it was asked is in `asked`. */
function server(answer, {key = '', props = kProps, models = kModels, address = kBase} = {}) {
  const asked = [];
  const fetch = async (url, options) => {
    asked.push({url: String(url), ...options, body: options.body && JSON.parse(options.body)});
    if (String(url).startsWith(`${kBase}props`)) return json(props);
    if (String(url) === `${kBase}v1/models`) return json(models);
    return answer(options);
  };
  return {asked, tern: ServerTern.load(address, {fetch, key: () => key})};
}

async function reply(answer, prompt = [{role: 'user', content: 'Hi'}], options = {}, about = {}) {
  const {asked, tern} = server(answer, about);
  const engine = await tern;
  const pieces = [];
  let error = null;
  try {
    for await (const piece of engine.generate(prompt, options)) pieces.push(piece);
  } catch (thrown) {
    error = thrown;
  }
  return {pieces, error, stats: engine.stats, asked, engine};
}

test('what is served, and how the server would choose tokens itself', async () => {
  const {asked, tern} = server(() => json({}), {key: 'secret'});
  const {info} = await tern;
  assert.equal(info.name, 'bird');
  assert.equal(info.nCtx, 64);
  assert.equal(info.nParams, 34e6);
  assert.equal(info.hasChatTemplate, true);
  assert.deepEqual(info.sampling.values, {temperature: 0.6, topK: 20, topP: 0.95, minP: 0, repeatPenalty: 1.1});
  assert.deepEqual(asked.map(({url}) => url), [`${kBase}v1/models`, `${kBase}props`]);
  for (const {headers, url} of asked) {
    assert.equal(headers.get('Authorization'), 'Bearer secret');
    assert.doesNotMatch(url, /secret/);
  }
});

test('of several models the one that is named, and its name in every request', async () => {
  const models = {data: [{id: 'vectors', capabilities: ['embedding']}, {id: 'first', capabilities: ['completion']},
    {id: 'a b', capabilities: ['completion'], status: 'unloaded'}]};
  for (const [address, id] of [[`${kBase}?model=a%20b`, 'a b'], [kBase, 'first'], [`${kBase}?model=gone`, 'first'],
    [`${kBase}?model=vectors`, 'first']]) {
    const {engine, asked} = await reply(() => stream(inPieces(data(...kEnd), 99)), 'Once', {}, {models, address});
    assert.equal(engine.info.name, id);
    assert.deepEqual(engine.models.map((model) => model.id), ['first', 'a b']);
    assert.equal(asked[1].url, `${kBase}props?model=${encodeURIComponent(id)}`);
    assert.equal(asked[2].url, `${kBase}v1/models`, 'once it is loaded, more is known');
    assert.equal(asked.at(-1).url, `${kBase}v1/completions`);
    assert.equal(asked.at(-1).body.model, id);
  }
  const none = {data: [{id: 'vectors', capabilities: ['embedding']}]};
  await assert.rejects(server(() => json({}), {models: none}).tern, {code: 'server'});
});

test('a conversation goes on with its own model, a new one with the one that was chosen last', () => {
  const storage = new TinyStorage();
  assert.equal(chosenFor({record: {}}, storage), '');
  storage.setItem('tern.served-model', 'last');
  assert.equal(chosenFor({record: {}}, storage), 'last');
  assert.equal(chosenFor({record: {model: 'own'}}, storage), 'own');
  assert.equal(chosenFor({record: {}}, null), '');
  assert.deepEqual(sourceOf(kBase, 'a&b'), {from: `${kBase}?model=a%26b`, label: 'a&b'});
  assert.equal(sourceOf(kBase).from, kBase);
});

test('a reply, split at every byte', async () => {
  // A letter of three bytes, a line feed in the text, a sign of life, and lines that end as on Windows.
  const text = `: \r\n\r\n${data(delta(''), delta('Once '), delta('a târ…\n'), delta('€nd'), ...kEnd)}`;
  for (let n = 1; n < 60; ++n) {
    const {pieces, error, stats} = await reply(() => stream(inPieces(text, n)));
    assert.equal(error, null);
    assert.deepEqual(pieces, ['Once ', 'a târ…\n', '€nd'], `pieces of ${n}`);
    assert.equal(stats.nPrompt, 9);
    assert.equal(stats.nReused, 4);
    assert.equal(stats.nGenerated, 3);
    assert.equal(stats.tokensPerSecond, 50);
    assert.equal(stats.finishReason, 'stop');
  }
});

test('events of several lines, and what is left of one is none', async () => {
  const events = [];
  for await (const event of eventsIn(inPieces('data:one\r\ndata: two\n\nevent: x\nid: 3\n\ndata: three', 2))) {
    events.push(event);
  }
  assert.deepEqual(events, ['one\ntwo']);
});

test('conversations and texts are asked for by their own routes, with the page’s settings', async () => {
  const answer = () => stream(inPieces(data(...kEnd), 99));
  const options = {temperature: 0, topK: 5, topP: 0.5, minP: 0.1, repeatPenalty: 1.2, maxTokens: 7, seed: 42};
  const chat = await reply(answer, [{role: 'user', content: 'Hi'}], options);
  const {url, method, body} = chat.asked.at(-1);
  assert.equal(url, `${kBase}v1/chat/completions`);
  assert.equal(method, 'POST');
  assert.deepEqual(body, {messages: [{role: 'user', content: 'Hi'}], temperature: 0, top_k: 5, top_p: 0.5, min_p: 0.1,
    repeat_penalty: 1.2, max_tokens: 7, seed: 42, stream: true, stream_options: {include_usage: true}});
  const story = await reply(() => stream(inPieces(data({choices: [{text: ' upon'}]}, ...kEnd), 5)), 'Once');
  assert.equal(story.asked.at(-1).url, `${kBase}v1/completions`);
  assert.equal(story.asked.at(-1).body.prompt, 'Once');
  assert.deepEqual(story.pieces, [' upon']);
});

test('thoughts come apart', async () => {
  const {pieces} = await reply(() => stream(inPieces(
    data(delta('Hm', 'reasoning_content'), delta('m.', 'reasoning_content'), delta('Yes.'), ...kEnd), 11)));
  assert.deepEqual(pieces, [{thought: 'Hm'}, {thought: 'm.'}, 'Yes.']);
});

test('a reply that is cut: by the context, and by the limit', async () => {
  const cut = {choices: [{delta: {}, finish_reason: 'length'}]};
  const usage = (n) => ({choices: [], usage: {prompt_tokens: 60, completion_tokens: n}});
  const ending = async (n) => (await reply(() => stream(inPieces(data(delta('a'), cut, usage(n), '[DONE]'), 9))))
    .stats.finishReason;
  assert.equal(await ending(3), 'length');
  assert.equal(await ending(4), 'context_full');
});

for (const [name, status, body, headers, code, words] of [
  ['no key', 401, {error: {message: 'the API key is missing'}}, {}, 'unauthorized', /Whoever runs it can give you one/],
  ['too many', 429, {error: {message: 'too many wait'}}, {'Retry-After': '3'}, 'too_many',
    /too many wait; try again in 3 s/],
  ['ending', 503, {error: {message: 'the server ends'}}, {}, 'unavailable', /the server ends/],
  ['a long prompt', 400, {error: {message: 'messages: has 900 tokens'}}, {}, 'invalid_argument', /900 tokens/],
  ['too slow', 504, {error: {message: 'longer than 5 s'}}, {}, 'timeout', /5 s/],
  ['a proxy', 502, '<html>Bad gateway', {}, 'server', /HTTP 502/],
  ['null', 500, null, {}, 'server', /HTTP 500/],
]) {
  test(`an answer that is an error: ${name}`, async () => {
    const {error, pieces} = await reply(() => (
      typeof body === 'string' ? new Response(body, {status, headers}) : json(body, status, headers)));
    assert.equal(error.code, code);
    assert.match(error.message, words);
    assert.deepEqual(pieces, []);
  });
}

test('an error in the middle of a stream', async () => {
  for (const [event, code] of [
    [{message: 'the answer took longer than 5 s', type: 'server_error', code: 'timeout'}, 'timeout'],
    [{message: 'the server ends', type: 'unavailable_error', code: null}, 'unavailable'],
    [{message: 'failed', type: 'server_error', code: null}, 'server'],
  ]) {
    const {error, pieces} = await reply(() => stream(inPieces(data(delta('Once'), {error: event}, '[DONE]'), 20)));
    assert.deepEqual(pieces, ['Once']);
    assert.equal(error.code, code);
    assert.equal(error.message, event.message);
  }
});

test('a stream that ends before its end, in each way', async () => {
  const beginning = data(delta('Once'));
  for (const body of [
    inPieces(beginning, 7), inPieces(beginning + data(delta(' upon')).slice(0, -3), 7),
    inPieces(beginning, 7, new TypeError('network error')), inPieces(`${beginning}data: <html>\n\n`, 7),
  ]) {
    const {error, pieces} = await reply(() => stream(body));
    assert.deepEqual(pieces, ['Once']);
    assert.equal(error.code, 'broken_off');
  }
});

test('a server that is not there, or is another', async () => {
  const gone = await reply(() => Promise.reject(new TypeError('Failed to fetch')));
  assert.equal(gone.error.code, 'unreachable');
  const other = await reply(() => json({choices: []}));
  assert.equal(other.error.code, 'server');
  const load = (fetch) => ServerTern.load(kBase, {fetch}).catch((error) => error.code);
  assert.equal(await load(async () => new Response('<html>')), 'server');
  assert.equal(await load(async () => json({})), 'server');
  assert.equal(await load(async () => json({error: {message: 'no'}}, 401)), 'unauthorized');
  assert.equal(await load(async () => Promise.reject(new TypeError('Failed to fetch'))), 'unreachable');
});

test('stopping: the connection is let go, and it is no error of the server', async () => {
  for (const how of ['abort', 'leave']) {
    let wasLetGo = false;
    const abort = new AbortController();
    const body = (signal) => new ReadableStream({
      start: (controller) => signal?.addEventListener('abort', () => {
        wasLetGo = true;
        controller.error(signal.reason);
      }),
      pull: (controller) => controller.enqueue(new TextEncoder().encode(data(delta('more ')))),
      cancel: () => {
        wasLetGo = true;
      },
    });
    const engine = await server(({signal}) => stream(body(signal))).tern;
    let n = 0;
    const all = async () => {
      for await (const piece of engine.generate('Once', {signal: abort.signal})) {
        assert.equal(piece, 'more ');
        if (++n < 3) continue;
        if (how === 'leave') return;
        abort.abort();
      }
    };
    if (how === 'leave') await all();
    else await assert.rejects(all, {name: 'AbortError'});
    assert.ok(wasLetGo, how);
    assert.ok(engine.stats.nGenerated >= 3);
  }
  const abort = new AbortController();
  abort.abort();
  const {error} = await reply(({signal}) => Promise.reject(signal.reason), 'Once', {signal: abort.signal});
  assert.equal(error.name, 'AbortError');
});

test('the key is kept only if somebody wants that', () => {
  const storage = new TinyStorage();
  const key = new ApiKey(storage);
  assert.equal(key.value, '');
  key.set('secret', false);
  assert.equal(key.value, 'secret');
  assert.equal(storage.length, 0);
  assert.equal(new ApiKey(storage).value, '');
  key.set('secret', true);
  assert.equal(new ApiKey(storage).value, 'secret');
  assert.ok(new ApiKey(storage).isKept);
  key.set('other', false);
  assert.equal(storage.length, 0);
  assert.equal(new ApiKey(null).value, '');
  assert.equal(new ApiKey(null).isKept, false);
  assert.equal(describe({code: 'unauthorized', message: 'm'}, 'run').detail, 'm');
});
