// Which build of the engine runs, and what happens when it cannot.

import assert from 'node:assert/strict';
import {describe, test} from 'node:test';
import {fakeWorkerEnv} from '../fakes/browser.mjs';
import {fakeEngine} from '../fakes/engine.mjs';
import {FakeServer, fakeGguf} from '../fakes/server.mjs';
import {kRelaxedModule, kSimdModule} from '../lib/choose_flavour.js';
import {loadTern} from '../lib/tern.js';

const kGpu = {requestAdapter: async () => ({})};

/** A browser with some of what browsers have. */
function webAssembly({jspi = true, relaxed = true, simd = true} = {}) {
  return {
    validate: (bytes) => (bytes === kRelaxedModule ? relaxed : simd),
    ...(jspi ? {Suspending: function Suspending() {}} : {}),
  };
}

/** Loads with what a browser has, and returns which builds were opened. */
async function load({gpu, isolated = false, scripts = {}, missing = [], wasm = {}, ...more}, options = {}) {
  const opened = [];
  const engine = fakeEngine();
  const env = fakeWorkerEnv({server: new FakeServer(), engine}, {
    webAssembly: webAssembly(wasm),
    crossOriginIsolated: isolated,
    importModule: async (url) => {
      const build = /dist\/(.*)\.js$/.exec(url)[1];
      if (missing.includes(build)) throw new TypeError('Failed to fetch dynamically imported module');
      const one = fakeEngine(scripts[build]);
      opened.push({build, engine: one});
      return {default: one.create};
    },
    ...more,
  });
  env.navigator.gpu = gpu;
  env.navigator.hardwareConcurrency = 6;
  let tern;
  let error;
  try {
    tern = await loadTern(env, fakeGguf(100), options);
  } catch (e) {
    error = e;
  }
  return {tern, error, opened, builds: opened.map(({build}) => build)};
}

function failing(code, message = 'no') {
  return {
    on: {
      load: ({backend}) => {
        if (backend === 'webgpu') throw {code, message};
        return {name: 'x', backend};
      },
    },
  };
}

test('the modules that ask for features are valid where these are', () => {
  assert.ok(WebAssembly.validate(kSimdModule));
  assert.ok(WebAssembly.validate(kRelaxedModule));
  assert.ok(!WebAssembly.validate(kRelaxedModule.slice(0, -1)));
});

describe('what is chosen', () => {
  const cases = [
    ['WebGPU where there is one', {gpu: kGpu, isolated: true}, {}, 'tern', 'webgpu', /^$/],
    ['no WebGPU', {isolated: true}, {}, 'tern-threads', 'cpu', /this browser has no WebGPU/],
    ['no adapter', {gpu: {requestAdapter: async () => null}}, {}, 'tern-relaxed', 'cpu', /found no adapter/],
    ['an adapter that fails', {gpu: {requestAdapter: async () => Promise.reject(new Error('blocked'))}}, {},
      'tern-relaxed', 'cpu', /does not work \(blocked\)/],
    ['no JSPI', {gpu: kGpu, wasm: {jspi: false}}, {}, 'tern-relaxed', 'cpu', /JSPI/],
    ['no isolation', {}, {backend: 'cpu'}, 'tern-relaxed', 'cpu', /COOP and COEP/],
    ['one thread wanted', {isolated: true}, {backend: 'cpu', threads: 1}, 'tern-relaxed', 'cpu', /^$/],
    ['no relaxed SIMD', {isolated: true, wasm: {relaxed: false}}, {backend: 'cpu'}, 'tern', 'cpu', /no relaxed SIMD/],
    ['the CPU is wanted', {gpu: kGpu, isolated: true}, {backend: 'cpu'}, 'tern-threads', 'cpu', /^$/],
    ['in a page, which may not wait', {isolated: true, FileReaderSync: undefined}, {backend: 'cpu'},
      'tern-relaxed', 'cpu', /worker/],
  ];
  for (const [name, has, options, build, backend, why] of cases) {
    test(name, async () => {
      const {tern, error, opened} = await load(has, options);
      assert.equal(error, undefined);
      assert.equal(tern.info.flavour, build);
      assert.equal(tern.info.backend, `${backend} (fake)`);
      assert.match(tern.info.why, why);
      assert.equal(opened.length, 1);
      assert.equal('gpu' in opened[0].engine.state.options, backend === 'webgpu');
    });
  }

  test('threads are told to the engine, and to the caller', async () => {
    const {tern, opened} = await load({isolated: true}, {threads: 3});
    assert.equal(tern.info.threads, 3);
    assert.equal(opened[0].engine.state.calls[0].params.nThreads, 3);
    assert.equal((await load({isolated: true})).tern.info.threads, 6);
    assert.equal((await load({})).tern.info.threads, 1);
  });

  test('gpuWithout goes to the GPU only', async () => {
    const without = {gpuWithout: ['f16']};
    assert.deepEqual((await load({gpu: kGpu}, without)).opened[0].engine.state.calls[0].params.gpuWithout, ['f16']);
    assert.ok(!('gpuWithout' in (await load({}, without)).opened[0].engine.state.calls[0].params));
  });
});

describe('what fails', () => {
  for (const code of ['not_supported', 'out_of_memory', 'not_found']) {
    test(`WebGPU with ${code}: the CPU, with the reason`, async () => {
      const {tern, builds} = await load({gpu: kGpu, scripts: {tern: failing(code, 'too big')}});
      assert.deepEqual(builds, ['tern', 'tern-relaxed']);
      assert.match(tern.info.why, /WebGPU was tried first and failed: too big/);
    });
  }
  for (const code of ['corruption', 'device_lost', 'invalid_argument', 'internal']) {
    test(`WebGPU with ${code}: an error`, async () => {
      const {error, builds} = await load({gpu: kGpu, scripts: {tern: failing(code)}});
      assert.equal(error.code, code);
      assert.deepEqual(builds, ['tern']);
    });
  }

  test('WebGPU that was asked for by name is not replaced', async () => {
    const failed = await load({gpu: kGpu, scripts: {tern: failing('out_of_memory')}}, {backend: 'webgpu'});
    assert.equal(failed.error.name, 'OutOfMemoryError');
    const absent = await load({}, {backend: 'webgpu'});
    assert.equal(absent.error.name, 'NotSupportedError');
    assert.match(absent.error.message, /no WebGPU.*use backend 'cpu'/);
  });

  test('a build that is not served is passed over; where none is, it is an error', async () => {
    const {tern} = await load({isolated: true, missing: ['tern-threads']});
    assert.equal(tern.info.flavour, 'tern-relaxed');
    assert.match(tern.info.why, /tern-threads was tried first and failed: .*dist\/tern-threads\.js/);
    const {error} = await load({missing: ['tern', 'tern-relaxed']});
    assert.equal(error.name, 'NotFoundError');
    assert.match(error.message, /serve the package's dist folder/);
  });

  test('a browser without SIMD is told so', async () => {
    const {error} = await load({wasm: {simd: false}});
    assert.equal(error.name, 'NotSupportedError');
    assert.match(error.message, /no WebAssembly SIMD/);
  });

  test('too little memory in the tab is no crash to the caller', async () => {
    const load1 = () => {
      throw new WebAssembly.RuntimeError('Aborted(OOM). Build with -sASSERTIONS for more info.');
    };
    const {error} = await load({scripts: {'tern-relaxed': {on: {load: load1}}}});
    assert.equal(error.name, 'OutOfMemoryError');
  });

  test('wrong options are told by name', async () => {
    for (const [options, message] of [
      [{backend: 'cuda'}, /backend: "cuda" is not one of/],
      [{threads: 0}, /threads: 0/],
      [{context: 1.5}, /context: 1.5/],
      [{nThreads: 3}, /no option 'nThreads'/],
      [{gpu: kGpu, worker: true}, /cannot go to a worker/],
    ]) {
      const {error} = await load({}, options);
      assert.equal(error?.name, 'InvalidArgumentError');
      assert.match(error.message, message);
    }
  });
});

test('without synchronous files, an engine that cannot wait gets them from memory', async () => {
  const {tern, opened} = await load({FileReaderSync: undefined, wasm: {jspi: false}});
  assert.deepEqual(Buffer.from(opened[0].engine.state.read['/model/model.gguf']), Buffer.from(fakeGguf(100)));
  assert.equal(tern.info.flavour, 'tern-relaxed');
});
