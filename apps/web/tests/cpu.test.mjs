// The engine on the CPU, under Node: its memory, which is no more than it has to be (that of a tab stays once it has
// grown), and its threads.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {after, describe, test} from 'node:test';
import {Tern} from '../package/node.js';
import {changedGguf} from './support/gguf_template.mjs';
import {kDefaultModel, tern as program} from './support/project.mjs';
import {writeRandomModel} from './support/random_model.mjs';

const kMost = 1.3;  // times the file

/** How much a reply takes. */
async function heapOf(file, threads) {
  const tern = await Tern.load(file, {backend: 'cpu', threads, context: 512});
  for await (const _ of tern.generate([1, 2, 3, 4, 5], {maxTokens: 3, ignoreEos: true})) { /* to its end */ }
  const {heapBytes} = tern.stats;
  await tern.close();
  return heapBytes;
}

describe('the heap of a model on the CPU', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tern_heap_'));
  after(() => fs.rmSync(folder, {recursive: true}));

  const make = {
    'Q4_0, small': (file) => writeRandomModel(file, {format: 'Q4_0', layers: 4}),
    Q4_0: (file) => writeRandomModel(file, {format: 'Q4_0', layers: 24}),
    Q1_0: (file) => program('synth', '--preset', 'bonsai-1.7b', '-o', file),
    Q8_0: (file) => writeRandomModel(file, {format: 'Q8_0'}),
    F16: (file) => writeRandomModel(file, {format: 'F16'}),
    I2_S: (file) => program('synth', '--preset', 'bitnet-large', '-o', file),
  };
  for (const [format, write] of Object.entries(make)) {
    test(format, async () => {
      const file = path.join(folder, `${format}.gguf`);
      write(file);
      const {size} = fs.statSync(file);
      assert.ok(size > 40e6 && size < 500e6, `${size} bytes`);
      for (const threads of [1, 2]) {
        const heapBytes = await heapOf(file, threads);
        assert.ok(heapBytes <= kMost * size, `${(heapBytes / size).toFixed(2)} times the file`);
      }
      fs.rmSync(file);
    });
  }

  test('the default model, for which what does not grow with a model counts most', async () => {
    const size = fs.statSync(kDefaultModel).size;
    const heapBytes = await heapOf(kDefaultModel, 2);
    assert.ok(heapBytes <= kMost * size, `${(heapBytes / size).toFixed(3)} times the file`);
  });
});

// A template calls itself as deep as it may, with as much in each call as there may be. It must not run over the stack,
// which counts as memory, too.
test('a template that calls itself is refused in words', async () => {
  const file = path.join(os.tmpdir(), `tern_template_${process.pid}.gguf`);
  const around = [(x) => `${'not '.repeat(190)}${x}`, (x) => `${'1 if 0 else '.repeat(95)}${x}`,
    (x) => `${'dict(a='.repeat(60)}${x}${')'.repeat(60)}`, (x) => `${'1~('.repeat(60)}${x}${')'.repeat(60)}`,
    (x) => x + '|string'.repeat(95)];
  try {
    for (const [i, wrap] of around.entries()) {
      const blocks = ['{% if 1 %}'.repeat(20), '{% endif %}'.repeat(20)];
      const template = `{% macro m(n) %}${blocks[0]}{{ ${wrap('m(n+1)')} }}${blocks[1]}{% endmacro %}{{ m(0) }}` +
        '{% for q in messages %}{{ q.content }}{% endfor %}';
      fs.writeFileSync(file, changedGguf(fs.readFileSync(kDefaultModel), {template, context: 512}));
      const tern = await Tern.load(file, {backend: 'cpu', threads: 1});
      await assert.rejects(tern.renderChat([{role: 'user', content: 'x'}]),
        {code: 'not_supported', message: /it calls itself too often/}, `template ${i}`);
      await tern.close();
    }
  } finally {
    fs.rmSync(file, {force: true});
  }
});

// Phones have slow processors, and a container may have fewer than it says: threads without a fast processor would make
// the others wait.
test('there are no more threads than processors that compute fast', async () => {
  const {hardwareConcurrency} = navigator;
  const real = os.availableParallelism();
  Object.defineProperty(navigator, 'hardwareConcurrency', {value: 4 * real, configurable: true});
  try {
    const tern = await Tern.load(kDefaultModel, {backend: 'cpu'});
    assert.ok(tern.info.threads <= 2 * real, `${tern.info.threads} threads`);
    for await (const _ of tern.generate([1, 2, 3], {maxTokens: 5})) { /* to its end */ }
    await tern.close();
    const asked = await Tern.load(kDefaultModel, {backend: 'cpu', threads: 2 * real});
    assert.equal(asked.info.threads, 2 * real, 'as many as were asked for');
    await asked.close();
  } finally {
    Object.defineProperty(navigator, 'hardwareConcurrency', {value: hardwareConcurrency, configurable: true});
  }
});

test('where memory that may grow to 4 GB is refused, it grows less far', async () => {
  const {Memory} = WebAssembly;
  const refused = [];
  WebAssembly.Memory = class extends Memory {
    constructor(limits) {
      if (limits.maximum > 16384) {
        refused.push(limits.maximum);
        throw new RangeError('WebAssembly.Memory(): could not allocate memory');
      }
      super(limits);
    }
  };
  try {
    for (const threads of [1, 2]) {
      const tern = await Tern.load(kDefaultModel, {backend: 'cpu', threads});
      let text = '';
      for await (const piece of tern.generate('Once upon a time', {maxTokens: 5, temperature: 0})) text += piece;
      assert.ok(text.length > 5);
      await tern.close();
    }
    assert.deepEqual([...new Set(refused)], [65536, 32768]);
  } finally {
    WebAssembly.Memory = Memory;
  }
});
