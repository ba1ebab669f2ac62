// The page that `tern serve` sends: a chat with the model of that server.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {after, afterEach, before, describe, test} from 'node:test';
import {axe, faults, kAxe} from '../page/dev/axe.mjs';
import {launchFirefox} from './support/bidi.mjs';
import {launch, openPage, until} from './support/browser.mjs';
import {findFirefox} from './support/find_browsers.mjs';
import {kDefaultModel, kSite, needSite, patched} from './support/project.mjs';
import {TernPage} from './support/tern_page.mjs';
import {TernServer} from './support/tern_server.mjs';

const kPrompt = 'Tell me a story about a fox and a lantern.';
const kMessages = [{role: 'user', content: kPrompt}];
const kSlow = ['-b', 'ref'];  // some 20 tokens a second: time enough to come in between

let browser;
/** What ends with the test. */
let tabs = [];
let servers = [];

before(async () => {
  browser = await launch();
});
after(() => browser?.close());
afterEach(async () => {
  const mistakes = tabs.flatMap(({page}) => page.mistakes);
  await Promise.all(tabs.splice(0).map(({page}) => page.context().close()));
  await Promise.all(servers.splice(0).map((server) => server.end('SIGKILL')));
  assert.deepEqual(mistakes, []);
});

async function serve(args, port) {
  const server = await TernServer.start(args, port);
  servers.push(server);
  return server;
}

/** @param {{url: string}} server @param {object} [context] of newContext */
async function open({url}, context) {
  const tab = new TernPage(await openPage(await browser.newContext(context)));
  tab.requests = [];
  tab.page.on('request', (request) => tab.requests.push(request.url()));
  tabs.push(tab);
  await tab.page.goto(url, {waitUntil: 'domcontentloaded'});
  return tab;
}

/** A text without its white space, which the page lays out. */
const words = (text) => text.replace(/\s+/g, '');

/** Until there are some words of a reply. */
const begun = (tab) => until(() => tab.lastReply.textContent(), (text) => text.length > 8, {what: 'a beginning'});

async function setSeed(tab, {temperature, seed, maxTokens}) {
  await tab.greedy(maxTokens);
  await tab.by('setting-temperature').fill(String(temperature));
  await tab.by('setting-seed').fill(String(seed));
}

describe('with the default model', () => {
  test('a reply is what the interface answers for the same seed, and nothing else is fetched', async () => {
    const server = await serve();
    const tab = await open(server);
    await tab.ready();
    assert.match(await tab.by('model-chip').innerText(), /tern-stories/);
    await setSeed(tab, {temperature: 0.8, seed: 7, maxTokens: 60});
    const text = await tab.say(kPrompt);
    const {default_generation_settings: {top_k, min_p}} = await server.ask('props');
    const {choices: [{message: {content: expected}}]} = await server.ask('v1/chat/completions',
      {messages: kMessages, temperature: 0.8, top_k, min_p, seed: 7, max_tokens: 60});
    assert.equal(words(text), words(expected));
    assert.match(await tab.by('note').last().innerText(), /60 tokens · .* a second · first after .* · seed.7/);
    assert.match(await tab.by('model-chip').innerText(), /tok\/s · on the server/);
    assert.deepEqual(tab.requests.filter((url) => !url.startsWith(server.url)), []);
    assert.deepEqual(tab.requests.filter((url) => /\.wasm|\.gguf|\/tern\/|sw\.js|shell\.json/.test(url)), []);
    await tab.page.reload();
    await tab.ready();
    assert.equal(await tab.lastReply.textContent(), text, 'the conversation is kept');
  });

  test('it greets as a storyteller, and says what it cannot do', async () => {
    const tab = await open(await serve());
    await tab.ready();
    assert.equal(await tab.by('idea').first().innerText(), kPrompt);
    assert.match(await tab.page.locator('#welcome').innerText(), /knows little else.*goes to this server/s);
    await tab.by('idea').first().click();
    assert.ok((await tab.reply()).length > 100);
    assert.ok(await tab.by('new-story').isVisible());
  });

  test('a model that has no template goes on with texts', async () => {
    const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'tern-plain-')), 'plain.gguf');
    fs.writeFileSync(file, patched(kDefaultModel, 'tokenizer.chat_template', 'general.source.repo_url'));
    const server = await serve(['-m', file]);
    const tab = await open(server);
    await tab.ready();
    await tab.greedy(20);
    const text = await tab.say('Once upon a time');
    const {choices: [{text: expected}]} = await server.ask('v1/completions',
      {prompt: 'Once upon a time', temperature: 0, max_tokens: 20});
    assert.equal(text, expected);
    assert.equal(await tab.by('given').innerText(), 'Once upon a time');
    fs.rmSync(path.dirname(file), {recursive: true});
  });

  test('what only an engine in the tab has is not there', async () => {
    const tab = await open(await serve());
    await tab.ready();
    await tab.openPanel();
    for (const id of ['backend-select', 'setting-threads', 'kernels-open', 'model-change']) {
      assert.ok(!await tab.by(id).isVisible(), id);
    }
    assert.equal(await tab.page.locator('button#model-chip, #model-menu, #kernels').count(), 0);
    assert.match(await tab.by('fact-context').innerText(), /^1,024 tokens/);
    assert.equal(await tab.page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length), 0);
  });

  test('stopping ends the reply here and there', async () => {
    const server = await serve([...kSlow, '--slots']);
    const tab = await open(server);
    await tab.ready();
    await tab.greedy(400);
    await tab.send(kPrompt);
    await begun(tab);
    await tab.by('stop').click();
    await tab.by('send').waitFor({state: 'visible', timeout: 2000});
    const text = await tab.lastReply.textContent();
    await until(async () => (await server.ask('slots')).filter((slot) => slot.is_processing).length, (n) => n === 0,
      {what: 'nothing being written', timeout: 5000});
    assert.equal(await tab.lastReply.textContent(), text, 'nothing comes after it');
    assert.equal(await tab.error(), '');
    assert.match(await tab.by('note').last().innerText(), /stopped/);
  });
});

test('a server that asks for a key: the page asks for it, and keeps it only where that is wanted', async () => {
  const server = await serve(['--api-key', 'open-sesame']);
  const tab = await open(server);
  const dialog = tab.by('api-key-dialog');
  const stored = () => tab.page.evaluate(() => JSON.stringify({...localStorage, ...sessionStorage}));
  await dialog.waitFor({state: 'visible'});
  for (const [key, words] of [['sesam öffne dich', /no spaces/], ['wrong', /does not take this key/]]) {
    await tab.by('api-key').fill(key);
    await tab.by('api-key-use').click();
    await until(() => tab.by('api-key-wrong').innerText(), (text) => words.test(text), {what: String(words)});
  }
  await tab.page.keyboard.press('Escape');
  assert.match(await tab.error(), /asks for a key/);
  await tab.send(kPrompt);  // waits
  await tab.by('remedy-key').click();
  await tab.by('api-key').fill('open-sesame');
  await tab.by('api-key').press('Enter');
  assert.ok((await tab.reply()).length > 10);
  assert.doesNotMatch(await stored(), /sesame/);

  await tab.page.reload();
  await dialog.waitFor({state: 'visible'});
  await tab.by('api-key').fill('open-sesame');
  await tab.by('api-key-keep').check();
  await tab.by('api-key-use').click();
  await tab.ready();
  assert.match(await stored(), /sesame/);
  await tab.page.reload();
  await tab.ready();
  assert.ok(!await dialog.isVisible());
  // It can be taken back.
  await tab.openPanel();
  await tab.by('api-key-open').click();
  await tab.by('api-key-keep').uncheck();
  await tab.by('api-key-use').click();
  await tab.ready();
  assert.doesNotMatch(await stored(), /sesame/);
  assert.deepEqual(tab.requests.filter((url) => url.includes('sesame')), []);
});

test('a server that is killed: plain words, and the conversation is there and goes on', async () => {
  const server = await serve(kSlow);
  const tab = await open(server);
  await tab.ready();
  await tab.greedy(300);
  await tab.send(kPrompt);
  await begun(tab);
  const beginning = await tab.lastReply.textContent();
  await server.end('SIGKILL');
  assert.match(await tab.waitForError(), /connection to the server broke off\. Your conversation is kept/);
  assert.ok((await tab.lastReply.textContent()).startsWith(beginning));
  await tab.send('Tell me a story about a snowy day.');
  await until(() => tab.error(), (text) => /server cannot be reached/.test(text), {what: 'the server is gone'});
  assert.equal(await tab.by('said').count(), 2);
  const again = await serve([], server.port);
  await tab.by('remedy-retry').click();
  await until(async () => (await tab.lastReply.textContent()).length, (n) => n > 20, {what: 'a reply'});
  await tab.ready();
  await tab.page.reload();
  await tab.ready();
  assert.equal(await tab.by('said').count(), 2);
  assert.match(await tab.by('messages').innerText(), /a fox and a lantern/);
  await again.end();
});

test('a server that is busy: when to try again', async () => {
  const server = await serve([...kSlow, '--parallel', '1', '--max-waiting', '1', '--metrics']);
  const tab = await open(server);
  await tab.ready();
  const abort = new AbortController();
  // 900 tokens: for longer than the page takes.
  const body = JSON.stringify({prompt: 'A', max_tokens: 900, ignore_eos: true, stream: true});
  const others = async (n) => {
    // A body that nobody reads would be thrown away, with its connection.
    fetch(`${server.url}v1/completions`, {method: 'POST', body, signal: abort.signal})
      .then((response) => response.text()).catch(() => {});
    const metrics = async () => (await fetch(`${server.url}metrics`)).text();
    await until(metrics, (text) => /replies_running 1\n/.test(text) && text.includes(`replies_waiting ${n}\n`),
      {what: `${n} that wait`});
  };
  await others(0);
  await others(1);
  await tab.greedy(5);
  await tab.send(kPrompt);
  const words = await tab.waitForError();
  assert.match(words, /Too many are asking/);
  assert.match(words, /try again in \d+ s/);
  abort.abort();
  await until(async () => {
    if (await tab.by('remedy-retry').isVisible()) await tab.by('remedy-retry').click();
    return tab.lastReply.textContent();
  }, (text) => text.length > 0, {what: 'a reply', every: 500});
});

test('a chat model: thoughts come apart from the reply, and are not said again', async () => {
  const tab = await openChat();
  await tab.say('Why do terns fly?');
  assert.equal((await tab.lastReply.innerText()).trim(), 'They follow the summer.');
  assert.equal(await tab.by('thought').locator('summary').innerText(), 'Thoughts');
  await tab.by('thought').locator('summary').click();
  assert.equal(await tab.by('thought').locator('p').innerText(), 'A question about birds.\nI know that.');
  await tab.say('And the others?');
  assert.deepEqual(tab.asked.at(-1).messages.map(({role, content}) => `${role}: ${content}`),
    ['user: Why do terns fly?', 'assistant: They **follow** the summer.', 'user: And the others?']);
  await tab.page.reload();
  await tab.ready();
  assert.equal(await tab.by('thought').count(), 2);
});

/** The page with a server whose model is made to be one that thinks and chats; `asked` has what it was asked. */
async function openChat(context) {
  const server = await serve();
  const tab = await open({url: 'about:blank'}, context);
  tab.asked = [];
  await tab.page.route('**/props', async (route) => {
    const response = await route.fetch();
    await route.fulfill({response, json: {...await response.json(), chat_template: true}});
  });
  await tab.page.route('**/v1/chat/completions', (route) => {
    tab.asked.push(route.request().postDataJSON());
    const deltas = [['reasoning_content', 'A question about birds.\n'], ['reasoning_content', 'I know that.'],
      ['content', 'They **follow**'], ['content', ' the summer.']];
    const events = [...deltas.map(([field, text]) => ({choices: [{delta: {[field]: text}, finish_reason: null}]})),
      {choices: [{delta: {}, finish_reason: 'stop'}]}];
    const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
    return route.fulfill({contentType: 'text/event-stream', body: `${body}data: [DONE]\n\n`});
  });
  await tab.page.goto(server.url, {waitUntil: 'domcontentloaded'});
  await tab.ready();
  return tab;
}

test('a page with an engine of its own, kept from the same address, makes way', async () => {
  needSite();
  const files = await TernServer.start(['--static', kSite]);
  const tab = await open({url: `${files.url}?backend=cpu`});
  const engine = () => tab.page.evaluate(() => document.documentElement.dataset.engine ?? 'the tab').catch(() => '');
  await tab.page.waitForSelector('html[data-offline="ready"]', {timeout: 60_000});
  assert.equal(await engine(), 'the tab');
  await files.end('SIGKILL');
  const server = await serve([], files.port);
  await tab.page.goto(server.url, {waitUntil: 'commit'});
  await until(engine, (what) => what === 'server', {what: 'the server’s page'});
  await tab.ready();
  const left = await tab.page.evaluate(async () => ({caches: await caches.keys(),
    workers: (await navigator.serviceWorker.getRegistrations()).length}));
  assert.deepEqual(left.caches.filter((name) => name.startsWith('tern-shell')), []);
  assert.equal(left.workers, 0);
  tab.page.mistakes.length = 0;  // what the old page could not get is in the console, rightly
});

const script = axe();
test('axe finds nothing', {skip: script ? false : `${kAxe} could not be had from npm`}, async () => {
  const guarded = await serve(['--api-key', 'secret']);
  const gone = await serve();
  const found = [];
  const states = {
    'the key': async (context) => {
      const tab = await open(guarded, context);
      await tab.by('api-key-dialog').waitFor({state: 'visible'});
      return tab;
    },
    'a wrong key': async (context) => {
      const tab = await open(guarded, context);
      await tab.by('api-key').fill('wrong');
      await tab.by('api-key-use').click();
      await until(() => tab.by('api-key-wrong').innerText(), Boolean, {what: 'that it is wrong'});
      return tab;
    },
    'no key': async (context) => {
      const tab = await open(guarded, context);
      await tab.by('api-key-dialog').waitFor({state: 'visible'});
      await tab.page.keyboard.press('Escape');
      return tab;
    },
    'instruments': async (context) => {
      const tab = await open(gone, context);
      await tab.ready();
      await tab.openPanel();
      return tab;
    },
    'models': async (context) => {
      const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tern-models-'));
      const list = path.join(folder, 'models.toml');
      fs.writeFileSync(list, ['first', 'second', 'third'].map((name) => (
        `[${name}]\nmodel = "${kDefaultModel}"\n`)).join(''));
      const tab = await open(await serve(['--models', list]), context);
      fs.rmSync(folder, {recursive: true});
      await tab.ready();
      await tab.openMenu();
      await tab.by('model-item').first().waitFor({state: 'visible'});
      return tab;
    },
    'thoughts': async (context) => {
      const tab = await openChat(context);
      await tab.say('Why?');
      await tab.by('thought').locator('summary').click();
      return tab;
    },
    'gone': async (context) => {
      const tab = await open(gone, context);
      await tab.ready();
      await gone.end('SIGKILL');
      await tab.send(kPrompt);
      await tab.waitForError();
      return tab;
    },
  };
  for (const [state, make] of Object.entries(states)) {
    // The script is put into the page from outside, past its Content-Security-Policy.
    const tab = await make({reducedMotion: 'reduce', viewport: {width: 1280, height: 800}});
    await tab.page.evaluate(script);
    for (const [width, height] of [[1280, 800], [360, 740], [320, 256]]) {
      for (const colorScheme of ['light', 'dark']) {
        await tab.page.setViewportSize({width, height});
        await tab.page.emulateMedia({colorScheme});
        const name = `${state}-${width}-${colorScheme}`;
        for (const fault of await faults(tab.page)) found.push(`${name}: ${fault}`);
        // For looking at: TERN_PICTURES=FOLDER.
        const folder = process.env.TERN_PICTURES;
        if (folder) await tab.page.screenshot({path: `${folder}/${name.replaceAll(' ', '-')}.png`});
      }
    }
    tab.page.mistakes.length = 0;  // pictures are taken with a style of Playwright's
  }
  assert.deepEqual(found, []);
});

const firefox = findFirefox();
test('Firefox chats, too', {skip: firefox ? false : 'it is not installed'}, async () => {
  const server = await serve();
  const other = await launchFirefox(firefox);
  try {
    const page = await (await other.newContext()).newPage();
    await page.goto(server.url);
    await until(() => page.evaluate(() => document.documentElement.dataset.phase), (phase) => phase === 'ready',
      {what: 'the model'});
    await page.evaluate(() => document.querySelector('#panel-toggle').click());
    await until(() => page.evaluate(() => document.querySelector('#panel').hidden), (isHidden) => !isHidden,
      {what: 'the instruments'});
    await page.evaluate(() => {
      const fill = (id, value) => {
        const field = document.querySelector(`[data-testid=${id}]`);
        field.value = value;
        field.dispatchEvent(new Event('input'));
      };
      fill('setting-temperature', '0');
      fill('setting-max-tokens', '40');
      fill('composer', 'Tell me a story about a fox and a lantern.');
      document.querySelector('[data-testid=send]').click();
    });
    const note = () => page.evaluate(() => (
      [...document.querySelectorAll('[data-testid=note]')].at(-1)?.textContent ?? ''));
    await until(note, (text) => text.includes('40 tokens'), {what: 'a reply'});
    const {choices: [{message}]} = await server.ask('v1/chat/completions',
      {messages: kMessages, temperature: 0, max_tokens: 40});
    assert.equal(words(await page.evaluate(() => document.querySelector('[data-testid=reply]').textContent)),
      words(message.content));
  } finally {
    await other.close();
  }
});
