// Models from the network: downloads that break, servers that misbehave, storage that fails, and no network at all.

import assert from 'node:assert/strict';
import {beforeEach, describe, test} from 'node:test';
import {FakeCaches, FakeDisk, FakeLocks, fakeWorkerEnv} from '../fakes/browser.mjs';
import {fakeEngine} from '../fakes/engine.mjs';
import {FakeServer, fakeGguf} from '../fakes/server.mjs';
import {StoredModels} from '../lib/model_store.js';
import {Sha256} from '../lib/sha256.js';
import {loadTern} from '../lib/tern.js';
import {choosePieces} from '../lib/verify.js';

const kUrl = 'https://page.example/models/m.gguf';
const kOther = 'https://hub.example/m.gguf';
const kBytes = fakeGguf(20_000);  // five pieces of 4096 bytes, the last one short

let server;
let disk;
let locks;
let engine;

beforeEach(() => {
  server = new FakeServer();
  disk = new FakeDisk();
  locks = new FakeLocks();
  engine = fakeEngine();
});

/** Loads as a freshly opened page of the site would. */
async function load(url = kUrl, options = {}, more = {}) {
  const env = fakeWorkerEnv({server, engine, disk, locks}, more);
  const progress = [];
  const tern = await loadTern(env, url, {onProgress: (one) => progress.push(one), ...options});
  return {tern, progress, env};
}

function models(more = {}) {
  return new StoredModels(fakeWorkerEnv({server, engine, disk, locks}, more));
}

function ranges() {
  return server.requests.map(({range}) => range);
}

function readBytes(path = '/model/m.gguf') {
  return Buffer.from(engine.state.read[path]);
}

describe('download', () => {
  test('a file is downloaded once and then needs no network', async () => {
    server.put(kUrl, kBytes);
    const {tern, progress} = await load();
    assert.deepEqual(readBytes(), Buffer.from(kBytes));
    assert.equal(tern.info.storage, 'opfs');
    assert.equal(tern.info.fromCache, false);
    const downloads = progress.filter(({phase}) => phase === 'download');
    const last = {phase: 'download', loaded: 20_000, total: 20_000, file: 'm.gguf', fromCache: false};
    assert.deepEqual(downloads.at(-1), last);
    await tern.close();

    server.isOnline = false;
    server.requests = [];
    const again = await load();
    assert.deepEqual(readBytes(), Buffer.from(kBytes));
    assert.equal(again.tern.info.fromCache, true);
    assert.deepEqual(server.requests, []);
    assert.ok(again.progress.every(({fromCache}) => fromCache));
  });

  test('relative addresses belong to the page, and a query to the file', async () => {
    server.put('https://page.example/models/m.gguf?key=1', kBytes);
    const {tern} = await load('https://page.example/models/m.gguf?key=1#top');
    assert.equal(tern.info.name, 'm.gguf');
  });

  test('a connection that breaks goes on where it stopped', async () => {
    server.put(kUrl, kBytes, {faults: [{cutAt: 9_800}, {cutAt: 0}, {endAt: 700}]});
    const {env} = await load();
    assert.deepEqual(readBytes(), Buffer.from(kBytes));
    assert.deepEqual(ranges(), ['bytes=0-', 'bytes=9800-', 'bytes=9800-', 'bytes=10500-']);
    assert.deepEqual(env.waits, [500, 1000, 500]);
  });

  test('a load that is aborted keeps what came; the next one goes on', async () => {
    server.put(kUrl, kBytes);
    const control = new AbortController();
    const onProgress = ({phase, loaded}) => {
      if (phase === 'download' && loaded > 9_000) control.abort();
    };
    // Progress is told every 50 ms; here at every chunk.
    let now = 0;
    const more = {now: () => (now += 100)};
    await assert.rejects(load(kUrl, {signal: control.signal, onProgress}, more), {name: 'CancelledError'});
    const [model] = await models().list();
    assert.equal(model.complete, false);
    assert.ok(model.bytes > 9_000 && model.bytes < 12_000, `${model.bytes}`);

    server.requests = [];
    await load();
    assert.deepEqual(ranges(), [`bytes=${model.bytes}-`]);
    assert.match(server.requests[0].ifRange, /^"/);
    assert.deepEqual(readBytes(), Buffer.from(kBytes));
  });

  test('a download that fails for good keeps what came, too', async () => {
    server.put(kUrl, kBytes, {faults: [{cutAt: 5_000}, ...Array(20).fill({cutAt: 0})]});
    await assert.rejects(load(), {name: 'NetworkError', message: /m\.gguf: the connection broke/});
    server.files[kUrl].faults = [];
    server.requests = [];
    await load();
    assert.equal(ranges()[0], 'bytes=5000-');
    assert.deepEqual(readBytes(), Buffer.from(kBytes));
  });

  test('what is damaged in a partial download is fetched again', async () => {
    server.put(kUrl, kBytes, {faults: [{cutAt: 13_000}, ...Array(20).fill({cutAt: 0})]});
    await assert.rejects(load(), {code: 'network'});
    disk.files('data.0')[0].bytes[5_000] ^= 1;  // the second of three pieces
    server.files[kUrl].faults = [];
    server.requests = [];
    await load();
    assert.deepEqual(ranges(), ['bytes=4096-8191', 'bytes=12288-']);
    assert.deepEqual(readBytes(), Buffer.from(kBytes));
  });

  test('a file that changed on the server is started over, once', async () => {
    server.put(kUrl, kBytes, {faults: [{cutAt: 9_000}, ...Array(20).fill({cutAt: 0})]});
    await assert.rejects(load(), {code: 'network'});
    const changed = fakeGguf(20_000, 7);
    server.put(kUrl, changed);
    await load();
    assert.deepEqual(readBytes(), Buffer.from(changed));
  });

  test('from another site, a change shows in the answer', async () => {
    server.put(kOther, kBytes, {etag: '"1"', faults: [{cutAt: 9_000}, ...Array(20).fill({cutAt: 0})]});
    await assert.rejects(load(kOther), {code: 'network'});
    const changed = fakeGguf(20_000, 7);
    server.put(kOther, changed, {etag: '"2"'});
    await load(kOther);
    assert.deepEqual(readBytes(), Buffer.from(changed));
    assert.ok(server.requests.every(({ifRange}) => ifRange === null));
  });

  test('a file that keeps changing is an error', async () => {
    server.put(kUrl, kBytes);
    let n = 0;
    const fetch = (url, init) => {
      server.put(kUrl, fakeGguf(20_000, ++n), {faults: [{cutAt: 5_000}]});
      return server.fetch(url, init);
    };
    const message = /changed while it was downloaded, twice/;
    await assert.rejects(load(kUrl, {}, {fetch}), {name: 'NetworkError', message});
  });

  test('a server without ranges still works, from the beginning each time', async () => {
    server.put(kUrl, kBytes, {ranges: false, faults: [{cutAt: 9_000}]});
    let now = 0;
    const {progress} = await load(kUrl, {}, {now: () => (now += 100)});
    assert.deepEqual(readBytes(), Buffer.from(kBytes));
    assert.deepEqual(server.requests.map(({status}) => status), [200, 200]);
    assert.equal(progress.at(-1).phase, 'ready');
    assert.ok(progress.every(({loaded}) => loaded <= 20_000));
    const afterCut = progress.findIndex(({loaded}) => loaded === 9_000) + 1;
    assert.ok(afterCut > 0 && progress[afterCut].loaded < 9_000);
  });

  test('a size that is not announced is found out', async () => {
    server.put(kUrl, kBytes, {ranges: false, headers: {'content-encoding': 'gzip', 'content-length': '77'}});
    await load();
    assert.deepEqual(readBytes(), Buffer.from(kBytes));
  });

  test('a connection that brings nothing is given up and tried again', async () => {
    server.put(kUrl, kBytes, {faults: [{stall: true}]});
    await load(kUrl, {}, {stallMs: 20});
    assert.deepEqual(readBytes(), Buffer.from(kBytes));
  });

  test('a server that is down for a moment is asked again', async () => {
    server.put(kUrl, kBytes, {faults: [{status: 503, headers: {'retry-after': '2'}}, {status: 500}, {down: true}]});
    const {env} = await load();
    assert.equal(env.waits[0], 2000);
    assert.equal(env.waits.length, 3);
  });
});

describe('what servers refuse', () => {
  const cases = [
    ['no such file', {status: 404}, 'NotFoundError', /m\.gguf: there is no such file \(HTTP 404\)/],
    ['no access', {status: 403}, 'NetworkError', /refuses access \(HTTP 403\)/],
    ['a broken server', {status: 500}, 'NetworkError', /HTTP 500; try again later/],
    ['an odd answer', {status: 418}, 'NetworkError', /HTTP 418/],
    ['no server', {down: true}, 'NetworkError', /page\.example cannot be reached/],
  ];
  for (const [name, fault, error, message] of cases) {
    test(name, async () => {
      server.put(kUrl, kBytes, {faults: Array(20).fill(fault)});
      await assert.rejects(load(), {name: error, message});
      assert.deepEqual(await models().list(), []);
    });
  }

  test('offline', async () => {
    server.isOnline = false;
    await assert.rejects(load(), {name: 'NetworkError', message: /this device is offline/});
  });

  test('another site without CORS', async () => {
    server.put(kOther, kBytes, {cors: false});
    const message = /hub\.example does not let pages of other sites.*CORS/;
    await assert.rejects(load(kOther), {name: 'NetworkError', message});
    assert.equal(server.requests.length, 2);
  });

  test('another site, where an isolated page cannot tell why', async () => {
    server.isIsolated = true;
    server.put(kOther, kBytes, {cors: false});
    await assert.rejects(load(kOther), {name: 'NetworkError', message: /cannot be reached, or does not let.*CORS/});
  });

  test('a web page instead of a model, before the rest of it is downloaded', async () => {
    const page = `\n<!DOCTYPE html><html>${' '.repeat(1 << 20)}`;
    server.put(kUrl, page);
    await assert.rejects(load(), {name: 'CorruptionError', message: /this is a web page/});
    assert.deepEqual(await models().list(), []);
    assert.equal(disk.usage(), 0);
  });

  for (const [what, body, message] of [
    ['something else', 'PK'.padEnd(200, 'x'), /not a GGUF file/],
    ['a pointer of Git LFS', 'version https://git-lfs.github.com/spec/v1\noid sha256:00\n', /pointer of Git LFS/],
    ['nothing', '', /not a GGUF file/],
  ]) {
    test(`${what} instead of a model`, async () => {
      server.put(kUrl, body);
      await assert.rejects(load(), {name: 'CorruptionError', message});
    });
  }
});

describe('storage', () => {
  test('too little room is told before anything is downloaded', async () => {
    disk.quota = 10_000;
    server.put(kUrl, kBytes);
    const message = /m\.gguf needs 20000 B of storage, and the browser has 9\d\d\d B left/;
    await assert.rejects(load(), {name: 'QuotaError', message});
    assert.equal(disk.files('data.0')[0]?.bytes.length ?? 0, 0);
  });

  test('room that runs out in between is told, and what came stays', async () => {
    disk.hardQuota = 12_000;
    server.put(kUrl, kBytes);
    await assert.rejects(load(), {name: 'QuotaError', message: /delete stored models/});
    disk.hardQuota = Infinity;
    server.requests = [];
    await load();
    assert.notEqual(ranges()[0], 'bytes=0-');
    assert.deepEqual(readBytes(), Buffer.from(kBytes));
  });

  test('a damaged piece is found and downloaded again', async () => {
    server.put(kUrl, kBytes);
    await (await load()).tern.close();
    disk.files('data.0')[0].bytes[9_000] ^= 4;
    server.requests = [];
    const {tern} = await load();
    assert.deepEqual(ranges(), ['bytes=8192-12287']);
    assert.deepEqual(readBytes(), Buffer.from(kBytes));
    assert.deepEqual(tern.info.notes, ['1 damaged piece downloaded again']);
  });

  test('a stored file that lost its end is mended', async () => {
    server.put(kUrl, kBytes);
    await (await load()).tern.close();
    const [file] = disk.files('data.0');
    file.bytes = file.bytes.slice(0, 10_000);
    await load();
    assert.deepEqual(readBytes(), Buffer.from(kBytes));
  });

  test('damage that cannot be mended offline is a CorruptionError', async () => {
    server.put(kUrl, kBytes);
    await (await load()).tern.close();
    disk.files('data.0')[0].bytes[9_000] ^= 4;
    server.isOnline = false;
    await assert.rejects(load(), {name: 'CorruptionError', message: /the stored copy is damaged.*offline/});
    server.isOnline = true;
    await load();
    assert.deepEqual(readBytes(), Buffer.from(kBytes));
  });

  test('when the server has another version by then, all of that one is taken', async () => {
    server.put(kUrl, kBytes, {etag: ''});
    await (await load()).tern.close();
    disk.files('data.0')[0].bytes[9_000] ^= 4;
    const changed = fakeGguf(20_000, 9);
    server.put(kUrl, changed, {etag: ''});
    await load();
    assert.deepEqual(readBytes(), Buffer.from(changed));
  });

  test('damage that only the engine sees is looked for, mended, and the load goes on', async () => {
    server.put(kUrl, kBytes);
    await (await load()).tern.close();
    // As a big model's, which is only sampled: the file changes after the check.
    let tries = 0;
    const usual = fakeEngine();
    engine = fakeEngine({
      on: {
        load: (params, state) => {
          usual.state.options = state.options;
          if (++tries > 1) return usual.usual.load(params);
          disk.files('data.0')[0].bytes[9_000] ^= 4;
          throw {code: 'corruption', message: 'm.gguf: tensor x is damaged'};
        },
      },
    });
    server.requests = [];
    await load();
    assert.equal(tries, 2);
    assert.deepEqual(ranges(), ['bytes=8192-12287']);
    assert.deepEqual(Buffer.from(usual.state.read['/model/m.gguf']), Buffer.from(kBytes));
  });

  test('a model that is wrong as it was published is an error, not a loop', async () => {
    server.put(kUrl, kBytes);
    const wrong = () => {
      throw {code: 'corruption', message: '/model/m.gguf: tensor x is damaged'};
    };
    engine = fakeEngine({on: {load: wrong}});
    await assert.rejects(load(), {name: 'CorruptionError', message: 'm.gguf: tensor x is damaged'});
    assert.equal(engine.state.opened, 1);
  });

  test('a torn manifest leaves the one before', async () => {
    server.put(kUrl, kBytes);
    await (await load()).tern.close();
    const texts = disk.files('manifest.').sort((a, b) => generation(b) - generation(a));
    texts[0].bytes = texts[0].bytes.slice(0, 100);
    server.requests = [];
    await load();
    assert.ok(server.requests.length <= 1);
    assert.deepEqual(readBytes(), Buffer.from(kBytes));

    function generation(file) {
      return JSON.parse(new TextDecoder().decode(file.bytes)).generation;
    }
  });

  test('a checksum of the whole file is compared, and finds the model at any address', async () => {
    server.put(kUrl, kBytes);
    const sha256 = new Sha256().update(kBytes).hex();
    await assert.rejects(load(kUrl, {sha256: '0'.repeat(64)}), {name: 'CorruptionError', message: new RegExp(sha256)});
    assert.deepEqual(await models().list(), []);
    await assert.rejects(load(kUrl, {sha256: 'abc'}), {name: 'InvalidArgumentError', message: /64 hexadecimal digits/});
    await (await load(kUrl, {sha256: sha256.toUpperCase()})).tern.close();
    server.requests = [];
    await load('https://mirror.example/same.gguf', {sha256});
    assert.deepEqual(server.requests, []);
  });

  test('models are listed, measured and deleted', async () => {
    server.put(kUrl, kBytes);
    const {tern} = await load();
    const [model] = await models().list();
    assert.equal(model.url, kUrl);
    assert.equal(model.name, 'm.gguf');
    assert.equal(model.bytes, 20_000);
    assert.equal(model.complete, true);
    assert.match(model.contentId, /^[0-9a-f]{64}$/);
    assert.equal((await models().usage()).models, 20_000);
    await assert.rejects(models().delete(model.id), {name: 'BusyError', message: /close it first/});
    await tern.close();
    await models().delete(model.id);
    assert.deepEqual(await models().list(), []);
    assert.equal(disk.files('').length, 0);
    await assert.rejects(models().delete(model.id), {name: 'NotFoundError'});
    await assert.rejects(models().delete('../x'), {name: 'InvalidArgumentError'});
  });

  test('two loads at once download once', async () => {
    server.put(kUrl, kBytes);
    const engines = [fakeEngine(), fakeEngine()];
    const loads = engines.map((one) => {
      const env = fakeWorkerEnv({server, engine: one, disk, locks});
      return loadTern(env, kUrl, {});
    });
    await Promise.all(loads);
    assert.deepEqual(ranges(), ['bytes=0-']);
    for (const one of engines) assert.deepEqual(Buffer.from(one.state.read['/model/m.gguf']), Buffer.from(kBytes));
  });

  test('one that waits for another tab can be stopped, and says that it waits', async () => {
    const stop = new AbortController();
    server.put(kUrl, kBytes, {faults: [{stall: true}]});
    const first = load(kUrl, {signal: stop.signal}, {stallMs: 10_000});
    await new Promise((resolve) => setTimeout(resolve, 20));
    const control = new AbortController();
    const phases = [];
    const second = load(kUrl, {
      signal: control.signal,
      onProgress: ({phase}) => {
        phases.push(phase);
        control.abort();
      },
    });
    await assert.rejects(second, {name: 'CancelledError'});
    assert.deepEqual(phases, ['wait']);
    stop.abort();
    await assert.rejects(first, {name: 'CancelledError'});
  });

  test('the cache of responses takes the place of the file system', async () => {
    const caches = new FakeCaches();
    const navigator = {onLine: true, storage: {}};
    const more = {caches, navigator, FileReaderSync: undefined, webAssembly: kWithoutJspi};
    server.put(kUrl, kBytes, {faults: [{cutAt: 9_000}, ...Array(20).fill({cutAt: 0})]});
    await assert.rejects(load(kUrl, {}, more), {code: 'network'});
    server.files[kUrl].faults = [];
    server.requests = [];
    const {tern} = await load(kUrl, {}, more);
    assert.equal(ranges()[0], 'bytes=9000-');
    assert.equal(tern.info.storage, 'cache');
    assert.deepEqual(readBytes(), Buffer.from(kBytes));
    await tern.close();
    server.isOnline = false;
    await (await load(kUrl, {}, more)).tern.close();
    const [model] = await models(more).list();
    assert.equal(model.storage, 'cache');
    await models(more).delete(model.id);
    assert.deepEqual(await models(more).list(), []);
  });

  test('a page without a worker reads what a worker stored', async () => {
    server.put(kUrl, kBytes);
    await (await load()).tern.close();
    server.isOnline = false;
    const {tern} = await load(kUrl, {}, {FileReaderSync: undefined, canWriteFiles: false, caches: new FakeCaches()});
    assert.equal(tern.info.storage, 'opfs');
    assert.deepEqual(readBytes(), Buffer.from(kBytes));
  });

  test('where nothing can be stored, or nothing shall be, memory does', async () => {
    server.put(kUrl, kBytes);
    const {tern} = await load(kUrl, {}, {navigator: {onLine: true}});
    assert.equal(tern.info.storage, 'memory');
    assert.match(tern.info.notes[0], /in memory only/);
    const other = await load(kUrl, {storage: false});
    assert.deepEqual(other.tern.info.notes, []);
    assert.deepEqual(readBytes(), Buffer.from(kBytes));
    assert.equal(disk.files('').length, 0);
  });
});

test('of big models a sample is hashed: the ends of big files, small files, and some more', () => {
  const manifestOf = (...sizes) => {
    const pieceBytes = 8 << 20;
    return {pieceBytes, files: sizes.map((size) => ({size, pieces: Array(Math.ceil(size / pieceBytes)).fill('x')}))};
  };
  assert.equal(choosePieces(manifestOf(200 << 20), false).length, 25);
  const big = manifestOf(2 ** 31, 1000);
  const chosen = choosePieces(big, false).map(String);
  for (const piece of ['0,0', '0,255', '1,0']) assert.ok(chosen.includes(piece));
  assert.ok(chosen.length > 10 && chosen.length <= 19);
  assert.equal(choosePieces(big, true).length, 257);
  const many = manifestOf(...Array(100).fill(30 << 20), 1000);
  assert.ok(choosePieces(many, false).length <= 17);
});

test('a page by https is told that it may not read from http', async () => {
  server.isOnline = false;
  const navigator = {onLine: true};
  const error = {name: 'NetworkError', message: /with https/};
  await assert.rejects(load('http://hub.example/m.gguf', {}, {navigator}), error);
});

/** A browser that cannot let WebAssembly wait. */
const kWithoutJspi = {validate: (bytes) => WebAssembly.validate(bytes)};
