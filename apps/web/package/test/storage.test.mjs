// Models that are kept: room, damage, other tabs, and browsers that keep nothing.

import assert from 'node:assert/strict';
import {describe, test} from 'node:test';
import {FakeCaches, fakeWorkerEnv} from '../fakes/browser.mjs';
import {fakeEngine} from '../fakes/engine.mjs';
import {kUrl, kBytes, server, disk, locks, engine, load, models, ranges, readBytes, useEngine}
  from '../fakes/one_model.mjs';
import {fakeGguf} from '../fakes/server.mjs';
import {Sha256} from '../lib/sha256.js';
import {CacheStorage} from '../lib/storage/storage_cache.js';
import {loadTern} from '../lib/tern.js';
import {choosePieces} from '../lib/verify.js';

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
    useEngine(fakeEngine({
      on: {
        load: (params, state) => {
          usual.state.options = state.options;
          if (++tries > 1) return usual.usual.load(params);
          disk.files('data.0')[0].bytes[9_000] ^= 4;
          throw {code: 'corruption', message: 'm.gguf: tensor x is damaged'};
        },
      },
    }));
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
    useEngine(fakeEngine({on: {load: wrong}}));
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

/** A browser that cannot let WebAssembly wait. */
const kWithoutJspi = {validate: (bytes) => WebAssembly.validate(bytes)};

describe('a cache that loses what it is given', () => {
  /** Caches that take nothing until they were deleted `deletions` times. */
  function forgetful(deletions) {
    const inner = new FakeCaches();
    let left = deletions;
    return {
      open: async () => {
        const cache = await inner.open();
        return {...cache, match: async (key) => (left > 0 ? undefined : cache.match(key))};
      },
      delete: async () => {
        --left;
        return inner.delete();
      },
    };
  }

  test('is made anew, where that helps', async () => {
    const storage = await CacheStorage.open({caches: forgetful(1)});
    await storage.writeText('key', 'text');
    assert.equal(await storage.readText('key'), 'text');
    assert.deepEqual(await storage.list(), ['key']);
  });

  test('is not used, where it does not', async () => {
    assert.equal(await CacheStorage.open({caches: forgetful(9)}), null);
  });
});

describe('files of the user', () => {
  const named = (name, bytes) => ({files: {[name]: bytes}});

  test('are kept on request, and found again by their address', async () => {
    const {tern, env} = await load(named('my model.gguf', kBytes));
    const progress = [];
    const kept = await models().keep(tern, {onProgress: (one) => progress.push(one)});
    assert.deepEqual([kept.name, kept.bytes, kept.complete], ['my model.gguf', 20_000, true]);
    assert.match(kept.url, /^kept:my%20model\.gguf\?[0-9a-f]{16}$/);
    assert.deepEqual([progress.at(-1).phase, progress.at(-1).loaded, progress.at(-1).total], ['keep', 20_000, 20_000]);
    await tern.close();
    const again = await load(kept.url);
    assert.deepEqual(readBytes('/model/my model.gguf'), Buffer.from(kBytes));
    assert.equal(again.tern.info.storage, 'opfs');
    assert.equal(again.tern.info.fromCache, true);
    assert.deepEqual(server.requests, []);
    assert.equal(env.isNode, false);
  });

  test('are kept once, and two of one name beside each other', async () => {
    const other = fakeGguf(20_000);
    other[19_999] ^= 1;
    const first = await models().keep((await load(named('m.gguf', kBytes))).tern);
    const same = await models().keep((await load(named('m.gguf', kBytes))).tern);
    const second = await models().keep((await load(named('m.gguf', other))).tern);
    assert.equal(same.id, first.id);
    assert.notEqual(second.id, first.id);
    assert.equal((await models().list()).length, 2);
  });

  test('that do not fit leave nothing behind', async () => {
    for (const limit of ['quota', 'hardQuota']) {
      const {tern} = await load(named('m.gguf', kBytes));
      disk[limit] = 10_000;
      const message = limit === 'quota' ? /m\.gguf needs 20000 B.*browser has 10000 B left/ :
        /m\.gguf needs \d+ B.*stores no more for this site, although it speaks of Infinity GB/;
      await assert.rejects(models().keep(tern), {name: 'QuotaError', message});
      disk[limit] = Infinity;
      assert.deepEqual(await models().list(), []);
      assert.equal(disk.files('data.0').length, 0);
    }
  });

  test('that are stopped halfway leave nothing behind', async () => {
    const {tern} = await load(named('m.gguf', kBytes));
    const control = new AbortController();
    const onProgress = () => control.abort();
    await assert.rejects(models().keep(tern, {signal: control.signal, onProgress}), {name: 'CancelledError'});
    assert.deepEqual(await models().list(), []);
  });

  test('whose copy was deleted are asked for again', async () => {
    const {tern} = await load(named('m.gguf', kBytes));
    const {id, url} = await models().keep(tern);
    await models().delete(id);
    await assert.rejects(load(url), {name: 'NotFoundError', message: /m\.gguf is not kept.*choose its files again/});
  });

  test('are the only ones that need it', async () => {
    server.put(kUrl, kBytes);
    await assert.rejects(models().keep((await load()).tern), {name: 'InvalidArgumentError'});
  });
});
