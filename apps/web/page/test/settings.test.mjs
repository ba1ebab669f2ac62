import assert from 'node:assert/strict';
import test from 'node:test';

import {describe, isCancelled, isFatal} from '../base/errors.js';
import {formatBytes, formatCount, formatDuration, formatRate} from '../base/format.js';
import {kDefaults, Settings} from '../base/settings.js';
import {TinyStorage} from './tiny_storage.js';

test('settings are remembered', () => {
  const storage = new TinyStorage();
  const settings = new Settings(storage);
  assert.equal(settings.get('temperature'), 0.7);
  assert.ok(settings.set('temperature', 1.2));
  assert.ok(settings.set('systemPrompt', 'Be brief.'));
  const again = new Settings(storage);
  assert.equal(again.get('temperature'), 1.2);
  assert.equal(again.get('systemPrompt'), 'Be brief.');
  assert.equal(again.get('topK'), 40);
});

test('what cannot be is not taken', () => {
  const settings = new Settings(null);
  for (const [name, value] of [['temperature', -1], ['temperature', NaN], ['temperature', '1'], ['topK', 1.5],
    ['topP', 1.01], ['maxTokens', 0], ['seed', 2 ** 32], ['backend', 'tpu'], ['randomSeed', 1]]) {
    assert.equal(settings.set(name, value), false, `${name} = ${value}`);
    assert.equal(settings.get(name), kDefaults[name]);
  }
});

test('stored nonsense does no harm', () => {
  for (const text of ['', 'null', '[]', '{"temperature":"hot","topK":-3,"theme":"pink"}', '{"temperature":', '7']) {
    const settings = new Settings(new TinyStorage({'tern.settings': text}));
    for (const [name, value] of Object.entries(kDefaults)) {
      assert.equal(settings.get(name), value, `${name} from ${text}`);
    }
  }
});

test('reset puts sampling back and leaves the rest', () => {
  const settings = new Settings(null);
  settings.set('temperature', 2);
  settings.set('backend', 'cpu');
  let told = [];
  settings.addEventListener('change', ({detail}) => {
    told = detail.names;
  });
  settings.reset();
  assert.equal(settings.get('temperature'), 0.7);
  assert.equal(settings.get('backend'), 'cpu');
  assert.ok(told.includes('temperature'));
});

test('a conversation may have settings of its own, which go before those for all', () => {
  const storage = new TinyStorage();
  const settings = new Settings(storage);
  settings.set('temperature', 1);
  let told = 0;
  settings.addEventListener('own', () => told++);
  settings.setOwn({systemPrompt: 'Rhyme.', temperature: 9, backend: 'cpu', nonsense: 1});
  assert.deepEqual(settings.own, {systemPrompt: 'Rhyme.'}, 'only what can be');
  assert.equal(settings.get('temperature'), 1);
  settings.set('temperature', 0.5);
  settings.set('theme', 'dark');
  assert.deepEqual(settings.own, {systemPrompt: 'Rhyme.', temperature: 0.5});
  assert.equal(told, 2);
  assert.equal(new Settings(storage).get('temperature'), 1);
  assert.equal(new Settings(storage).get('theme'), 'dark');
  settings.reset();
  assert.deepEqual(settings.own, {});
  assert.equal(settings.get('temperature'), 1);
  settings.setOwn(null);
  settings.set('temperature', 2);
  assert.equal(new Settings(storage).get('temperature'), 2);
});

test('what nobody chose is as the model recommends', () => {
  const storage = new TinyStorage();
  const settings = new Settings(storage);
  settings.set('topK', 20);
  let told = [];
  settings.addEventListener('change', ({detail}) => {
    told = detail.names;
  });
  settings.advise({temperature: 0.5, topK: 10, topP: 7, repeatLastN: 64});
  assert.equal(settings.get('temperature'), 0.5);
  assert.equal(settings.get('topK'), 20, 'chosen');
  assert.equal(settings.get('topP'), 1, 'no share can be 7');
  assert.deepEqual(told, ['temperature', 'topK']);
  assert.equal(settings.generateOptions().temperature, 0.5);
  settings.set('temperature', 0.7);
  assert.equal(settings.get('temperature'), 0.7, 'the default, chosen');
  const again = new Settings(storage);
  again.advise({temperature: 0.5});
  assert.equal(again.get('temperature'), 0.7);
  again.reset();
  assert.equal(again.get('temperature'), 0.5);
  again.advise({});
  assert.equal(again.get('temperature'), 0.7);
});

test('defaults that an earlier version stored were not chosen', () => {
  const stored = JSON.stringify({...kDefaults, topK: 7});
  const settings = new Settings(new TinyStorage({'tern.settings': stored}));
  settings.advise({temperature: 0.5, topK: 10});
  assert.equal(settings.get('temperature'), 0.5);
  assert.equal(settings.get('topK'), 7);
});

test('an override holds for the visit, until it is set', () => {
  const storage = new TinyStorage();
  const settings = new Settings(storage);
  assert.ok(settings.override('backend', 'webgpu'));
  assert.equal(settings.override('backend', 'tpu'), false);
  assert.equal(settings.get('backend'), 'webgpu');
  settings.set('temperature', 1);
  assert.equal(new Settings(storage).get('backend'), 'auto', 'not remembered');
  settings.set('backend', 'cpu');
  assert.equal(settings.get('backend'), 'cpu');
  assert.equal(new Settings(storage).get('backend'), 'cpu');
});

test('a random seed differs, a chosen one does not', () => {
  const settings = new Settings(null);
  const seeds = new Set(Array.from({length: 8}, () => settings.generateOptions().seed));
  assert.ok(seeds.size > 1);
  settings.set('randomSeed', false);
  settings.set('seed', 7);
  assert.equal(settings.generateOptions().seed, 7);
  assert.deepEqual(Object.keys(settings.generateOptions()).sort(),
      ['maxTokens', 'minP', 'repeatPenalty', 'seed', 'temperature', 'topK', 'topP']);
});

test('a storage that is full does not stop anything', () => {
  const storage = new TinyStorage();
  storage.isFull = true;
  const settings = new Settings(storage);
  assert.ok(settings.set('temperature', 1));
  assert.equal(settings.get('temperature'), 1);
});

test('numbers as people read them', () => {
  assert.deepEqual([0, 999, 1000, 16329312, 41e6, 1187e6, NaN, 999600].map(formatBytes),
      ['0 B', '999 B', '1.00 kB', '16.3 MB', '41.0 MB', '1.19 GB', '–', '1.00 MB']);
  assert.deepEqual([512, 34.4e6, 2.41e9].map(formatCount), ['512', '34 M', '2.4 B']);
  assert.deepEqual([0, 0.5, 9.96, 57.84, 1240.4, undefined].map(formatRate),
      ['–', '0.50', '10.0', '57.8', '1,240', '–']);
  assert.deepEqual([84.2, 1500, 12345, 90500].map(formatDuration), ['84 ms', '1.50 s', '12.3 s', '1 min 30 s']);
});

test('every error has plain words and a way on', () => {
  const codes = ['not_found', 'corruption', 'not_supported', 'invalid_argument', 'out_of_memory', 'device_lost',
    'network', 'quota', 'worker_crashed', 'busy', 'internal', 'io'];
  for (const code of codes) {
    const trouble = describe({code, message: 'x.gguf: what'}, 'load');
    assert.ok(trouble.title.endsWith('.') && !trouble.title.includes('_'), trouble.title);
    assert.equal(trouble.detail, 'x.gguf: what');
    assert.ok(trouble.remedies.length > 0, code);
  }
  assert.deepEqual(describe({code: 'device_lost', message: ''}, 'run', 'webgpu').remedies, ['reload', 'use_cpu']);
  assert.deepEqual(describe({code: 'worker_crashed', message: ''}, 'run', 'cpu').remedies, ['reload']);
  assert.equal(describe(new TypeError('odd'), 'run').code, 'internal');
  assert.ok(isCancelled({code: 'cancelled'}) && isCancelled({name: 'AbortError'}) && !isCancelled(new Error('x')));
  assert.ok(isFatal({code: 'device_lost'}) && !isFatal({code: 'busy'}) && !isFatal(null));
});
