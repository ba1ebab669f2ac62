#!/usr/bin/env node
// usage: measure_gpu_calls.mjs [MODEL.gguf]
//
// How many calls of WebGPU a token takes, by name, and how long they take in JavaScript, in Chromium.

import {launch, openPage, untilInPage} from './support/browser.mjs';
import {FixtureServer} from './support/fixture_server.mjs';
import {kDefaultModel, kSite, needSite} from './support/project.mjs';
import path from 'node:path';

/** In the page: counts the calls of two replies of different lengths, and tells the difference. */
async function measure() {
  const {Tern} = await import('/tern/index.js');
  const counts = new Map();
  let ms = 0;
  for (const kind of ['GPUQueue', 'GPUDevice', 'GPUCommandEncoder', 'GPUComputePassEncoder', 'GPUBuffer']) {
    const methods = globalThis[kind].prototype;
    for (const name of Object.getOwnPropertyNames(methods)) {
      const {value} = Object.getOwnPropertyDescriptor(methods, name);
      if (typeof value !== 'function' || name === 'constructor') continue;
      methods[name] = function counted(...args) {
        const begin = performance.now();
        const result = value.apply(this, args);
        ms += performance.now() - begin;
        counts.set(name, (counts.get(name) ?? 0) + 1);
        return result;
      };
    }
  }
  const tern = await Tern.load('/measured.gguf', {backend: 'webgpu', worker: false, storage: false});
  const run = async (maxTokens) => {
    counts.clear();
    ms = 0;
    for await (const _ of tern.generate([1, 2, 3], {maxTokens, ignoreEos: true, temperature: 0})) { /* to its end */ }
    return {calls: new Map(counts), ms};
  };
  await run(8);
  const [short, long] = [await run(16), await run(48)];
  const perToken = [...long.calls].map(([name, n]) => [name, (n - (short.calls.get(name) ?? 0)) / 32]);
  return {perToken: Object.fromEntries(perToken.filter(([, n]) => n > 0)), ms: (long.ms - short.ms) / 32,
    tokensPerSecond: tern.stats.tokensPerSecond};
}

needSite();
const server = await FixtureServer.start({root: kSite});
server.mount('measured.gguf', {from: path.resolve(process.argv[2] ?? kDefaultModel)});
server.mount('empty.html', {from: Buffer.from('<!doctype html><title>-</title>'), type: 'text/html; charset=utf-8'});
const browser = await launch();
try {
  const page = await openPage(await browser.newContext());
  await page.goto(`${server.url}empty.html`);
  await untilInPage(page, () => document.readyState === 'complete');
  console.log(JSON.stringify(await page.evaluate(measure), null, 1));
} finally {
  await browser.close();
  await server.down();
}
