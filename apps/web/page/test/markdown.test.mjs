import assert from 'node:assert/strict';
import test from 'node:test';

import {parseBlocks} from '../markdown/blocks.js';
import {parseInline, safeHref} from '../markdown/inline.js';
import {MarkdownView} from '../markdown/view.js';
import {TinyDocument} from './tiny_dom.js';

/** What a text looks like when it came in these pieces. */
function show(pieces, {finish = true} = {}) {
  const root = new TinyDocument().createElement('div');
  const view = new MarkdownView(root);
  for (const piece of [pieces].flat()) view.append(piece);
  if (finish) view.finish();
  return root;
}

const html = (text, options) => show(text, options).inside();
const link = (href, text) => `<a href="${href}" rel="noopener noreferrer" target="_blank">${text}</a>`;

test('paragraphs, line breaks, headings and rules', () => {
  assert.equal(html('One\ntwo\n\nthree'), '<p>One<br></br>two</p><p>three</p>');
  assert.equal(html('# A\n## B ##\n###### F'), '<h3>A</h3><h4>B</h4><h5>F</h5>', 'none is left out');
  assert.equal(html('## A\n\n### B\n\n# C'), '<h3>A</h3><h4>B</h4><h3>C</h3>');
  assert.equal(html('> # A'), '<blockquote><p><strong>A</strong></p></blockquote>');
  assert.equal(html('#no heading'), '<p>#no heading</p>');
  assert.equal(html('a\n\n---\n\nb'), '<p>a</p><hr></hr><p>b</p>');
});

test('emphasis', () => {
  assert.equal(html('*a* **b** ***c*** ~~d~~'),
      '<p><em>a</em> <strong>b</strong> <em><strong>c</strong></em> <del>d</del></p>');
  assert.equal(html('__a__ _b_ snake_case_name'), '<p><strong>a</strong> <em>b</em> snake_case_name</p>');
  assert.equal(html('**a *b* c**'), '<p><strong>a <em>b</em> c</strong></p>');
  assert.equal(html('2 * 3 * 4 and ** and a~b~c'), '<p>2 * 3 * 4 and ** and a~b~c</p>');
  assert.equal(html('\\*not\\* em'), '<p>*not* em</p>');
  assert.equal(html('*a'), '<p>*a</p>');
  assert.equal(html('a **[](x)** b'), '<p>a **** b</p>', 'nothing between');
});

test('code spans keep what is in them', () => {
  assert.equal(html('`a *b* <i>` and ``x ` y``'), '<p><code>a *b* <i></code> and <code>x ` y</code></p>');
  assert.equal(html('a ` b'), '<p>a ` b</p>');
});

test('fenced code, closed and not', () => {
  const code = (lang, text) => '<figure class="code"><figcaption><span>' + lang + '</span><button class="quiet" ' +
      `data-action="copy-code" aria-label="Copy this code">Copy</button></figcaption>` +
      `<pre><code>${text}</code></pre></figure>`;
  assert.equal(html('```js\nlet a = 1;\n\n# b\n```\nafter'), code('js', 'let a = 1;\n\n# b') + '<p>after</p>');
  assert.equal(html('```\nx'), code('text', 'x'));
  assert.equal(html('~~~py\n```\n~~~'), code('py', '```'));
});

test('lists', () => {
  assert.equal(html('- a\n- b\n  - c\n- d'), '<ul><li>a</li><li>b<ul><li>c</li></ul></li><li>d</li></ul>');
  assert.equal(html('3. a\n4. b'), '<ol start="3"><li>a</li><li>b</li></ol>');
  assert.equal(html('1. a\n  - b\n2. c'), '<ol><li>a<ul><li>b</li></ul></li><li>c</li></ol>');
  assert.equal(html('- a\n\n- b'), '<ul><li><p>a</p></li><li><p>b</p></li></ul>');
  assert.equal(html('Then:\n- a\n\nAfter'), '<p>Then:</p><ul><li>a</li></ul><p>After</p>');
  assert.equal(html('It was\n1984. Or\n- so'), '<p>It was<br></br>1984. Or</p><ul><li>so</li></ul>');
  assert.equal(html('* a\n* * *\n* b'), '<ul><li>a</li></ul><hr></hr><ul><li>b</li></ul>');
});

test('quotes and tables', () => {
  assert.equal(html('> a\n> - b\n\nc'), '<blockquote><p>a</p><ul><li>b</li></ul></blockquote><p>c</p>');
  assert.equal(html('| a | b |\n|:--|--:|\n| *1* | 2 | 3 |\n| x\\|y |'),
      '<div class="table"><table><thead><tr><th class="align-left">a</th><th class="align-right">b</th></tr></thead>' +
      '<tbody><tr><td class="align-left"><em>1</em></td><td class="align-right">2</td></tr>' +
      '<tr><td class="align-left">x|y</td><td class="align-right"></td></tr></tbody></table></div>');
  assert.equal(html('a | b\nc | d'), '<p>a | b<br></br>c | d</p>');
});

test('formulas keep their source, wherever they are', () => {
  const math = (text) => `<code class="math">${text}</code>`;
  const cases = ['\\[a\\]', '\\(x\\)', '$$\\frac{a_1}{b_2}$$', '$x^2_i$', '$n$', '\\(a\\,b * c * d\\)',
    '\\(\\{a\\}\\)'];
  for (const text of cases) {
    assert.equal(html(`so ${text}, and`), `<p>so ${math(text)}, and</p>`);
    assert.equal(html(`- **${text}**`), `<ul><li><strong>${math(text)}</strong></li></ul>`);
    assert.ok(html(`| ${text} | b |\n|---|---|`).includes(`<th>${math(text)}</th><th>b</th>`));
  }
  const display = '\\[\n  \\sum_{i=0}^n a_i \\\\\n- b_i\n+ *c*\n\\]';
  assert.equal(html(`so\n${display}\nand`), `<p>so</p><pre class="math">${display}</pre><p>and</p>`);
  assert.equal(html('$$\n# a\n$$\n\nb'), '<pre class="math">$$\n# a\n$$</pre><p>b</p>');
  for (const text of ['it costs $5, or $6 more', 'from $5-$10', 'US$ 5 and 6$', '$ 5', '\\$5']) {
    assert.equal(html(text), `<p>${text.replace('\\', '')}</p>`);
  }
  assert.equal(html('\\[no link\\](x)'), '<p>[no link](x)</p>');
  assert.equal(html('so \\(x^', {finish: false}), `<p>so ${math('\\(x^')}</p>`);
});

test('task lists, notes and entities', () => {
  assert.equal(html('- [ ] a\n- [x] b\n- c'),
      '<ul><li class="task">☐ a</li><li class="task">☑ b</li><li>c</li></ul>');
  assert.equal(html('a[^1]\n\n[^1]: b *c*\n[^2]: d'),
      '<p>a<sup>1</sup></p><p><sup>1</sup> b <em>c</em></p><p><sup>2</sup> d</p>');
  assert.equal(html('&amp; &copy; &lt;b&gt; &#65;&#x42; &hellip; &nosuch; &#0; a&b'),
      '<p>& © <b> AB … &nosuch; \ufffd a&b</p>');
  assert.equal(html('`&amp;`'), '<p><code>&amp;</code></p>');
});

test('links go to http, https and mailto only', () => {
  assert.equal(html('[a *b*](https://x.org/y "t")'), `<p>${link('https://x.org/y', 'a <em>b</em>')}</p>`);
  assert.equal(html('[m](mailto:a@b.c)'), `<p>${link('mailto:a@b.c', 'm')}</p>`);
  assert.equal(html('see https://x.org/a_(b). Or (https://y.org)'),
      `<p>see ${link('https://x.org/a_(b)', 'https://x.org/a_(b)')}. ` +
      `Or (${link('https://y.org/', 'https://y.org')})</p>`);
  assert.equal(html('**https://x.org**'), `<p><strong>${link('https://x.org/', 'https://x.org')}</strong></p>`);
  assert.equal(html('<https://x.org>'), `<p>${link('https://x.org/', 'https://x.org')}</p>`);
  assert.equal(html('![cat](https://x.org/cat.png)'), `<p>${link('https://x.org/cat.png', 'cat')}</p>`);
  for (const bad of ['javascript:alert(1)', 'JaVaScRiPt:alert(1)', 'java\nscript:alert(1)', ' javascript:alert(1)',
    'data:text/html,<script>alert(1)</script>', 'vbscript:x', 'file:///etc/passwd', '/relative', '//x.org',
    'blob:x', '']) {
    assert.equal(safeHref(bad), null, bad);
    assert.ok(!html(`[x](${bad})`).includes('<a '), bad);
    assert.ok(!html(`[x](<${bad}>)`).includes('<a '), bad);
  }
});

/** Attempts at getting something executed; each must come out as text, or as links that are safe. */
const kAttacks = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<svg/onload=alert(1)>',
  '<a href="javascript:alert(1)">x</a>',
  '[x](javascript:alert(1))',
  '[x](java&#115;cript:alert(1))',
  '[x](&#106;avascript:alert(1))',
  '[x]("onmouseover=alert(1) ")',
  '[x](https://x.org"onmouseover="alert(1))',
  '![x](x"onerror="alert(1))',
  '![x](https://x.org/1.png)',
  '<javascript:alert(1)>',
  '<https://x.org"onclick=alert(1)>',
  'https://x.org/"onmouseover="alert(1)',
  '```"><img src=x onerror=alert(1)>\nx\n```',
  '`<script>alert(1)</script>`',
  '| <script>alert(1)</script> |\n|---|\n| <img src=x onerror=alert(1)> |',
  '# <iframe src=javascript:alert(1)>',
  '> <style>*{display:none}</style>',
  '- <object data=x>\n- <base href=//x.org>',
  '[a](https://x.org) [b]: javascript:alert(1)',
  '&lt;script&gt;alert(1)&lt;/script&gt;',
  '[x](javascript&colon;alert(1))',
  '$<img src=x onerror=alert(1)>^2$',
  '$$\n<script>alert(1)</script>\n$$',
  '[^<b>]: <img src=x onerror=alert(1)>',
  '\u0000<script\u0000>alert(1)</script>',
];
const kTags = new Set(('p br h3 h4 h5 h6 hr em strong del code a ul ol li blockquote figure figcaption span button ' +
    'pre div table thead tbody tr th td sup').split(' '));
const kAttributes = new Set('class start href rel target data-action aria-label'.split(' '));

function assertHarmless(root, text) {
  for (const element of root.elements()) {
    assert.ok(kTags.has(element.tagName), `<${element.tagName}> from ${text}`);
    for (const [name, value] of Object.entries(element.attributes)) {
      assert.ok(kAttributes.has(name), `${name} from ${text}`);
      if (name === 'href') assert.match(value, /^(https?:|mailto:)/, text);
      if (name === 'class') assert.match(value, /^(code|quiet|table|math|task|align-(left|right|center))$/);
    }
  }
}

test('attacks become text', () => {
  for (const attack of kAttacks) {
    for (const text of [attack, `a ${attack} b`, `- ${attack}`, `**${attack}**`, `> ${attack}`]) {
      assertHarmless(show(text), text);
      assertHarmless(show([...text], {finish: false}), text);
    }
  }
  assert.equal(html('<b>x</b>'), '<p><b>x</b></p>');  // one text node, not an element
  assert.equal(show('<b>x</b>').childNodes[0].childNodes.length, 1);
});

/** A generator of random numbers that gives the same ones on every run. */
function random(seed) {
  let state = seed;
  return (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor(state / 2 ** 32 * n);
  };
}

const kBits = ['a', 'bc ', '\n', '\n\n', '# ', '- ', '1. ', '  ', '    ', '> ', '```', '```js\n', '|', '|--|', '*',
  '**', '_', '`', '[x](', 'https://x.org', ')', '~~', '---', '<b>', '\\', '\r\n', '&amp;', '![', ']', 'é', '鳥',
  '1984. ', '$$', '$', '\\(', '\\)', '\\[', '\\]', '[ ] ', '[^1]', '[^1]: ', '&lt;'];

test('a text in pieces looks as it does in one, whatever it is', () => {
  const pick = random(7);
  for (let round = 0; round < 1200; round++) {
    const text = Array.from({length: 1 + pick(24)}, () => kBits[pick(kBits.length)]).join('');
    const pieces = [];
    for (let i = 0; i < text.length;) {
      const n = 1 + pick(6);
      pieces.push(text.slice(i, i + n));
      i += n;
    }
    const streamed = show(pieces);
    assert.equal(streamed.inside(), html(text), JSON.stringify(text));
    assertHarmless(streamed, text);
  }
});

test('no text is lost', () => {
  const pick = random(11);
  const letters = (text) => text.replace(/[^a-zé鳥]/g, '');
  for (let round = 0; round < 1000; round++) {
    const bits = ['ab', 'é ', '\n', '* ', '**', '_', '> ', '- ', '|', '['];
    const text = Array.from({length: 1 + pick(20)}, () => bits[pick(bits.length)]).join('');
    assert.equal(letters(show(text).textContent), letters(text), JSON.stringify(text));
  }
});

test('half of an emphasis or a code span shows as begun while the text grows', () => {
  assert.equal(html('so **bo', {finish: false}), '<p>so <strong>bo</strong></p>');
  assert.equal(html('so `co', {finish: false}), '<p>so <code>co</code></p>');
  assert.equal(html('so **bo'), '<p>so **bo</p>');
});

test('settled blocks keep their nodes', () => {
  const root = new TinyDocument().createElement('div');
  const view = new MarkdownView(root);
  view.append('one\n\ntwo\n\nthr');
  const [one] = root.childNodes;
  view.append('ee\n\n```js\nlet');
  const code = root.childNodes[3];
  view.append(' a;\n');
  assert.equal(root.childNodes[0], one);
  assert.equal(root.childNodes[3], code, 'code grows in place');
  assert.equal(code.querySelector('code').textContent, 'let a;\n');
});

test('pathological texts take no time and no stack', () => {
  const begin = process.cpuUsage();  // wall time would measure what else the machine does
  for (const text of ['*a '.repeat(5000), '['.repeat(10000), '`'.repeat(5000) + ' `'.repeat(3000), '> '.repeat(3000),
    '- '.repeat(3000), '*_'.repeat(10000), '|'.repeat(10000) + '\n' + '|-'.repeat(10000), '('.repeat(10000),
    '[a]('.repeat(2000), 'h'.repeat(50000), 'https://' .repeat(5000), '!['.repeat(4000), '# '.repeat(10000),
    '\\('.repeat(10000), '$a'.repeat(10000), '$$'.repeat(9999), '&'.repeat(10000), '$$ a\n'.repeat(3000)]) {
    parseBlocks(text).forEach((block) => block.text && parseInline(block.text));
    show(text);
  }
  const ms = process.cpuUsage(begin).user / 1000;
  assert.ok(ms < 5000, `${ms} ms`);
});

test('a line of a million characters is read within seconds', () => {
  for (const bit of ['[a](b', '[', '![[]()', '*a', '_a _b', '`', '<a ', 'https://[', '$a ', 'a|']) {
    const text = bit.repeat(1e6 / bit.length);
    const begin = process.cpuUsage();
    for (const block of parseBlocks(text)) parseInline(block.text ?? '', {open: true});
    const ms = process.cpuUsage(begin).user / 1000;
    assert.ok(ms < 6000, `${bit}: ${ms} ms`);
  }
});

test('what is nested ten thousand times stays text from some depth on', () => {
  for (const text of ['> '.repeat(1e4) + 'a', Array.from({length: 1000}, (_, i) => `${'  '.repeat(i)}- a`).join('\n'),
    '[['.repeat(1e4) + 'a' + ']()]()'.repeat(1e4), `${'**a *b '.repeat(1e4)}${'* c**'.repeat(1e4)}`]) {
    const depth = (node) => 1 + Math.max(0, ...(node.childNodes ?? []).slice(0, 1000).map(depth));
    assert.ok(depth(show(text)) < 60, text.slice(0, 20));
  }
});
