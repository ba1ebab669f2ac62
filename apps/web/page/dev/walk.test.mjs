// Walks through the page with the fake package, as somebody with a keyboard does: node --test dev/walk.test.mjs

import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import {after, afterEach, before, test} from 'node:test';
import {fileURLToPath} from 'node:url';

import {kExample} from '../base/example.js';
import {shellOf} from '../make_shell.mjs';
import {until, untilInPage} from '../../tests/support/browser.mjs';
import {kIdle, pages, say} from './pages.mjs';
import {serve} from './serve.mjs';

const kPage = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const {here, open, mistakes} = pages({before, after, afterEach});

/** The same with its instruments open. */
async function openWithPanel(query) {
  const page = await open(query);
  await page.getByTestId('panel-toggle').click();
  await page.locator('#panel').waitFor();
  return page;
}

const shown = (page) => page.getByTestId('messages').innerText();

test('a story by keyboard alone', async () => {
  const page = await open('fake-ms=1');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'composer', 'one can type at once');
  await page.keyboard.type('Once upon');
  await page.keyboard.press('Shift+Enter');
  await page.keyboard.type('a time');
  await page.keyboard.press('Enter');
  await page.waitForSelector(`${kIdle} [data-testid="note"]:not(:empty)`);
  assert.equal(await page.getByTestId('given').innerText(), 'Once upon\na time');
  assert.match(await page.getByTestId('reply').innerText(), /^, there was a little tern/);
  assert.equal(await page.getByTestId('reply').count(), 1);
  const before = (await page.getByTestId('reply').textContent()).length;
  await page.getByTestId('continue').press('Enter');
  await untilInPage(page, (n) => document.querySelector('[data-testid="reply"]').textContent.length > n, before);
});

test('the default model greets with what it can be asked, and another story is one click', async () => {
  const page = await open('fake=teller&fake-ms=1');
  const ideas = await page.getByTestId('idea').allInnerTexts();
  assert.equal(ideas[0], 'Tell me a story about a fox and a lantern.');
  assert.ok(ideas.includes('Who are you?'), String(ideas));
  const limits = /tells short children’s stories and knows little else/;
  assert.match(await page.locator('#welcome').innerText(), limits);
  assert.match(await page.locator('#composer-hint').innerText(), limits);
  assert.match(await page.getByTestId('model-chip').getAttribute('title'), limits);
  assert.equal(await page.getByTestId('composer').getAttribute('placeholder'), 'Ask for a story…');
  await page.getByTestId('idea').first().click();
  await page.waitForSelector(`${kIdle} [data-testid="note"]:not(:empty)`);
  assert.equal(await page.getByTestId('said').innerText(), ideas[0]);
  assert.match(await page.getByTestId('reply').innerText(), /^Once there was a little tern/);
  assert.equal(await page.getByTestId('continue').count(), 0);
  await page.getByTestId('new-story').press('Enter');
  await untilInPage(page, () => document.querySelectorAll('[data-testid="reply"]').length === 2);
  await page.waitForSelector(kIdle);
  assert.equal(await page.getByTestId('said').last().innerText(), 'Tell me a story.');
  assert.equal(await page.getByTestId('new-story').count(), 1, 'below the last one only');
  await page.reload();
  await page.waitForSelector(kIdle);
  assert.ok(await page.getByTestId('new-story').isVisible(), 'a conversation that was kept has it too');
});

test('other models are not asked for stories', async () => {
  const page = await open('fake=chat&fake-ms=1');
  assert.match(await page.getByTestId('idea').first().innerText(), /arctic terns/);
  assert.doesNotMatch(await page.locator('#composer-hint').innerText(), /stories/);
  await say(page, 'How far?');
  assert.equal(await page.getByTestId('new-story').count(), 0);
});

test('what is typed while the model loads is sent when it is there', async () => {
  const page = await open('fake-ms=1&fake-load-ms=800', {ready: false});
  await page.getByTestId('composer').fill('Early');
  await page.keyboard.press('Enter');
  await page.waitForSelector(`${kIdle} [data-testid="note"]:not(:empty)`);
  assert.equal(await page.getByTestId('given').innerText(), 'Early');
});

test('Escape stops; Again, Edit and New do what they say; the conversation outlives a reload', async () => {
  const page = await open('fake=chat&fake-ms=20');
  await page.getByTestId('composer').fill('How far?');
  await page.keyboard.press('Enter');
  await untilInPage(page, () => document.querySelector('[data-testid="reply"]')?.textContent.length > 20);
  await page.keyboard.press('Escape');
  await page.waitForSelector(kIdle);
  assert.match(await page.getByTestId('note').last().innerText(), /stopped/);
  const half = await page.getByTestId('reply').innerText();

  await page.reload();
  await page.waitForSelector(kIdle);
  assert.equal(await page.getByTestId('reply').innerText(), half);

  await page.getByTestId('regenerate').click();
  await page.waitForSelector(`${kIdle} [data-testid="note"]:not(:empty)`);
  assert.equal(await page.getByTestId('reply').count(), 1);
  assert.ok((await page.getByTestId('reply').innerText()).length > half.length);

  await page.getByTestId('composer').fill('a draft');
  await page.getByTestId('edit').click();
  assert.equal(await page.getByTestId('composer').inputValue(), 'How far?');
  await page.keyboard.press('Escape');
  assert.equal(await page.getByTestId('composer').inputValue(), 'a draft');
  await page.getByTestId('edit').click();
  await say(page, 'How fast?');
  assert.equal(await page.getByTestId('said').innerText(), 'How fast?');
  assert.equal(await page.getByTestId('reply').count(), 1);

  const all = await shown(page);
  await page.getByTestId('new-chat').click();
  assert.equal(await shown(page), '');
  await page.getByTestId('library-open').click();
  await page.getByTestId('conversation-open').click();
  assert.equal(await shown(page), all);
});

test('conversations: named, renamed, deleted and brought back, saved and opened again', async () => {
  const page = await open('fake=chat&fake-ms=1', {options: {acceptDownloads: true}});
  const list = async () => page.getByTestId('conversation-open').locator('.conversation-name').allInnerTexts();
  await say(page, 'First question');
  await page.getByTestId('new-chat').click();
  await say(page, 'Second question');
  await page.getByTestId('library-open').click();
  await page.getByTestId('conversation-open').first().waitFor();
  assert.deepEqual(await list(), ['Second question', 'First question']);
  await page.getByTestId('conversation-rename').nth(1).click();
  await page.getByTestId('conversation-name').fill('On terns');
  await page.keyboard.press('Enter');
  assert.deepEqual((await list()).sort(), ['On terns', 'Second question']);
  await page.getByTestId('conversation').filter({hasText: 'On terns'}).getByTestId('conversation-rename').click();
  await page.getByTestId('conversation-name').fill('Never mind');
  await page.keyboard.press('Escape');
  assert.ok(await page.getByTestId('library').isVisible(), 'Escape ends the naming, not the list');
  assert.deepEqual((await list()).sort(), ['On terns', 'Second question']);

  const saved = page.waitForEvent('download');
  await page.getByTestId('library-export').click();
  const file = await (await saved).path();
  const markdown = page.waitForEvent('download');
  await page.getByTestId('conversation').filter({hasText: 'On terns'}).getByTestId('conversation-save').click();
  assert.equal((await markdown).suggestedFilename(), 'On-terns.md');

  for (const undone of [true, false]) {
    await page.getByTestId('conversation').filter({hasText: 'On terns'}).getByTestId('conversation-delete').click();
    assert.equal((await list()).length, 1);
    if (undone) await page.getByTestId('undo').click();
  }
  await page.getByTestId('library-file').setInputFiles({name: 'x.json', mimeType: '', buffer: Buffer.from('{}')});
  await page.getByTestId('library-status').filter({hasText: 'x.json: this is no file of conversations'}).waitFor();
  await page.getByTestId('library-file').setInputFiles(file);
  await page.getByTestId('library-status').filter({hasText: 'One conversation was added.'}).waitFor();
  assert.deepEqual((await list()).sort(), ['On terns', 'Second question']);
  await page.getByTestId('conversation-open').filter({hasText: 'On terns'}).click();
  assert.equal(await page.getByTestId('said').innerText(), 'First question');
  await page.reload();
  await page.waitForSelector(kIdle);
  assert.equal(await page.getByTestId('said').innerText(), 'First question', 'the tab shows what it showed');
});

test('deleting the conversation that is open leaves a new one, and Undo opens it again', async () => {
  const page = await open('fake=chat&fake-ms=1');
  await say(page, 'Only one');
  await page.getByTestId('library-open').click();
  await page.getByTestId('conversation-delete').click();
  assert.equal(await shown(page), '');
  await page.getByTestId('undo').click();
  await page.keyboard.press('Escape');
  assert.equal(await page.getByTestId('said').innerText(), 'Only one');
});

test('a first visit shows what the model writes, until one has written oneself', async () => {
  const page = await open('fake=teller&fake-ms=1');
  const example = await page.getByTestId('example').innerText();
  assert.ok(example.includes(`${kExample.asked}\n${kExample.reply.slice(0, 20)}`), example);
  await say(page, 'Once');
  await page.getByTestId('new-chat').click();
  assert.ok(await page.locator('#welcome').isVisible());
  assert.ok(await page.getByTestId('example').isHidden());
});

test('a message that was not sent yet comes back into the field', async () => {
  const page = await open('fake-load-ms=60000', {ready: false});
  await page.getByTestId('composer').fill('Too early');
  await page.keyboard.press('Enter');
  await page.getByTestId('stop').click();
  assert.equal(await page.getByTestId('composer').inputValue(), 'Too early');
  assert.match(await page.getByTestId('progress').innerText(), /tern-stories\.gguf/);
  await page.getByTestId('progress-cancel').click();
  await page.waitForSelector('[data-phase="empty"]');
});

test('a lost device: one click, and the conversation goes on', async () => {
  const page = await open('fake=chat&fake-run=device_lost&fake-ms=1');
  await page.getByTestId('composer').fill('How far?');
  await page.keyboard.press('Enter');
  await page.getByTestId('error').waitFor();
  assert.match(await page.getByTestId('error').innerText(), /conversation is kept/);
  await page.getByTestId('remedy-reload').click();
  await page.waitForSelector(kIdle);
  assert.ok(await page.getByTestId('error').isHidden());
  assert.equal(await page.getByTestId('said').innerText(), 'How far?');
  await page.getByTestId('regenerate').click();
  await untilInPage(page, () => document.querySelector('[data-testid="reply"]')?.textContent.includes('Wikipedia'));
});

test('a load that fails says why and offers the CPU', async () => {
  const page = await open('fake-load=out_of_memory', {ready: false});
  await page.getByTestId('error').waitFor();
  assert.match(await page.getByTestId('error').innerText(), /not enough memory/);
  await page.getByTestId('remedy-use_cpu').click();
  await page.waitForSelector(kIdle);
  await page.getByTestId('panel-toggle').click();
  await page.getByTestId('model-why').filter({hasText: 'CPU was asked for'}).waitFor();
});

test('settings are taken, refused and remembered', async () => {
  const page = await openWithPanel('fake-ms=1');
  await page.getByTestId('setting-temperature').fill('1.25');
  await page.getByTestId('setting-max-tokens').fill('5');
  await page.getByTestId('setting-seed').fill('42');
  assert.equal(await page.getByTestId('setting-random-seed').isChecked(), false);
  await page.getByTestId('setting-top-p').fill('7');
  await page.keyboard.press('Tab');
  assert.equal(await page.getByTestId('setting-top-p').inputValue(), '1');
  await say(page, 'Once');
  assert.match(await page.getByTestId('note').innerText(), /^5 tokens.*seed\s42.*limit/);
  await page.reload();
  await page.waitForSelector(kIdle);
  assert.equal(await page.getByTestId('setting-temperature').inputValue(), '1.25');
  assert.equal(await page.getByTestId('sampling-help').innerText(),
      'The model’s makers recommend temperature 0.6, min-p 0.1 (general.sampling).');
  await page.getByTestId('settings-reset').click();
  assert.equal(await page.getByTestId('setting-temperature').inputValue(), '0.6', 'as its makers recommend');
  assert.equal(await page.getByTestId('setting-random-seed').isChecked(), true);
});

test('models: an address, files, a folder dropped, the stored ones', async () => {
  const page = await open();
  const menu = async () => {
    await page.getByTestId('model-chip').click();
    await page.getByTestId('model-menu').waitFor();
  };
  await menu();
  await page.getByTestId('model-search').fill('https://example.org/Bonsai-1.7B-Q1_0.gguf');
  await page.getByTestId('model-load').click();
  await page.waitForSelector(kIdle);
  assert.match(await page.getByTestId('model-chip').innerText(), /Bonsai/);
  await page.reload();
  await page.waitForSelector(kIdle);
  assert.match(await page.getByTestId('model-chip').innerText(), /Bonsai/, 'what was chosen is there again');
  await menu();
  await page.getByTestId('model-file').setInputFiles([{name: 'local.gguf', mimeType: '', buffer: Buffer.from('GGUF')}]);
  await untilInPage(page, () => document.querySelector('[data-testid="model-chip"]').innerText.includes('local'));
  await page.waitForSelector(kIdle);
  const files = await page.evaluateHandle(() => {
    const data = new DataTransfer();
    data.items.add(new File(['GGUF'], 'dropped.gguf'));
    return data;
  });
  await page.dispatchEvent('body', 'dragenter', {dataTransfer: files});
  assert.ok(await page.locator('#drop').isVisible());
  await page.dispatchEvent('body', 'drop', {dataTransfer: files});
  assert.ok(await page.locator('#drop').isHidden());
  await untilInPage(page, () => document.querySelector('[data-testid="model-chip"]').innerText.includes('dropped'));
  await page.waitForSelector(kIdle);

  await menu();
  await page.getByTestId('model-keep').click();
  await page.getByTestId('model-item').filter({hasText: 'dropped.gguf'}).filter({hasText: '248 MB · in use'}).waitFor();
  const bitnet = page.getByTestId('model-item').filter({hasText: 'bitnet-b1.58-2B-4T.gguf'});
  await bitnet.getByTestId('model-item-delete').click();
  assert.match(await bitnet.innerText(), /Delete 1\.19 GB\?/);
  await bitnet.getByTestId('model-item-delete').click();
  await untilInPage(page, () => !document.querySelector('#models-list').innerText.includes('2B-4T.gguf'));
});

test('the menu of models is searched, and one of the published is loaded by keyboard alone', async () => {
  const page = await open();
  await page.getByTestId('model-chip').press('Enter');
  await page.getByTestId('model-menu').waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.id), 'model-search');
  const names = () => page.locator('#models-list .model-name').allInnerTexts();
  await untilInPage(page, () => document.querySelectorAll('#models-list .model-name').length > 8);
  assert.match(await page.getByTestId('models-list').innerText(),
      /bonsai-8b\s+1\.16 GB to fetch · 1\.76 GB of memory · Apache-2\.0/);
  await page.keyboard.type('ternary 4b');
  assert.deepEqual(await names(), ['ternary-bonsai-4b']);
  await page.keyboard.type(' nothing');
  assert.ok(await page.getByTestId('model-none').isVisible());
  await page.getByTestId('model-search').fill('ternary 4b');
  await page.keyboard.press('Enter');
  await untilInPage(page, () => /Ternary-Bonsai-4B/.test(document.querySelector('#model-chip').innerText));
  assert.ok(await page.getByTestId('model-menu').isHidden());
  await page.getByTestId('model-chip').click();
  await page.keyboard.press('Escape');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'model-chip', 'the focus goes back');
});

test('kernels: by keyboard, in the order of their time', async () => {
  const page = await openWithPanel('fake-ms=1');
  assert.ok(await page.getByTestId('kernels-open').isDisabled());
  await say(page, 'Once');
  await page.getByTestId('kernels-open').press('Enter');
  await page.waitForSelector('dialog[open]');
  assert.match(await page.getByTestId('kernel').first().innerText(), /float_linear_f16/);
  await page.getByTestId('kernel').nth(2).press('Enter');
  assert.match(await page.getByTestId('kernel-source').innerText(), /fn ternary_linear_add\(/);
  await page.keyboard.press('Escape');
  await page.waitForSelector('dialog:not([open])', {state: 'attached'});
  assert.equal(await page.evaluate(() => document.activeElement.id), 'kernels-open', 'the focus goes back');
});

test('360 pixels: the panel opens over the page, holds the focus, and Escape closes it', async () => {
  const page = await open('', {options: {viewport: {width: 360, height: 740}}});
  assert.ok(await page.locator('#panel').isHidden());
  await page.getByTestId('panel-toggle').press('Enter');
  await untilInPage(page, () => document.activeElement.id === 'panel');
  assert.ok(await page.evaluate(() => document.querySelector('main').inert));
  for (let i = 0; i < 12; i++) await page.keyboard.press('Tab');
  await page.keyboard.press('Escape');
  assert.ok(await page.locator('#panel').isHidden());
  assert.equal(await page.evaluate(() => document.activeElement.id), 'panel-toggle');
});

test('every control has a name, and the page asks nobody else', async () => {
  const hosts = new Set();
  const page = await open('fake=chat&fake-ms=1', {ready: false});
  page.on('request', (request) => hosts.add(new URL(request.url()).host));
  await page.reload();
  await page.waitForSelector(kIdle);
  await say(page, 'How far?');
  const nameless = await page.evaluate(() => [
    ...document.querySelectorAll('button, input, select, textarea, a, [role]')]
      .filter((e) => e.checkVisibility() && !(e.getAttribute('aria-label') || e.getAttribute('aria-labelledby') ||
          e.labels?.length || e.innerText?.trim() || ['alert', 'status'].includes(e.getAttribute('role'))))
      .map((e) => e.outerHTML.slice(0, 100)));
  assert.deepEqual(nameless, []);
  assert.deepEqual([...hosts], [new URL(here.site.url).host]);
});

test('offline: the page, isolated although the host is not; a new version comes with the next load', async () => {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'tern-page-'));
  await fs.cp(kPage, folder, {recursive: true});
  await fs.mkdir(path.join(folder, 'tern'));
  await fs.cp(path.join(kPage, 'dev/fake_tern.js'), path.join(folder, 'tern/index.js'));
  const publish = async () => fs.writeFile(path.join(folder, 'shell.json'), JSON.stringify(await shellOf(folder)));
  await publish();
  const plain = await serve(0, {root: folder, headers: {}});
  const port = plain.server.address().port;
  try {
    const page = await open('', {url: plain.url, options: {serviceWorkers: 'allow'}});
    // It loads itself again.
    const isThere = () => crossOriginIsolated && document.documentElement.dataset.phase === 'ready';
    await until(() => page.evaluate(isThere).catch(() => false), Boolean, {what: 'an isolated page'});
    await page.waitForSelector('html[data-offline="ready"]');

    await fs.appendFile(path.join(folder, 'main.js'), '\ndocument.title = "newer";\n');
    await publish();
    await page.reload();  // still the old one, which finds the new one
    assert.notEqual(await page.title(), 'newer');
    await page.getByTestId('offline').filter({hasText: 'new version'}).waitFor({state: 'attached'});
    plain.server.close();
    plain.server.closeAllConnections();
    await page.reload();
    await page.waitForSelector(kIdle);
    assert.equal(await page.title(), 'newer');
    assert.equal(await page.evaluate(() => crossOriginIsolated), true);

    // A version whose files do not match is not taken.
    const again = await serve(port, {root: folder, headers: {}});
    const shell = await shellOf(folder);
    const wrong = {version: 'wrong', files: {...shell.files, 'main.js': '0'}};
    await fs.writeFile(path.join(folder, 'shell.json'), JSON.stringify(wrong));
    await page.reload();
    await page.waitForSelector('html[data-offline="ready"]');
    assert.equal(await page.evaluate(async () => (await caches.keys()).some((name) => name.endsWith('wrong'))), false);
    again.server.close();
    again.server.closeAllConnections();
    await page.reload();
    await page.waitForSelector(kIdle);
    mistakes.length = 0;  // what the network refused is in the console, rightly
  } finally {
    await fs.rm(folder, {recursive: true});
  }
});
