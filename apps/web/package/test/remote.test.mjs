// Models from the network: downloads that break, servers that misbehave, and no network at all.

import assert from 'node:assert/strict';
import {describe, test} from 'node:test';
import {kUrl, kOther, kBytes, server, disk, load, models, ranges, readBytes} from '../fakes/one_model.mjs';
import {fakeGguf} from '../fakes/server.mjs';
import {memoryOfTab} from '../lib/memory_limit.js';

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
    assert.deepEqual(ranges(), ['bytes=4096-8191', 'bytes=13000-']);
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

describe('several connections', () => {
  const kLarge = fakeGguf(100_000);  // 25 pieces
  const four = (more) => ({connections: 4, ...more});
  const sent = () => server.requests.reduce((sum, request) => sum + request.sent, 0);

  test('each byte comes once, and the pieces end up in their places', async () => {
    server.put(kUrl, kLarge);
    const {progress} = await load(kUrl, {}, four());
    assert.deepEqual(readBytes(), Buffer.from(kLarge));
    const begins = ranges().map((range) => Number(/\d+/.exec(range)[0]));
    // Each takes the second half of what is longest: pieces 13, 7 and 20 of 25.
    assert.deepEqual(begins.slice(0, 4), [0, 13 * 4096, 7 * 4096, 20 * 4096]);
    // What a connection had on its way when another took over its last pieces.
    assert.ok(sent() < kLarge.length + begins.length * 2 * server.chunkBytes, `${sent()} bytes for ${kLarge.length}`);
    assert.ok(progress.every(({loaded, total}) => loaded <= total));
  });

  test('a small file is not worth them', async () => {
    server.put(kUrl, kBytes.subarray(0, 12_000));
    await load(kUrl, {}, four());
    assert.deepEqual(ranges(), ['bytes=0-']);
  });

  test('a server that refuses more than one still works, without waiting', async () => {
    server.put(kUrl, kLarge, {faults: [null, {status: 429}, {status: 503}, {down: true}]});
    const {env} = await load(kUrl, {}, four());
    assert.deepEqual(readBytes(), Buffer.from(kLarge));
    assert.deepEqual(env.waits, []);
  });

  test('one that is cut is taken over by the others', async () => {
    server.put(kUrl, kLarge, {faults: [null, {cutAt: 5_000}, {endAt: 700}, {cutAt: 0}]});
    await load(kUrl, {}, four());
    assert.deepEqual(readBytes(), Buffer.from(kLarge));
  });

  test('the first one that is cut goes on while the others do', async () => {
    server.put(kUrl, kLarge, {faults: [null, null, null, null, {cutAt: 6_000}]});
    const {env} = await load(kUrl, {}, four());
    assert.deepEqual(readBytes(), Buffer.from(kLarge));
    assert.deepEqual(env.waits, [500]);
  });

  test('what all of them have is kept when the load is aborted', async () => {
    server.put(kUrl, kLarge);
    const control = new AbortController();
    const onProgress = ({phase, loaded}) => {
      if (phase === 'download' && loaded > 50_000) control.abort();
    };
    let now = 0;
    await assert.rejects(load(kUrl, {signal: control.signal, onProgress}, four({now: () => (now += 100)})),
      {name: 'CancelledError'});
    const [model] = await models().list();
    assert.ok(model.bytes > 48_000 && model.bytes < 60_000, `${model.bytes}`);
    server.requests = [];
    await load(kUrl, {}, four());
    assert.deepEqual(readBytes(), Buffer.from(kLarge));
    assert.ok(sent() < kLarge.length - model.bytes + ranges().length * 2 * server.chunkBytes, `${sent()} bytes`);
  });

  test('a file that changes between two of them is begun anew', async () => {
    server.put(kUrl, kLarge);
    const changed = fakeGguf(100_000, 7);
    let n = 0;
    const fetch = (url, init) => {
      if (++n === 3) server.put(kUrl, changed);
      return server.fetch(url, init);
    };
    await load(kUrl, {}, four({fetch}));
    assert.deepEqual(readBytes(), Buffer.from(changed));
  });

  test('a disk that is full ends all of them, with its own reason', async () => {
    server.put(kUrl, kLarge);
    disk.hardQuota = 40_000;
    await assert.rejects(load(kUrl, {}, four()), {code: 'quota'});
    const n = server.requests.length;
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(server.requests.length, n);
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
    await assert.rejects(load(), {name: 'InvalidArgumentError', message: /this is a web page/});
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
      await assert.rejects(load(), {name: 'InvalidArgumentError', message});
    });
  }
});

test('a page by https is told that it may not read from http', async () => {
  server.isOnline = false;
  const navigator = {onLine: true};
  const error = {name: 'NetworkError', message: /with https/};
  await assert.rejects(load('http://hub.example/m.gguf', {}, {navigator}), error);
});

describe('memory', () => {
  test('a model that a tab cannot hold is refused before it is downloaded', async () => {
    server.put(kUrl, kBytes);
    const message = /^m\.gguf needs 20000 B of memory for its weights, and memoryLimit allows 19999 B; use a smaller/;
    await assert.rejects(load(kUrl, {memoryLimit: 19_999}), {name: 'OutOfMemoryError', message});
    assert.deepEqual(await models().list(), []);
    await load(kUrl, {memoryLimit: 20_000});
  });

  test('what a tab gets is what the browser tells', () => {
    const most = (navigator, how = {isOnGpu: true}) => memoryOfTab({navigator}, how).most / 1e9;
    assert.equal(most({deviceMemory: 8}), Infinity);
    assert.equal(most({deviceMemory: 4}), 2.4);
    assert.equal(most({deviceMemory: 8, userAgentData: {mobile: true}}), 2.8);
    assert.equal(most({userAgent: 'Mozilla/5.0 (iPhone; …'}), 1.4);
    assert.equal(most({userAgent: 'Mozilla/5.0 (iPhone; …'}, {isOnGpu: true, limit: Infinity}), Infinity);
    assert.equal(most({deviceMemory: 8}, {isOnGpu: false}), 3.6);
    assert.equal(memoryOfTab({isNode: true, navigator: {}}, {isOnGpu: true}).most, Infinity);
  });
});
