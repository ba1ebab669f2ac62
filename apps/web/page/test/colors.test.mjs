import assert from 'node:assert/strict';
import test from 'node:test';

import {kNames, tokens} from '../markdown/colors.js';
import {isColored} from '../markdown/later.js';

const kinds = (text, name = 'wgsl') => tokens(text, name).filter(({kind}) => kind).map(({kind, text:
  part}) => `${kind}:${part}`);

test('all of the text comes back', () => {
  for (const text of ['', 'fn f() {}', 'let a = 1.5e-3f; // x\n/* open', '@compute @workgroup_size(256)', '\0"<b>']) {
    assert.equal(tokens(text, 'wgsl').map((token) => token.text).join(''), text);
  }
});

test('what is what', () => {
  assert.deepEqual(kinds('@binding(0) var<storage, read> x: array<f32>;'),
      ['attribute:@binding', 'number:0', 'keyword:var', 'type:storage', 'type:read', 'type:array', 'type:f32']);
  assert.deepEqual(kinds('let a1 = dot4(x, 0x1Fu) + 1f; // let b'),
      ['keyword:let', 'call:dot4', 'number:0x1Fu', 'number:1f', 'comment:// let b']);
  assert.deepEqual(kinds('enable f16; let returned = forest;'), ['keyword:enable', 'type:f16', 'keyword:let']);
});

const kSamples = {
  js: ['const f = async () => `a ${b}`; // c', ['keyword:const', 'keyword:async', 'string:`a ${b}`', 'comment:// c']],
  python: ['@a\ndef f(x: int):\n  """b\n"""\n  return None  # c',
    ['attribute:@a', 'keyword:def', 'call:f', 'type:int', 'string:"""b\n"""', 'keyword:return', 'keyword:None',
      'comment:# c']],
  cpp: ['#include <x>\nint main() { return \'a\' + 0xff; }',
    ['attribute:#include', 'type:int', 'call:main', 'keyword:return', "string:'a'", 'number:0xff']],
  rust: ['fn f<\'a>(x: &\'a str) -> u8 { 1..2 }',
    ['keyword:fn', 'type:str', 'type:u8', 'number:1', 'number:2']],
  bash: ['for x in "$y"; do echo ${z}#a; done # b',
    ['keyword:for', 'keyword:in', 'string:"$y"', 'keyword:do', 'type:echo', 'attribute:${z}', 'keyword:done',
      'comment:# b']],
  json: ['{"a": "b", "c": [1, true]}', ['attribute:"a"', 'string:"b"', 'attribute:"c"', 'number:1', 'keyword:true']],
  html: ['<a href="x">it\'s</a><!-- b -->',
    ['keyword:<a', 'attribute:href', 'string:"x"', 'keyword:>', 'keyword:</a', 'keyword:>', 'comment:<!-- b -->']],
  sql: ["SELECT count(*) FROM t WHERE a = 'b' -- c",
    ['keyword:SELECT', 'call:count', 'keyword:FROM', 'keyword:WHERE', "string:'b'", 'comment:-- c']],
  css: ['a { color: #fff; top: 1px } /* b */',
    ['attribute:color', 'number:#fff', 'attribute:top', 'number:1px', 'comment:/* b */']],
  yaml: ['a: true # b\n- c: "d"', ['attribute:a', 'keyword:true', 'comment:# b', 'attribute:c', 'string:"d"']],
};

test('other languages', () => {
  for (const [name, [text, expected]] of Object.entries(kSamples)) assert.deepEqual(kinds(text, name), expected, name);
  assert.deepEqual(kinds('let a', 'nosuch'), []);
});

test('every language that the page fetches this for is known, and the other way round', () => {
  for (const name of kNames) assert.ok(isColored(name), name);
  for (const name of ['js', 'PY', 'c++', 'yml', 'toml', 'svg', 'csharp']) {
    assert.ok(isColored(name) && kNames.includes(name.toLowerCase()), name);
  }
  for (const name of ['', 'text', 'math', 'nosuch', 'jsx2']) assert.ok(!isColored(name), name);
});

test('from where a line has ended, the rest is what it was', () => {
  for (const [name, [text]] of Object.entries(kSamples)) {
    const all = tokens(text, name);
    let at = 0;
    for (const [i, token] of all.entries()) {
      assert.deepEqual(tokens(text, name, at), all.slice(i), `${name} from ${at}`);
      at += token.text.length;
    }
  }
});

const kBits = ['"', "'", '`', '/*', '"""', '\\', '<a b=',
  '#', '${', 'a', '0', ' ', '\n', '@', '[', '-', '"\\', ':', 'a-', 'a ', '- ', 'a:'];

test('hostile code takes little time', () => {
  const begin = process.cpuUsage();
  for (const name of kNames) {
    for (const bit of kBits) {
      const text = bit.repeat(30_000 / bit.length);
      assert.equal(tokens(text, name).map((token) => token.text).join(''), text);
    }
  }
  const ms = process.cpuUsage(begin).user / 1000;
  assert.ok(ms < 20_000, `${ms} ms`);
});
