// A web server behind a fake fetch, with the faults that real ones have.

import {createHash} from 'node:crypto';

/** @returns {Uint8Array} a GGUF file as far as the package looks, with bytes that differ everywhere */
export function fakeGguf(size, seed = 1) {
  const bytes = new Uint8Array(size);
  for (let i = 0, x = seed; i < size; ++i) {
    x = (Math.imul(x, 1103515245) + 12345) | 0;
    bytes[i] = x >>> 16;
  }
  bytes.set(new TextEncoder().encode('GGUF').subarray(0, size));
  return bytes;
}

/**
 * What a file does beside being there. `faults` are used up one per request.
 * @typedef {object} Served
 * @property {Uint8Array | string} body
 * @property {string} [etag] by default of the body; '' for none
 * @property {boolean} [ranges] false: always the whole file
 * @property {boolean} [cors] false: other sites may not read it
 * @property {Record<string, string>} [headers]
 * @property {({status?: number, cutAt?: number, endAt?: number, stall?: boolean, down?: boolean} | null)[]} [faults]
 */
export class FakeServer {
  /** @type {Record<string, Served>} by address */
  files = {};
  /** @type {{url: string, range: string | null, status: number, sent: number}[]} */
  requests = [];
  isOnline = true;
  isIsolated = false;  // the page is cross-origin isolated
  chunkBytes = 700;

  constructor(origin = 'https://page.example') {
    this.origin = origin;
  }

  put(url, body, more = {}) {
    this.files[url] = {body, ...more};
  }

  fetch = async (url, {headers = {}, signal, mode, method = 'GET'} = {}) => {
    signal?.throwIfAborted();
    const log = {url, range: headers.range ?? null, ifRange: headers['if-range'] ?? null, status: 0, sent: 0};
    this.requests.push(log);
    if (!this.isOnline) throw new TypeError('Failed to fetch');
    const file = this.files[url];
    const fault = mode === 'no-cors' ? null : file?.faults?.shift();
    if (fault?.down) throw new TypeError('Failed to fetch');
    if (file?.cors === false && mode !== 'no-cors' && new URL(url).origin !== this.origin) {
      throw new TypeError('Failed to fetch');
    }
    if (mode === 'no-cors' && this.isIsolated) throw new TypeError('Failed to fetch');
    if (method === 'HEAD') return new Response(null, {status: 200});
    if (!file || fault?.status) {
      log.status = fault?.status ?? 404;
      return new Response('no', {status: log.status, headers: fault?.headers});
    }
    const response = this.#answer(file, headers, {fault, signal, log});
    log.status = response.status;
    return response;
  };

  #answer(file, headers, how) {
    const body = typeof file.body === 'string' ? new TextEncoder().encode(file.body) : file.body;
    const etag = file.etag ?? `"${createHash('md5').update(body).digest('hex')}"`;
    const answer = {...(etag ? {etag} : {}), ...file.headers};
    const range = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? '');
    const isSame = !headers['if-range'] || headers['if-range'] === etag;
    if (!range || !isSame || file.ranges === false) {
      return this.#stream(body, 200, {'content-length': String(body.length), ...answer}, how);
    }
    const begin = Number(range[1]);
    if (begin >= body.length) {
      return new Response(null, {status: 416, headers: {'content-range': `bytes */${body.length}`}});
    }
    const end = range[2] ? Math.min(Number(range[2]) + 1, body.length) : body.length;
    return this.#stream(body.subarray(begin, end), 206, {
      'content-length': String(end - begin),
      'content-range': `bytes ${begin}-${end - 1}/${body.length}`,
      ...answer,
    }, how);
  }

  #stream(body, status, headers, {fault, signal, log}) {
    let at = 0;
    let control;
    const stream = new ReadableStream({
      start: (controller) => {
        control = controller;
      },
      pull: async (controller) => {
        await new Promise((resolve) => setImmediate(resolve));
        if (signal?.aborted) return;
        if (fault?.stall) return new Promise(() => {});
        if (fault?.cutAt !== undefined && at >= fault.cutAt) return controller.error(new TypeError('network error'));
        if (at >= body.length || (fault?.endAt !== undefined && at >= fault.endAt)) return controller.close();
        const limit = Math.min(body.length, fault?.cutAt ?? Infinity, fault?.endAt ?? Infinity);
        const chunk = body.slice(at, Math.min(at + this.chunkBytes, limit));
        at += chunk.length;
        log.sent += chunk.length;
        controller.enqueue(chunk);
      },
    }, {highWaterMark: 0});
    signal?.addEventListener('abort', () => {
      try {
        control.error(signal.reason);
      } catch { /* it had ended */ }
    });
    return new Response(stream, {status, headers});
  }
}
