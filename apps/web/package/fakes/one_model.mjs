// A model on a server and a browser to load it in, anew for every test of the file that imports this.

import {beforeEach} from 'node:test';
import {FakeDisk, FakeLocks, fakeWorkerEnv} from './browser.mjs';
import {fakeEngine} from './engine.mjs';
import {FakeServer, fakeGguf} from './server.mjs';
import {StoredModels} from '../lib/model_store.js';
import {loadTern} from '../lib/tern.js';

export const kUrl = 'https://page.example/models/m.gguf';
export const kOther = 'https://hub.example/m.gguf';
export const kBytes = fakeGguf(20_000);  // five pieces of 4096 bytes, the last one short

export let server;
export let disk;
export let locks;
export let engine;

beforeEach(() => {
  server = new FakeServer();
  disk = new FakeDisk();
  locks = new FakeLocks();
  engine = fakeEngine();
});

/** Loads as a freshly opened page of the site would. */
export async function load(url = kUrl, options = {}, more = {}) {
  const env = fakeWorkerEnv({server, engine, disk, locks}, more);
  const progress = [];
  const tern = await loadTern(env, url, {onProgress: (one) => progress.push(one), ...options});
  return {tern, progress, env};
}

export function models(more = {}) {
  return new StoredModels(fakeWorkerEnv({server, engine, disk, locks}, more));
}

export function ranges() {
  return server.requests.map(({range}) => range);
}

export function readBytes(path = '/model/m.gguf') {
  return Buffer.from(engine.state.read[path]);
}

export function useEngine(other) {
  engine = other;
}
