// The conversations and their settings, with the fake package: node --test dev/library.test.mjs

import assert from 'node:assert/strict';
import {after, afterEach, before, test} from 'node:test';

import {untilInPage} from '../../tests/support/browser.mjs';
import {kIdle, pages, say} from './pages.mjs';

const {open} = pages({before, after, afterEach});

test('settings for one conversation: kept with it, and the others stay as they are', async () => {
  const page = await open('fake=chat&fake-ms=1');
  await page.getByTestId('panel-toggle').click();
  const temperature = page.getByTestId('setting-temperature');
  await temperature.fill('1');
  await say(page, 'First');
  await page.getByTestId('setting-own').check();
  await page.getByTestId('setting-system-prompt').fill('Rhyme.');
  await temperature.fill('0.25');
  await page.getByTestId('new-chat').click();
  assert.equal(await temperature.inputValue(), '1');
  assert.equal(await page.getByTestId('setting-system-prompt').inputValue(), '');
  assert.equal(await page.getByTestId('setting-own').isChecked(), false);
  await page.getByTestId('library-open').click();
  await page.getByTestId('conversation-open').click();
  assert.equal(await temperature.inputValue(), '0.25');
  await page.reload();
  await page.waitForSelector(`${kIdle} #panel:not([hidden])`);
  assert.equal(await page.getByTestId('setting-system-prompt').inputValue(), 'Rhyme.');
  assert.ok(await page.getByTestId('setting-own').isChecked());
  await page.getByTestId('setting-own').uncheck();
  assert.equal(await temperature.inputValue(), '1');
});

test('a search finds conversations by their names and by what was written', async () => {
  const page = await open('fake=chat&fake-ms=1');
  await say(page, 'On puffins');
  await page.getByTestId('new-chat').click();
  await say(page, 'On terns');
  await page.getByTestId('library-open').click();
  const names = () => page.locator('.conversation-name').allInnerTexts();
  await page.getByTestId('library-search').fill('puffin');
  assert.deepEqual(await names(), ['On puffins']);
  await page.getByTestId('library-search').fill('daylight');
  assert.equal((await names()).length, 2);
  assert.match(await page.getByTestId('conversation-found').first().innerText(), /see more daylight than any/);
  await page.getByTestId('library-search').fill('albatross');
  await untilInPage(page, () => /Nothing that was written/.test(document.querySelector('#library-none').textContent));
  assert.deepEqual(await names(), []);
});
