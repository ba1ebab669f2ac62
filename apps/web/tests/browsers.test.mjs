// The browsers: each computes what the native program and Hugging Face's transformers compute, stops, and keeps its
// model.

import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {after, before, describe, test} from 'node:test';
import {launchFirefox} from './support/bidi.mjs';
import {launch as launchChromium} from './support/browser.mjs';
import {findFirefox, findWebKit} from './support/find_browsers.mjs';
import {FixtureServer} from './support/fixture_server.mjs';
import {PackageTab} from './support/package_tab.mjs';
import {golden, kDefaultGoldens, kGoldens, kRoot, kSite, needSite, nmse} from './support/project.mjs';
import {launchWebKit} from './support/webdriver.mjs';

const kModel = 'models/tern-stories.gguf';

const kPrompt = 'Once upon a time';
const story = kDefaultGoldens.without_ties;

let server;

before(async () => {
  needSite();
  server = await FixtureServer.start({root: kSite});
});
after(() => server?.down());

// Small random models of every family, with the logits that transformers computed. Their best two logits are nowhere so
// close that a correct computation could choose another token.
const kFamilies = JSON.parse(fs.readFileSync(path.join(kGoldens, 'families/goldens.json'), 'utf8')).models
  .map(({name}) => name);
// Compiling shaders takes a CPU some seconds a model, so a GPU has one of each kind.
const kOnGpu = ['bitnet_large', 'qwen3_tied', 'phi3', 'llama3', 'gemma2', 'gemma3', 'granite', 'qwen2', 'qwen35moe',
  'gpt_oss'];

function greatest(row) {
  return row.reduce((best, value, i) => (value > row[best] ? i : best), 0);
}

async function compareFamily(tab, name, backend) {
  const model = golden('families', name);
  const file = path.join(kGoldens, 'families', `${name}.gguf`);
  const url = server.mount(`families/${name}.gguf`, {from: file});
  const context = model.n_ctx > 0 ? {context: model.n_ctx} : {};
  const info = await tab.load(url, {backend, storage: false, ...context});
  try {
    assert.ok(info.backend.toLowerCase().startsWith(backend), info.backend);
    const {rows, columns, data} = await tab.logits(model.tokens);
    assert.deepEqual([rows, columns], [model.logits.rows, model.logits.columns]);
    const idsOf = (values) => Array.from({length: rows}, (_, i) => (
      greatest(values.slice(i * columns, (i + 1) * columns))));
    assert.deepEqual(idsOf(data), idsOf(model.logits.data), name);
    const error = nmse(data, model.logits.data);
    assert.ok(error < 1e-3, `${name}: ${error}`);
  } finally {
    await tab.close();
  }
}

// In a page: what its compiler says against kernels, by their names, and how many it takes. Those that use what the
// browser has not are not asked about.
async function compileAll(names) {
  const adapter = await navigator.gpu.requestAdapter();
  const features = ['shader-f16', 'subgroups'].filter((name) => adapter.features.has(name));
  const limits = ['maxComputeInvocationsPerWorkgroup', 'maxComputeWorkgroupSizeX', 'maxComputeWorkgroupStorageSize',
    'maxStorageBuffersPerShaderStage'];
  const device = await adapter.requestDevice({requiredFeatures: features,
    requiredLimits: Object.fromEntries(limits.map((name) => [name, adapter.limits[name]]))});
  const has = new Set([...navigator.gpu.wgslLanguageFeatures, ...features.map((name) => name.replace('shader-', ''))]);
  const said = {};
  let taken = 0;
  for (const name of names) {
    const code = await (await fetch(`/kernels/${name}`)).text();
    if ([...code.matchAll(/^(?:enable|requires) (\w+);/gm)].some(([, feature]) => !has.has(feature))) continue;
    device.pushErrorScope('validation');
    const module = device.createShaderModule({code});
    const {messages} = await module.getCompilationInfo();
    const errors = messages.filter(({type}) => type === 'error').map(({lineNum, message}) => `${lineNum}: ${message}`);
    if (errors.length === 0) {
      await device.createComputePipelineAsync({layout: 'auto', compute: {module}})
        .catch((error) => errors.push(error.message));
    }
    const more = await device.popErrorScope();
    if (more) errors.push(more.message);
    if (errors.length > 0) said[name] = errors;
    else ++taken;
  }
  return {taken, said};
}

/** @type {{name: string, program?: string, launch: (program: string) => Promise<object>, ways: object}[]} */
const kBrowsers = [
  {name: 'Chromium', program: 'chromium', launch: () => launchChromium(), ways: {}},
  {name: 'Firefox', program: findFirefox(), launch: (program) => launchFirefox(program, {webGpu: true}),
    ways: {'the default': {}, 'one thread': {threads: 1, backend: 'cpu'}, 'WebGPU': {backend: 'webgpu'}},
    // Firefox 153 on Mesa's llvmpipe stands still at about the ninth device of a process, whatever runs on it.
    gpuModels: 4},
  {name: 'WebKit', program: findWebKit(), launch: launchWebKit, ways: {'the default': {}},
    // WebDriver's sessions are private ones, in which WebKit forgets a cache that nobody has open.
    forgets: true},
];

for (const {name, program, launch, ways, gpuModels = kOnGpu.length, forgets} of kBrowsers) {
  describe(name, {skip: program ? false : `${name} is not installed`}, () => {
    let browser;
    let tab;

    before(async () => {
      browser = await launch(program);
      tab = await PackageTab.open(await browser.newContext(), server);
    });
    after(() => browser?.close());

    for (const [way, options] of Object.entries(ways)) {
      test(`${way}: the native program's ids`, async (t) => {
        const hasGpu = () => tab.page.evaluate(async () => Boolean(await navigator.gpu?.requestAdapter()));
        if (options.backend === 'webgpu' && !(await hasGpu())) return t.skip(`${name} finds no adapter here`);
        const info = await tab.load(kModel, options);
        t.diagnostic(`${info.backend}; ${info.why}`);
        if (options.backend) assert.ok(info.backend.toLowerCase().startsWith(options.backend), info.backend);
        const {stats} = await tab.generate(story.prompt_ids,
          {temperature: 0, maxTokens: story.ids.length, ignoreEos: true});
        assert.deepEqual(stats.tokens, story.ids);
        return tab.close();
      });
    }

    test('small models of every family: the logits of transformers', {timeout: 120_000}, async () => {
      for (const model of kFamilies) await compareFamily(tab, model, 'cpu');
    });

    // In a process of its own, which has few devices.
    const noGpu = name === 'WebKit' ? 'it has no WebGPU here' : false;
    test('and on a GPU', {skip: noGpu, timeout: 120_000}, async (t) => {
      const fresh = await launch(program);
      try {
        const own = await PackageTab.open(await fresh.newContext(), server);
        const hasGpu = await own.page.evaluate(async () => Boolean(await navigator.gpu?.requestAdapter()));
        if (!hasGpu) return t.skip(`${name} finds no adapter here`);
        for (const model of kOnGpu.slice(0, gpuModels)) await compareFamily(own, model, 'webgpu');
      } finally {
        await fresh.close();
      }
    });

    test('a reply is stopped, and the stored model works without the network', async () => {
      await tab.load(kModel, {backend: 'cpu'});
      const {stats} = await tab.generate(kPrompt, {maxTokens: 400, stopAfter: 3});
      assert.ok(stats.nGenerated < 100, `${stats.nGenerated}`);
      await tab.close();
      const before = server.requests.length;
      const {fromCache} = await tab.load(kModel, {backend: 'cpu'});
      assert.ok(fromCache || forgets);
      assert.equal(server.requestsFor(kModel, before).length, fromCache ? 0 : 1);
      const {text} = await tab.generate(kPrompt, {maxTokens: 5});
      assert.notEqual(text, '');
    });
  });
}

// Natively Tint compiles all kernels; this is naga. In a process of its own, which has few devices (gpuModels).
const noFirefox = findFirefox() ? false : 'it is not installed';
test('Firefox compiles every kernel that it can have', {skip: noFirefox}, async (t) => {
  const browser = await launchFirefox(findFirefox(), {webGpu: true});
  try {
    const tab = await PackageTab.open(await browser.newContext(), server);
    if (!(await tab.page.evaluate(async () => Boolean(await navigator.gpu?.requestAdapter())))) {
      return t.skip('it finds no adapter here');
    }
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kernels-'));
    t.after(() => fs.rmSync(folder, {recursive: true}));
    execFileSync(path.join(kRoot, 'build/release/bin/kernel_golden_test'),
      {env: {...process.env, TERN_WRITE_KERNELS: folder}});
    const kernels = fs.readdirSync(folder).filter((file) => file.endsWith('.wgsl'));
    for (const file of kernels) server.mount(`kernels/${file}`, {from: path.join(folder, file)});
    const {taken, said} = await tab.page.evaluate(compileAll, kernels);
    assert.deepEqual(said, {});
    assert.ok(taken > 100, `${taken} of ${kernels.length}`);
  } finally {
    await browser.close();
  }
});
