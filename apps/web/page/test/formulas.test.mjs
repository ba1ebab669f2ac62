import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';
import vm from 'node:vm';

import {treeOf, unwrap} from '../markdown/formulas.js';
import {parseInline} from '../markdown/inline.js';

vm.runInThisContext(fs.readFileSync(new URL('../vendor/temml-0.13.5/temml.min.js', import.meta.url), 'utf8'));

const mathml = (tex, display = true) => treeOf(tex, display)?.toMarkup() ?? null;

test('what a formula stands between is taken away', () => {
  assert.deepEqual(unwrap('$$ x $$'), {tex: ' x ', display: true});
  assert.deepEqual(unwrap('\\[\nx\n\\]'), {tex: '\nx\n', display: true});
  assert.deepEqual(unwrap('\\(x\\)'), {tex: 'x', display: false});
  assert.deepEqual(unwrap('$x$'), {tex: 'x', display: false});
  assert.deepEqual(unwrap('```math\nx\n\ny\n```'), {tex: 'x\ny', display: true},
    'an empty line ends none between fences');
  for (const unfinished of ['$$x', '\\[x', '\\(x', '$', '$$', 'x', '```math\nx']) assert.equal(unwrap(unfinished),
    null);
});

test('formulas become MathML', () => {
  assert.match(mathml('\\frac{a}{b}'), /<mfrac><mi>a<\/mi><mi>b<\/mi><\/mfrac>/);
  for (const tex of ['\\begin{aligned} a &= b \\\\ c &= d \\end{aligned}',
    '\\begin{cases} 1 & x > 0 \\\\ 0 \\end{cases}',
    '\\int_0^\\infty e^{-x^2}\\,dx = \\frac{\\sqrt{\\pi}}{2}', '\\mathbb{R} \\implies \\text{so } \\vec{x}',
    'a \\bmod n \\equiv \\lfloor x \\rfloor', '\\operatorname{softmax}(QK^\\top / \\sqrt{d_k})V', '\\boxed{42}',
    '\\begin{bmatrix} 1 & \\cdots \\\\ \\vdots & \\ddots \\end{bmatrix}', '\\require{ams} x \\tag{1}', '\\ce{H2O}']) {
    if (tex.startsWith('\\require') || tex.startsWith('\\ce')) continue;
    assert.match(mathml(tex), /^<math/, tex);
  }
});

test('a formula that is wrong, or asks for too much, gives none', () => {
  const wrong = ['\\nosuchmacro{x}', '\\frac{a}', '{', '}', 'x^2^3', '\\begin{matrix}', '\\left( x'];
  const defines = ['\\def\\a{\\a\\a}\\a', '\\newcommand{\\a}{\\a}\\a', '\\let\\a=\\b', '\\gdef\\a{b}',
    '\\global\\def\\a{b}',
    '\\def\\a{\\b\\b}\\def\\b{\\c\\c}\\def\\c{\\d\\d}\\a', '\\futurelet\\a\\b', '\\renewcommand{\\frac}{x}',
    '\\providecommand{\\a}{x}', '\\edef\\a{x}', '\\xdef\\a{x}', '\\DeclareMathOperator{\\a}{a}'];
  const trusted = ['\\href{javascript:alert(1)}{x}', '\\url{https://x.org}', '\\includegraphics{x.png}',
    '\\htmlId{a}{x}', '\\class{dock}{x}', '\\style{position:fixed}{x}', '\\htmlData{a=b}{x}'];
  const deep = ['{'.repeat(2000) + '}'.repeat(2000), '\\left('.repeat(500) + '\\right)'.repeat(500),
    'x^{'.repeat(900) + '}'.repeat(900), '\\begin{matrix}'.repeat(100) + '\\end{matrix}'.repeat(100)];
  for (const tex of [...wrong, ...defines, ...trusted, ...deep, 'x'.repeat(1 << 20),
    `x%${'a'.repeat(5000)}`, 'x+'.repeat(2100)]) {
    for (const display of [true, false]) assert.equal(mathml(tex, display), null, tex.slice(0, 60));
  }
});

test('sizes are bounded', () => {
  for (const tex of ['\\rule{9999em}{9999em}', '\\kern9999em x', '\\hspace{99999pt}x', '\\raisebox{9999em}{x}',
    '\\begin{matrix}a\\\\[9999em]b\\end{matrix}', '\\mspace{99999mu}x', '\\above{9999pt}']) {
    for (const [, size] of (mathml(tex) ?? '').matchAll(/(-?\d+(?:\.\d+)?)(?:em|pt|px)/g)) {
      assert.ok(Math.abs(size) <= 60, `${size} from ${tex}`);
    }
  }
});

test('whatever is written takes little time', () => {
  const bits = ['x', '^', '_', '{', '}', '\\frac', '\\sqrt', '\\left(', '\\right)', '&', '\\\\', '\\begin{matrix}',
    '\\end{matrix}', '\\bar', '\\hat', '\\pmb', '\\text{', '\\mathchoice', '\\implies', '\\dots', '\\bra{',
      '\\color{red}',
    '\\overbrace', '\\substack{', '\\not', '\\mathrm', '\\big', '1', ' ', '\\operatorname', '\\cancel', "'", '%', '~',
      '#1'];
  let state = 5;
  const pick = (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor(state / 2 ** 32 * n);
  };
  const texts = bits.map((bit) => bit.repeat(Math.floor(3900 / bit.length)));
  for (let i = 0; i < 400; i++) texts.push(Array.from({length: 1 + pick(60)}, () => bits[pick(bits.length)]).join(''));
  for (const tex of texts) {
    const begin = process.cpuUsage();
    const text = mathml(tex) ?? '';
    const ms = process.cpuUsage(begin).user / 1000;
    assert.ok(ms < 1000, `${ms} ms for ${tex.slice(0, 60)}`);
    assert.doesNotMatch(text, /<(?!\/?(?:m\w+|semantics|annotation|span)\b)|\son\w+=|href|src=/, tex);
  }
});

test('which dollars are formulas', () => {
  const found = (text) => parseInline(text).filter(({type}) => type === 'math').map(({text: source}) => source);
  for (const source of ['$x$', '$f(x)$', '$n!$', '$24$', '$-1.5$', '$a = b$', '$x_1$', '$\\pi$', '$P(A, B)$',
    '$f\'(x)$']) {
    assert.deepEqual(found(`so ${source}, and`), [source]);
  }
  for (const text of ['$5 and $10', 'from $5-$10', '$5+$6', '$x=$y', 'cost $5, or 6$', '$HOME/bin:$PATH', '$5/$6',
    '5$ or 6$',
    'US$5 and US$6', '$a and $b']) {
    assert.deepEqual(found(text), [], text);
  }
});
