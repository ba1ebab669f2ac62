// One engine for several tabs.

import assert from 'node:assert/strict';
import {afterEach, beforeEach, describe, test} from 'node:test';
import {FakeDisk, FakeLocks, fakeWorkerEnv} from '../fakes/browser.mjs';
import {fakeEngine} from '../fakes/engine.mjs';
import {FakeServer, fakeGguf} from '../fakes/server.mjs';
import {loadTern} from '../lib/tern.js';

const kUrl = 'https://page.example/models/m.gguf';

let server;
let disk;
let locks;
let engine;
let open;  // Terns to close

beforeEach(() => {
  server = new FakeServer();
  server.put(kUrl, fakeGguf(20_000));
  disk = new FakeDisk();
  locks = new FakeLocks();
  engine = fakeEngine();
  open = [];
});

afterEach(() => Promise.all(open.map((tern) => tern.close())));

/** A tab that loads the model. */
async function tab(options = {}, more = {}) {
  const env = fakeWorkerEnv({server, engine, disk, locks}, {BroadcastChannel, ...more});
  const tern = await loadTern(env, kUrl, {shared: true, ...options});
  open.push(tern);
  return tern;
}

async function textOf(tern, prompt = 'Hello', options) {
  let text = '';
  for await (const piece of tern.generate(prompt, options)) text += piece;
  return text;
}

/** An engine that waits in its first step until `go()`. */
function slowEngine() {
  let go;
  const gate = new Promise((resolve) => {
    go = resolve;
  });
  let n = 0;
  const made = fakeEngine({on: {step: async (params, state) => {
    if (++n > 2) await gate;
    return made.usual.step(params, state);
  }}});
  return {...made, go};
}

describe('tabs that share a model', () => {
  test('one engine, with which each of them can do everything', async () => {
    const [first, second] = [await tab(), await tab()];
    assert.equal(engine.state.opened, 1);
    assert.deepEqual([first.info.isShared, second.info.isShared], [true, true]);
    assert.equal(second.info.name, 'm.gguf');
    assert.equal(await textOf(first), 'Once upon a time');
    assert.equal(await textOf(second), 'Once upon a time');
    assert.equal(second.stats.nGenerated, 4);
    assert.equal(second.stats.finishReason, 'stop_token');
    assert.deepEqual(await second.tokenize('ab'), [97, 98]);
    assert.deepEqual([...(await second.logits([1])).data], [1, 1.5]);
    assert.equal((await second.kernels())[0].name, 'add');
    await assert.rejects(second.keep(), {code: 'invalid_argument'});
  });

  test('loads at the same time become one', async () => {
    const terns = await Promise.all([tab(), tab(), tab()]);
    assert.equal(engine.state.opened, 1);
    assert.deepEqual(await Promise.all(terns.map((tern) => textOf(tern))), Array(3).fill('Once upon a time'));
    assert.equal(server.requests.length, 1);
  });

  test('other options are another engine', async () => {
    await tab();
    await tab({context: 128});
    assert.equal(engine.state.opened, 2);
  });

  test('generations take turns, and one that waits can be stopped', async () => {
    const slow = engine = slowEngine();
    const [first, second, third] = [await tab(), await tab(), await tab()];
    const one = textOf(first);
    const two = textOf(second);
    const control = new AbortController();
    const three = textOf(third, 'Hello', {signal: control.signal});
    await new Promise((resolve) => setTimeout(resolve, 20));
    control.abort();
    await assert.rejects(three, {code: 'cancelled'});
    slow.go();
    assert.deepEqual(await Promise.all([one, two]), Array(2).fill('Once upon a time'));
    assert.equal(engine.state.calls.filter(({method}) => method === 'begin').length, 2);
  });

  test('one tab cannot stop the reply of another', async () => {
    const slow = engine = slowEngine();
    const [first, second] = [await tab(), await tab()];
    const one = textOf(first);
    const control = new AbortController();
    const two = textOf(second, 'Hello', {signal: control.signal});
    control.abort();
    await assert.rejects(two, {code: 'cancelled'});
    slow.go();
    assert.equal(await one, 'Once upon a time');
  });

  test('when the tab with the engine is closed, another goes on', async () => {
    const [first, second, third] = [await tab(), await tab(), await tab()];
    await first.close();
    assert.deepEqual(await Promise.all([textOf(second), textOf(third)]), Array(2).fill('Once upon a time'));
    assert.equal(engine.state.opened, 2);
    assert.equal(engine.state.unloaded, 1);
    assert.equal(server.requests.length, 1);  // from storage
    await assert.rejects(textOf(first), {code: 'cancelled'});
  });

  for (const logprobs of [undefined, 0]) {
    const what = logprobs === 0 ? 'ends' : 'goes on';
    test(`a reply that was being written then ${what}, one that waited is written`, async () => {
      const slow = engine = slowEngine();
      const [first, second, third] = [await tab(), await tab(), await tab()];
      const pieces = [];
      const writing = (async () => {
        for await (const piece of second.generate('Hello', {seed: 7, logprobs})) pieces.push(piece);
      })();
      while (pieces.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      const waiting = textOf(third);
      slow.go();
      void first.close();
      if (logprobs === 0) await assert.rejects(writing, {code: 'worker_crashed', message: /closed in the middle/});
      else await writing;
      if (logprobs === undefined) assert.equal(pieces.join(''), 'Once upon a time', 'nothing twice');
      assert.equal(await waiting, 'Once upon a time');
      assert.equal(await textOf(second), 'Once upon a time');
      const seeds = slow.state.calls.filter(({method}) => method === 'begin').map(({params}) => params.seed);
      assert.deepEqual(seeds.slice(0, 2), logprobs === 0 ? [7, seeds[1]] : [7, 7], 'begun again with the same numbers');
    });
  }

  test('a reply that is another one in the other tab ends, and so does one that was stopped', async () => {
    for (const isStopped of [false, true]) {
      const slow = engine = slowEngine();
      const first = await tab();
      engine = fakeEngine({reply: ['Twice', ' upon', ' a', ' time']});
      const second = await tab();
      const pieces = [];
      const control = new AbortController();
      const writing = (async () => {
        for await (const piece of second.generate('Hello', {signal: control.signal})) pieces.push(piece);
      })();
      while (pieces.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      if (isStopped) control.abort();
      const closing = first.close();
      slow.go();
      await assert.rejects(writing, {code: isStopped ? 'cancelled' : 'worker_crashed'});
      await closing;
      await second.close();
    }
  });

  test('the reply for a tab that is gone is not written to its end', async () => {
    const slow = engine = slowEngine();
    const [first, second] = [await tab(), await tab()];
    const writing = textOf(second);
    await new Promise((resolve) => setTimeout(resolve, 20));
    void second.close();
    await assert.rejects(writing, {code: 'cancelled'});
    slow.go();
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(engine.state.calls.filter(({method}) => method === 'cancel').length, 1);
    assert.equal(await textOf(first), 'Once upon a time');
  });

  test('an engine that dies is an error for all of them', async () => {
    engine = fakeEngine({on: {step: () => {
      throw new WebAssembly.RuntimeError('unreachable');
    }}});
    const [first, second] = [await tab(), await tab()];
    await assert.rejects(textOf(second), {code: 'worker_crashed'});
    await assert.rejects(textOf(first), {code: 'worker_crashed'});
    engine = fakeEngine();
    assert.equal(await textOf(await tab()), 'Once upon a time');
  });
});

describe('loads of several tabs', () => {
  test('a model that is not there is an error in each of them', async () => {
    server.put(kUrl, '', {faults: Array(9).fill({status: 404})});
    const results = await Promise.allSettled([tab(), tab()]);
    assert.deepEqual(results.map(({reason}) => reason?.code), ['not_found', 'not_found']);
  });

  test('one that is aborted leaves the load to the others', async () => {
    const control = new AbortController();
    const onProgress = ({phase}) => phase === 'load' && control.abort();
    const first = tab({signal: control.signal, onProgress});
    const second = tab();
    await assert.rejects(first, {code: 'cancelled'});
    assert.equal(await textOf(await second), 'Once upon a time');
  });

  test('each of them sees how far it is', async () => {
    const phases = [[], []];
    await Promise.all(phases.map((list) => tab({onProgress: ({phase}) => list.push(phase)})));
    for (const list of phases) assert.ok(list.includes('download') && list.at(-1) === 'ready', list.join());
  });

  test('files are of one tab', async () => {
    const env = fakeWorkerEnv({server, engine, disk, locks});
    await assert.rejects(loadTern(env, new Blob([fakeGguf(20_000)]), {shared: true}), {code: 'invalid_argument'});
  });

  test('a browser that cannot says so and loads', async () => {
    const tern = await tab({}, {BroadcastChannel: undefined});
    assert.equal(tern.info.isShared, undefined);
    assert.match(tern.info.notes.join(), /not shared/);
    assert.equal(await textOf(tern), 'Once upon a time');
  });
});
