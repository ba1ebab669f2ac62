import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import {fileURLToPath} from 'node:url';

import {Settings} from '../base/settings.js';

const kPage = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');

// It reads the page's address once.
async function loadFake(query) {
  globalThis.location = {href: `http://localhost/?fake-load-ms=30&${query}`};
  const {Tern} = await import(`../dev/fake_tern.js?${query}`);
  return Tern.load('http://localhost/models/tern-stories.gguf');
}

test('the stand-in recommends sampling as the engine does', async () => {
  for (const [query, expected] of [['fake=story', {temperature: 0.6, minP: 0.1}],
    ['fake=chat', {temperature: 0.6, topK: 20, topP: 0.95, repeatPenalty: 1.1}]]) {
    const {sampling} = (await loadFake(query)).info;
    assert.ok(sampling.source);
    const settings = new Settings(null);
    settings.advise(sampling.values);
    assert.deepEqual(Object.keys(sampling.values), Object.keys(expected));
    for (const [name, value] of Object.entries(expected)) assert.equal(settings.get(name), value, name);
  }
});

test('the stand-in has all of a model’s info that the page reads', async () => {
  const {info} = await loadFake('fake=all');
  const read = new Set();
  for (const folder of ['chat', 'model', 'panel']) {
    for (const file of await fs.readdir(path.join(kPage, folder))) {
      const text = await fs.readFile(path.join(kPage, folder, file), 'utf8');
      for (const [, name] of text.matchAll(/\binfo\??\.(\w+)/g)) read.add(name);
    }
  }
  assert.ok(read.has('sampling') && read.has('nCtx'));
  for (const name of read) assert.ok(name in info, `info.${name}`);
});
