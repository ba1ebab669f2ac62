// The page on a phone, with the fake package: what fingers meet, and what is read: node --test dev/touch.test.mjs

import assert from 'node:assert/strict';
import {after, afterEach, before, test} from 'node:test';

import {inBrowser} from './browser.mjs';

const here = inBrowser({before, after});
const contexts = [];

afterEach(async () => {
  for (const context of contexts.splice(0)) await context.close();
});

async function open() {
  const context = await here.browser.newContext({viewport: {width: 360, height: 780}, hasTouch: true, isMobile: true,
    serviceWorkers: 'block'});
  contexts.push(context);
  const page = await context.newPage();
  await page.goto(`${here.site.url}?fake=chat&fake-ms=1&fake-load-ms=50`);
  await page.waitForSelector('[data-phase="ready"]');
  await page.getByTestId('composer').fill('How far?');
  await page.getByTestId('send').click();
  await page.waitForSelector('[data-chat="idle"] [data-testid="note"]:not(:empty)');
  return page;
}

/** What can be pressed and is smaller than a finger's 44 pixels. */
function smallTargets() {
  const kinds = ':is(button, select, summary, .check, input:not([type="checkbox"], .unseen))';
  return [...document.querySelectorAll(kinds)].filter((one) => one.checkVisibility({visibilityProperty: true}))
    .map((one) => ({what: one.dataset.testid || one.id || one.textContent, box: one.getBoundingClientRect()}))
    .filter(({box}) => box.width < 43.9 || box.height < 43.9)
    .map(({what, box}) => `${what} ${box.width} x ${box.height}`);
}

test('everything that is pressed has room for a finger', async () => {
  const page = await open();
  await page.getByTestId('regenerate').click();
  await page.getByTestId('version').waitFor();
  await page.getByTestId('attach-file').setInputFiles({name: 'a.md', mimeType: '', buffer: Buffer.from('A')});
  await page.getByTestId('attached').waitFor();
  assert.deepEqual(await page.evaluate(smallTargets), []);
  await page.getByTestId('more').click();
  await page.getByTestId('edit-reply').waitFor();
  assert.deepEqual(await page.evaluate(smallTargets), []);
  await page.keyboard.press('Escape');
  await page.getByTestId('panel-toggle').click();
  await page.locator('#panel').waitFor();
  assert.deepEqual(await page.evaluate(smallTargets), []);
  await page.locator('#panel-close').click();
  for (const [open, close] of [['model-chip', '#model-menu-close'], ['library-open', '#library-close']]) {
    await page.getByTestId(open).click();
    await page.locator(close).waitFor();
    assert.deepEqual(await page.evaluate(smallTargets), [], open);
    await page.locator(close).click();
  }
});

test('words in cells of tables stay whole, and formulas scroll in their box', async () => {
  const page = await open();
  const {broken, tooWide} = await page.evaluate(async () => {
    const {MarkdownView} = await import('/markdown/view.js');
    const body = document.querySelector('[data-testid="reply"]');
    body.replaceChildren();
    const view = new MarkdownView(body);
    view.append('| a heading | another | `code_in_a_cell` | **boldness** |\n|---|---|---|---|\n' +
      '| some words in a cell | `code` | **bold** words here | extraordinarily_long |\n\n' +
      `\\[\n${'a + '.repeat(60)}\n\\]\n`);
    view.finish();
    const range = document.createRange();
    const broken = [];
    const walker = document.createTreeWalker(body.querySelector('table'), NodeFilter.SHOW_TEXT);
    for (let node; (node = walker.nextNode());) {
      for (const {0: word, index} of node.data.matchAll(/\S+/g)) {
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        if (new Set([...range.getClientRects()].map(({top}) => top)).size > 1) broken.push(word);
      }
    }
    return {broken, tooWide: document.documentElement.scrollWidth - innerWidth};
  });
  assert.deepEqual(broken, []);
  assert.ok(tooWide <= 0);
});
