// Every build of the engine computes in the browser what the native program computes.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {after, before, describe, test} from 'node:test';
import {launch} from './support/browser.mjs';
import {FixtureServer} from './support/fixture_server.mjs';
import {PackageTab} from './support/package_tab.mjs';
import {golden, kDefaultModel, kGoldens, kSite, needSite, nmse, readNpy, tern} from './support/project.mjs';

let server;
let browser;
let tab;

before(async () => {
  needSite();
  server = await FixtureServer.start({root: kSite});
  browser = await launch();
  tab = await PackageTab.open(await browser.newContext(), server);
});

after(async () => {
  await browser?.close();
  await server?.down();
});

describe('tokens of the default model, chosen greedily', () => {
  let story;

  before(() => {
    [story] = JSON.parse(fs.readFileSync(path.join(kGoldens, 'bitnet/tern_stories_greedy.json'), 'utf8')).prompts;
  });

  const ways = {
    'one thread, no relaxed SIMD': {engine: {threads: 1, relaxed: false}, load: {backend: 'cpu'}, maxTokens: 100},
    'one thread': {engine: {threads: 1}, load: {backend: 'cpu'}, maxTokens: 100},
    'two threads': {engine: {threads: 2}, load: {backend: 'cpu', nThreads: 2}, maxTokens: 100},
    'WebGPU': {engine: {threads: 1}, load: {backend: 'webgpu'}, maxTokens: 100},
    // Other kernels, and many of them: a software device takes seconds to compile each.
    'WebGPU, smallest limits': {engine: {threads: 1}, maxTokens: 10,
      load: {backend: 'webgpu', gpuWithout: ['f16', 'subgroups', 'dot4', 'limits']}},
  };
  for (const [name, {maxTokens, ...way}] of Object.entries(ways)) {
    test(name, async () => {
      const {ids, text, info} = await tab.ids(
        {...way, maxTokens, model: '/models/tern-stories.gguf', prompt: story.prompt_ids});
      assert.ok(info.backend.toLowerCase().startsWith(way.load.backend), info.backend);
      const native = tern('run', '-m', kDefaultModel, '-b', 'cpu', '-p', story.prompt, '--no-echo', '--temp', '0',
        '--ignore-eos', '-n', String(maxTokens)).trim();
      assert.equal(ids.length, maxTokens);
      assert.equal(text.trim(), native);
      assert.equal(tern('detokenize', ids.join(' ')).trim(), native);
      // transformers' own ids, up to where two correct computations may part ways
      const sure = Math.min(maxTokens, story.first_near_tie);
      assert.deepEqual(ids.slice(0, sure), story.ids.slice(0, sure));
    });
  }
});

// Directories without a tokenizer: Phi-3's as MLC quantises it, BitNet's of Hugging Face. The goldens are in float32,
// and a KV cache of halves is a few 1e-4 away from them (NMSE), in the native program too. Beside that program, only
// the order of float sums differs, and how often an activation at the border is rounded to its other neighbour.
describe('logits of directories', () => {
  const kFromGolden = 1e-3;
  const kFromNative = 1e-5;
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
        const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'tern-logits-'));
        const file = path.join(scratch, 'native.npy');
        tern('logits', '-m', model.directory, '-b', 'cpu', '--tokens', model.tokens.join(','), '-o', file);
        const native = readNpy(file);
        fs.rmSync(scratch, {recursive: true});
        const fromNative = nmse(logits.data, native.data);
        assert.ok(fromNative < kFromNative, `against the native program: ${fromNative}`);
        await tab.close();
      });
    }
  }
});
