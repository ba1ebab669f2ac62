// A web server for tests that can be told to fail: it serves the site, and models with faults of every kind.

import {createHash} from 'node:crypto';
import {once} from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';

const kTypes = {
  '.css': 'text/css; charset=utf-8', '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json', '.mjs': 'text/javascript; charset=utf-8', '.png': 'image/png', '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm', '.webmanifest': 'application/manifest+json',
};
const kPiece = 64 << 10;

/**
 * @typedef {object} Resource what a mounted path answers
 * @property {Buffer|string} from bytes, or the path of a file
 * @property {string} [type] its Content-Type
 * @property {number} [status] answered instead, always
 * @property {number} [failTimes] so many requests are answered with 500 first
 * @property {number} [cutAt] the connection is cut before this byte of the file, once …
 * @property {number} [cutTimes] … or so many times
 * @property {boolean} [ranges] false: every answer is the whole file
 * @property {boolean} [cors] pages of other origins may read it
 * @property {string|((request: number) => string)} [etag] by number of the request from 0; '' for none
 * @property {number} [bytesPerSecond] not faster than this
 * @property {number} [holdAt] once, nothing is sent from this byte of the file on until the client hangs up
 */

/** Bytes to send, piece by piece: models may be larger than what Node reads at once. @param {Buffer|string} from */
function openContent(from) {
  if (typeof from !== 'string') {
    return {
      size: from.length,
      etag: `"${createHash('sha256').update(from).digest('hex').slice(0, 16)}"`,
      read: (at, bytes) => from.subarray(at, at + bytes),
      close: () => {},
    };
  }
  const file = fs.openSync(from);
  const {size, mtimeMs, ino} = fs.fstatSync(file);
  return {
    size,
    etag: `"${ino}-${size}-${mtimeMs}"`,
    read: (at, bytes) => {
      const piece = Buffer.alloc(bytes);
      return piece.subarray(0, fs.readSync(file, piece, 0, bytes, at));
    },
    close: () => fs.closeSync(file),
  };
}

/** Until there is room for more, or nobody wants more. @param {http.ServerResponse} response */
function drained(response) {
  return new Promise((resolve) => {
    const go = () => {
      response.off('drain', go).off('close', go);
      resolve();
    };
    response.on('drain', go).on('close', go);
  });
}

/** Sends files of a folder, and what is mounted over them. Everything that was asked for is in `requests`. */
export class FixtureServer {
  /** @type {{path: string, method: string, range: string, ifRange: string, status: number, sent: number}[]} */
  requests = [];
  #root;
  #isolated;
  #port = 0;
  /** @type {http.Server|null} */
  #http = null;
  #sockets = new Set();
  /** @type {Map<string, {resource: Resource, asked: number, cuts: number, held: boolean}>} */
  #mounts = new Map();

  /**
   * @param {{root?: string, isolated?: boolean}} [options] root: the folder; isolated: pages get the headers that make
   *   them cross-origin isolated
   */
  static async start({root = '', isolated = true} = {}) {
    const server = new FixtureServer();
    server.#root = root && path.resolve(root);
    server.#isolated = isolated;
    await server.up();
    return server;
  }

  /** 'http://localhost:PORT/': a secure context, as WebGPU wants. */
  get url() {
    return `http://localhost:${this.#port}/`;
  }

  /** Listens, at the port of before where there was one. */
  async up() {
    if (this.#http) return;
    this.#http = http.createServer((request, response) => this.#answer(request, response));
    this.#http.keepAliveTimeout = 60_000;
    this.#http.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    await new Promise((resolve, reject) => {
      this.#http.once('error', reject).listen(this.#port, '127.0.0.1', resolve);
    });
    this.#port = this.#http.address().port;
  }

  /** As if the network were gone: connections are cut, new ones refused. */
  async down() {
    const server = this.#http;
    this.#http = null;
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => server ? server.close(resolve) : resolve());
  }

  /** @param {string} name path without the first slash @param {Resource} resource @returns {string} its address */
  mount(name, resource) {
    this.#mounts.set(`/${name}`, {resource, asked: 0, cuts: 0, held: false});
    return this.url + name;
  }

  /** @param {string} name what is there without it is there again */
  unmount(name) {
    this.#mounts.delete(`/${name}`);
  }

  /** Mounts every file of a folder. @param {string} name @param {string} folder @returns {string} its address */
  mountFolder(name, folder) {
    for (const file of fs.readdirSync(folder)) this.mount(`${name}/${file}`, {from: path.join(folder, file)});
    return `${this.url}${name}/`;
  }

  /** The requests for a path since `from`. @param {string} name @param {number} [from] */
  requestsFor(name, from = 0) {
    return this.requests.slice(from).filter((request) => request.path === `/${name}`);
  }

  #answer(request, response) {
    const name = decodeURIComponent(new URL(request.url, 'http://localhost').pathname);
    const {range = '', 'if-range': ifRange = ''} = request.headers;
    const entry = {path: name, method: request.method, range, ifRange, status: 0, sent: 0};
    this.requests.push(entry);
    const mounted = this.#mounts.get(name);
    const headers = this.#isolated ? {
      'cross-origin-opener-policy': 'same-origin', 'cross-origin-embedder-policy': 'require-corp',
      'cross-origin-resource-policy': 'same-origin',
    } : {};
    headers['cache-control'] = 'no-cache';
    const send = (status, text = '') => {
      entry.status = status;
      response.writeHead(status, {...headers, 'content-type': 'text/html; charset=utf-8'});
      response.end(text);
    };
    if (mounted?.resource.cors) {
      delete headers['cross-origin-resource-policy'];
      headers['access-control-allow-origin'] = '*';
      headers['access-control-expose-headers'] = 'etag, content-range, accept-ranges, last-modified';
      if (request.method === 'OPTIONS') {
        headers['access-control-allow-headers'] = 'range';
        return send(204);
      }
    }
    const resource = mounted?.resource ?? this.#fileOfSite(name);
    if (!resource) return send(404, '<!doctype html><title>Not found</title>');
    const number = mounted ? mounted.asked++ : 0;
    if (resource.status) return send(resource.status, '<!doctype html><title>No</title>');
    if (number < (resource.failTimes ?? 0)) return send(500, '<!doctype html><title>Oh no</title>');
    this.#send({resource, mounted, number, entry, headers, request, response});
  }

  /** @returns {Resource|null} */
  #fileOfSite(name) {
    if (!this.#root) return null;
    const file = path.join(this.#root, name.endsWith('/') ? `${name}index.html` : name);
    if (!file.startsWith(this.#root + path.sep) || !fs.statSync(file, {throwIfNoEntry: false})?.isFile()) return null;
    return {from: file, type: kTypes[path.extname(file)]};
  }

  async #send({resource, mounted, number, entry, headers, request, response}) {
    const content = openContent(resource.from);
    const given = resource.etag ?? content.etag;
    const etag = typeof given === 'function' ? given(number) : given;
    headers['content-type'] = resource.type ?? 'application/octet-stream';
    if (etag) headers.etag = etag;
    const hasRanges = resource.ranges !== false;
    if (hasRanges) headers['accept-ranges'] = 'bytes';
    const match = hasRanges && /^bytes=(\d+)-(\d*)$/.exec(entry.range);
    let [begin, end] = [0, content.size];
    entry.status = 200;
    if (match && (!entry.ifRange || entry.ifRange === etag)) {
      begin = Number(match[1]);
      end = Math.min(match[2] ? Number(match[2]) + 1 : content.size, content.size);
      if (begin >= end) {
        entry.status = 416;
        content.close();
        response.writeHead(416, {...headers, 'content-range': `bytes */${content.size}`});
        return response.end();
      }
      entry.status = 206;
      headers['content-range'] = `bytes ${begin}-${end - 1}/${content.size}`;
    }
    headers['content-length'] = end - begin;
    response.writeHead(entry.status, headers);
    if (request.method === 'HEAD') begin = end;
    const cuts = mounted && resource.cutAt > begin && resource.cutAt < end && mounted.cuts < (resource.cutTimes ?? 1);
    if (cuts) ++mounted.cuts;
    const holds = mounted && !mounted.held && resource.holdAt > begin && resource.holdAt < end;
    if (holds) mounted.held = true;
    const stop = cuts ? resource.cutAt : holds ? resource.holdAt : end;
    for (let at = begin; at < stop && !response.destroyed; at += kPiece) {
      const piece = content.read(at, Math.min(kPiece, stop - at));
      if (!response.write(piece)) await drained(response);
      entry.sent += piece.length;
      const ms = piece.length / (resource.bytesPerSecond ?? Infinity) * 1000;
      if (ms > 0) await new Promise((go) => setTimeout(go, ms));
    }
    content.close();
    if (holds && !response.destroyed) await once(response, 'close');
    // Cut after what was written, not with it: a reset would take bytes along that are still on their way.
    if (cuts) response.socket?.destroySoon();
    else response.end();
  }
}
