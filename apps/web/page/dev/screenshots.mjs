// Pictures of the page's states with the fake package, for looking at: node dev/screenshots.mjs OUT_DIR [NAME]
// Fails if a page throws, logs an error, or scrolls sideways.

import fs from 'node:fs/promises';
import path from 'node:path';

import {launch} from './browser.mjs';
import {serve} from './serve.mjs';

const [out = 'out', only] = process.argv.slice(2);
const kSizes = {wide: {width: 1280, height: 800}, narrow: {width: 360, height: 740}};
const kReady = '[data-phase="ready"]';
const kWritten = '[data-chat="idle"] [data-testid="note"]:not(:empty)';

const ask = async (page, text) => {
  await page.getByTestId('composer').fill(text);
  await page.keyboard.press('Enter');
};
const openPanel = async (page) => {
  if (await page.locator('#panel').isHidden()) await page.getByTestId('panel-toggle').click();
  await page.locator('#panel').waitFor();
};

/** name: [query, what is done before the picture] */
const kStates = {
  welcome: ['', (page) => page.waitForSelector(kReady)],
  teller: ['fake=teller', (page) => page.waitForSelector(kReady)],
  told: ['fake=teller', async (page) => {
    await page.waitForSelector(kReady);
    await page.getByTestId('idea').first().click();
    await page.waitForSelector(kWritten);
  }],
  loading: ['fake-load-ms=4000', (page) => page.waitForTimeout(1500)],
  story: ['', async (page) => {
    await page.waitForSelector(kReady);
    await ask(page, 'Once upon a time');
    await page.waitForSelector(kWritten);
  }],
  chat: ['fake=chat', async (page) => {
    await page.waitForSelector(kReady);
    await ask(page, 'How far do arctic terns fly?');
    await page.waitForSelector(kWritten);
  }],
  formulas: ['fake=formulas&fake-ms=5', async (page) => {
    await page.waitForSelector(kReady);
    await ask(page, 'What are the roots?');
    await page.waitForSelector(kWritten);
    await page.waitForSelector('.formula');
    await page.locator('#log').evaluate((log) => log.scrollTo(0, 0));
  }],
  colors: ['fake=formulas&fake-ms=5', async (page) => {
    await page.waitForSelector(kReady);
    await ask(page, 'What are the roots?');
    await page.waitForSelector(kWritten);
    await page.waitForSelector('.code-keyword');
  }],
  writing: ['fake=chat&fake-ms=30', async (page) => {
    await page.waitForSelector(kReady);
    await ask(page, 'How far do arctic terns fly?');
    await page.waitForTimeout(1500);
  }],
  waiting: ['fake-load-ms=4000', async (page) => {
    await ask(page, 'Once upon a time');
    await page.waitForTimeout(600);
  }],
  failed: ['fake-load=network', (page) => page.waitForSelector('[data-phase="failed"]')],
  lost: ['fake=chat&fake-run=device_lost', async (page) => {
    await page.waitForSelector(kReady);
    await ask(page, 'How far do arctic terns fly?');
    await page.waitForSelector('[data-phase="lost"]');
  }],
  versions: ['fake=chat&fake-ms=1', async (page) => {
    await page.waitForSelector(kReady);
    await ask(page, 'How far do arctic terns fly?');
    await page.waitForSelector(kWritten);
    await page.getByTestId('edit').click();
    await ask(page, 'How far do arctic terns fly in a year?');
    await page.waitForSelector('[data-chat="idle"] [data-testid="version"]');
    await page.getByTestId('regenerate').click();
    await page.waitForSelector('[data-chat="idle"] .reply [data-testid="version"]');
  }],
  more: ['fake=chat&fake-ms=1', async (page) => {
    await page.waitForSelector(kReady);
    await ask(page, 'How far do arctic terns fly?');
    await page.waitForSelector(kWritten);
    await page.getByTestId('more').click();
    await page.waitForSelector('#more-menu:popover-open');
  }],
  search: ['fake=chat&fake-ms=1', async (page) => {
    await page.waitForSelector(kReady);
    for (const text of ['How far do arctic terns fly?', 'How old do they become?']) {
      await ask(page, text);
      await page.waitForSelector(kWritten);
      await page.getByTestId('new-chat').click();
    }
    await page.getByTestId('library-open').click();
    await page.getByTestId('library-search').fill('daylight');
  }],
  thinker: ['fake=thinker&fake-ms=1', async (page) => {
    await page.waitForSelector(kReady);
    await page.getByTestId('attach-file').setInputFiles(
        {name: 'terns.md', mimeType: '', buffer: Buffer.from('# Terns\n')});
    await page.getByTestId('attached').waitFor();
    await ask(page, 'How far is it? See the text.');
    await page.waitForSelector(kWritten);
    for (const id of ['thought', 'call']) await page.getByTestId(id).locator('summary').click();
    await page.getByTestId('attach-file').setInputFiles(['a-text-with-a-long-name.txt', 'b.csv'].map((name) => (
      {name, mimeType: '', buffer: Buffer.from('a b c')})));
    await page.getByTestId('composer').fill('And these?');
    await page.getByTestId('token-count').filter({hasText: 'tokens'}).waitFor();
  }],
  keys: ['fake=chat', async (page) => {
    await page.waitForSelector(kReady);
    await page.keyboard.press('Control+/');
    await page.getByTestId('keys').waitFor();
  }],
  editing: ['fake=chat', async (page) => {
    await page.waitForSelector(kReady);
    await ask(page, 'How far?');
    await page.waitForSelector(kWritten);
    await page.getByTestId('edit').click();
  }],
  panel: ['', async (page) => {
    await page.waitForSelector(kReady);
    await ask(page, 'Once upon a time');
    await page.waitForSelector(kWritten);
    await openPanel(page);
    await page.locator('#model-title').scrollIntoViewIfNeeded();
    await page.locator('#panel').evaluate((panel) => panel.scrollTo(0, 300));
  }],
  settings: ['', async (page) => {
    await page.waitForSelector(kReady);
    await openPanel(page);
    await page.locator('#panel').evaluate((panel) => panel.scrollTo(0, panel.scrollHeight));
  }],
  kernels: ['', async (page) => {
    await page.waitForSelector(kReady);
    await ask(page, 'Once upon a time');
    await page.waitForSelector(kWritten);
    await openPanel(page);
    await page.getByTestId('kernels-open').click();
    await page.waitForSelector('dialog[open]');
  }],
  drop: ['', async (page) => {
    await page.waitForSelector(kReady);
    await page.locator('#drop').evaluate((drop) => {
      drop.hidden = false;
    });
  }],
};

await fs.mkdir(out, {recursive: true});
const {server, url} = await serve();
const browser = await launch();
let failures = 0;
const fail = (text) => {
  failures++;
  console.error(text);
};
for (const colorScheme of ['light', 'dark']) {
  for (const [size, viewport] of Object.entries(kSizes)) {
    for (const [name, [query, prepare]] of Object.entries(kStates)) {
      if (only && !only.split(',').includes(name)) continue;
      // Playwright puts a style of its own into the page while it takes a picture.
      const context = await browser.newContext(
          {viewport, colorScheme, serviceWorkers: 'block', reducedMotion: 'reduce', bypassCSP: true});
      const page = await context.newPage();
      const picture = `${name}-${size}-${colorScheme}`;
      page.on('pageerror', (error) => fail(`${picture}: ${error.message}`));
      page.on('console', (message) => message.type() === 'error' && fail(`${picture}: ${message.text()}`));
      try {
        await page.goto(`${url}?${query}`);
        await prepare(page);
        await page.screenshot({path: path.join(out, `${picture}.png`)});
        const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        if (over > 0) fail(`${picture}: ${over} pixels too wide`);
      } catch (error) {
        fail(`${picture}: ${error.message}`);
      }
      await context.close();
    }
  }
}
await browser.close();
server.close();
console.log(`${failures} failures`);
process.exitCode = failures > 0 ? 1 : 0;
