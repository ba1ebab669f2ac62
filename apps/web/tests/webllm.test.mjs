// What WebLLM's programs and the package's callers learn from the real engine: what was in its cache, the logits before
// a choice, and an engine in a worker of the program's own.

import assert from 'node:assert/strict';
import path from 'node:path';
import {after, before, describe, test} from 'node:test';
import {Tern} from '../package/node.js';
import {launch, openPage, until} from './support/browser.mjs';
import {FixtureServer} from './support/fixture_server.mjs';
import {kDefaultModel, kRoot, kSite, needSite} from './support/project.mjs';

const kStory = 'Once upon a time, in a small town,';

/** A processor that lets nothing but one token through, and what it was told. */
function only(token) {
  const told = [];
  return {
    told,
    processLogits: (logits) => {
      const forced = new Float32Array(logits.length).fill(-100);
      forced[token] = 100;
      return forced;
    },
    processSampledToken: (one) => told.push(one),
  };
}

async function run(tern, prompt, options) {
  for await (const _ of tern.generate(prompt, {temperature: 0, maxTokens: 6, ...options})) { /* to its end */ }
  return tern.stats;
}

describe('under Node', () => {
  let tern;
  before(async () => {
    tern = await Tern.load(kDefaultModel, {backend: 'cpu'});
  });
  after(() => tern.close());

  test('what was still in the cache is told', async () => {
    const ids = await tern.tokenize(kStory);
    const first = await run(tern, ids);
    assert.equal(first.nReused, 0);
    const again = await run(tern, ids);
    assert.deepEqual([again.nPrompt, again.nReused], [ids.length, ids.length - 1]);
    assert.deepEqual(again.tokens, first.tokens);
    const {usage} = await tern.completions.create({prompt: ids, max_tokens: 1});
    assert.equal(usage.prompt_tokens_details.cached_tokens, ids.length - 1);
  });

  test('a logit processor decides, alone and beside a grammar, and only where it is given', async () => {
    const free = await run(tern, kStory);
    const processor = only(300);
    const forced = await run(tern, kStory, {logitProcessor: processor, temperature: 1, seed: 1});
    assert.deepEqual(forced.tokens, Array(6).fill(300));
    assert.deepEqual(processor.told, forced.tokens);
    assert.deepEqual((await run(tern, kStory)).tokens, free.tokens);
    const unchanged = await run(tern, kStory, {heal: false, logitProcessor: {processLogits: (logits) => logits}});
    assert.deepEqual(unchanged.tokens, (await run(tern, kStory, {heal: false})).tokens);
    let text = '';
    for await (const piece of tern.generate(kStory, {regex: '[ab]{4}', logitProcessor: only(300)})) text += piece;
    assert.match(text, /^[ab]{4}$/);
    for await (const piece of tern.generate(kStory, {regex: 'abc'})) text += piece;
    assert.match(text, /abc$/);
    const broken = {processLogits: () => assert.fail('mine')};
    await assert.rejects(run(tern, kStory, {logitProcessor: broken}), {name: 'InvalidArgumentError', message: /mine/});
    assert.deepEqual((await run(tern, kStory)).tokens, free.tokens, 'and the engine goes on');
  });

  test('a file of the disk has to be the one that is asked for', async () => {
    const load = (options) => Tern.load(path.join(kRoot, 'models/tern-stories.gguf'), {backend: 'cpu', ...options});
    await assert.rejects(load({sha256: '0'.repeat(64)}), {name: 'CorruptionError'});
    const integrity = {files: {'tern-stories.gguf': `sha256-${'A'.repeat(43)}=`}};
    const {actual} = await load({integrity}).catch((error) => error);
    await (await load({integrity: {files: {'tern-stories.gguf': actual}}})).close();
  });
});

describe('in a tab', () => {
  const kPage = `<!doctype html><title>wait</title><script type="module">
import * as webllm from '/tern/webllm.js';
const worker = new Worker('/webllm_worker.js', {type: 'module'});
const appConfig = {model_list: [{model: '/models/tern-stories.gguf', model_id: 'stories', model_lib: ''}]};
try {
  const engine = await webllm.CreateWebWorkerMLCEngine(worker, 'stories', {appConfig, ternOptions: {backend: 'cpu'}});
  const ids = [];
  for (let next = [42]; ids.length < 5; next = [ids.at(-1)]) {
    ids.push(await engine.forwardTokensAndSample(next, ids.length === 0));
  }
  await engine.resetChat();
  const messages = [{role: 'user', content: 'Hello'}];
  const reply = await engine.chat.completions.create({messages, max_tokens: 4});
  globalThis.result = {ids, usage: reply.usage};
} catch (error) {
  globalThis.result = {error: String(error?.stack ?? error)};
}
document.title = 'done';
</script>`;
  const kWorker = `import * as webllm from '/tern/webllm.js';
const handler = new webllm.WebWorkerMLCEngineHandler();
handler.setLogitProcessorRegistry(new Map([['stories', {
  processLogits: (logits) => {
    logits[0] = 100;
    return logits;
  },
  processSampledToken: () => {},
  resetState: () => {},
}]]));
self.onmessage = (message) => handler.onmessage(message);`;
  let server;
  let browser;
  before(async () => {
    needSite();
    server = await FixtureServer.start({root: kSite});
    server.mount('webllm.html', {from: Buffer.from(kPage), type: 'text/html; charset=utf-8'});
    server.mount('webllm_worker.js', {from: Buffer.from(kWorker), type: 'text/javascript'});
    browser = await launch({webGpu: false});
  });
  after(async () => {
    await browser?.close();
    await server?.down();
  });

  test('an engine in a worker of the program, with a logit processor there', async () => {
    const page = await openPage(await browser.newContext());
    await page.goto(`${server.url}webllm.html`);
    await until(() => page.title(), (title) => title === 'done', {what: 'the program'});
    const {ids, usage, error} = await page.evaluate(() => globalThis.result);
    assert.equal(error, undefined);
    assert.deepEqual(ids, [0, 0, 0, 0, 0]);
    assert.ok(usage.prompt_tokens > 0 && usage.extra.time_to_first_token_s > 0);
    assert.deepEqual(page.mistakes, []);
  });
});
