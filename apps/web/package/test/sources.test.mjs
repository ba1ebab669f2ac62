// What may be loaded: folders, split files, names on Hugging Face, files of the user, files under Node.

import assert from 'node:assert/strict';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {beforeEach, describe, test} from 'node:test';
import {FakeCaches, fakeWorkerEnv} from '../fakes/browser.mjs';
import {fakeEngine} from '../fakes/engine.mjs';
import {FakeServer, fakeGguf} from '../fakes/server.mjs';
import {readerOfBlob} from '../lib/blob_reader.js';
import {environment} from '../lib/environment.js';
import {openNodeModel} from '../lib/node_model.js';
import {loadTern} from '../lib/tern.js';

const kBase = 'https://page.example/m/';
let server;
let engine;

beforeEach(() => {
  server = new FakeServer();
  engine = fakeEngine();
});

async function load(source, options = {}, more = {}) {
  const tern = await loadTern(fakeWorkerEnv({server, engine}, more), source, options);
  return {tern, path: engine.state.calls[0].params.path, files: Object.keys(engine.state.read).sort()};
}

function putAll(base, files) {
  for (const [path, body] of Object.entries(files)) server.put(base + path, body);
}

function safetensors() {
  const bytes = new Uint8Array(100);
  bytes[0] = 2;
  bytes.set([0x7b, 0x7d], 8);
  return bytes;
}

const kMlc = {
  'mlc-chat-config.json': '{}',
  'tensor-cache.json': JSON.stringify({
    records: [{dataPath: 'params_shard_0.bin', nbytes: 5000}, {dataPath: 'params_shard_1.bin', nbytes: 30}],
  }),
  'params_shard_0.bin': fakeGguf(5000, 3),
  'params_shard_1.bin': fakeGguf(30, 4),
  'tokenizer.json': '{"a": 1}',
};
const kHf = {
  'config.json': '{}',
  'model.safetensors.index.json': JSON.stringify({
    metadata: {total_size: 200},
    weight_map: {
      a: 'model-00001-of-00002.safetensors',
      b: 'model-00002-of-00002.safetensors',
      c: 'model-00001-of-00002.safetensors',
    },
  }),
  'model-00001-of-00002.safetensors': safetensors(),
  'model-00002-of-00002.safetensors': safetensors(),
  'tokenizer.json': '{}',
  'chat_template.jinja': '{{x}}',
};

describe('folders', () => {
  for (const [name, where] of [['by its name', kBase], ['without a slash', kBase.slice(0, -1)],
    ['by a file in it', `${kBase}mlc-chat-config.json`]]) {
    test(`MLC, ${name}`, async () => {
      putAll(kBase, kMlc);
      const {path, files} = await load(where);
      assert.equal(path, '/model/m');
      assert.deepEqual(files, Object.keys(kMlc).map((file) => `/model/m/${file}`).sort());
    });
  }

  test('MLC with an older index', async () => {
    const {'tensor-cache.json': index, ...rest} = kMlc;
    putAll(kBase, {...rest, 'ndarray-cache.json': index});
    assert.ok((await load(kBase)).files.includes('/model/m/params_shard_1.bin'));
  });

  test('Hugging Face, in shards, with what is there of the rest', async () => {
    putAll(kBase, kHf);
    const {files} = await load(kBase);
    assert.deepEqual(files, Object.keys(kHf).map((file) => `/model/m/${file}`).sort());
  });

  test('Hugging Face, one file', async () => {
    putAll(kBase, {'config.json': '{}', 'model.safetensors': safetensors()});
    assert.deepEqual((await load(kBase)).files, ['/model/m/config.json', '/model/m/model.safetensors']);
  });

  test('a whole folder is stored, and opened without a network', async () => {
    putAll(kBase, kHf);
    const env = fakeWorkerEnv({server, engine});
    await (await loadTern(env, kBase, {})).close();
    server.isOnline = false;
    engine.state.read = {};
    await loadTern(env, kBase, {});
    assert.equal(Object.keys(engine.state.read).length, Object.keys(kHf).length);
  });

  for (const [name, files, error, message] of [
    ['nothing there', {}, 'NotFoundError', /neither mlc-chat-config.json nor config.json/],
    ['no index', {'mlc-chat-config.json': '{}'}, 'NotFoundError', /no tensor-cache.json/],
    ['a missing shard', {...kMlc, 'params_shard_1.bin': undefined}, 'NotFoundError', /params_shard_1.bin/],
    ['a page for every file', {'config.json': '<!doctype html>', 'mlc-chat-config.json': '<!doctype html>'},
      'NotFoundError', /no folder of a model/],
    ['a shard elsewhere', {...kMlc, 'tensor-cache.json': '{"records": [{"dataPath": "../../x"}]}'},
      'CorruptionError', /cannot be right/],
    ['weights that are a page', {'config.json': '{}', 'model.safetensors': '<html>'}, 'InvalidArgumentError',
      /web page/],
  ]) {
    test(`not: ${name}`, async () => {
      for (const [path, body] of Object.entries(files)) if (body !== undefined) server.put(kBase + path, body);
      await assert.rejects(load(kBase), {name: error, message});
    });
  }
});

describe('GGUF', () => {
  test('all parts of a split file come, whichever is named, with the query', async () => {
    for (const i of [1, 2, 3]) server.put(`${kBase}x-0000${i}-of-00003.gguf?k=1`, fakeGguf(50, i));
    const {path, files} = await load(`${kBase}x-00002-of-00003.gguf?k=1`);
    assert.equal(path, '/model/x-00001-of-00003.gguf');
    assert.equal(files.length, 3);
  });

  test('an address without a telling name may be a file', async () => {
    server.put('https://page.example/download', fakeGguf(50));
    assert.deepEqual((await load('https://page.example/download')).files, ['/model/download']);
  });

  test('a file that is not what a model begins with', async () => {
    const error = {name: 'InvalidArgumentError', message: /the model's folder/};
    await assert.rejects(load(`${kBase}generation_config.json`), error);
  });
});

describe('Hugging Face', () => {
  const kHub = 'https://huggingface.co';
  const list = (paths, repository = 'o/n') => {
    const siblings = paths.map((rfilename) => ({rfilename, size: 50}));
    server.put(`${kHub}/api/models/${repository}/revision/main?blobs=true`, JSON.stringify({siblings}));
    for (const path of paths) server.put(`${kHub}/${repository}/resolve/main/${path}`, fakeGguf(50));
  };

  test('a file by its name asks for nothing else', async () => {
    server.put(`${kHub}/o/n/resolve/main/sub/x.gguf`, fakeGguf(50));
    const {files} = await load('hf:o/n/sub/x.gguf');
    assert.deepEqual(files, ['/model/x.gguf']);
    assert.equal(server.requests.length, 1);
  });

  test('another revision, another host', async () => {
    server.put('https://mirror.example/o/n/resolve/v1/x.gguf', fakeGguf(50));
    await load('hf:o/n@v1/x.gguf', {hub: 'https://mirror.example'});
  });

  for (const [name, paths, where, chosen] of [
    ['the only file', ['x.gguf', 'README.md', 'mmproj-x.gguf'], 'hf:o/n', 'x.gguf'],
    ['the page of the model', ['x.gguf'], 'https://huggingface.co/o/n', 'x.gguf'],
    ['the format that suits best', ['x-Q4_K_M.gguf', 'x-TQ2_0.gguf', 'x-i2_s.gguf'], 'hf:o/n', 'x-i2_s.gguf'],
    ['a part of the name', ['x-Q4_0.gguf', 'x-TQ2_0.gguf', 'x-Q2_0.gguf'], 'hf:o/n:q2_0', 'x-Q2_0.gguf'],
  ]) {
    test(`chooses ${name}`, async () => {
      list(paths);
      assert.deepEqual((await load(where)).files, [`/model/${chosen}`]);
    });
  }

  test('a folder', async () => {
    list(Object.keys(kHf));
    putAll(`${kHub}/o/n/resolve/main/`, kHf);
    const {tern, files} = await load('hf:o/n');
    assert.equal(files.length, Object.keys(kHf).length);
    assert.equal(tern.info.storage, 'opfs');
    assert.ok(!server.requests.some(({status}) => status === 404));
  });

  for (const [name, paths, where, error, message] of [
    ['several', ['a.gguf', 'b.gguf'], 'hf:o/n', 'NotFoundError',
      /several models to choose from: a.gguf, b.gguf; name one as hf:o\/n\/FILE/],
    ['none of that name', ['a.gguf'], 'hf:o/n:zz', 'NotFoundError', /there is no file 'zz'; there are a.gguf/],
    ['parts are missing', ['a-00001-of-00002.gguf'], 'hf:o/n', 'NotFoundError', /1 of 2 parts are missing/],
    ['no such model', ['a.gguf'], 'hf:o/other', 'NotFoundError', /hf:o\/other: there is no such model/],
    ['no such name', [], 'hf:o', 'InvalidArgumentError', /hf:OWNER\/NAME/],
  ]) {
    test(`not: ${name}`, async () => {
      list(paths);
      await assert.rejects(load(where), {name: error, message});
    });
  }
});

describe('files of the user', () => {
  const file = (name, bytes, path) => Object.assign(new File([bytes], name), path && {webkitRelativePath: path});
  const inPage = {FileReaderSync: undefined, canWriteFiles: false, caches: new FakeCaches()};

  test('a File, bytes, several of a split model, a folder', async () => {
    const bytes = fakeGguf(60);
    for (const [source, path, n] of [
      [file('a.gguf', bytes), '/model/a.gguf', 1],
      [new Blob([bytes]), '/model/model.gguf', 1],
      [bytes.buffer, '/model/model.gguf', 1],
      [{files: {'b.gguf': bytes}}, '/model/b.gguf', 1],
      [[file('x-00002-of-00002.gguf', bytes), file('x-00001-of-00002.gguf', bytes)], '/model/x-00001-of-00002.gguf', 2],
      [Object.keys(kHf).map((name) => file(name, kHf[name], `phi 3/${name}`)), '/model/phi_3', 6],
      [{length: 1, 0: file('list.gguf', bytes)}, '/model/list.gguf', 1],
    ]) {
      engine = fakeEngine();
      const {tern, path: got, files} = await load(source, {}, inPage);
      assert.equal(got, path);
      assert.equal(files.length, n);
      assert.equal(tern.info.storage, 'file');
      assert.deepEqual(server.requests, []);
    }
  });

  for (const [name, source, message] of [
    ['several models', [file('a.gguf', 'GGUF'), file('b.gguf', 'GGUF')],
      /several models among the files \(a.gguf, b.gguf\)/],
    ['a part alone', [file('x-00001-of-00002.gguf', 'GGUF')], /x-00002-of-00002.gguf is missing/],
    ['no model', [file('a.txt', ''), file('b.txt', '')], /the 2 files are no model/],
    ['nothing', [], /Tern.load wants an address/],
    ['a number', 5, /Tern.load wants an address/],
    ['an empty name', ' ', /address of the model is empty/],
    ['no address', 'http://[', /is no address/],
  ]) {
    test(`not: ${name}`, async () => {
      await assert.rejects(load(source, {}, inPage), {name: 'InvalidArgumentError', message});
    });
  }

  test('an address of a Blob is what it names, and nothing is stored', async () => {
    server.put('blob:https://page.example/1', fakeGguf(60));
    const {tern} = await load('blob:https://page.example/1', {}, inPage);
    assert.equal(tern.info.storage, 'file');
    assert.deepEqual(Buffer.from(engine.state.read['/model/model.gguf']), Buffer.from(fakeGguf(60)));
    server.isOnline = false;
    await assert.rejects(load('blob:https://page.example/2', {}, inPage), {name: 'NotFoundError', message: /blob:/});
  });

  test('small reads of a Blob come from blocks, and are right', async () => {
    const bytes = fakeGguf(3 << 20);
    let asked = 0;
    const FileReaderSync = class {
      readAsArrayBuffer(blob) {
        ++asked;
        return blob.bytes.slice().buffer;
      }
    };
    const blob = {size: bytes.length, slice: (begin, end) => ({bytes: bytes.subarray(begin, end)})};
    const reader = readerOfBlob({FileReaderSync}, blob);
    for (const [offset, n] of [[0, 4], [4, 100], [1000, 1 << 19], [1 << 20, 2 << 20], [7, 9], [(3 << 20) - 5, 5]]) {
      const into = new Uint8Array(n);
      reader.read(offset, into);
      assert.deepEqual(Buffer.from(into), Buffer.from(bytes.subarray(offset, offset + n)));
    }
    assert.equal(asked, 4);
    assert.throws(() => reader.read(3 << 20, new Uint8Array(1)));
  });

  test('addresses that cannot be fetched', async () => {
    await assert.rejects(load('ftp://x/y.gguf'), {name: 'NotSupportedError', message: /ftp:/});
  });
});

test('under Node, files on disk are read where they are', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'tern-'));
  t.after(() => rmSync(folder, {recursive: true}));
  writeFileSync(join(folder, 'a b.gguf'), fakeGguf(60));
  const env = {...environment(), isNode: true, Worker: undefined, locks: undefined, openFile: openNodeModel,
    importEngine: async () => ({default: engine.create})};
  const tern = await loadTern(env, pathToFileURL(join(folder, 'a b.gguf')), {backend: 'cpu'});
  assert.deepEqual(Buffer.from(engine.state.read['/model/a b.gguf']), Buffer.from(fakeGguf(60)));
  await tern.close();
  await (await loadTern(env, join(folder, 'a b.gguf'), {backend: 'cpu'})).close();
  const error = {name: 'NotFoundError', message: /no.gguf: there is no such file/};
  await assert.rejects(loadTern(env, join(folder, 'no.gguf')), error);
});
