#!/usr/bin/env node
// Writes SITE/shell.json, which names the files of the page, the package and the engine with their SHA-256, and a
// version made from these. The service worker (sw.js) keeps exactly them: `files` at once, and of the engines, which
// are large and of which a browser uses one, those that were used. Usage: make_shell.mjs SITE

import {createHash} from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const kKinds = new Set(['.html', '.css', '.js', '.svg', '.woff2', '.wasm', '.webmanifest']);
const kNotServed = new Set(['models', 'dev', 'test', 'fakes', 'node_modules']);
// A service worker is kept by the browser itself.
const kNotKept = new Set(['sw.js']);

/**
 * @param {string} site folder
 * @returns {Promise<{version: string, files: Record<string, string>, engines: Record<string, string>}>}
 */
export async function shellOf(site) {
  const isKept = (file) => kKinds.has(path.extname(file)) && !kNotKept.has(file);
  const paths = (await filesBelow(site, '')).filter(isKept).sort();
  /** @type {Record<string, string>} */
  const files = {};
  /** @type {Record<string, string>} */
  const engines = {};
  for (const file of paths) {
    const sha256 = createHash('sha256').update(await fs.readFile(path.join(site, file))).digest('hex');
    (file.endsWith('.wasm') ? engines : files)[file] = sha256;
  }
  const version = createHash('sha256').update(JSON.stringify([files, engines])).digest('hex').slice(0, 16);
  return {version, files, engines};
}

/** @param {string} site @param {string} folder in it, '' or ending in '/' @returns {Promise<string[]>} with slashes */
async function filesBelow(site, folder) {
  const found = [];
  for (const entry of await fs.readdir(path.join(site, folder), {withFileTypes: true})) {
    const name = folder + entry.name;
    if (entry.isFile()) found.push(name);
    else if (entry.isDirectory() && !kNotServed.has(entry.name)) found.push(...await filesBelow(site, `${name}/`));
  }
  return found;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [site, ...more] = process.argv.slice(2);
  if (!site || more.length > 0) {
    console.error('usage: make_shell.mjs SITE');
    process.exit(2);
  }
  try {
    const shell = await shellOf(site);
    if (!shell.files['index.html']) throw new Error(`${site} has no index.html: name the folder of the finished site`);
    await fs.writeFile(path.join(site, 'shell.json'), `${JSON.stringify(shell, null, 1)}\n`);
  } catch (error) {
    console.error(`make_shell: ${error.message}`);
    process.exit(1);
  }
}
