// A static server for the page: what browsers want of one before they give a page threads and let it work offline. It
// is written here because the package has no dependencies.

import {createReadStream} from 'node:fs';
import {realpath, stat} from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';

const kTypes = {
  '.css': 'text/css; charset=utf-8', '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json', '.svg': 'image/svg+xml', '.wasm': 'application/wasm', '.woff2': 'font/woff2',
};
const kHeaders = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-cache',  // it is asked for again, and answered with 304 where it is the same
  'Accept-Ranges': 'bytes',
};

/** @returns {string[] | null} the names of an address's path; null: it is not one that a file can have */
function namesOf(address) {
  let text;
  try {
    text = decodeURIComponent(address.split(/[?#]/, 1)[0]);
  } catch {
    return null;
  }
  if (!text.startsWith('/') || /[\0\\:]/.test(text)) return null;
  const names = text.split('/').filter((name) => name !== '' && name !== '.');
  return names.some((name) => name.startsWith('.')) ? null : names;
}

/** A file below a folder, also where links lead. */
async function fileIn(folder, names) {
  try {
    const root = await realpath(folder);
    const found = await realpath(path.join(root, ...names));
    const status = await stat(found);
    return found.startsWith(root + path.sep) && status.isFile() ? {path: found, status} : null;
  } catch {
    return null;
  }
}

/** The one range of a request. @returns {[number, number] | null | undefined} undefined: all; null: it cannot be met */
function rangeOf(header, size) {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  if (first === undefined || (first === '' && last === '')) return undefined;
  if (first === '') return Number(last) > 0 && size > 0 ? [Math.max(0, size - Number(last)), size - 1] : null;
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== '' && Number(last) < Number(first)) return undefined;
  return Number(first) < size ? [Number(first), end] : null;
}

function sendText(response, code, text) {
  const isHead = response.req.method === 'HEAD';
  response.writeHead(code, {...kHeaders, 'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': Buffer.byteLength(text), ...(code === 405 ? {Allow: 'GET, HEAD'} : {})});
  response.end(isHead ? undefined : text);
}

function sendFile(request, response, {path: file, status}) {
  const {size, mtimeMs} = status;
  const tag = `"${size.toString(16)}-${Math.floor(mtimeMs).toString(16)}"`;
  const headers = {...kHeaders, ETag: tag, 'Last-Modified': new Date(mtimeMs).toUTCString(),
    'Content-Type': kTypes[path.extname(file)] ?? 'application/octet-stream'};
  if (request.headers['if-none-match']?.split(/,\s*/).includes(tag)) {
    response.writeHead(304, headers).end();
    return;
  }
  const isOther = request.headers['if-range'] !== undefined && request.headers['if-range'] !== tag;
  const range = isOther ? undefined : rangeOf(request.headers.range, size);
  if (range === null) {
    response.writeHead(416, {...headers, 'Content-Range': `bytes */${size}`, 'Content-Length': 0}).end();
    return;
  }
  const [first, last] = range ?? [0, size - 1];
  if (range) headers['Content-Range'] = `bytes ${first}-${last}/${size}`;
  response.writeHead(range ? 206 : 200, {...headers, 'Content-Length': last - first + 1});
  if (request.method === 'HEAD' || size === 0) {
    response.end();
    return;
  }
  const stream = createReadStream(file, {start: first, end: last});
  stream.on('error', () => response.destroy());
  response.on('close', () => stream.destroy());
  stream.pipe(response);
}

/**
 * @param {{folders: {at: string[], folder: string}[], files?: Record<string, string>}} content folders by the names in
 *   front of theirs, of which the first that has a file is taken; and single files by their address
 * @returns {http.Server}
 */
export function pageServer({folders, files = {}}) {
  const find = async (names) => {
    const own = files[`/${names.join('/')}`];
    if (own) return fileIn(path.dirname(own), [path.basename(own)]);
    const wanted = names.length === 0 ? ['index.html'] : names;
    for (const {at, folder} of folders) {
      if (!at.every((name, i) => name === wanted[i])) continue;
      const found = await fileIn(folder, wanted.slice(at.length));
      if (found) return found;
    }
    return null;
  };
  return http.createServer(async (request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      sendText(response, 405, 'only GET and HEAD are possible\n');
      return;
    }
    const names = namesOf(request.url);
    const found = names && await find(names);
    if (found) sendFile(request, response, found);
    else sendText(response, 404, 'there is no such file\n');
  });
}
