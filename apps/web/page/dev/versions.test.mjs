// Versions of messages, with the fake package: node --test dev/versions.test.mjs

import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import {after, afterEach, before, test} from 'node:test';

import {untilInPage} from '../../tests/support/browser.mjs';
import {kIdle, pages, say} from './pages.mjs';

const {open} = pages({before, after, afterEach});
const versions = (page) => page.getByTestId('version').allInnerTexts();
const said = (page) => page.getByTestId('said').allInnerTexts();
/** Until there are so many versions of something, and all is written. */
const shows = (page, label) => page.waitForSelector(`${kIdle} [data-testid="version"]:text-is("${label}")`);

test('another reply, another message, and the arrows between, by keyboard; the focus stays on them', async () => {
  const page = await open('fake=chat&fake-ms=1');
  await say(page, 'How far?');
  await say(page, 'How fast?');
  await page.getByTestId('regenerate').first().press('Enter');
  await shows(page, '2 / 2');
  assert.deepEqual(await said(page), ['How far?']);
  await page.getByTestId('version-before').press('Enter');
  assert.deepEqual(await said(page), ['How far?', 'How fast?']);
  assert.deepEqual(await versions(page), ['1 / 2']);
  assert.equal(await page.evaluate(() => document.activeElement.dataset.testid), 'version-after');
  await page.keyboard.press('Enter');
  assert.deepEqual(await versions(page), ['2 / 2']);
  await page.getByTestId('edit').press('Enter');
  assert.equal(await page.getByTestId('composer').inputValue(), 'How far?');
  assert.match(await page.locator('#editing').innerText(), /Another version of your message/);
  await say(page, 'How high?');
  assert.deepEqual(await said(page), ['How high?']);
  await page.reload();
  await page.waitForSelector(kIdle);
  assert.deepEqual(await said(page), ['How high?']);
  await page.getByTestId('version-before').click();
  assert.deepEqual(await said(page), ['How far?']);
  assert.deepEqual(await versions(page), ['1 / 2', '2 / 2']);
  await page.getByTestId('version-before').last().click();
  assert.deepEqual(await said(page), ['How far?', 'How fast?']);
});

test('versions leave and come back in a file', async () => {
  const page = await open('fake=chat&fake-ms=1', {options: {acceptDownloads: true}});
  await say(page, 'How far?');
  await page.getByTestId('regenerate').click();
  await shows(page, '2 / 2');
  await page.getByTestId('library-open').click();
  const save = async (button) => {
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByTestId(button).click()]);
    return fs.readFile(await download.path());
  };
  assert.match(String(await save('conversation-save')), /\n---\n\n## Version 2, from message 2 on\n/);
  const buffer = await save('library-export');
  await page.getByTestId('conversation-delete').click();
  await page.getByTestId('library-file').setInputFiles({name: 'all.json', mimeType: '', buffer});
  await page.getByTestId('conversation-open').click();
  assert.deepEqual(await versions(page), ['2 / 2']);
});

test('a reply is changed, and asked of another model, in its menu', async () => {
  const page = await open('fake=chat&fake-ms=1');
  await say(page, 'How far?');
  await page.getByTestId('more').press('Enter');
  await page.getByTestId('edit-reply').waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.dataset.testid), 'edit-reply');
  await page.keyboard.press('Escape');
  assert.equal(await page.evaluate(() => document.activeElement.dataset.testid), 'more', 'the focus goes back');
  await page.keyboard.press('Enter');
  await page.getByTestId('edit-reply').press('Enter');
  assert.match(await page.getByTestId('composer').inputValue(), /^## Arctic terns/);
  await page.getByTestId('composer').fill('About *70,000 km*.');
  await page.keyboard.press('Enter');
  await shows(page, '2 / 2');
  assert.equal(await page.getByTestId('reply').innerText(), 'About 70,000 km.');
  assert.match(await page.getByTestId('note').last().innerText(), /changed by you/);
  await page.getByTestId('more').click();
  await page.getByTestId('again-with').filter({hasText: 'Bonsai'}).click();
  await shows(page, '3 / 3');
  assert.match(await page.getByTestId('note').last().innerText(), /^Bonsai-1\.7B/);
  assert.match(await page.getByTestId('model-chip').innerText(), /Bonsai/);
});

test('another model that cannot be loaded: a sentence, and the conversation is as it was', async () => {
  const page = await open('fake=chat&fake-ms=1&fake-load-ms=50&fake-without=bonsai');
  await say(page, 'How far?');
  const before = await page.getByTestId('reply').innerText();
  await page.getByTestId('more').click();
  await page.getByTestId('again-with').filter({hasText: 'Bonsai'}).click();
  await page.getByTestId('error').waitFor();
  await untilInPage(page, () => document.documentElement.dataset.phase === 'ready');
  await untilInPage(page, () => document.documentElement.dataset.chat === 'idle');
  assert.match(await page.getByTestId('error').innerText(), /There is no model at this address/);
  assert.equal(await page.getByTestId('reply').innerText(), before);
  assert.equal(await page.getByTestId('version').count(), 0);
  await say(page, 'And back?');
  assert.equal(await page.getByTestId('reply').count(), 2);
});

test('a story has the versions of its beginning and of what follows', async () => {
  const page = await open('fake-ms=1');
  await say(page, 'Once');
  await page.getByTestId('regenerate').click();
  await shows(page, '2 / 2');
  await page.getByTestId('edit').click();
  await say(page, 'Twice');
  assert.deepEqual(await versions(page), ['3 / 3']);
  assert.equal(await page.getByTestId('given').innerText(), 'Twice');
  await page.getByTestId('version-before').click();
  assert.equal(await page.getByTestId('given').innerText(), 'Once');
});

test('a storage that is full in mid-reply: a sentence, and all stays readable', async () => {
  const page = await open('fake=chat&fake-ms=1');
  await say(page, 'How far?');
  await page.evaluate(() => {
    Storage.prototype.setItem = () => {
      throw new DOMException('full', 'QuotaExceededError');
    };
  });
  await page.getByTestId('regenerate').click();
  await shows(page, '2 / 2');
  assert.match(await page.getByTestId('notice').innerText(), /storage is full.*save it to a file/s);
  await page.getByTestId('new-chat').click();
  await page.getByTestId('library-open').click();
  await page.getByTestId('conversation-open').click();
  assert.deepEqual(await versions(page), ['2 / 2']);
});

test('the version that is chosen stands where the other stood', async () => {
  const page = await open('fake=chat&fake-ms=1', {options: {viewport: {width: 900, height: 400}}});
  for (let i = 0; i < 3; i++) await say(page, 'How far?');
  await page.getByTestId('regenerate').nth(1).click();
  await shows(page, '2 / 2');
  const top = () => page.locator('.reply:has(.versions)').evaluate((turn) => turn.getBoundingClientRect().top);
  await page.getByTestId('version-before').scrollIntoViewIfNeeded();
  const before = await top();
  await page.getByTestId('version-before').press('Enter');
  await untilInPage(page, () => document.querySelectorAll('[data-testid="said"]').length === 3);
  assert.ok(Math.abs(await top() - before) < 2, `${before} ${await top()}`);
});
