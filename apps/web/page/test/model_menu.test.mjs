import assert from 'node:assert/strict';
import test from 'node:test';

import {whyNotHere} from '../model/model_menu.js';

const model = {memoryBytes: 2.91e9, downloadBytes: 2.31e9};
const usage = {used: 1e9, quota: 62e9};

test('a model that a tab here cannot hold is told before it is fetched', () => {
  const why = (here, one = model) => whyNotHere(one, {usage, hasGpu: true, ...here});
  assert.equal(why({deviceMemory: 8}), '');
  assert.equal(why({}), '', 'a browser that does not say');
  assert.match(why({deviceMemory: 4}), /needs 2\.91 GB of memory; this device has about 4 GB/);
  assert.match(why({deviceMemory: 4, isPhone: true}), /needs 2\.91 GB of memory; a tab gets about 1\.40 GB/);
  assert.match(why({isPhone: true}), /a tab gets about 1\.40 GB/, 'a phone that does not say');
  assert.match(why({deviceMemory: 8, isPhone: true}), /a tab gets about 2\.80 GB/);
  assert.equal(why({deviceMemory: 4, isPhone: true}, {memoryBytes: 0.71e9, downloadBytes: 0.25e9}), '');
  assert.match(why({hasGpu: false}, {memoryBytes: 4.2e9, downloadBytes: 3.8e9}), /without a GPU/);
  assert.match(why({usage: {used: 0, quota: 1e9}}), /needs 2\.31 GB of storage; 1\.00 GB is left/);
});
