// The server of the page: what it sends, and what it keeps to itself.

import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import {after, before, describe, test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {pageServer} from '../serve/server.js';

const kCli = fileURLToPath(new URL('../serve/cli.js', import.meta.url));

describe('tern-web serve', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'tern_serve_'));
  const put = (name, text) => {
    mkdirSync(path.dirname(path.join(folder, name)), {recursive: true});
    writeFileSync(path.join(folder, name), text);
  };
  let server;
  let url;
  before(async () => {
    put('site/index.html', '<!doctype html>');
    put('site/a b.js', 'let a;');
    put('site/models/tern-stories.gguf', '0123456789');
    put('site/.hidden', 'secret');
    put('dist/tern.wasm', '\0asm');
    put('secret.txt', 'secret');
    put('site_other/x.txt', 'secret');
    symlinkSync(path.join(folder, 'secret.txt'), path.join(folder, 'site/link.txt'));
    server = pageServer({folders: [{at: [], folder: path.join(folder, 'site')},
      {at: ['tern', 'dist'], folder: path.join(folder, 'dist')}]});
    await once(server.listen(0, '127.0.0.1'), 'listening');
    url = `http://127.0.0.1:${server.address().port}`;
  });
  after(() => {
    server.close();
    rmSync(folder, {recursive: true});
  });

  test('files, with the headers that threads need', async () => {
    for (const [address, type, text] of [['/', 'text/html; charset=utf-8', '<!doctype html>'],
      ['/a%20b.js?x=../y', 'text/javascript; charset=utf-8', 'let a;'],
      ['/tern/dist/tern.wasm', 'application/wasm', '\0asm']]) {
      const response = await fetch(url + address);
      assert.equal(response.status, 200, address);
      assert.equal(response.headers.get('content-type'), type);
      assert.equal(response.headers.get('cross-origin-opener-policy'), 'same-origin');
      assert.equal(response.headers.get('cross-origin-embedder-policy'), 'require-corp');
      assert.equal(await response.text(), text);
      const again = await fetch(url + address, {headers: {'if-none-match': response.headers.get('etag')}});
      assert.equal(again.status, 304);
    }
    const head = await fetch(url, {method: 'HEAD'});
    assert.deepEqual([head.status, head.headers.get('content-length'), await head.text()], [200, '15', '']);
    assert.equal((await fetch(url, {method: 'POST'})).status, 405);
  });

  test('ranges', async () => {
    for (const [range, status, text, told] of [['bytes=2-4', 206, '234', 'bytes 2-4/10'],
      ['bytes=8-', 206, '89', 'bytes 8-9/10'], ['bytes=-3', 206, '789', 'bytes 7-9/10'],
      ['bytes=5-99', 206, '56789', 'bytes 5-9/10'], ['bytes=10-', 416, '', 'bytes */10'],
      ['bytes=1-2,4-5', 200, '0123456789', null], ['bytes=4-2', 200, '0123456789', null]]) {
      const response = await fetch(`${url}/models/tern-stories.gguf`, {headers: {range}});
      assert.deepEqual([response.status, await response.text(), response.headers.get('content-range')],
        [status, text, told], range);
    }
    const headers = {range: 'bytes=2-', 'if-range': '"other"'};
    const changed = await fetch(`${url}/models/tern-stories.gguf`, {headers});
    assert.equal(changed.status, 200);
    await changed.text();
  });

  // As they are: fetch would tidy the addresses.
  const raw = async (address) => {
    const socket = net.connect(server.address().port, '127.0.0.1');
    socket.write(`GET ${address} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    let text = '';
    for await (const chunk of socket) text += chunk;
    return text;
  };

  test('nothing outside of its folders', async () => {
    for (const address of ['/../secret.txt', '/%2e%2e/secret.txt', '/..%2fsecret.txt', '/a/../../secret.txt',
      '/..%5csecret.txt', '/%2e%2e%5csecret.txt', '//../secret.txt', '/link.txt', '/.hidden', '/%00', '/%',
      '/site_other', '/../site_other/x.txt', '/tern/dist/../../secret.txt', `/${folder}/secret.txt`, 'secret.txt',
      '/models', '/C:/x']) {
      const answer = await raw(address);
      assert.match(answer, /^HTTP\/1\.1 40[04] /, address);
      assert.ok(!/\r\n\r\nsecret/.test(answer), address);
    }
    assert.match(await raw('/index.html'), /^HTTP\/1\.1 200 /);
  });

  const run = async (...args) => {
    const child = spawn(process.execPath, [kCli, ...args], {stdio: ['ignore', 'pipe', 'pipe']});
    let said = '';
    child.stderr.on('data', (data) => {
      said += data;
    });
    const [line] = await Promise.race([once(child.stdout, 'data'), once(child, 'close')]);
    return {child, line: String(line).trim(), said: () => said};
  };

  test('the command', async () => {
    const site = path.join(folder, 'site');
    const {child, line} = await run('serve', '--site', site, '--port', '0', '--model', path.join(folder, 'secret.txt'));
    assert.match(line, /^http:\/\/127\.0\.0\.1:\d+\/$/);
    assert.equal(await (await fetch(`${line}models/tern-stories.gguf`)).text(), 'secret');
    const taken = await run('serve', '--site', site, '--port', new URL(line).port);
    assert.match(taken.said(), /in use; take another/);
    child.kill('SIGTERM');
    assert.equal((await once(child, 'close'))[0], 0);
    for (const [args, words] of [[['serve', '--port', 'x'], /whole number/], [['serf'], /command is serve/],
      [['serve', '--site', folder], /no index\.html/], [['serve', '--banana'], /banana/],
      [['serve', '--site', site, '--model', 'none.gguf'], /none\.gguf: no such file/]]) {
      assert.match((await run(...args)).said(), words);
    }
  });
});
