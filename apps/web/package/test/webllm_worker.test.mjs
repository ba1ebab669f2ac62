// WebLLM's engine in a worker of the caller's: the page's side, the handler, and processors of logits.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {fakeWorkerEnv} from '../fakes/browser.mjs';
import {fakeEngine} from '../fakes/engine.mjs';
import {FakeServer, fakeGguf} from '../fakes/server.mjs';
import {loadTern} from '../lib/tern.js';
import {makeWebLlm} from '../lib/webllm.js';

const kMessages = [{role: 'user', content: 'hi'}];
const kUrl = 'https://page.example/m.gguf';
const appConfig = {model_list: [{model: kUrl, model_id: 'mine'}]};

/** A page and its worker, which runs `script(webllm)` and gets the messages that its handler is given. */
function setUp(script = () => {}, replies = {}) {
  const engine = fakeEngine(replies);
  const server = new FakeServer();
  server.put(kUrl, fakeGguf(5000));
  const env = fakeWorkerEnv({server, engine});
  const loads = [];
  const webllm = makeWebLlm({load: (source, options) => {
    loads.push(options);
    return loadTern(env, source, options);
  }});
  const worker = {sent: []};
  class Handler extends webllm.WebWorkerMLCEngineHandler {
    postMessage(message) {
      const data = structuredClone(message);
      worker.sent.push(data);
      setImmediate(() => worker.onmessage({data}));
    }
  }
  const handler = new Handler();
  script(handler);
  worker.postMessage = (message) => {
    const data = structuredClone(message);
    setImmediate(() => handler.onmessage({data}));
  };
  return {engine, loads, webllm, worker};
}

async function textOf(chunks) {
  let text = '';
  for await (const {choices: [choice]} of chunks) text += choice?.delta?.content ?? '';
  return text;
}

test('all that an engine does is done in the worker', async () => {
  const {loads, webllm, worker} = setUp();
  const reports = [];
  const mlc = await webllm.CreateWebWorkerMLCEngine(worker, 'mine',
    {appConfig, initProgressCallback: (report) => reports.push(report)}, {temperature: 0.5});
  assert.equal(loads[0].worker, false, 'the engine is where the handler is');
  assert.equal(reports.at(-1).progress, 1);
  assert.deepEqual([mlc.modelId, mlc.chatOpts], [['mine'], [{temperature: 0.5}]]);
  const reply = await mlc.chat.completions.create({messages: kMessages});
  assert.equal(reply.choices[0].message.content, 'Once upon a time');
  const stream = await mlc.chat.completions.create({messages: kMessages, stream: true});
  assert.equal(await textOf(stream), 'Once upon a time');
  assert.equal(await mlc.getMessage(), 'Once upon a time');
  assert.equal((await mlc.completions.create({prompt: 'a'})).object, 'text_completion');
  assert.equal(await mlc.forwardTokensAndSample([1, 2], true), 101);
  assert.match(await mlc.runtimeStatsText(), /prefill/);
  await assert.rejects(mlc.reload('nothing'), {name: 'NotFoundError'});
  await mlc.unload();
  await assert.rejects(mlc.chat.completions.create({messages: kMessages}), {name: 'InvalidArgumentError'});
});

test('a stream that is left or interrupted ends in the worker', async () => {
  const {webllm, worker} = setUp(undefined, {reply: Array(10_000).fill(' word')});
  const mlc = await webllm.CreateWebWorkerMLCEngine(worker, 'mine', {appConfig});
  for await (const _ of await mlc.chat.completions.create({messages: kMessages, stream: true})) break;
  let last;
  let n = 0;
  for await (const chunk of await mlc.chat.completions.create({messages: kMessages, stream: true})) {
    if (++n === 3) mlc.interruptGenerate();
    last = chunk;
  }
  assert.equal(last.choices[0].finish_reason, 'abort');
});

const log = [];
const processor = {
  processLogits: (logits) => {
    logits[0] = 100;
    return logits;
  },
  processSampledToken: (token) => log.push(token),
  resetState: () => log.push('reset'),
};
const registry = new Map([['mine', processor]]);

for (const where of ['in the worker', 'in the page']) {
  test(`a logit processor ${where} decides`, async () => {
    log.length = 0;
    const inWorker = where === 'in the worker';
    const {loads, webllm, worker} = setUp((handler) => inWorker && handler.setLogitProcessorRegistry(registry));
    const mlc = inWorker ? await webllm.CreateWebWorkerMLCEngine(worker, 'mine', {appConfig}) :
      await webllm.CreateMLCEngine('mine', {appConfig, logitProcessorRegistry: registry});
    assert.equal(loads[0].worker, false);
    assert.equal(await mlc.forwardTokensAndSample([42], true), 0);
    assert.equal(await mlc.forwardTokensAndSample([0], false), 0);
    assert.ok(log.length > 0 && log.every((token) => token === 0));
    await mlc.resetChat();
    assert.equal(log.at(-1), 'reset');
    const reply = await mlc.chat.completions.create({messages: kMessages, max_tokens: 3});
    assert.match(reply.choices[0].message.content, /^(0 )+$/);
  });
}

test('messages that are the caller\'s own go past the handler', async () => {
  const {webllm} = setUp();
  const posted = [];
  const handler = Object.assign(new webllm.WebWorkerMLCEngineHandler(), {postMessage: (one) => posted.push(one)});
  await handler.onmessage({data: {kind: 'customRequest'}});
  assert.deepEqual(posted, []);
});

test('a worker whose script fails is told', async () => {
  const {webllm} = setUp();
  const worker = Object.assign(new EventTarget(), {postMessage: () => {}});
  const loading = webllm.CreateWebWorkerMLCEngine(worker, 'mine', {appConfig});
  await Promise.resolve();
  worker.dispatchEvent(Object.assign(new Event('error'), {message: 'no such file'}));
  await assert.rejects(loading, {name: 'WorkerCrashedError', message: /no such file.*WebWorkerMLCEngineHandler/});
});
