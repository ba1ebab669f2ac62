// What makes the page an app, with the fake package: node --test dev/install.test.mjs

import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import {after, afterEach, before, test} from 'node:test';

import {untilInPage} from '../../tests/support/browser.mjs';
import {kIdle, pages, say} from './pages.mjs';

const {here, open} = pages({before, after, afterEach});

test('Chromium finds a manifest without errors, and all its icons in their sizes', async () => {
  const page = await open();
  const session = await page.context().newCDPSession(page);
  const {errors, data, url} = await session.send('Page.getAppManifest');
  assert.deepEqual(errors, []);
  const {icons, start_url: start} = JSON.parse(data);
  assert.equal(new URL(start, url).href, here.site.url);
  for (const {src, sizes} of icons) {
    const size = await page.evaluate(async (from) => {
      const image = Object.assign(new Image(), {src: from});
      await image.decode();
      return `${image.naturalWidth}x${image.naturalHeight}`;
    }, new URL(src, url).href);
    if (sizes !== 'any') assert.equal(size, sizes, src);
  }
  const {installabilityErrors} = await session.send('Page.getInstallabilityErrors');
  assert.deepEqual(installabilityErrors.map(({errorId}) => errorId).filter((id) => id !== 'in-incognito'), []);
  assert.ok((await fs.readdir(new URL('../icons', import.meta.url))).length >= icons.length - 1);
});

test('the screen is kept on while a reply is written, unless that is switched off', async () => {
  const page = await open('fake=chat&fake-ms=20');
  await page.evaluate(() => {
    globalThis.locks = [];
    navigator.wakeLock.request = async (kind) => {
      const lock = {kind, isHeld: true, release: async () => { lock.isHeld = false; }};
      globalThis.locks.push(lock);
      return lock;
    };
  });
  const locks = () => page.evaluate(() => globalThis.locks.map(({kind, isHeld}) => `${kind} ${isHeld}`));
  await page.getByTestId('composer').fill('How far?');
  await page.keyboard.press('Enter');
  await untilInPage(page, () => document.documentElement.dataset.chat === 'writing');
  assert.deepEqual(await locks(), ['screen true']);
  await page.keyboard.press('Escape');
  await page.waitForSelector(kIdle);
  await untilInPage(page, () => !globalThis.locks[0].isHeld);
  await page.getByTestId('panel-toggle').click();
  await page.locator('#panel').waitFor();
  await page.getByTestId('setting-stay-awake').uncheck();
  await say(page, 'How far?');
  assert.equal((await locks()).length, 1);
});

test('a chat model greets with questions, and with a story at one click', async () => {
  const page = await open('fake=chat&fake-ms=1');
  const story = page.getByTestId('idea').filter({hasText: 'Tell me a story'});
  await story.click();
  await page.waitForSelector(`${kIdle} [data-testid="note"]:not(:empty)`);
  assert.match(await page.getByTestId('said').innerText(), /fox and a lantern/);
});
