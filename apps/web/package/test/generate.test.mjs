// Streaming, stopping, numbers and errors of a generation, in place and through a worker.

import assert from 'node:assert/strict';
import {describe, test} from 'node:test';
import {fakeWorkerClass, fakeWorkerEnv} from '../fakes/browser.mjs';
import {fakeEngine} from '../fakes/engine.mjs';
import {FakeServer, fakeGguf} from '../fakes/server.mjs';
import {loadTern} from '../lib/tern.js';

const kBytes = fakeGguf(100);

/** A loaded model with a scripted engine. */
async function open(script, {worker = false, ...options} = {}, events = {}) {
  const engine = fakeEngine(script);
  const server = new FakeServer();
  const inner = fakeWorkerEnv({server, engine});
  const workers = [];
  const env = {...inner, Worker: fakeWorkerClass(() => inner, workers)};
  const tern = await loadTern(env, kBytes, {worker, ...options, ...events});
  return {tern, engine, workers, env};
}

async function collect(pieces) {
  let text = '';
  for await (const piece of pieces) text += piece;
  return text;
}

for (const worker of [false, true]) {
  describe(worker ? 'in a worker' : 'in place', () => {
    test('text streams, and numbers follow', async () => {
      const {tern} = await open({}, {worker});
      assert.equal(await collect(tern.generate('abc', {seed: 5})), 'Once upon a time');
      const {stats} = tern;
      assert.equal(stats.nPrompt, 3);
      assert.equal(stats.nReused, 1);
      assert.equal(stats.nGenerated, 4);
      assert.deepEqual(stats.tokens, [101, 102, 103, 104]);
      assert.equal(stats.finishReason, 'stop_token');
      assert.equal(stats.seed, 5);
      assert.equal(stats.tokensPerSecond, 10);
      assert.equal(stats.promptTokensPerSecond, 4);
      assert.equal(stats.heapBytes, 1 << 20);
      assert.equal(stats.dispatchesPerToken, 7);
      assert.ok(stats.timeToFirstTokenMs >= 0);
      await tern.close();
    });

    test('options reach the engine, and no others of sampling', async () => {
      const {tern, engine} = await open({}, {worker, context: 128, kv: 'f32', chatTemplate: '{{x}}'});
      const messages = [{role: 'user', content: 'hi'}];
      await collect(tern.generate(messages, {temperature: 0, topK: 3, stop: 'x', maxTokens: 9}));
      const {params} = engine.state.calls.find(({method}) => method === 'begin');
      assert.deepEqual(params.messages, messages);
      assert.equal(params.temperature, 0);
      assert.equal(params.topK, 3);
      assert.deepEqual(params.stop, ['x']);
      assert.equal(params.maxTokens, 9);
      assert.ok(!('repeatPenalty' in params), 'what is not asked for is for the engine to say');
      assert.ok(Number.isInteger(params.seed));
      const load = engine.state.calls.find(({method}) => method === 'load').params;
      const cpu = {path: '/model/model.gguf', backend: 'cpu', nThreads: 1};
      assert.deepEqual(load, {...cpu, nCtx: 128, kv: 'f32', chatTemplate: '{{x}}'});
    });

    test('log probabilities come with the text, and the stop token has none', async () => {
      const {tern} = await open({}, {worker});
      await collect(tern.generate('abc', {logprobs: 1}));
      const {logprobs, tokens} = tern.stats;
      assert.deepEqual(logprobs.map(({token}) => token), tokens.slice(0, -1));
      assert.deepEqual(logprobs[0], {token: 101, text: '<101>', bytes: [60, 101, 62], logprob: -0.5,
        top: [{token: 101, text: '<101>', bytes: [60, 101, 62], logprob: -0.5}]});
      await collect(tern.generate('abc'));
      assert.equal(tern.stats.logprobs, undefined);
    });

    test('a text may end inside a word, tokens and messages do not', async () => {
      const {tern, engine} = await open({}, {worker});
      for (const input of ['abc', [1, 2], [{role: 'user', content: 'x'}]]) await collect(tern.generate(input));
      await collect(tern.generate('abc', {heal: false}));
      const heals = engine.state.calls.filter(({method}) => method === 'begin').map(({params}) => params.heal);
      assert.deepEqual(heals, [true, undefined, undefined, false]);
    });

    test('guesses and contexts that go on reach the engine', async () => {
      const {tern, engine} = await open({}, {worker});
      await collect(tern.generate('a', {speculate: 7, keepPastContext: 16}));
      await collect(tern.generate('a'));
      const params = engine.state.calls.filter(({method}) => method === 'begin').map((call) => call.params);
      assert.deepEqual(params.map(({speculate, keepPastContext}) => [speculate, keepPastContext]),
        [[7, 16], [undefined, undefined]]);
      for (const wrong of [{speculate: -1}, {speculate: 64}, {speculate: true}, {keepPastContext: -2},
        {keepPastContext: 0.5}]) {
        await assert.rejects(collect(tern.generate('a', wrong)), {name: 'InvalidArgumentError'});
      }
    });

    test('biases and penalties reach the engine', async () => {
      const {tern, engine} = await open({}, {worker});
      await collect(tern.generate('a', {logitBias: {5: 1.5, 7: -Infinity}, presencePenalty: -1, frequencyPenalty: 2}));
      const {params} = engine.state.calls.find(({method}) => method === 'begin');
      assert.deepEqual(params.logitBias, [[5, 1.5], [7, null]]);
      assert.deepEqual([params.presencePenalty, params.frequencyPenalty], [-1, 2]);
      for (const logitBias of [{x: 1}, {5: 'y'}, {5: Infinity}, {'-1': 0}, [1], {5: NaN}]) {
        await assert.rejects(collect(tern.generate('a', {logitBias})), {name: 'InvalidArgumentError'});
      }
    });

    test('samplers reach the engine', async () => {
      const {tern, engine} = await open({}, {worker});
      const asked = {dryMultiplier: 0.8, dryBase: 2, dryAllowedLength: 0, dryPenaltyLastN: -1,
        drySequenceBreakers: ['x'], topNSigma: 1.5, typicalP: 0.5, xtcProbability: 0.5, xtcThreshold: 0.2, mirostat: 2,
        mirostatTau: 3, mirostatEta: 0.2, minTokens: 5};
      await collect(tern.generate('a', {...asked, samplers: ['top_k', 'temperature']}));
      const {params} = engine.state.calls.find(({method}) => method === 'begin');
      for (const [name, value] of Object.entries(asked)) assert.deepEqual(params[name], value, name);
      assert.equal(params.samplers, 'top_k;temperature');
      for (const wrong of [{dryMultiplier: -1}, {dryBase: 0.5}, {dryAllowedLength: 1.5}, {dryPenaltyLastN: -2},
        {drySequenceBreakers: 3}, {topNSigma: 'x'}, {typicalP: 0}, {xtcProbability: 2}, {xtcThreshold: -1},
        {mirostat: 3}, {mirostatTau: -1}, {mirostatEta: 2}, {samplers: 1}, {minTokens: -1}]) {
        await assert.rejects(collect(tern.generate('a', wrong)), {name: 'InvalidArgumentError'});
      }
    });

    test('breaking out of the loop ends the generation, and another can begin', async () => {
      const {tern, engine} = await open({reply: Array(100_000).fill('x')}, {worker});
      for await (const piece of tern.generate('a')) {
        assert.ok(piece.length > 0);
        break;
      }
      assert.equal(engine.state.calls.at(-2).method, 'cancel');
      assert.equal(tern.stats.finishReason, 'cancelled');
      for await (const _ of tern.generate('b')) break;
    });

    test('an abort signal ends it with a CancelledError', async () => {
      const {tern} = await open({reply: Array(100_000).fill('x')}, {worker});
      const control = new AbortController();
      const run = async () => {
        for await (const _ of tern.generate('a', {signal: control.signal})) control.abort();
      };
      await assert.rejects(run, {name: 'CancelledError', code: 'cancelled'});
      await assert.rejects(collect(tern.generate('a', {signal: control.signal})), {code: 'cancelled'});
    });

    test('a signal also stops an engine that has nothing to say', async () => {
      const {tern} = await open({on: {step: () => ({text: '', tokens: [1], done: false})}}, {worker});
      const control = new AbortController();
      setTimeout(() => control.abort(), 20);
      await assert.rejects(collect(tern.generate('a', {signal: control.signal})), {name: 'CancelledError'});
    });

    test('a second generation at the same time is refused, and the first goes on', async () => {
      const {tern} = await open({reply: Array(100_000).fill('x')}, {worker});
      const first = tern.generate('a');
      await first.next();
      await assert.rejects(collect(tern.generate('b')), {name: 'BusyError', code: 'busy'});
      await assert.rejects(tern.reset(), {name: 'BusyError'});
      assert.ok(tern.stats.nGenerated > 0, 'the numbers are those of the first');
      assert.match((await first.next()).value, /^x+$/);
      await first.return();
      await tern.reset();
    });

    test('errors of the engine keep class, code and text; what came before them is delivered', async () => {
      let steps = 0;
      const step = () => {
        if (++steps === 3) throw {code: 'device_lost', message: 'the GPU went away; load the model again'};
        return {text: 'x', tokens: [1], done: false};
      };
      const {tern} = await open({on: {step}}, {worker});
      let text = '';
      const run = async () => {
        for await (const piece of tern.generate('a')) text += piece;
      };
      await assert.rejects(run, {name: 'DeviceLostError', code: 'device_lost', message: /went away/});
      assert.equal(text, 'xx');
      assert.equal((await tern.tokenize('A'))[0], 65);
    });

    test('the other calls', async () => {
      const {tern} = await open({}, {worker});
      assert.deepEqual(await tern.tokenize('AB'), [65, 66]);
      assert.equal(await tern.detokenize([65, 66]), 'AB');
      assert.equal(await tern.detokenize([]), '');
      assert.equal(await tern.renderChat([{role: 'user', content: 'x'}]), '<user>x');
      await assert.rejects(tern.embed('abc'), {name: 'NotSupportedError', message: /embeddings: true/});
      assert.deepEqual(await tern.logits([1, 2]), {rows: 2, columns: 2, data: new Float32Array([1, 1.5, 2, 2.5])});
      assert.deepEqual(await tern.kernels(), [{name: 'add', wgsl: '// add', dispatches: 2, us: 3}]);
      await tern.reset();
    });

    test('vectors', async () => {
      const {tern, engine} = await open({}, {worker, embeddings: true});
      assert.equal(engine.state.calls.find(({method}) => method === 'load').params.embeddings, true);
      const vector = await tern.embed('abc');
      assert.deepEqual([Array.from(vector), vector.nTokens], [[0.5, -0.5], 3]);
      await assert.rejects(tern.embed('abc', {pooling: 'first'}), {name: 'InvalidArgumentError'});
      await assert.rejects(collect(tern.generate('abc')), {name: 'NotSupportedError', message: /vectors/});
    });

    test('an engine that aborts takes everything with it, and loading again works', async () => {
      const crash = () => {
        throw new WebAssembly.RuntimeError('unreachable');
      };
      const {tern} = await open({on: {step: crash}}, {worker});
      await assert.rejects(collect(tern.generate('a')), {name: 'WorkerCrashedError', message: /unreachable/});
      await assert.rejects(tern.tokenize('a'), {name: 'WorkerCrashedError'});
      const again = await open({}, {worker});
      assert.equal(await collect(again.tern.generate('a')), 'Once upon a time');
    });

    test('after close nothing works, with a reason', async () => {
      const {tern} = await open({}, {worker});
      await tern.close();
      await tern.close();
      await assert.rejects(tern.tokenize('a'), {code: 'cancelled', message: /closed/});
      await assert.rejects(collect(tern.generate('a')), {code: 'cancelled'});
    });

    test('wrong arguments are told by name', async () => {
      const {tern} = await open({}, {worker});
      const cases = [
        [{temperature: -1}, /temperature: -1 is not a number at least 0/],
        [{topP: 2}, /topP: 2 is not a number from 0 to 1/],
        [{seed: 1.5}, /seed: 1.5 is not a whole number/],
        [{top_p: 1}, /no option 'top_p'/],
        [{stop: [1]}, /stop/],
      ];
      for (const [options, message] of cases) {
        await assert.rejects(collect(tern.generate('a', options)), {name: 'InvalidArgumentError', message});
      }
      for (const input of [[], [{role: 'user'}], 5, null]) {
        await assert.rejects(collect(tern.generate(input)), {name: 'InvalidArgumentError'});
      }
    });
  });
}

test('a logit processor sees the logits before each choice', async () => {
  const {tern, engine} = await open({});
  const seen = [];
  const logitProcessor = {
    processLogits: (logits) => {
      seen.push([...logits]);
      logits[0] = 9;
      return logits;
    },
    processSampledToken: (token) => seen.push(token),
  };
  assert.equal(await collect(tern.generate('a', {logitProcessor})), '0 0 0 0 ');
  assert.deepEqual(seen.slice(0, 4), [[0, 1, 2], 0, [0, 1, 2], 0]);
  assert.equal(await collect(tern.generate('a')), 'Once upon a time', 'and no other reply is changed');
  assert.ok(!engine.state.calls.some(({params}) => params.logitProcessor));
  for (const [broken, message] of [[{processLogits: () => new Float32Array(2)}, /Float32Array of 3 logits/],
    [{processLogits: () => assert.fail('mine')}, /the logit processor failed: mine/],
    [{...logitProcessor, processSampledToken: () => assert.fail('mine')}, /the logit processor failed: mine/]]) {
    await assert.rejects(collect(tern.generate('a', {logitProcessor: broken})),
      {name: 'InvalidArgumentError', message});
  }
  await assert.rejects(collect(tern.generate('a', {logitProcessor: {}})), {name: 'InvalidArgumentError'});
  const away = await open({}, {worker: true});
  await assert.rejects(collect(away.tern.generate('a', {logitProcessor})),
    {name: 'NotSupportedError', message: /logitProcessor.*worker: false/});
});

test('a long generation lets other events through', async () => {
  const {tern} = await open({reply: Array(10_000_000).fill('x')});
  let turns = 0;
  const timer = setInterval(() => ++turns, 1);
  const begin = performance.now();
  for await (const _ of tern.generate('a')) {
    if (turns >= 3 || performance.now() - begin > 5000) break;
  }
  clearInterval(timer);
  assert.ok(turns >= 3, `${turns} turns`);
});

test('a worker that crashes rejects everything that waits', async () => {
  const {tern, workers} = await open({on: {step: () => new Promise(() => {})}}, {worker: true});
  const waiting = collect(tern.generate('a'));
  setTimeout(() => workers[0].crash('out of luck'), 5);
  await assert.rejects(waiting, {name: 'WorkerCrashedError', message: /out of luck.*load the model again/});
  assert.ok(workers[0].isTerminated);
  await assert.rejects(tern.tokenize('a'), {name: 'WorkerCrashedError'});
});

test('a worker that cannot be started says where it should be', async () => {
  const engine = fakeEngine();
  const inner = fakeWorkerEnv({server: new FakeServer(), engine});
  const Worker = class extends EventTarget {
    constructor(url) {
      super();
      assert.match(url, /worker\.js$/);
      setImmediate(() => this.dispatchEvent(new Event('error')));
    }

    postMessage() {}

    terminate() {}
  };
  const env = {...inner, origin: undefined, Worker};
  const message = /worker\.js: .*could not be started/;
  await assert.rejects(loadTern(env, kBytes), {name: 'WorkerCrashedError', message});
});

test('a worker that never starts is replaced by the page, unless it was asked for', async () => {
  const inner = fakeWorkerEnv({server: new FakeServer(), engine: fakeEngine()});
  const Worker = class extends EventTarget {
    postMessage() {}

    terminate() {}
  };
  const env = {...inner, Worker, startMs: 20};
  const tern = await loadTern(env, kBytes);
  assert.match(tern.info.why, /^it runs in the page because .*the worker did not start within 0.02 s/);
  let text = '';
  for await (const piece of tern.generate('a')) text += piece;
  assert.equal(text, 'Once upon a time');
  await assert.rejects(loadTern(env, kBytes, {worker: true}), {name: 'WorkerCrashedError', message: /did not start/});
});

test('log and progress cross the worker', async () => {
  const logs = [];
  const progress = [];
  const {tern} = await open({onOpen: ({onLog}) => onLog('hello')}, {worker: true}, {
    onLog: (text) => logs.push(text),
    onProgress: (one) => progress.push(one),
  });
  assert.deepEqual(logs, ['hello']);
  assert.deepEqual(progress.map(({phase}) => phase), ['load', 'compile', 'ready']);
  await tern.close();
});

test('an option that cannot go to a worker is told', async () => {
  const options = {emscripten: {locateFile: () => ''}};
  const error = {name: 'InvalidArgumentError', message: /pass worker: false/};
  await assert.rejects(open({}, {worker: true, ...options}), error);
  await open({}, {worker: false, ...options});
});

test('a load in a worker that does not answer is ended when it is stopped', async () => {
  const control = new AbortController();
  const workers = [];
  const engine = fakeEngine({on: {load: () => new Promise(() => {})}});
  const inner = fakeWorkerEnv({server: new FakeServer(), engine});
  const env = {...inner, Worker: fakeWorkerClass(() => inner, workers)};
  setTimeout(() => control.abort(), 10);
  await assert.rejects(loadTern(env, kBytes, {signal: control.signal}), {name: 'CancelledError'});
  assert.ok(workers[0].isTerminated);
});
