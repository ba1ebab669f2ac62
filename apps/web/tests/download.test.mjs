// Models over a network that fails in every way, and what is kept of them.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import {after, afterEach, before, beforeEach, describe, test} from 'node:test';
import {launch, until} from './support/browser.mjs';
import {FixtureServer} from './support/fixture_server.mjs';
import {PackageTab} from './support/package_tab.mjs';
import {golden, kDefaultModel, kGoldens, kSite, needSite, patched} from './support/project.mjs';

const kSmall = path.join(kGoldens, 'families/qwen3_untied.gguf');  // without a tokenizer
const kPiece = 8 << 20;  // models are kept in pieces of this size, and a download is continued at one's border
const kCut = kPiece + (4 << 20);  // a browser may drop up to 2 MB that it holds when a connection is cut
const kGreedy = {temperature: 0, maxTokens: 8};

let server;
let foreign;  // another origin
let browser;
let context;
/** @type {PackageTab} */
let tab;
let mark = 0;  // requests before this test

before(async () => {
  needSite();
  server = await FixtureServer.start({root: kSite});
  foreign = await FixtureServer.start({isolated: false});
  browser = await launch();
});

after(async () => {
  await browser?.close();
  await server?.down();
  await foreign?.down();
});

// Nothing stored, nothing loaded.
beforeEach(async () => {
  await server.up();
  context = await browser.newContext();
  tab = await PackageTab.open(context, server);
  mark = server.requests.length;
});

afterEach(() => context.close());

const load = (url, options) => tab.load(url, {backend: 'cpu', ...options});

function refuses(url, expected, options) {
  return assert.rejects(() => load(url, options), (error) => {
    assert.equal(error.code, expected.code, `${error.code}: ${error.message}`);
    for (const word of expected.words) assert.match(error.message, word);
    assert.doesNotMatch(error.message, /\n/);
    return true;
  });
}

describe('downloads that go wrong and are made good', () => {
  test('a server that fails once', async () => {
    await load(server.mount('m/500.gguf', {from: kSmall, failTimes: 1}));
    const [first, second] = server.requestsFor('m/500.gguf', mark);
    assert.equal(first.status, 500);
    assert.ok(second.status < 300);
  });

  test('a connection that is cut goes on where it was', async () => {
    await load(server.mount('m/cut.gguf', {from: kDefaultModel, cutAt: kCut}));
    const requests = server.requestsFor('m/cut.gguf', mark);
    const next = requests.at(-1);
    assert.equal(next.status, 206);
    assert.ok(Number(/bytes=(\d+)/.exec(next.range)[1]) >= kPiece, `asks again for ${next.range}`);
    const {text} = await tab.generate('Once upon a time', kGreedy);
    assert.ok(text.length > 0);
  });

  test('a server without ranges', async () => {
    await load(server.mount('m/whole.gguf', {from: kDefaultModel, ranges: false}));
    assert.equal(server.requestsFor('m/whole.gguf', mark).reduce((sum, {sent}) => sum + sent, 0),
      fs.statSync(kDefaultModel).size);
  });

  test('a file that changes between two ranges is begun anew', async () => {
    const url = server.mount('m/changed.gguf',
      {from: kDefaultModel, cutAt: kCut, etag: (request) => request === 0 ? '"old"' : '"new"'});
    await load(url);
    const {text} = await tab.generate('Once upon a time', kGreedy);
    assert.ok(text.length > 0);
    // Asked for the rest of the old file, then, or in the same answer, for all of the new one.
    const requests = server.requestsFor('m/changed.gguf', mark);
    assert.ok(requests.slice(1).some(({sent}) => sent === fs.statSync(kDefaultModel).size), JSON.stringify(requests));
  });

  test('another origin that allows it', async () => {
    await load(foreign.mount('allowed.gguf', {from: kSmall, cors: true}));
  });

  test('stopped, and loaded again: only the rest is fetched', async () => {
    // Slow enough that progress is told between the cut and where it is held.
    const url = server.mount('m/stopped.gguf', {from: kDefaultModel, holdAt: kCut + (2 << 20), bytesPerSecond: 20e6});
    await refuses(url, {code: 'cancelled', words: []}, {abortAt: kCut});
    const half = (await tab.models('list')).find((model) => model.url === url);
    assert.equal(half.complete, false);
    const again = server.requests.length;
    await load(url);
    assert.ok(server.requestsFor('m/stopped.gguf', again).reduce((sum, {sent}) => sum + sent, 0) <
      fs.statSync(kDefaultModel).size - kPiece + 1);
    assert.equal((await tab.models('list')).find((model) => model.url === url).complete, true);
  });

  test('a tab that is closed meanwhile', async () => {
    const url = server.mount('m/closed.gguf', {from: kDefaultModel, bytesPerSecond: 12e6});
    void load(url).catch(() => {});
    await until(async () => Math.max(0, ...(await tab.progress()).map(({loaded}) => loaded)), (loaded) => loaded > kCut,
      {what: 'a part of the download'});
    await tab.page.close();
    tab = await PackageTab.open(context, server);
    const again = server.requests.length;
    server.mount('m/closed.gguf', {from: kDefaultModel});
    await load(url);
    const [first] = server.requestsFor('m/closed.gguf', again);
    assert.ok(Number(/bytes=(\d+)/.exec(first.range)[1]) >= kPiece, `asks again for ${first.range}`);
  });
});

describe('models that cannot be had, each with its reason', () => {
  test('404', () => refuses(`${server.url}m/nothing.gguf`, {code: 'not_found', words: [/nothing\.gguf/]}));

  test('a server that refuses', () => refuses(server.mount('m/403.gguf', {from: kSmall, status: 403}),
    {code: 'network', words: [/403/]}));

  test('another origin that does not allow it', () => refuses(foreign.mount('forbidden.gguf', {from: kSmall}),
    {code: 'network', words: [/forbidden\.gguf/, /CORS/]}));

  test('nobody there', async () => {
    const gone = await FixtureServer.start();
    await gone.down();
    await refuses(`${gone.url}x.gguf`, {code: 'network', words: [/localhost:\d+/]});
  });

  test('a web page instead of a model', async () => {
    const page = Buffer.from(`<!doctype html><title>Sign in</title>${' '.repeat(20 << 20)}`);
    await refuses(server.mount('m/page.gguf', {from: page, type: 'text/html', bytesPerSecond: 5e6}),
      {code: 'invalid_argument', words: [/page\.gguf/, /web page/]});
    const requests = server.requestsFor('m/page.gguf', mark);
    assert.ok(requests.every(({sent}) => sent < page.length / 2), 'not all of it is fetched');
  });

  test('a file that is no model', () => refuses(server.mount('m/noise.gguf', {from: Buffer.alloc(100_000, 'noise')}),
    {code: 'invalid_argument', words: [/noise\.gguf/, /GGUF/]}));

  test('a file that ends too early', () => refuses(
    server.mount('m/short.gguf', {from: fs.readFileSync(kSmall).subarray(0, -100)}),
    {code: 'corruption', words: [/short\.gguf/]}));

  test('a family that Tern does not know', () => refuses(
    server.mount('m/family.gguf', {from: patched(kSmall, 'qwen3', 'qwxn3')}),
    {code: 'not_supported', words: [/qwxn3/]}));

  test('a checksum that is another', () => refuses(server.mount('m/sum.gguf', {from: kSmall}),
    {code: 'corruption', words: [/sum\.gguf/, /sha-?256/i]}, {sha256: '0'.repeat(64)}));

  test('a directory with a shard missing', () => {
    const {directory} = golden('containers', 'phi3_q4f16_1');
    const url = server.mountFolder('m/shards', directory);
    server.mount('m/shards/params_shard_2.bin', {from: Buffer.alloc(0), status: 404});
    return refuses(url, {code: 'not_found', words: [/params_shard_2\.bin/]});
  });

  test('a browser that grants too little storage', async () => {
    const cdp = await context.newCDPSession(tab.page);
    await cdp.send('Storage.overrideQuotaForOrigin', {origin: new URL(server.url).origin, quotaSize: 6e6});
    await refuses(server.mount('m/quota.gguf', {from: kDefaultModel}), {code: 'quota', words: [/MB/]});
    await cdp.send('Storage.overrideQuotaForOrigin', {origin: new URL(server.url).origin});
    await load(`${server.url}m/quota.gguf`);
  });
});

describe('models that are kept', () => {
  // Flips a byte in the middle of the largest file that the site has stored.
  const damage = () => tab.page.evaluate(async () => {
    const files = [];
    const walk = async (folder) => {
      for await (const handle of folder.values()) {
        if (handle.kind === 'directory') await walk(handle);
        else files.push({handle, file: await handle.getFile()});
      }
    };
    await walk(await navigator.storage.getDirectory());
    const {handle, file} = files.reduce((a, b) => a.file.size >= b.file.size ? a : b);
    const at = file.size >> 1;
    const byte = new Uint8Array(await file.slice(at, at + 1).arrayBuffer());
    const writable = await handle.createWritable({keepExistingData: true});
    await writable.write({type: 'write', position: at, data: byte.map((value) => value ^ 0x5a)});
    await writable.close();
    return file.size;
  });

  test('used without the network, listed and deleted', async () => {
    const url = server.mount('m/kept.gguf', {from: kDefaultModel});
    await load(url);
    const {text} = await tab.generate('Once upon a time', kGreedy);
    await tab.close();
    server.mount('m/kept.gguf', {from: kDefaultModel, status: 500});
    await load(url);
    assert.ok((await tab.progress()).some(({fromCache}) => fromCache));
    assert.equal((await tab.generate('Once upon a time', kGreedy)).text, text);
    const size = fs.statSync(kDefaultModel).size;
    const [model] = await tab.models('list');
    assert.deepEqual([model.url, model.bytes, model.complete], [url, size, true]);
    const {used, quota} = await tab.models('usage');
    assert.ok(used >= size && quota > used);
    await tab.close();
    await tab.models('delete', model.id);
    assert.deepEqual(await tab.models('list'), []);
  });

  test('a damaged part is fetched again', async () => {
    const url = server.mount('m/damaged.gguf', {from: kDefaultModel});
    await load(url);
    const {text} = await tab.generate('Once upon a time', kGreedy);
    await tab.close();
    assert.equal(await damage(), fs.statSync(kDefaultModel).size);
    const again = server.requests.length;
    await load(url);
    assert.equal((await tab.generate('Once upon a time', kGreedy)).text, text);
    const sent = server.requestsFor('m/damaged.gguf', again).reduce((sum, request) => sum + request.sent, 0);
    assert.ok(sent > 0 && sent < fs.statSync(kDefaultModel).size, `${sent} bytes`);
  });

  test('a damaged part without the network is an error, never a model', async () => {
    const url = server.mount('m/lost.gguf', {from: kDefaultModel});
    await load(url);
    await tab.close();
    await damage();
    server.mount('m/lost.gguf', {from: kDefaultModel, status: 404});
    await refuses(url, {code: 'corruption', words: [/lost\.gguf/]});
  });

  test('two tabs that want the same model download it once', async () => {
    const url = server.mount('m/twice.gguf', {from: kDefaultModel, bytesPerSecond: 30e6});
    const other = await PackageTab.open(context, server);
    await Promise.all([load(url), other.load(url, {backend: 'cpu'})]);
    const sent = server.requestsFor('m/twice.gguf', mark).reduce((sum, request) => sum + request.sent, 0);
    assert.ok(sent < 1.2 * fs.statSync(kDefaultModel).size, `${sent} bytes`);
  });

  test('two tabs that share a model have one engine, and when one is closed the other goes on', async () => {
    const url = server.mount('m/shared.gguf', {from: kDefaultModel});
    const other = await PackageTab.open(context, server);
    const infos = await Promise.all([load(url, {shared: true}), other.load(url, {backend: 'cpu', shared: true})]);
    assert.deepEqual(infos.map(({isShared}) => isShared), [true, true]);
    const [{text}, again] = await Promise.all([tab, other].map((one) => one.generate('Once upon a time', kGreedy)));
    assert.equal(again.text, text);
    const enginesOf = ({page}) => page.workers().filter((worker) => worker.url().endsWith('/worker.js'));  // no threads
    const nWorkers = () => [tab, other].map((one) => enginesOf(one).length);
    assert.deepEqual(nWorkers().sort(), [0, 1], 'one engine');
    const [here, there] = nWorkers()[0] > 0 ? [tab, other] : [other, tab];
    await here.page.close();
    assert.equal((await there.generate('Once upon a time', kGreedy)).text, text);
    assert.equal(enginesOf(there).length, 1);
    tab = there;
  });

  test('a file of this device, without storing it', async () => {
    await tab.load({files: [['stories.gguf', '/models/tern-stories.gguf']]}, {backend: 'cpu'});
    assert.ok((await tab.generate('Once upon a time', kGreedy)).text.length > 0);
    assert.deepEqual(await tab.models('list'), []);
  });
});
