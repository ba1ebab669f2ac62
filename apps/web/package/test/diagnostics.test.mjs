// What a report says.

import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';
import {fakeWorkerEnv} from '../fakes/browser.mjs';
import {FakeServer} from '../fakes/server.mjs';
import {diagnose, kVersion} from '../lib/diagnostics.js';

function browser(gpu) {
  const env = fakeWorkerEnv({server: new FakeServer()}, {webAssembly: {validate: () => true, Suspending: class {}}});
  Object.assign(env.navigator, {gpu, userAgent: 'Browser/1', hardwareConcurrency: 4});
  return env;
}

test('the version is the package’s', () => {
  const {version} = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  assert.equal(kVersion, version);
});

test('a browser and its GPU are described', async () => {
  const adapter = {info: {vendor: 'amd', architecture: 'rdna-3'}, features: new Set(['subgroups', 'shader-f16']),
    limits: {maxBufferSize: 7}};
  const report = await diagnose(browser({requestAdapter: async () => adapter, wgslLanguageFeatures: new Set(['x'])}));
  assert.equal(report.browser, 'Browser/1');
  assert.equal(report.cpus, 4);
  assert.equal(report.jspi, true);
  assert.deepEqual(report.gpu.features, ['shader-f16', 'subgroups']);
  assert.equal(report.gpu.architecture, 'rdna-3');
  assert.equal(report.gpu.limits.maxBufferSize, 7);
  assert.deepEqual(JSON.parse(JSON.stringify(report.gpu.wgsl)), ['x']);
});

test('none, and one that fails, are told', async () => {
  const none = await diagnose(browser(undefined));
  assert.equal(none.gpu, null);
  assert.match(none.whyNoGpu, /no WebGPU/);
  const broken = await diagnose(browser({requestAdapter: async () => Promise.reject(new Error('blocked'))}));
  assert.deepEqual(broken.gpu, {error: 'blocked'});
});
