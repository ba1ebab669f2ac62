#!/usr/bin/env node
// usage: measure_gpu_calls.mjs [MODEL.gguf]
//
// How many calls of WebGPU a token and a prompt of 512 take, by name, and how long recording takes, in Chromium.

import {launch, openPage, untilInPage} from './support/browser.mjs';
import {FixtureServer} from './support/fixture_server.mjs';
import {kDefaultModel, kSite, needSite} from './support/project.mjs';
import path from 'node:path';

/**
 * In the page: counts the calls of replies of different lengths, and tells the differences.
 * @param {boolean} isHidden the adapter does not tell that it computes on the CPU, so it gets the kernels of others
 */
async function measure(isHidden) {
  const {Tern} = await import('/tern/index.js');
  const counts = new Map();
  let [ms, begin] = [0, 0];
  for (const kind of ['GPUQueue', 'GPUDevice', 'GPUCommandEncoder', 'GPUComputePassEncoder', 'GPUBuffer']) {
    const methods = globalThis[kind].prototype;
    for (const name of Object.getOwnPropertyNames(methods)) {
      const {value} = Object.getOwnPropertyDescriptor(methods, name);
      if (typeof value !== 'function' || name === 'constructor') continue;
      methods[name] = function counted(...args) {
        if (name === 'createCommandEncoder') begin = performance.now();
        const result = value.apply(this, args);
        if (name === 'submit') ms += performance.now() - begin;
        counts.set(name, (counts.get(name) ?? 0) + 1);
        return result;
      };
    }
  }
  if (isHidden) {
    const info = {vendor: 'a', architecture: 'b', description: 'a GPU'};
    Object.defineProperty(GPUAdapter.prototype, 'info', {value: info});
  }
  const tern = await Tern.load('/measured.gguf', {backend: 'webgpu', worker: false, storage: false});
  const run = async (maxTokens, prompt = [1, 2, 3]) => {
    counts.clear();
    ms = 0;
    for await (const _ of tern.generate(prompt, {maxTokens, ignoreEos: true, temperature: 0})) { /* to its end */ }
    return {calls: new Map(counts), ms};
  };
  const between = (less, more, n) => {
    const calls = [...more.calls].map(([name, count]) => [name, (count - (less.calls.get(name) ?? 0)) / n]);
    const some = calls.filter(([, count]) => count > 0);
    const sum = some.reduce((all, [, count]) => all + count, 0);
    return {calls: Math.round(sum), ...Object.fromEntries(some.map(([name, n]) => [name, Math.round(n * 10) / 10])),
      recordingMs: Math.round((more.ms - less.ms) / n * 100) / 100};
  };
  // Ids that are nowhere twice in the same order: nothing of them is in the prefix cache.
  const promptOf = (n, seed) => Array.from({length: n}, (_, i) => 300 + (i * 7 + seed * 101) % 3000);
  await run(8);
  await run(2, promptOf(512, 1));
  const [short, long] = [await run(16), await run(48)];
  const {tokensPerSecond} = tern.stats;
  const one = await run(1, promptOf(512, 3));
  const {promptTokensPerSecond} = tern.stats;
  return {token: {...between(short, long, 32), tokensPerSecond},
    promptOf512: {...between({calls: new Map(), ms: 0}, one, 1), promptTokensPerSecond}};
}

needSite();
const server = await FixtureServer.start({root: kSite});
server.mount('measured.gguf', {from: path.resolve(process.argv[2] ?? kDefaultModel)});
server.mount('empty.html', {from: Buffer.from('<!doctype html><title>-</title>'), type: 'text/html; charset=utf-8'});
const browser = await launch();
try {
  for (const isHidden of [false, true]) {
    const page = await openPage(await browser.newContext());
    await page.goto(`${server.url}empty.html`);
    await untilInPage(page, () => document.readyState === 'complete');
    console.log(isHidden ? 'kernels of other GPUs' : 'kernels of software GPUs');
    console.log(JSON.stringify(await page.evaluate(measure, isHidden), null, 1));
    await page.close();
  }
} finally {
  await browser.close();
  await server.down();
}
