// The chat page, as somebody uses it.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import {after, afterEach, before, beforeEach, describe, test} from 'node:test';
import {gzipSync} from 'node:zlib';
import {launch, openPage, until, untilInPage} from './support/browser.mjs';
import {FixtureServer} from './support/fixture_server.mjs';
import {kDefaultGoldens, kDefaultModel, kSite, needSite, tern} from './support/project.mjs';
import {TernPage} from './support/tern_page.mjs';

let server;
let browser;
/** Tabs whose mistakes are looked at after the test that opened them. @type {TernPage[]} */
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

// A tab that goes on computing would slow down the tests after it.
afterEach(async () => {
  const tabs = opened;
  opened = [];
  const isOpen = ({isShared, page}) => !isShared && page.context().browser().isConnected();
  await Promise.all(tabs.filter(isOpen).map(({page}) => page.context().close()));
  assert.deepEqual(tabs.flatMap(({page}) => page.mistakes), []);
});

/** A text without its white space, which the page lays out. */
function words(text) {
  return text.replace(/\s+/g, '');
}

// Parts that are fetched when they are first used.
const kFetchedLater = new RegExp('_more\\.wasm|tern_forms|tern_plain|webllm|openai|published|typesetting|formulas|' +
  'colors|temml|kernels|panel\\.css|menus|instruments|readings|settings_panel|model_panel|model_menu|library_view|' +
  'chat/more|attachments|chat/share|keys_view');
const kFox = 'Tell me a story about a fox and a lantern.';
const kMade = 'Who made you?';  // the model is sure of its answer; in stories two names may be as likely
const kSnow = 'Tell me a story about a snowy day.';

function nativeReply(asked, tokens) {
  return tern('run', '-m', kDefaultModel, '-b', 'cpu', '--chat', '-p', asked, '--temp', '0', '-n', String(tokens));
}

/**
 * The page with nothing stored, until the end of the test.
 * @param {{query?: string, url?: string, context?: object}} [options] context: of newContext
 */
async function open({query = '', url = server.url, context, from = browser} = {}) {
  const tab = new TernPage(await openPage(await from.newContext(context)));
  opened.push(tab);
  await tab.page.goto(url + query, {waitUntil: 'domcontentloaded'});
  return tab;
}

describe('with the default model', () => {
  /** @type {TernPage} */
  let tab;
  let story;

  before(async () => {
    tab = await open({query: '?backend=cpu'});
    tab.isShared = true;
  });
  beforeEach(() => opened.push(tab));
  after(() => tab?.page.context().close());

  test('it loads by itself, and what was typed before is answered', async () => {
    assert.ok(await tab.by('composer').isEditable());
    await tab.greedy(60);
    await tab.page.evaluate(() => {
      globalThis.lengths = new Set();
      const watcher = new MutationObserver(() => {
        const replies = document.querySelectorAll('[data-testid=reply]');
        globalThis.lengths.add(replies[replies.length - 1]?.textContent.length);
      });
      const messages = document.querySelector('[data-testid=messages]');
      watcher.observe(messages, {childList: true, subtree: true, characterData: true});
    });
    assert.equal(words(await tab.say(kMade)), words(nativeReply(kMade, 60)));
    assert.ok((await tab.page.evaluate(() => globalThis.lengths.size)) > 3, 'it appears piece by piece');
  });

  test('it greets with what it can be asked, and another story is one click', async () => {
    await tab.by('new-chat').click();
    assert.equal(await tab.by('idea').first().innerText(), kFox);
    await tab.by('idea').first().click();
    story = await tab.reply();
    assert.match(story, /fox/, 'what the button says is sent');
    await tab.by('new-story').click();
    await until(() => tab.by('reply').count(), (n) => n === 2, {what: 'another story'});
    assert.ok((await tab.reply()).length > 20);
    await tab.by('new-chat').click();
    await tab.say(kFox);
  });

  test('the same again, greedily, is the same', async () => {
    await tab.by('regenerate').last().click();
    assert.equal(await tab.reply(), story);
    assert.equal(await tab.by('reply').count(), 1);
  });

  test('its speed is shown', async () => {
    await tab.openPanel();
    assert.match(await tab.by('stats-tokens-per-second').innerText(), /\d/);
  });

  test('stopping ends a reply at once', async () => {
    await tab.greedy(400);
    await tab.send(kSnow);
    await until(() => tab.lastReply.textContent(), (text) => text.length > 10 && text !== story, {what: 'a beginning'});
    await tab.by('stop').click();
    await tab.by('send').waitFor({state: 'visible', timeout: 2000});
    const text = await tab.lastReply.textContent();
    await tab.page.waitForTimeout(300);
    assert.equal(await tab.lastReply.textContent(), text, 'nothing comes after it');
    assert.equal(await tab.error(), '');
  });

  test('Escape stops, too', async () => {
    await tab.send(kFox);
    const before = await tab.by('reply').count();
    await tab.by('stop').waitFor({state: 'visible'});
    await tab.page.keyboard.press('Escape');
    await tab.by('stop').waitFor({state: 'hidden', timeout: 2000});
    assert.ok(before >= 1);
  });

  test('without the network, everything is there after a reload', async () => {
    await untilInPage(tab.page, async () => (await navigator.serviceWorker.ready).active?.state === 'activated');
    await tab.page.reload();  // the first time that the service worker sees the page's files
    await tab.ready();
    const said = await tab.by('messages').innerText();
    await server.down();
    try {
      await tab.page.reload();
      await tab.ready();
      assert.equal(await tab.by('messages').innerText(), said, 'the conversation was kept');
      assert.equal(await tab.page.evaluate(() => globalThis.crossOriginIsolated), true);
      await tab.greedy(20);
      assert.ok((await tab.say('One day')).length > 0);
      await tab.page.evaluate(async () => {
        const {MarkdownView} = await import(`${location.origin}/markdown/view.js`);
        const body = document.createElement('div');
        document.querySelector('[data-testid=messages]').append(body);
        const view = new MarkdownView(body, () => {});
        view.append('\\(\\mathscr{F}\\)\n\n```js\nlet a;\n```\n');
      });
      await untilInPage(
          tab.page, () => document.querySelector('.formula mi') && document.querySelector('.code-keyword'));
    } finally {
      await server.up();
    }
  });

  test('a worker that dies: the page says so, keeps the conversation and loads again', async () => {
    await tab.greedy(400);
    const said = await tab.by('said').count();
    await tab.send(kSnow);
    await tab.by('stop').waitFor({state: 'visible'});
    await tab.page.workers()[0].evaluate(() => setTimeout(() => {
      throw new Error('made to crash');
    }));
    assert.match(await tab.waitForError(), /\w/);
    tab.page.mistakes.length = 0;  // a crash is one, rightly
    await tab.by('remedy-reload').click();
    await tab.ready();
    assert.equal(await tab.by('said').count(), said + 1);
    await tab.greedy(10);
    assert.ok((await tab.say('One day')).length > 0);
  });
});

describe('with other models', () => {
  test('an address that leads nowhere is said in plain words, and the next one works', async () => {
    const tab = await open({query: '?model=models/nothing.gguf&backend=cpu'});
    assert.match(await tab.waitForError(), /nothing\.gguf|not found|no such file/i);
    await tab.openMenu();
    await tab.by('model-search').fill(`${server.url}models/tern-stories.gguf`);
    await tab.by('model-load').click();
    await until(() => tab.error(), (error) => error === '', {what: 'no error any more'});
    await tab.ready();
    await tab.openMenu();
    await until(() => tab.by('models-list').innerText(), (list) => list.includes('16.3 MB · in use'),
      {what: 'the model in the list'});
  });

  test('something that is no model', async () => {
    const url = server.mount('noise.gguf', {from: Buffer.alloc(100_000, 'noise')});
    const tab = await open({query: `?model=${encodeURIComponent(url)}&backend=cpu`});
    assert.match(await tab.waitForError(), /GGUF/);
  });

  test('what cannot be loaded says so, and the model before goes on', async () => {
    const tab = await open({query: '?backend=cpu'});
    await tab.ready();
    await tab.openMenu();
    await tab.by('model-file').setInputFiles(
      {name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('Buy milk')});
    assert.match(await tab.waitForError(), /notes\.txt: this is not a GGUF file/);
    await until(() => tab.page.evaluate(() => document.documentElement.dataset.phase), (phase) => phase === 'ready',
      {what: 'the model before'});
    assert.match(await tab.by('model-chip').innerText(), /stories/i);
    await tab.greedy(10);
    await tab.send('One day');
    await until(() => tab.by('reply').count(), (n) => n > 0, {what: 'a reply'});
  });

  test('a report tells of the browser and the model, and not of what was written', async () => {
    const tab = await open({query: '?backend=cpu', context: {permissions: ['clipboard-read', 'clipboard-write']}});
    await tab.ready();
    await tab.greedy(5);
    await tab.say('The secret of the fox');
    await tab.openPanel();
    await tab.by('report').click();
    const read = () => tab.page.evaluate(() => navigator.clipboard.readText());
    const report = JSON.parse(await until(read, (text) => text.startsWith('{'), {what: 'a report'}));
    assert.match(report.browser, /Chrom/);
    assert.match(report.model.backend, /^cpu/);
    assert.equal(report.page.backend, 'cpu');
    assert.ok('why' in report.model && 'gpu' in report);
    assert.doesNotMatch(JSON.stringify(report), /secret/);
  });

  test('a file dropped on the page', async () => {
    const tab = await open({query: '?model=models/nothing.gguf&backend=cpu'});
    await tab.waitForError();
    const files = await tab.page.evaluateHandle(async () => {
      const data = new DataTransfer();
      data.items.add(new File([await (await fetch('models/tern-stories.gguf')).blob()], 'dropped.gguf'));
      return data;
    });
    for (const event of ['dragenter', 'dragover', 'drop']) {
      await tab.page.dispatchEvent('body', event, {dataTransfer: files});
    }
    await until(() => tab.error(), (error) => error === '', {what: 'no error any more'});
    await tab.ready();
    await tab.greedy(10);
    assert.ok((await tab.say('One day')).length > 0);
  });

  test('a file that is chosen', async () => {
    const tab = await open({query: '?model=models/nothing.gguf&backend=cpu'});
    await tab.waitForError();
    await tab.openMenu();
    await tab.by('model-file').setInputFiles(kDefaultModel);
    await until(() => tab.error(), (error) => error === '', {what: 'no error any more'});
    await tab.ready();
    await tab.greedy(10);
    assert.ok((await tab.say('One day')).length > 0);
  });
});

test('a file that is kept is there at the next visit, without a network', async () => {
  const tab = await open({query: '?backend=cpu'});
  await tab.ready();
  await tab.openMenu();
  await tab.by('model-file').setInputFiles(kDefaultModel);
  await until(() => tab.page.evaluate(() => document.documentElement.dataset.phase), (phase) => phase === 'ready',
    {what: 'the model of the file'});
  await tab.openMenu();
  await tab.by('model-keep').click();
  await until(() => tab.by('models-list').innerText(), (list) => /tern-stories\.gguf\s+16\.3 MB · in use/.test(list),
    {what: 'the model in the list'});
  await tab.page.keyboard.press('Escape');
  const requests = [];
  tab.page.on('request', (request) => requests.push(request.url()));
  await tab.page.goto(`${server.url}?backend=cpu`);
  await tab.ready();
  assert.deepEqual(requests.filter((url) => url.includes('.gguf')), []);
  await tab.greedy(5);
  assert.ok((await tab.say('One day')).length > 0);
});

describe('on a GPU', () => {
  const kSlow = 180_000;  // shaders compiled and run on a CPU that has other things to do

  test('WebGPU writes what the CPU writes, and shows its kernels', async () => {
    const tab = await open({query: '?backend=webgpu'});
    await tab.ready({timeout: kSlow});
    await tab.greedy(60);
    const {messages: [asked], text: answer} = kDefaultGoldens.surest_answer;
    const text = await tab.say(asked.content, {timeout: kSlow});
    assert.equal(words(text), words(answer.replace(/<\|end(oftext)?\|>$/, '')));
    await tab.openPanel();
    await tab.by('kernels-open').click();
    await until(() => tab.by('kernel').count(), (count) => count > 3, {what: 'kernels'});
    assert.match(await tab.by('kernel-source').innerText(), /@compute/);
  });

  test('a device with the smallest limits', async () => {
    const tab = await open({query: '?backend=webgpu&gpu-without=dot4,limits'});
    await tab.ready({timeout: kSlow});
    await tab.greedy(5);
    assert.ok((await tab.say('Once upon a time', {timeout: kSlow})).length > 0);
  });

  test('a GPU that is lost: the page says so, keeps the conversation and loads again', async () => {
    const other = await launch();
    try {
      const tab = await open({from: other, query: '?backend=webgpu'});
      await tab.ready({timeout: kSlow});
      await tab.greedy(400);
      await tab.send(kFox);
      await tab.by('stop').waitFor({state: 'visible'});
      const session = await other.newBrowserCDPSession();
      await session.send('Browser.crashGpuProcess');
      assert.match(await tab.waitForError(), /GPU.*lost/);
      tab.page.mistakes.length = 0;
      await tab.by('remedy-reload').click();
      await tab.ready({timeout: kSlow});
      assert.equal(await tab.by('said').count(), 1);
    } finally {
      await other.close();
    }
  });

  // Pages of a host that is neither https nor localhost have no navigator.gpu, and no storage either.
  const kHost = 'tern.test';
  for (const [name, host] of [['a browser without a device', 'localhost'], ['a page without WebGPU', kHost]]) {
    test(`${name}: it runs on the CPU, and says why`, async () => {
      const other = await launch({webGpu: false, args: [`--host-resolver-rules=MAP ${kHost} 127.0.0.1`]});
      try {
        const tab = await open({from: other, url: server.url.replace('localhost', host)});
        assert.equal(await tab.page.evaluate(() => 'gpu' in navigator), host === 'localhost');
        // That such a page cannot be isolated is the browser's word, not ours.
        tab.page.mistakes = tab.page.mistakes.filter((text) => !/Opener-Policy header has been ignored/.test(text));
        await tab.ready();
        await tab.openPanel();
        assert.match(await tab.by('model-why').innerText(), /WebGPU/);
        await tab.greedy(10);
        assert.ok((await tab.say('Once upon a time')).length > 0);
      } finally {
        await other.close();
      }
    });
  }
});

test('a host without the headers for threads still works, with one', async () => {
  const plain = await FixtureServer.start({root: kSite, isolated: false});
  try {
    // The page's service worker would add the headers.
    const tab = await open({query: '?backend=cpu', url: plain.url, context: {serviceWorkers: 'block'}});
    await tab.ready();
    assert.equal(await tab.page.evaluate(() => globalThis.crossOriginIsolated), false);
    await tab.greedy(10);
    assert.ok((await tab.say('Once upon a time')).length > 0);
  } finally {
    await plain.down();
  }
});

test('nothing is asked of any other site', async () => {
  const tab = await open({query: '?backend=cpu'});
  await tab.ready();
  const asked = await tab.page.evaluate(() => performance.getEntriesByType('resource').map(({name}) => name));
  assert.ok(asked.length > 5);
  assert.deepEqual(asked.filter((url) => !url.startsWith(server.url)), []);
  assert.deepEqual(asked.filter((url) => kFetchedLater.test(url)), [], 'and nothing that is not needed yet');
});

for (const backend of ['cpu', 'webgpu']) {
  test(`the page is small: what a first visit fetches, compressed, without the model: ${backend}`, async (t) => {
    const before = server.requests.length;
    // What a service worker keeps comes later.
    const tab = await open({query: `?backend=${backend}`, context: {serviceWorkers: 'block'}});
    await tab.ready();
    assert.ok((await tab.say(kMade)).length > 0);
    const files = [...new Set(server.requests.slice(before).map(({path: file}) => file.slice(1) || 'index.html'))]
      .filter((file) => !file.startsWith('models/') && fs.existsSync(path.join(kSite, file)));
    const later = files.filter((file) => kFetchedLater.test(file));
    assert.deepEqual(later, [], 'nothing that is not needed yet');
    assert.ok(files.some((file) => file.endsWith('.wasm')), `the engine is among ${files}`);
    const sizeOf = (file) => gzipSync(fs.readFileSync(path.join(kSite, file)), {level: 9}).length;
    const size = files.reduce((sum, file) => sum + sizeOf(file), 0);
    t.diagnostic(`${size} bytes in ${files.length} files`);
    assert.ok(size <= 720e3, `${size} bytes`);
  });
}
