// A model of more than a gigabyte on WebGPU, whose weights must not pass through the tab's heap. It takes minutes and
// 3 GB of memory, so it is run by hand:
//
//   node large_model.mjs [PRESET of tern synth]

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import {launch} from './support/browser.mjs';
import {FixtureServer} from './support/fixture_server.mjs';
import {PackageTab} from './support/package_tab.mjs';
import {kRoot, kSite, needSite, tern} from './support/project.mjs';

const kHeapLimit = 200e6;

needSite();
const preset = process.argv[2] ?? 'bitnet-2b-4t';
const model = path.join(kRoot, `build/web/${preset}.gguf`);
if (!fs.existsSync(model)) {
  tern('synth', '--preset', preset, '-o', `${model}.part`);
  fs.renameSync(`${model}.part`, model);
}
const {size} = fs.statSync(model);
console.log(`${preset}: ${(size / 1e6).toFixed(0)} MB`);
assert.ok(size > 1e9, 'not large enough to say anything');
const server = await FixtureServer.start({root: kSite});
const browser = await launch();
try {
  const tab = await PackageTab.open(await browser.newContext(), server);
  await tab.load(server.mount('large.gguf', {from: model}), {backend: 'webgpu'});
  const {pieces, stats} = await tab.generate([1, 2, 3], {temperature: 0, maxTokens: 2});
  const mb = (bytes) => `${(bytes / 1e6).toFixed(0)} MB`;
  console.log(`${pieces.length} pieces of text; heap ${mb(stats.heapBytes)}, GPU ${mb(stats.gpuBytes)}, ` +
    `loaded in ${(stats.loadMs / 1000).toFixed(1)} s, ${stats.tokensPerSecond.toFixed(2)} tokens/s`);
  assert.ok(stats.heapBytes < kHeapLimit, `the heap may have ${kHeapLimit / 1e6} MB`);
} finally {
  await browser.close();
  await server.down();
}
