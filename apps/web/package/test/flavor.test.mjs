// How the engine is run, and what happens when it cannot be.

import assert from 'node:assert/strict';
import {describe, test} from 'node:test';
import {fakeWorkerEnv} from '../fakes/browser.mjs';
import {fakeEngine} from '../fakes/engine.mjs';
import {FakeServer, fakeGguf} from '../fakes/server.mjs';
import {kRelaxedModule, kSimdModule} from '../lib/choose_flavor.js';
import {loadTern} from '../lib/tern.js';

const kGpu = {requestAdapter: async () => ({})};

/** A browser with some of what browsers have. */
function webAssembly({jspi = true, relaxed = true, simd = true} = {}) {
  return {
    validate: (bytes) => (bytes === kRelaxedModule ? relaxed : simd),
    ...(jspi ? {Suspending: function Suspending() {}} : {}),
  };
}

/** What options of the engine amount to. */
function nameOf({gpu, threads, relaxed}) {
  if (gpu) return 'webgpu';
  return threads > 1 ? 'threads' : relaxed ? 'relaxed' : 'simd';
}

/** Loads with what a browser has, and returns how the engine was opened. */
async function load({gpu, isolated = false, scripts = {}, wasm = {}, ...more}, options = {}, source = fakeGguf(100)) {
  const opened = [];
  const create = (given) => {
    const name = nameOf(given);
    const engine = fakeEngine(scripts[name]);
    opened.push({name, engine});
    return engine.create(given);
  };
  const env = fakeWorkerEnv({server: new FakeServer()}, {
    webAssembly: webAssembly(wasm),
    crossOriginIsolated: isolated,
    importModule: async () => ({default: create}),
    ...more,
  });
  env.navigator.gpu = gpu;
  env.navigator.hardwareConcurrency = 6;
  let tern;
  let error;
  try {
    tern = await loadTern(env, source, options);
  } catch (e) {
    error = e;
  }
  return {tern, error, opened, names: opened.map(({name}) => name)};
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
    ['WebGPU where there is one', {gpu: kGpu, isolated: true}, {}, 'webgpu', 'webgpu', /^$/],
    ['no WebGPU', {isolated: true}, {}, 'threads', 'cpu', /this browser has no WebGPU/],
    ['no adapter', {gpu: {requestAdapter: async () => null}}, {}, 'relaxed', 'cpu', /found no adapter/],
    ['an adapter that fails', {gpu: {requestAdapter: async () => Promise.reject(new Error('blocked'))}}, {},
      'relaxed', 'cpu', /does not work \(blocked\)/],
    ['a software adapter', {gpu: {requestAdapter: async () => ({info: {description: 'SwiftShader Device (LLVM 16)'}})},
      isolated: true}, {}, 'threads', 'cpu', /SwiftShader Device \(LLVM 16\)\) is an imitation/],
    ['a fallback adapter', {gpu: {requestAdapter: async () => ({info: {isFallbackAdapter: true}})}}, {},
      'relaxed', 'cpu', /\(a software adapter\) is an imitation/],
    ['a software adapter that is asked for',
      {gpu: {requestAdapter: async () => ({info: {architecture: 'llvmpipe'}})}}, {backend: 'webgpu'},
      'webgpu', 'webgpu', /^$/],
    ['an adapter that never comes', {gpu: {requestAdapter: () => new Promise(() => {})}, startMs: 20}, {},
      'relaxed', 'cpu', /no adapter came within 0.02 s/],
    ['no JSPI', {gpu: kGpu, wasm: {jspi: false}}, {}, 'relaxed', 'cpu', /JSPI/],
    ['no isolation', {}, {backend: 'cpu'}, 'relaxed', 'cpu', /COOP and COEP/],
    ['one thread wanted', {isolated: true}, {backend: 'cpu', threads: 1}, 'relaxed', 'cpu', /^$/],
    ['no relaxed SIMD', {isolated: true, wasm: {relaxed: false}}, {backend: 'cpu'},
      'threads', 'cpu', /no relaxed SIMD/],
    ['the CPU is wanted', {gpu: kGpu, isolated: true}, {backend: 'cpu'}, 'threads', 'cpu', /^$/],
    ['in a page, which may not wait', {isolated: true, FileReaderSync: undefined}, {backend: 'cpu'},
      'relaxed', 'cpu', /worker/],
  ];
  for (const [name, has, options, flavor, backend, why] of cases) {
    test(name, async () => {
      const {tern, error, opened} = await load(has, options);
      assert.equal(error, undefined);
      assert.equal(tern.info.flavor, flavor);
      assert.equal(opened[0].name, flavor);
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
      const {tern, names, opened} = await load({gpu: kGpu, scripts: {webgpu: failing(code, 'too big')}});
      assert.deepEqual(names, ['webgpu', 'relaxed']);
      assert.equal(opened[0].engine.state.unloaded, 1, 'what it had is given back');
      assert.match(tern.info.why, /WebGPU was tried first and failed: too big/);
    });
  }
  for (const code of ['corruption', 'device_lost', 'invalid_argument', 'internal']) {
    test(`WebGPU with ${code}: an error`, async () => {
      const {error, names} = await load({gpu: kGpu, scripts: {webgpu: failing(code)}});
      assert.equal(error.code, code);
      assert.deepEqual(names, ['webgpu']);
    });
  }

  test('WebGPU that was asked for by name is not replaced', async () => {
    const failed = await load({gpu: kGpu, scripts: {webgpu: failing('out_of_memory')}}, {backend: 'webgpu'});
    assert.equal(failed.error.name, 'OutOfMemoryError');
    const absent = await load({}, {backend: 'webgpu'});
    assert.equal(absent.error.name, 'NotSupportedError');
    assert.match(absent.error.message, /no WebGPU.*use backend 'cpu'/);
  });

  test('threads that cannot be had are passed over', async () => {
    const onOpen = () => {
      throw new WebAssembly.CompileError('no shared memory');
    };
    const {tern, names} = await load({isolated: true, scripts: {threads: {onOpen}}});
    assert.deepEqual(names, ['threads', 'relaxed']);
    assert.match(tern.info.why, /threads were tried first and failed: .*no shared memory/);
  });

  test('threads that never start are passed over', async () => {
    const never = {importModule: async () => ({default: async (given) => {
      given.onBytes();
      return given.threads > 1 ? new Promise(() => {}) : fakeEngine().create(given);
    }})};
    const {tern, error} = await load({isolated: true, startMs: 20, ...never});
    assert.equal(error, undefined);
    assert.equal(tern.info.flavor, 'relaxed');
    assert.match(tern.info.why, /threads were tried first and failed: the threads did not start within 0.02 s/);
  });

  test('a GPU whose weights cannot be packed on threads is used without', async () => {
    const alone = {onOpen: ({threads}) => {
      if (threads > 1) throw new WebAssembly.CompileError('no shared memory');
    }};
    const {tern, names} = await load({gpu: kGpu, isolated: true, scripts: {webgpu: alone}});
    assert.deepEqual(names, ['webgpu', 'webgpu']);
    assert.match(tern.info.why, /^threads were tried first and failed: .*no shared memory/);
  });

  test('a GPU that fails on threads is not tried without them', async () => {
    const {names} = await load({gpu: kGpu, isolated: true, scripts: {webgpu: failing('not_supported', 'too big')}});
    assert.deepEqual(names, ['webgpu', 'threads']);
  });

  test('a GPU that gets nowhere is passed over, one that is slow is not', async () => {
    const stuck = {on: {load: () => new Promise(() => {})}};
    const {tern, names} = await load({gpu: kGpu, gpuStallMs: 30, scripts: {webgpu: stuck}});
    assert.deepEqual(names, ['webgpu', 'relaxed']);
    assert.match(tern.info.why, /WebGPU was tried first and failed: the GPU got no further within 0.03 s/);
    const slow = {
      on: {
        load: async ({backend}, {options}) => {
          for (let i = 0; i < 6; ++i) {
            await new Promise((go) => setTimeout(go, 20));
            options.onProgress('compiling kernels', i, 6, 'kernels');
          }
          return {name: 'x', backend};
        },
      },
    };
    assert.deepEqual((await load({gpu: kGpu, gpuStallMs: 90, scripts: {webgpu: slow}})).names, ['webgpu']);
  });

  test('what a GPU computes wrongly is told', async () => {
    const adapter = {name: 'G', features: [], failedTests: ['f16: two halves computed gives 0x0, not 0x1']};
    const script = {on: {load: () => ({name: 'x', backend: 'webgpu', adapter})}};
    const {tern} = await load({gpu: kGpu, scripts: {webgpu: script}});
    assert.match(tern.info.why, /computes wrongly with a feature that is left out now: f16: two halves/);
  });

  test('an engine that is not served is an error', async () => {
    for (const importModule of [
      async () => Promise.reject(new TypeError('Failed to fetch dynamically imported module')),
      async () => ({
        default: async ({onAbort}) => {
          onAbort('both async and sync fetching of the wasm failed');
          throw new WebAssembly.RuntimeError('Aborted');
        },
      }),
    ]) {
      const {error} = await load({importModule});
      assert.equal(error.name, 'NotFoundError');
      assert.match(error.message, /dist\/tern\.js: .*served, too/);
    }
  });

  test('an engine that the browser cannot compile is told so', async () => {
    const create = async () => {
      throw new WebAssembly.RuntimeError('Aborted(CompileError: invalid opcode)');
    };
    const {error} = await load({importModule: async () => ({default: create})});
    assert.equal(error.name, 'NotSupportedError');
    assert.match(error.message, /invalid opcode.*newer one/);
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
    const {error} = await load({scripts: {'relaxed': {on: {load: load1}}}});
    assert.equal(error.name, 'OutOfMemoryError');
  });

  test('wrong options are told by name', async () => {
    for (const [options, message] of [
      [{backend: 'cuda'}, /backend: "cuda" is not one of/],
      [{threads: 0}, /threads: 0/],
      [{context: 1.5}, /context: 1.5/],
      [{kv: 'q4_0'}, /kv: "q4_0" is not one of/],
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
  const bytes = fakeGguf(100);
  const onLoad = (_, {options}) => {
    const into = new Uint8Array(100);
    assert.equal(options.files.read('/model/model.gguf', 0, into), undefined);
    assert.deepEqual(into, bytes);
    return {name: 'x'};
  };
  const has = {FileReaderSync: undefined, wasm: {jspi: false}, scripts: {'relaxed': {on: {load: onLoad}}}};
  const {error, tern} = await load(has, {}, new Blob([bytes]));
  assert.equal(error, undefined);
  assert.equal(tern.info.flavor, 'relaxed');
});

test('a GPU of the caller is used in place', async () => {
  const Worker = class {
    constructor() {
      assert.fail('a worker was started');
    }
  };
  const {tern, opened} = await load({Worker}, {gpu: kGpu});
  assert.equal(tern.info.flavor, 'webgpu');
  assert.equal(opened[0].engine.state.options.gpu, kGpu);
});
