// Every build of the engine computes in the browser what the native program computes.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {after, before, describe, test} from 'node:test';
import {launch} from './support/browser.mjs';
import {FixtureServer} from './support/fixture_server.mjs';
import {PackageTab} from './support/package_tab.mjs';
import {
  golden, kDefaultGoldens, kDefaultModel, kRoot, kSite, needSite, nmse, readNpy, tern,
} from './support/project.mjs';
import {published} from './support/published.mjs';

let server;
let browser;
let tab;

before(async () => {
  needSite();
  server = await FixtureServer.start({root: kSite});
  browser = await launch();
  tab = await PackageTab.open(await browser.newContext(), server);
});

/** What the native program computes, on the CPU. @param {string} model @param {number[]} tokens */
function nativeLogits(model, tokens) {
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'tern-logits-'));
  try {
    const file = path.join(scratch, 'native.npy');
    tern('logits', '-m', model, '-b', 'cpu', '--tokens', tokens.join(','), '-o', file);
    return readNpy(file);
  } finally {
    fs.rmSync(scratch, {recursive: true});
  }
}

after(async () => {
  await browser?.close();
  await server?.down();
});

// As transformers chooses them, where no two logits are so close that a correct computation could choose otherwise.
describe('tokens of the default model, chosen greedily', () => {
  const {prompt_ids: prompt, ids: expected} = kDefaultGoldens.without_ties;

  const ways = {
    'one thread, no relaxed SIMD': {engine: {threads: 1, relaxed: false}, load: {backend: 'cpu'}},
    'one thread': {engine: {threads: 1}, load: {backend: 'cpu'}},
    'two threads': {engine: {threads: 2}, load: {backend: 'cpu', nThreads: 2}},
    'WebGPU': {engine: {threads: 1}, load: {backend: 'webgpu'}},
    'WebGPU, smallest limits': {engine: {threads: 1},
      load: {backend: 'webgpu', gpuWithout: ['f16', 'dot4', 'limits']}},
    // Not without subgroups: a software device takes minutes for kernels full of barriers, which the native tests run.
  };
  for (const [name, way] of Object.entries(ways)) {
    test(name, async () => {
      const asked = server.requests.length;
      const {ids, text, info} = await tab.ids(
        {...way, maxTokens: expected.length, model: '/models/tern-stories.gguf', prompt});
      assert.ok(info.backend.toLowerCase().startsWith(way.load.backend), info.backend);
      const file = way.load.backend === 'webgpu' ? 'tern_gpu' : way.engine.relaxed === false ? 'tern_plain' : 'tern';
      const paths = server.requests.slice(asked).map((request) => request.path);
      const modules = paths.filter((one) => one.endsWith('.wasm'));
      assert.deepEqual(modules, [`/tern/dist/${file}.wasm`]);
      assert.equal(ids.length, expected.length);
      assert.equal(tern('detokenize', '-m', kDefaultModel, ids.join(' ')).trim(), text.trim());
      assert.deepEqual(ids, expected);
    });
  }
});

// Directories without a tokenizer: Phi-3's as MLC quantizes it, BitNet's of Hugging Face. The goldens are in float32;
// activations in int8 (Q4_0, except on software GPUs) or a KV cache of halves are a few 1e-4 away from them (NMSE), in
// the native program too. Whichever of the two is computed, the rest is the order of float sums, and how often an
// activation at the border is rounded to its other neighbor.
describe('logits of directories', () => {
  const kFromGolden = 1e-3;
  const kRest = 1e-5;
  const models = [{folder: 'containers', name: 'phi3_q4f16_1'}, {folder: 'families', name: 'bitnet_autobitlinear'}];
  for (const {folder, name} of models) {
    for (const backend of ['cpu', 'webgpu']) {
      test(`${name} ${backend}`, async () => {
        const model = golden(folder, name);
        const info = await tab.load(server.mountFolder(`goldens/${name}`, model.directory), {backend, storage: false});
        assert.equal(info.backend.split(' ')[0].toLowerCase(), backend);
        const logits = await tab.logits(model.tokens);
        assert.deepEqual([logits.rows, logits.columns], [model.logits.rows, model.logits.columns]);
        const fromGolden = nmse(logits.data, model.logits.data);
        assert.ok(fromGolden < kFromGolden, `against the golden: ${fromGolden}`);
        const fromNative = nmse(logits.data, nativeLogits(model.directory, model.tokens).data);
        const least = backend === 'cpu' ? fromNative : Math.min(fromNative, fromGolden);
        assert.ok(least < kRest, `against the native program: ${fromNative}; against the golden: ${fromGolden}`);
        await tab.close();
      });
    }
  }
});

// What few models need of the GPU's engine is a file of its own (apps/web/more.js).
test('a model that needs the rest of the engine: it is fetched, or a sentence says that it cannot be', async () => {
  const more = 'tern/dist/tern_gpu_more.wasm';
  const model = golden('families', 'bitnet_autobitlinear');
  const url = server.mountFolder('goldens/needs_more', model.directory);
  server.mount(more, {from: Buffer.from(''), status: 404});
  try {
    const message = /^the engine stopped \(tern_gpu_more\.wasm, a part of the engine, cannot be loaded: .*404/;
    await assert.rejects(tab.load(url, {backend: 'webgpu', storage: false}), {message});
  } finally {
    server.unmount(more);
  }
  const before = server.requests.length;
  await tab.load(url, {backend: 'webgpu', storage: false});
  assert.equal(server.requestsFor(more, before).length, 1);
  const logits = await tab.logits(model.tokens);
  assert.ok(nmse(logits.data, model.logits.data) < 1e-3);
  await tab.close();
});

test('the list of published models is the program’s', () => {
  assert.equal(fs.readFileSync(path.join(kRoot, 'apps/web/package/lib/published.js'), 'utf8'), published());
});

// Shader compilers that are wrong: what they break is left out, or the CPU computes.
describe('a GPU that computes wrongly', () => {
  const kModel = 'models/tern-stories.gguf';

  test('is refused where nothing helps, and the CPU takes over', async () => {
    const breakGpu = ['bitcast<f32>(', 'f32('];
    await assert.rejects(tab.load(kModel, {backend: 'webgpu', breakGpu}),
      {code: 'not_supported', message: /the GPU A GPU computes wrongly \(shaders: bitcast<f32>/});
    const info = await tab.load(kModel, {breakGpu});
    assert.match(info.backend, /^cpu/);
    assert.match(info.why, /WebGPU was tried first and failed: .*the GPU A GPU computes wrongly/);
    const {prompt_ids: prompt, ids} = kDefaultGoldens.without_ties;
    const {stats} = await tab.generate(prompt, {temperature: 0, maxTokens: ids.length, ignoreEos: true});
    assert.deepEqual(stats.tokens, ids);
    await tab.close();
  });

  test('is used without the feature that it gets wrong', async () => {
    const small = server.mountFolder('goldens/small', golden('containers', 'phi3_q4f16_1').directory);
    const info = await tab.load(small,
      {backend: 'webgpu', storage: false, breakGpu: ['dot4I8Packed(', '2i * dot4I8Packed(']});
    assert.match(info.adapter.failedTests[0], /^dot4: dot4I8Packed gives 0x/);
    assert.ok(!info.adapter.features.includes('dot4'));
    assert.match(info.why, /left out now: dot4/);
    await tab.close();
  });
});
