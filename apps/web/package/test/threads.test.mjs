// Starting threads, which Firefox sometimes never comes back from.

import assert from 'node:assert/strict';
import {describe, test} from 'node:test';
import {fakeWorkerClass, fakeWorkerEnv} from '../fakes/browser.mjs';
import {fakeEngine} from '../fakes/engine.mjs';
import {FakeServer, fakeGguf} from '../fakes/server.mjs';
import {loadTern} from '../lib/tern.js';

const kModel = 'https://page.example/m.gguf';

/** Loads in workers of which the first `nStuck` come back from no start of a thread. What was made of it. */
async function load({nStuck = 0, fails = () => {}, onStart = () => {}}, options = {}) {
  const server = new FakeServer();
  server.put(kModel, fakeGguf(100));
  const threads = [];
  const taken = [];
  const engine = fakeEngine({onOpen: (given) => {
    fails(given);
    for (let i = 1; i < given.threads; ++i) taken.push(given.startThread());
  }});
  const workers = [];
  const Fake = fakeWorkerClass(() => {
    const number = workers.length;
    const script = Object.assign((given) => engine.create(given), {startThread: () => {
      // What was said so far is still heard, and nothing more.
      if (number < nStuck) {
        const stuck = workers[number];
        stuck.dispatchEvent = (event) => event.data?.event?.threads === 'starting' &&
          EventTarget.prototype.dispatchEvent.call(stuck, event);
        throw new Error('it stands still');
      }
      const thread = {isEnded: false, requests: server.requests.length, terminate() {
        this.isEnded = true;
      }, addEventListener(type, listener) {
        this.fail = listener;
        setImmediate(() => onStart(this));
      }};
      threads.push(thread);
      return thread;
    }});
    const fetch = (...args) => (number < nStuck ? new Promise(() => {}) : inner.fetch(...args));
    const importModule = async () => ({default: script});
    return {...inner, fetch, Worker: undefined, crossOriginIsolated: true, importModule};
  }, []);
  const Worker = class extends Fake {
    constructor(url) {
      super(url);
      workers.push(this);
    }
  };
  const webAssembly = {validate: () => true, Suspending: function Suspending() {}};
  const inner = fakeWorkerEnv({server, engine}, {threadsMs: 10, Worker, webAssembly});
  inner.navigator.hardwareConcurrency = 3;
  const tern = await loadTern(inner, kModel, {backend: 'cpu', storage: false, ...options});
  return {tern, threads, taken, workers, engine, server};
}

describe('threads', () => {
  test('are started before the model is fetched, and the engine gets those', async () => {
    const {tern, threads, taken, engine} = await load({});
    assert.equal(tern.info.flavor, 'threads');
    assert.equal(threads.length, 2);
    assert.deepEqual(threads.map(({requests}) => requests), [0, 0]);
    assert.equal(taken.length, 2);
    assert.ok(taken.every((one) => threads.includes(one) && !one.isEnded));
    assert.equal(engine.state.options.threads, 3);
  });

  test('a worker that stands still while it starts them is replaced, and nothing is fetched twice', async () => {
    const {tern, workers, server, engine} = await load({nStuck: 2});
    assert.equal(tern.info.flavor, 'threads');
    assert.deepEqual(workers.map(({isTerminated}) => isTerminated), [true, true, false]);
    assert.equal(server.requests.length, 1);
    assert.equal(engine.state.opened, 1);
    let text = '';
    for await (const piece of tern.generate('a')) text += piece;
    assert.equal(text, 'Once upon a time');
  });

  test('after three such workers there is one without threads', async () => {
    const {tern, workers, threads} = await load({nStuck: 3});
    assert.equal(tern.info.flavor, 'relaxed');
    assert.equal(tern.info.why, 'the CPU part has one thread because starting them stood still');
    assert.equal(workers.length, 4);
    assert.equal(threads.length, 0);
  });

  test('those of an engine that does not open are ended', async () => {
    for (const nTaken of [0, 1]) {
      const fails = ({threads, startThread}) => {
        if (threads === 1) return;
        for (let i = 0; i < nTaken; ++i) startThread();
        throw new WebAssembly.CompileError('no shared memory');
      };
      const {tern, threads} = await load({fails});
      assert.equal(tern.info.flavor, 'relaxed');
      assert.deepEqual(threads.map(({isEnded}) => isEnded), [true, true]);
    }
  });

  test('one whose script fails is not waited for', async () => {
    const {tern, threads} = await load({onStart: (thread) => thread.fail?.({message: 'blocked'})});
    assert.equal(tern.info.flavor, 'relaxed');
    assert.match(tern.info.why, /threads were tried first and failed: a thread could not be started \(blocked\)/);
    assert.ok(threads.every(({isEnded}) => isEnded));
  });

  test('a load that is stopped meanwhile stays stopped', async () => {
    const control = new AbortController();
    setTimeout(() => control.abort(), 2);
    await assert.rejects(load({nStuck: 1000}, {signal: control.signal}), {name: 'CancelledError'});
  });
});
