// What axe-core finds in every state of the page, in every dress: nothing. node --test dev/axe.test.mjs
// axe-core comes from npm, once, into build/; without it the tests are skipped.

import assert from 'node:assert/strict';
import {after, before, test} from 'node:test';

import {axe, faults, kAxe} from './axe.mjs';
import {inBrowser} from './browser.mjs';

const kAtOnce = 4;  // pages
const kReady = '[data-phase="ready"][data-chat="idle"]';

/** Walks, each to a page of its own in every state; there, each of its dresses is put on. */
const kWalks = {
  'with a large window': {
    light: {viewport: {width: 1280, height: 800}, colorScheme: 'light'},
    dark: {viewport: {width: 1920, height: 1080}, colorScheme: 'dark'},
    'forced colors': {viewport: {width: 1280, height: 800}, forcedColors: 'active'},
  },
  'with a small window': {
    '360 px, dark': {viewport: {width: 360, height: 740}, colorScheme: 'dark'},
    '400 %': {viewport: {width: 320, height: 256}, colorScheme: 'light'},
  },
};

/** Presses a button; `shown`: what that shows. */
const press = (id, shown = 'body') => async (page) => {
  await page.getByTestId(id).first().click();
  await page.locator(shown).waitFor();
};
const say = async (page) => {
  await page.getByTestId('composer').fill('How far do arctic terns fly?');
  await page.keyboard.press('Enter');
  await page.waitForSelector(`${kReady} [data-testid="note"]:not(:empty)`);
};

const attach = async (page) => {
  await page.waitForSelector(kReady);
  await page.getByTestId('attach-file').setInputFiles({name: 'terns.md', mimeType: '', buffer: Buffer.from('# Terns')});
  await page.getByTestId('attached').waitFor();
};

/** name: [query, what makes it, …]; each begins with a page of its own */
const kStates = {
  'first visit': ['fake-load-ms=50', (page) => page.waitForSelector(kReady)],
  'loading': ['fake-load-ms=60000', (page) => page.getByTestId('progress').waitFor()],
  'failed': ['fake-load=network', (page) => page.getByTestId('error').waitFor()],
  'a storyteller': ['fake-load-ms=50&fake=teller', (page) => page.waitForSelector(kReady)],
  'a told story': ['fake-load-ms=50&fake-ms=1&fake=teller', say],
  'story': ['fake-load-ms=50&fake-ms=1', say],
  'chat': ['fake-load-ms=50&fake-ms=1&fake=chat', say],
  'writing': ['fake-load-ms=50&fake-ms=200&fake=chat', async (page) => {
    await page.waitForSelector(kReady);
    await page.getByTestId('composer').fill('Go on');
    await page.keyboard.press('Enter');
    await page.getByTestId('stop').waitFor();
  }],
  'editing': ['fake-load-ms=50&fake-ms=1&fake=chat', say, press('edit')],
  'versions': ['fake-load-ms=50&fake-ms=1&fake=chat', say, press('regenerate'),
    (page) => page.waitForSelector(`${kReady} [data-testid="version"]`)],
  'more': ['fake-load-ms=50&fake-ms=1&fake=chat', say, press('more', '#more-menu')],
  'thoughts and calls': ['fake-load-ms=50&fake-ms=1&fake=thinker', say,
    ...['thought', 'call'].map((id) => (page) => page.getByTestId(id).locator('summary').click())],
  'texts attached': ['fake-load-ms=50&fake-ms=1&fake=chat', attach, say, attach,
    (page) => page.getByTestId('file-shown').locator('summary').click()],
  'keys': ['fake-load-ms=50&fake=chat', (page) => page.waitForSelector(kReady),
    (page) => page.keyboard.press('Control+/'),
    (page) => page.getByTestId('keys').waitFor()],
  'models': ['fake-load-ms=50', (page) => page.waitForSelector(kReady), press('model-chip', '#model-menu')],
  'no such model': ['fake-load-ms=50', press('model-chip', '#model-menu'),
    (page) => page.getByTestId('model-search').fill('zzz')],
  'about to delete': ['fake-load-ms=50', press('model-chip', '#model-menu'), press('model-item-delete')],
  'conversations': ['fake-load-ms=50&fake-ms=1&fake=chat', say, press('library-open', '#library')],
  'nothing found': ['fake-load-ms=50&fake-ms=1&fake=chat', say, press('library-open', '#library'),
    (page) => page.getByTestId('library-search').fill('albatross')],
  'naming': ['fake-load-ms=50&fake-ms=1&fake=chat', say, press('library-open', '#library'),
    press('conversation-rename')],
  'deleted': ['fake-load-ms=50&fake-ms=1&fake=chat', say, press('library-open', '#library'),
    press('conversation-delete')],
  'instruments': ['fake-load-ms=50&fake-ms=1', say, press('panel-toggle', '#panel')],
  'kernels': ['fake-load-ms=50&fake-ms=1', say, press('panel-toggle', '#panel'),
    press('kernels-open', '#kernels'), press('kernel')],
};

const script = axe();
const here = inBrowser({before, after});

for (const [walk, dresses] of Object.entries(kWalks)) {
  test(`axe finds nothing: ${walk}`, {skip: script ? false : `${kAxe} could not be had from npm`}, async () => {
    const found = [];
    const left = Object.entries(kStates);
    const work = async () => {
      for (let next; (next = left.shift());) await visit(...next);
    };
    const visit = async (state, [query, ...steps]) => {
      const [{viewport}] = Object.values(dresses);
      const context = await here.browser.newContext({reducedMotion: 'reduce', serviceWorkers: 'block', viewport});
      try {
        const page = await context.newPage();
        await page.goto(`${here.site.url}?${query}`);
        for (const step of steps) await step(page);
        await page.evaluate(script);
        for (const [dress, {viewport, colorScheme = 'light', forcedColors = 'none'}] of Object.entries(dresses)) {
          await page.setViewportSize(viewport);
          await page.emulateMedia({colorScheme, forcedColors});
          for (const fault of await faults(page)) found.push(`${state}, ${dress}: ${fault}`);
        }
      } finally {
        await context.close();
      }
    };
    await Promise.all(Array.from({length: kAtOnce}, work));
    assert.deepEqual(found, []);
  });
}
