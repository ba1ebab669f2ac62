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

describe('a hundred tokens of the default model, chosen greedily', () => {
  const kTokens = 100;
  let story;
  let expected;

  before(() => {
    [story] = JSON.parse(fs.readFileSync(path.join(kGoldens, 'bitnet/tern_stories_greedy.json'), 'utf8')).prompts;
    expected = tern('run', '-m', kDefaultModel, '-b', 'cpu', '-p', story.prompt, '--no-echo', '--temp', '0',
      '--ignore-eos', '-n', String(kTokens)).trimEnd();
  });

  const builds = [
    {build: 'tern', backend: 'cpu'},
    {build: 'tern-relaxed', backend: 'cpu'},
    {build: 'tern-threads', backend: 'cpu', nThreads: 2},
    {build: 'tern', backend: 'webgpu'},
    {build: 'tern', backend: 'webgpu', gpuWithout: ['f16', 'subgroups', 'dot4', 'limits']},
  ];
  for (const options of builds) {
    test(Object.values(options).flat().join(' '), async () => {
      const {ids, text} = await tab.ids(
        {...options, model: '/models/tern-stories.gguf', prompt: story.prompt_ids, maxTokens: kTokens});
      assert.equal(ids.length, kTokens);
      assert.equal(text.trim(), expected.trim());
      assert.equal(tern('detokenize', ids.join(' ')).trim(), expected.trim());
      // transformers' own ids, up to where two correct computations may part ways
      assert.deepEqual(ids.slice(0, story.first_near_tie), story.ids.slice(0, story.first_near_tie));
    });
  }
});

// Directories without a tokenizer: Phi-3's as MLC quantises it, BitNet's of Hugging Face. Bounds as in the native tests
// of the same directories: for MLC's, CPU kernels round activations to int8 in blocks of 32 (NMSE of a few 1e-5), while
// BitNet's rounding is the model's own. Beside the native program, only the order of float sums differs, and how often
// an activation at the border rounds the other way.
describe('logits of directories', () => {
  const models = [
    {folder: 'containers', name: 'phi3_q4f16_1', bound: 1e-3},
    {folder: 'families', name: 'bitnet_autobitlinear', bound: 1e-4},
  ];
  for (const {folder, name, bound} of models) {
    for (const backend of ['cpu', 'webgpu']) {
      test(`${name} ${backend}`, async () => {
        const model = golden(folder, name);
        const info = await tab.load(server.mountFolder(`goldens/${name}`, model.directory), {backend, storage: false});
        assert.equal(info.backend.split(' ')[0].toLowerCase(), backend);
        const logits = await tab.logits(model.tokens);
        assert.deepEqual([logits.rows, logits.columns], [model.logits.rows, model.logits.columns]);
        const fromGolden = nmse(logits.data, model.logits.data);
        assert.ok(fromGolden < bound, `against the golden: ${fromGolden}`);
        const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'tern-logits-'));
        const file = path.join(scratch, 'native.npy');
        tern('logits', '-m', model.directory, '-b', 'cpu', '--tokens', model.tokens.join(','), '-o', file);
        const native = readNpy(file);
        fs.rmSync(scratch, {recursive: true});
        const fromNative = nmse(logits.data, native.data);
        assert.ok(fromNative < bound, `against the native program: ${fromNative}`);
        await tab.close();
      });
    }
  }
});
