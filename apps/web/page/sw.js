// Keeps the page, the package and the engine (not models: the package keeps those) and serves them without a network.
// A version is all files that shell.json names, each checked by its SHA-256; it is used from the first load after the
// last of them came, never in part. Of the engines it has those that the page said it uses. What is served carries the
// headers that threads need, whatever the host sends.

const kState = 'tern-shell';          // one entry: {current, next}, names of versions
const kPrefix = 'tern-shell-';        // + version: its files
const kEnginesKey = new URL('shell-engines', registration.scope).href;
const kStateKey = new URL('shell-state', registration.scope).href;
const kHeaders = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
  'cross-origin-resource-policy': 'same-origin',
};

addEventListener('install', (event) => {
  event.waitUntil(update().then(() => self.skipWaiting()));
});

addEventListener('activate', (event) => {
  event.waitUntil(self.clients.claim());
});

addEventListener('message', (event) => {
  const {engine} = event.data ?? {};  // the file of an engine that the page uses, below the page
  if (event.data !== 'state' && typeof engine !== 'string') return;
  event.waitUntil((async () => {
    await update();
    if (engine) await keepEngine(engine).catch(() => {});
    const state = await readState();
    event.source.postMessage({...state, isWhole: await isWhole(state)});
  })());
});

addEventListener('fetch', (event) => {
  const {request} = event;
  if (request.method !== 'GET' || !request.url.startsWith(registration.scope) || request.headers.has('range')) return;
  if (request.url.slice(registration.scope.length).startsWith('models/')) return;
  event.respondWith(answer(request));
});

/** @param {Request} request */
async function answer(request) {
  const isPage = request.mode === 'navigate';
  const state = isPage ? await takeOver() : await readState();
  if (state.current) {
    const url = new URL(request.url);
    if (url.pathname.endsWith('/')) url.pathname += 'index.html';
    const kept = await keptFile(state.current, url.href, {ignoreSearch: true, ignoreVary: true});
    if (kept) return isolated(kept);
  }
  return isolated(await fetch(request));
}

/** @param {Response} response */
function isolated(response) {
  if (response.type === 'opaque' || response.type === 'opaqueredirect' || response.type === 'error') return response;
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(kHeaders)) headers.set(name, value);
  const {status, statusText} = response;
  return new Response([204, 304].includes(status) ? null : response.body, {status, statusText, headers});
}

/** A page is loaded: the version that has come meanwhile is the current one from now on. */
async function takeOver() {
  const state = await readState();
  if (!state.next) return state;
  const now = {current: state.next, next: null};
  await writeState(now);
  for (const name of await caches.keys()) {
    if (name.startsWith(kPrefix) && name !== kPrefix + now.current) await caches.delete(name);
  }
  return now;
}

let updating = null;

/** Fetches the newest version if it is not here yet. Never rejects: without a network things stay as they are. */
function update() {
  updating ??= fetchVersion().catch(() => {}).finally(() => {
    updating = null;
  });
  return updating;
}

async function fetchVersion() {
  const response = await fetch(new URL('shell.json', registration.scope), {cache: 'no-cache'});
  if (response.status === 404 && (await readState()).current) await makeWay();
  if (!response.ok) return;
  const {version, files, engines} = await response.json();
  const state = await readState();
  if (version === state.current || version === state.next) return;
  const used = await usedEngines(state, engines);
  const name = kPrefix + version;
  const cache = await caches.open(name);
  try {
    await Promise.all(Object.entries({...files, ...used}).map(([path, sha256]) => fetchFile(cache, path, sha256)));
    await cache.put(kEnginesKey, new Response(JSON.stringify(engines)));
  } catch (error) {
    await caches.delete(name);
    throw error;
  }
  await writeState(state.current ? {...await readState(), next: version} : {current: version, next: null});
}

/**
 * Something else is at this address now, such as a server with a page of its own: forgets what was kept and shows that.
 * The worker that may stand there does not suffice, since it has to wait until this one has nothing left to do.
 */
async function makeWay() {
  for (const name of await caches.keys()) {
    if (name.startsWith(kState)) await caches.delete(name);
  }
  await registration.unregister();
  for (const tab of await clients.matchAll({type: 'window'})) await tab.navigate(tab.url).catch(() => {});
}

/** Whether a page of the current version would have an engine, too. */
async function isWhole({current}) {
  if (!current) return false;
  const engines = await (await keptFile(current, kEnginesKey))?.json() ?? {};
  return Object.keys(engines).length === 0 || Object.keys(await usedEngines({current}, engines)).length > 0;
}

/** Those of `engines` that the current version has. */
async function usedEngines({current}, engines) {
  const used = {};
  for (const [path, sha256] of Object.entries(engines)) {
    if (current && await keptFile(current, new URL(path, registration.scope).href)) used[path] = sha256;
  }
  return used;
}

/**
 * @param {string} engine that the page uses. It has just come, so that this takes no network as a rule. Parts of
 *   engines that have come as well are kept with it.
 */
async function keepEngine(engine) {
  const {current} = await readState();
  if (!current) return;  // opening its cache would make one
  const known = await (await keptFile(current, kEnginesKey))?.json() ?? {};
  const cache = await caches.open(kPrefix + current);
  for (const [path, sha256] of Object.entries(known)) {
    if (await keptFile(current, new URL(path, registration.scope).href)) continue;
    if (path === engine) await fetchFile(cache, path, sha256, {cache: 'default'});
    else await fetchFile(cache, path, sha256, {cache: 'only-if-cached', mode: 'same-origin'}).catch(() => {});
  }
}

/** A file of a version. Where there is no such version, none is made by looking. */
function keptFile(version, url, options = {}) {
  return caches.match(url, {cacheName: kPrefix + version, ...options});
}

async function fetchFile(cache, path, sha256, how = {cache: 'no-cache'}) {
  const url = new URL(path, registration.scope).href;
  const response = await fetch(url, how);
  if (!response.ok) throw new Error(`${path}: HTTP ${response.status}`);
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', await response.clone().arrayBuffer()));
  const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
  if (hex !== sha256) throw new Error(`${path} is not the file that shell.json names`);
  await cache.put(url, response);
}

async function readState() {
  const entry = await caches.match(kStateKey, {cacheName: kState});
  const none = {current: null, next: null};
  if (!entry) return none;
  const state = await entry.json();
  // The browser may have thrown a cache away when it ran short of space.
  return state.current && !await caches.has(kPrefix + state.current) ? none : state;
}

async function writeState(state) {
  await (await caches.open(kState)).put(kStateKey, new Response(JSON.stringify(state)));
}
