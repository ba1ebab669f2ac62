// Formulas and colors in Chromium, with the fake package: node --test dev/typesetting.test.mjs

import assert from 'node:assert/strict';
import {after, afterEach, before, test} from 'node:test';

import {untilInPage} from '../../tests/support/browser.mjs';
import {axe, faults, kAxe} from './axe.mjs';
import {inBrowser} from './browser.mjs';

const kIdle = '[data-phase="ready"][data-chat="idle"]';
const kLater = /typesetting|formulas\.js|colors|temml/i;
const here = inBrowser({before, after});
const contexts = [], mistakes = [];

afterEach(async () => {
  for (const context of contexts.splice(0)) await context.close();
  assert.deepEqual(mistakes.splice(0), []);
});

async function open(query, options = {}) {
  const context = await here.browser.newContext({viewport: {width: 1280, height: 800}, serviceWorkers: 'block',
    ...options});
  contexts.push(context);
  const page = await context.newPage();
  page.asked = [];
  page.on('request', (request) => kLater.test(request.url()) && page.asked.push(new URL(request.url()).pathname));
  page.on('pageerror', (error) => mistakes.push(error.message));
  page.on('console', (message) => message.type() === 'error' && mistakes.push(message.text()));
  page.on('dialog', (dialog) => mistakes.push(`a dialog: ${dialog.message()}`));
  await page.goto(`${here.site.url}?fake-load-ms=50&fake-ms=1&${query}`);
  await page.waitForSelector(kIdle);
  return page;
}

async function say(page) {
  await page.getByTestId('composer').fill('What are the roots?');
  await page.keyboard.press('Enter');
  await page.waitForSelector(`${kIdle} [data-testid="note"]:not(:empty)`);
}

/** Waits until a view shows nothing more that could be set. */
const settle = (page) => untilInPage(page, () => document.querySelector('.formula'));

/** Puts `show(pieces)` into the page: a reply's element with a Markdown that came in these pieces. */
async function withShow(page) {
  await page.evaluate(async () => {
    const {MarkdownView} = await import('/markdown/view.js');
    globalThis.show = (pieces) => {
      const body = document.createElement('div');
      body.className = 'text';
      document.querySelector('[data-testid="messages"]').append(body);
      const view = new MarkdownView(body, () => {});
      for (const piece of pieces) view.append(piece);
      view.finish();
      return body;
    };
    globalThis.show(['\\(x\\)\n\n```js\nlet a;\n```']);
  });
  await settle(page);
}

test('nothing of it is fetched before a formula or code of a known language appears', async () => {
  for (const plain of ['fake=story', 'fake=teller']) {
    const page = await open(plain);
    await say(page);
    assert.deepEqual(page.asked, [], plain);
  }
  const code = await open('fake=chat');
  await say(code);
  await code.waitForSelector('.code-keyword');
  assert.ok(code.asked.length > 0 && code.asked.every((name) => !/temml|formulas/.test(name)), String(code.asked));
});

test('formulas are set, prices and what is wrong stay, and a reload shows the same', async () => {
  const page = await open('fake=formulas');
  await say(page);
  const look = async () => {
    await settle(page);
    await untilInPage(page, () => document.querySelectorAll('.math').length === 1);
    return page.evaluate(() => ({
      fractions: document.querySelectorAll('mfrac').length, display:
        document.querySelectorAll('.formula.display').length,
      cells: document.querySelectorAll('td math').length, kept: document.querySelector('.math').textContent,
      colored: document.querySelectorAll('.code-keyword').length,
      text: document.querySelector('[data-testid="reply"]').textContent}));
  };
  const first = await look();
  assert.deepEqual({...first, text: ''}, {fractions: 5, display: 3, cells: 3, kept: '\\(\\nosuchmacro{x}\\)', colored:
    7, text: ''});
  assert.match(first.text, /It costs \$5 and \$10, and/);
  assert.ok(!first.text.includes('$$') && !first.text.includes('\\['));
  await page.reload();
  await page.waitForSelector(kIdle);
  assert.deepEqual(await look(), first);
});

test('without the modules the source stays, and they are asked for again', async () => {
  const page = await open('fake=formulas');
  await page.route(/temml\.min\.js/, (route) => route.abort());
  await say(page);
  await untilInPage(page, () => document.querySelector('.code-keyword'));
  assert.ok((await page.getByTestId('reply').innerText()).includes('\\frac{-b \\pm \\sqrt{b^2 - 4ac}}{2a}'));
  assert.equal(await page.locator('.formula').count(), 0);
  await page.unroute(/temml\.min\.js/);
  await page.getByTestId('regenerate').click();
  await settle(page);
  mistakes.length = 0;  // the browser tells of what could not be fetched
});

test('what is set stays the same node while its paragraph, list, table and code grow', async () => {
  const page = await open('fake=story');
  await withShow(page);
  const result = await page.evaluate(async () => {
    const {MarkdownView} = await import('/markdown/view.js');
    const kept = {};
    for (const [name, begin, more] of [['paragraph', 'so \\(x\\) ', 'word '], ['list', '- \\(x\\)\n- ', 'word '],
      ['table', '| \\(x\\) | b |\n|---|---|\n', '| c | d |\n'], ['code', '```js\nlet a;\n', 'b();\n'],
      ['code in a list', '- a\n  ```js\n  let a;\n  b();\n', '  b();\n']]) {
      const body = document.createElement('div');
      document.querySelector('[data-testid="messages"]').append(body);
      const view = new MarkdownView(body, () => {});
      view.append(begin);
      const node = body.querySelector('.formula, .code-keyword');
      for (let i = 0; i < 50; i++) view.append(more);
      view.finish();
      kept[name] = node !== null && body.contains(node) && body.querySelectorAll('.formula, .code-keyword').length;
    }
    return kept;
  });
  assert.deepEqual(result, {'paragraph': 1, 'list': 1, 'table': 1, 'code': 1, 'code in a list': 1});
});

test('a text in pieces looks as it does in one', async () => {
  const page = await open('fake=story');
  await withShow(page);
  const different = await page.evaluate(async () => {
    const bits = ['\\(x^2\\)', '$a_1$', '$$\\frac{a}{b}$$', '\\[\nc\n\\]\n', '```math\nd\n```\n', '```js\n',
      'let a = "b"; // c\n',
      '/* d', '*/', '```\n', '`', '- ', '1. ', '> ', '\n', '\n\n', 'word ', '**', '| a | $b$ |\n|--|--|\n',
        '\\(\\oops\\)', '$5 '];
    let state = 3;
    const pick = (n) => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return Math.floor(state / 2 ** 32 * n);
    };
    const wait = () => new Promise((resolve) => setTimeout(resolve, 30));
    const pairs = [];
    for (let round = 0; round < 300; round++) {
      const text = Array.from({length: 1 + pick(16)}, () => bits[pick(bits.length)]).join('');
      pairs.push([text, globalThis.show([...text]), globalThis.show([text])]);
      if (round % 50 === 49) await wait();
    }
    // What is fetched comes when it comes. Neighboring texts are one or two nodes; colors read again from the last line
    // on are the same ones.
    let unlike = [];
    for (let looks = 0; looks < 200; looks++) {
      await wait();
      for (const [, ...bodies] of pairs) bodies.forEach((body) => body.normalize());
      unlike = pairs.filter(([, a, b]) => a.innerHTML !== b.innerHTML);
      if (unlike.length === 0) break;
    }
    return unlike.map(([text, a, b]) => [text, a.innerHTML, b.innerHTML])[0];
  });
  assert.equal(different, undefined);
});

test('hostile formulas and code neither run, nor leave their place, nor hold up the page', async () => {
  const page = await open('fake=story');
  await withShow(page);
  const {longest, foreign} = await page.evaluate(async () => {
    const repeat = (text, n) => text.repeat(n);
    const texts = ['$\\href{javascript:alert(1)}{x}$', '$$\\def\\a{\\a\\a}\\a$$', '$$<img src=x onerror=alert(1)>$$',
      '\\[\\style{position:fixed;inset:0}{x}\\]', '\\[\\includegraphics{https://x.org/a.png}\\]',
        `$$\n${repeat('x^{', 900)}\n$$`,
      `$$\n${repeat('\\sqrt{', 600)}\n$$`, `$$\n${repeat('{', 5000)}${repeat('}', 5000)}\n$$`,
        `$$\n${repeat('a+', 1 << 19)}\n$$`,
      '$$\\rule{9999em}{9999em}$$', '$$\\text{<script>alert(1)</script>}$$',
        `\`\`\`js\n${repeat('/*"', 1 << 18)}\n\`\`\``,
      '```html\n<img src=x onerror=alert(1)>\n<script>alert(1)</script>\n```',
        `\`\`\`math\n${repeat('\\frac', 700)}\n\`\`\``,
      repeat('$a_1$ ', 500), repeat('\\(\\frac{a}{b}\\)\n\n', 300)];
    let longest = [0, ''];
    const bodies = [];
    for (const text of texts) {
      const begin = performance.now();
      bodies.push(globalThis.show([text]));
      const ms = performance.now() - begin;
      if (ms > longest[0]) longest = [ms, text.slice(0, 40)];
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
    const foreign = bodies.flatMap((body) => [...body.querySelectorAll('a, img, script, iframe, object, [onerror], ' +
      '[href], ' +
      '[src], [id]')]).map((node) => node.outerHTML);
    return {longest, foreign};
  });
  assert.deepEqual(foreign, []);
  assert.ok(longest[0] < 1500, String(longest));
});

test('frames stay short while formulas and code stream', async () => {
  const page = await open('fake=story');
  await withShow(page);
  const longest = await page.evaluate(async () => {
    const {MarkdownView} = await import('/markdown/view.js');
    const body = document.createElement('div');
    body.className = 'text';
    document.querySelector('[data-testid="messages"]').append(body);
    const view = new MarkdownView(body, () => {});
    const formulas = 'so \\(\\frac{a_1}{b^2} + \\sqrt{x}\\) and $x_n$ is it, ';
    const code = 'let a = f("b", 12);  // c\n';
    const text = `${formulas.repeat(40)}\n\n${`- ${formulas}\n`.repeat(30)}\n\`\`\`js\n${code.repeat(300)}\`\`\`\n`;
    const times = [];
    for (const piece of text.match(/[^]{1,12}/g)) {
      const begin = performance.now();
      view.append(piece);
      body.getBoundingClientRect();  // with its layout
      times.push(performance.now() - begin);
      if (times.length % 20 === 0) await new Promise((resolve) => setTimeout(resolve));
    }
    view.finish();
    return times.sort((a, b) => a - b).slice(-20);
  });
  // Of the slowest some fall into a moment at which the machine does something else.
  assert.ok(longest[0] < 50, String(longest));
});

test('a long conversation is laid out only where it is read', async () => {
  const page = await open('fake=formulas');
  await say(page);
  await page.evaluate(() => {
    const key = Object.keys(localStorage).find((name) => localStorage[name].includes('"assistant"'));
    const kept = JSON.parse(localStorage[key]);
    const pair = kept.messages.slice(0, 2);
    while (kept.messages.length < 200) kept.messages.push(...structuredClone(pair));
    localStorage[key] = JSON.stringify(kept);
  });
  await page.reload();
  await page.waitForSelector(kIdle);
  await untilInPage(page, () => document.querySelectorAll('.formula').length === 1500);
  const seen = await page.evaluate(async () => {
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    const turns = [...document.querySelectorAll('.turn')];
    const isLaidOut = (turn) => turn.querySelector('.text').checkVisibility({contentVisibilityAuto: true});
    return {all: turns.length, laidOut: turns.filter(isLaidOut).length, last: isLaidOut(turns.at(-1))};
  });
  assert.ok(seen.all === 200 && seen.last && seen.laidOut < 30, JSON.stringify(seen));
});

test('axe finds nothing in colors and formulas', {skip: axe() ? false : `${kAxe} could not be had from npm`},
  async () => {
  for (const [colorScheme, width] of [['light', 1280], ['dark', 1280], ['light', 360], ['dark', 360]]) {
    const page = await open('fake=formulas', {colorScheme, viewport: {width, height: 800}, reducedMotion: 'reduce'});
    await say(page);
    await settle(page);
    await page.evaluate(axe());
    assert.deepEqual(await faults(page), [], `${colorScheme}, ${width}`);
    mistakes.length = 0;  // axe measures with styles that the page's policy does not allow
  }
});
