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
  await page.locator('#panel').waitFor();
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
  await page.getByTestId('conversation-open').first().waitFor();
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

test('a link opens a conversation elsewhere, and a damaged one says so', async () => {
  const page = await open('fake=chat&fake-ms=1', {options: {permissions: ['clipboard-read', 'clipboard-write']}});
  await say(page, 'How far?');
  await page.getByTestId('regenerate').click();
  await page.waitForSelector(`${kIdle} [data-testid="version"]`);
  await page.getByTestId('library-open').click();
  await page.getByTestId('library-share').click();
  await page.getByTestId('library-status').filter({hasText: 'no server gets it'}).waitFor();
  const link = new URL(await page.evaluate(() => navigator.clipboard.readText()));
  const other = await open('fake=chat&fake-ms=1');
  await other.goto(`${other.url()}${link.hash}`);
  await other.getByTestId('notice').filter({hasText: 'came with the link'}).waitFor();
  assert.equal(await other.getByTestId('said').innerText(), 'How far?');
  assert.equal(await other.getByTestId('version').innerText(), '2 / 2');
  assert.equal(new URL(other.url()).hash, '');
  await other.reload();
  await other.waitForSelector(kIdle);
  assert.equal(await other.getByTestId('said').innerText(), 'How far?', 'it is kept');
  await other.evaluate((hash) => {
    location.hash = hash;
  }, link.hash.slice(0, -20));
  await other.getByTestId('notice').filter({hasText: 'damaged'}).waitFor();
  await other.evaluate(() => {
    location.hash = `#chat=${'A'.repeat(1_900_000)}`;
  });
  await other.getByTestId('notice').filter({hasText: 'damaged'}).waitFor();
  assert.equal(await other.getByTestId('said').innerText(), 'How far?');
});

test('keys: a list of them, and each does what it says', async () => {
  const page = await open('fake=chat&fake-ms=1');
  await say(page, 'What? / Why?');
  await page.keyboard.type('?/');
  assert.equal(await page.getByTestId('composer').inputValue(), '?/', 'in a field they are letters');
  await page.keyboard.press('Control+/');
  await page.getByTestId('keys').waitFor();
  assert.match(await page.getByTestId('keys').innerText(), /Alt \+ N\s+New conversation/);
  await page.keyboard.press('Escape');
  await page.getByTestId('composer').fill('');
  await page.locator('#log').focus();
  await page.keyboard.press('?');
  await page.getByTestId('keys').waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('/');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'composer');
  await page.keyboard.press('Alt+r');
  await page.waitForSelector(`${kIdle} [data-testid="version"]`);
  for (const [key, shown] of [['k', '#library'], ['m', '#model-menu'], ['i', '#panel']]) {
    await page.keyboard.press(`Alt+${key}`);
    await page.locator(shown).waitFor();
    await page.keyboard.press('Escape');
  }
  await page.keyboard.press('Alt+n');
  assert.equal(await page.getByTestId('said').count(), 0);
});

test('a hostile conversation opens in time and runs nothing', async () => {
  const page = await open('fake=chat&fake-ms=1');
  const texts = ['<img src=x onerror="globalThis.ran = 1"><script>globalThis.ran = 2</script>',
    '[x](javascript:globalThis.ran=3) <a href="javascript:globalThis.ran=4">y</a>', '![z](data:text/html,<script>)',
    '[a](b'.repeat(2e5), '['.repeat(1e6), '> '.repeat(5000) + 'deep', '**a _b '.repeat(1e4),
    Array.from({length: 500}, (_, i) => `${'  '.repeat(i)}- a`).join('\n')];
  await page.evaluate((contents) => {
    const messages = contents.flatMap((content) => [{role: 'user', content: 'Go'}, {role: 'assistant', content}]);
    const record = {version: 1, id: 'bad', name: 'Bad', changed: 1, messages};
    localStorage.setItem('tern.conversation.bad', JSON.stringify(record));
  }, texts);
  const begin = performance.now();
  await page.getByTestId('library-open').click();
  await page.getByTestId('conversation-open').click();
  await untilInPage(page, (n) => document.querySelectorAll('[data-testid="reply"]').length === n, texts.length);
  const ms = performance.now() - begin;
  assert.ok(ms < 30_000, `${ms} ms`);
  for (const link of await page.locator('.reply a').all()) await link.click({timeout: 1000}).catch(() => {});
  assert.equal(await page.evaluate(() => globalThis.ran), undefined);
  assert.equal(await page.evaluate(() => document.querySelectorAll('.reply :is(img, script, iframe)').length), 0);
});
