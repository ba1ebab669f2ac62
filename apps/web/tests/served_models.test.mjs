// The page of a `tern serve` with several models: one is chosen.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {after, afterEach, before, test} from 'node:test';
import {launch, until} from './support/browser.mjs';
import {kDefaultModel} from './support/project.mjs';
import {TernPage} from './support/tern_page.mjs';
import {TernServer} from './support/tern_server.mjs';

const kPrompt = 'Once upon a time';
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tern-models-'));
const list = path.join(folder, 'models.toml');
const entry = (name, more = '') => `["${name}"]\nmodel = "${kDefaultModel}"\n${more}`;
fs.writeFileSync(list, entry('vectors', 'embedding = true\n') + entry('first') + entry('second', 'ctx = 128\n') +
  `[broken]\nmodel = "${path.join(folder, 'none.gguf')}"\n`);

let browser;
let tab;
let server;

before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
  fs.rmSync(folder, {recursive: true});
});
afterEach(async () => {
  const {mistakes} = tab.page;
  await tab.page.context().close();
  await server.end('SIGKILL');
  assert.deepEqual(mistakes, []);
});

async function open(...args) {
  server = await TernServer.start(['--models', list, ...args]);
  tab = await TernPage.open(await browser.newContext(), server.url);
  await tab.ready();
}
const chip = () => tab.by('model-chip').innerText();
const uses = (name) => until(chip, (text) => text.includes(name), {what: name}).then(() => tab.ready());

test('one is chosen in a menu, and each conversation keeps its own', async () => {
  await open('--models-max', '1');
  const asked = [];
  tab.page.on('request', (request) => {
    if (request.url().endsWith('/completions')) asked.push(request.postDataJSON().model);
  });
  assert.match(await chip(), /first/);
  await tab.greedy(20);
  await tab.say(kPrompt);
  await tab.by('new-chat').click();
  await tab.openMenu();
  await until(() => tab.by('model-item').allInnerTexts(), (items) => items.length === 3, {what: 'the models'});
  const items = await tab.by('model-item').allInnerTexts();
  assert.match(items[0], /^first\n\d+ M parameters · .* · in use$/);
  assert.match(items[1], /^second\nloaded when asked$/);
  assert.match(items[2], /^broken\n/);
  await tab.by('model-item-load').nth(1).click();
  await uses('second');
  await tab.openPanel();
  assert.match(await tab.by('fact-context').innerText(), /^128 tokens/);
  await tab.say('A bird');
  // Back to the first conversation: its model comes with it, also after a reload.
  await tab.by('library-open').click();
  await tab.by('conversation-open').nth(1).click();
  await uses('first');
  await tab.say('Tom had a red ball.');
  await tab.page.reload();
  await uses('first');
  await tab.by('new-chat').click();
  await tab.page.reload();
  await tab.ready();
  assert.deepEqual(asked, ['first', 'second', 'first']);
});

test('one that cannot be loaded: why, and the one before is there again', async () => {
  await open();
  await tab.openMenu();
  await tab.by('model-item-load').nth(2).click();
  assert.match(await tab.waitForError(), /none\.gguf/);
  await until(chip, (text) => text.includes('first'), {what: 'the one before'});
  tab.page.mistakes.length = 0;  // the answer, which is an error, is in the console
});
