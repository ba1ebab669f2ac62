// The page with the fake package: node dev/serve.mjs [PORT]. Nothing is built and nothing is kept by the browser.

import fs from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const kRoot = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const kTypes = {
  '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml',
  '.json': 'application/json', '.webmanifest': 'application/manifest+json', '.png': 'image/png',
};

const kIsolated = {'cross-origin-opener-policy': 'same-origin', 'cross-origin-embedder-policy': 'require-corp'};

/**
 * @param {number} [port] 0: any that is free
 * @param {{root?: string, headers?: Record<string, string>}} [options] another site; what is sent with each answer
 * @returns {Promise<{server: http.Server, url: string}>}
 */
export async function serve(port = 0, {root = kRoot, headers = kIsolated} = {}) {
  const server = http.createServer(async (request, response) => {
    let name = decodeURIComponent(new URL(request.url, 'http://localhost').pathname);
    if (name.endsWith('/')) name += 'index.html';
    if (root === kRoot && name === '/tern/index.js') name = '/dev/fake_tern.js';
    const isPublished = root === kRoot && name === '/tern/lib/published.js';
    const file = isPublished ? path.join(kRoot, '../package/lib/published.js') : path.join(root, path.normalize(name));
    try {
      const body = await fs.readFile(file);
      response.writeHead(200, {'content-type': kTypes[path.extname(file)] ?? 'application/octet-stream',
        'cache-control': 'no-store', ...headers});
      response.end(body);
    } catch {
      response.writeHead(404, {'content-type': 'text/plain'});
      response.end(`${name}: not found\n`);
    }
  });
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {server, url: `http://127.0.0.1:${server.address().port}/`};
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log((await serve(Number(process.argv[2] ?? 8100))).url);
}
