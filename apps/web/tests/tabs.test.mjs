// The chat page in several tabs, which share an engine and the conversations.

import assert from 'node:assert/strict';
import {after, afterEach, before, test} from 'node:test';
import {launch, until} from './support/browser.mjs';
import {FixtureServer} from './support/fixture_server.mjs';
import {kSite, needSite} from './support/project.mjs';
import {TernPage} from './support/tern_page.mjs';

let server;
let browser;
let opened = [];

before(async () => {
  needSite();
  server = await FixtureServer.start({root: kSite});
  browser = await launch();
});

after(async () => {
  await browser?.close();
  await server?.down();
});

afterEach(async () => {
  const tabs = opened;
  opened = [];
  for (const {page} of tabs) await page.context().close();
  assert.deepEqual(tabs.flatMap(({page}) => page.mistakes), []);
});

/** A tab that is ready; without a context, of a new visitor. */
async function open(context) {
  const tab = await TernPage.open(context ?? await browser.newContext(), `${server.url}?backend=cpu`);
  opened.push(tab);
  await tab.ready();
  return tab;
}

/** A text without its white space, which the page lays out. */
function words(text) {
  return text.replace(/\s+/g, '');
}

test('two tabs do not overwrite each other’s conversation', async () => {
  const one = await open();
  const other = await open(one.page.context());
  await one.greedy(5);
  await one.say('Once upon a time');
  await other.greedy(5);
  await other.say('The old man');
  await other.page.close();
  await one.page.reload();
  await one.ready();
  assert.equal(await one.by('reply').count(), 1);
  await one.by('library-open').click();
  await one.by('conversation-open').filter({hasText: 'The old man'}).click();
  assert.match(await one.by('messages').innerText(), /The old man/);
  // A tab that is opened now shows it, too, and what is said in either.
  const third = await open(one.page.context());
  await third.say('One day');
  await until(() => one.by('reply').count(), (count) => count === 2, {what: 'the story of the other tab'});
});

test('a reply goes on when the tab that computes is closed', async () => {
  const one = await open();
  const other = await open(one.page.context());
  await other.greedy(200);
  const expected = words(await other.say('Tell me a story about a fox and a lantern.'));
  await other.by('regenerate').click();
  await until(() => other.lastReply.innerText(), (text) => text.length > 20, {what: 'a reply that has begun'});
  await one.page.close();
  await until(() => other.page.evaluate(() => document.documentElement.dataset.chat), (state) => state === 'idle',
    {what: 'the reply', timeout: 60_000});
  assert.equal(words(await other.lastReply.innerText()), expected);
  assert.equal(await other.error(), '');
});
