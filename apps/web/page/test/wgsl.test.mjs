import assert from 'node:assert/strict';
import test from 'node:test';

import {tokens} from '../panel/wgsl.js';

const kinds = (text) => tokens(text).filter(({kind}) => kind).map(({kind, text: part}) => `${kind}:${part}`);

test('all of the text comes back', () => {
  for (const text of ['', 'fn f() {}', 'let a = 1.5e-3f; // x\n/* open', '@compute @workgroup_size(256)', '\0"<b>']) {
    assert.equal(tokens(text).map((token) => token.text).join(''), text);
  }
});

test('what is what', () => {
  assert.deepEqual(kinds('@binding(0) var<storage, read> x: array<f32>;'),
      ['attribute:@binding', 'number:0', 'keyword:var', 'type:storage', 'type:read', 'type:array', 'type:f32']);
  assert.deepEqual(kinds('let a1 = dot4(x, 0x1Fu) + 1f; // let b'),
      ['keyword:let', 'call:dot4', 'number:0x1Fu', 'number:1f', 'comment:// let b']);
  assert.deepEqual(kinds('enable f16; let returned = forest;'), ['keyword:enable', 'type:f16', 'keyword:let']);
});
