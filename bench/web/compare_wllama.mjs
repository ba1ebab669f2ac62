#!/usr/bin/env node
// Tern against wllama in Chromium, on the CPU, or with --gpu on Chromium's WebGPU adapter, in turns: tokens per second while
// decoding, and on the CPU the processor time that a token took, which other programs on the machine disturb less. Models:
// make_models.py.
//
// usage: compare_wllama.mjs --modules DIR --tern DIST --model FILE [--gpu] [--threads N] [--tokens N] [--rounds N]
//                           [--only NAME]
//   --modules   a node_modules with @wllama/wllama and playwright-core
//   --tern      the folder of tern.js and tern.wasm
import fs from 'node:fs';
import http from 'node:http';
import {createRequire} from 'node:module';
import path from 'node:path';
import {parseArgs} from 'node:util';
import {findChromium} from '../../apps/web/tests/support/find_browsers.mjs';

const kTypes = {'.js': 'text/javascript', '.mjs': 'text/javascript', '.wasm': 'application/wasm', '.html': 'text/html'};

// In a worker of the page: loads the model and answers {n, threads} with the times of n tokens.
const kTernWorker = `
import createTern from '/tern/tern.js';
let module;
self.onmessage = async ({data: {load, gpu, threads, tokens}}) => {
  if (load) {
    const bytes = new Uint8Array(await (await fetch('/model')).arrayBuffer());
    module = await createTern({threads, ...(gpu ? {gpu: navigator.gpu} : {}), files: {
      list: () => ['/model/model.gguf'],
      size: () => bytes.length,
      read: (path, offset, into) => into.set(bytes.subarray(offset, offset + into.length)),
    }});
    const backend = gpu ? 'webgpu' : 'cpu';
    const info = await module.call('load', {path: '/model/model.gguf', backend, nThreads: threads, nCtx: 256});
    return self.postMessage({info});
  }
  await module.call('reset');
  await module.call('begin', {prompt: 'Once upon a time', maxTokens: tokens, temperature: 0, ignoreEos: true});
  while (!(await module.call('step')).done);
  const {nGenerated, decodeSeconds} = await module.call('stats');
  self.postMessage({perSecond: (nGenerated - 1) / decodeSeconds, count: nGenerated});
};`;

const kPages = {
  tern: `
const worker = new Worker('/tern_worker.js', {type: 'module'});
const ask = (message) => new Promise((resolve, reject) => {
  worker.onmessage = ({data}) => resolve(data);
  worker.onerror = ({message}) => reject(new Error(message));
  worker.postMessage(message);
});
window.load = (threads, gpu) => ask({load: true, threads, gpu});
window.decode = (tokens) => ask({tokens});`,
  wllama: `
import {Wllama, LoggerWithoutDebug} from '/wllama/index.js';
const wllama = new Wllama({default: '/wllama/wasm/wllama.wasm'}, {logger: LoggerWithoutDebug});
window.load = async (threads, gpu) => {
  const blob = await (await fetch('/model')).blob();
  await wllama.loadModel([blob], {n_threads: threads, n_gpu_layers: gpu ? 999 : 0, n_ctx: 256});
};
window.decode = async (tokens) => {
  const {timings} = await wllama.createCompletion({prompt: 'Once upon a time', max_tokens: tokens, temperature: 0,
                                                   ignore_eos: true, cache_prompt: false});
  return {perSecond: timings.predicted_per_second, count: timings.predicted_n};
};`,
};

function serve(options) {
  const folders = {tern: options.tern, wllama: path.join(options.modules, '@wllama/wllama/esm')};
  const server = http.createServer((request, response) => {
    const [, first, ...rest] = new URL(request.url, 'http://localhost').pathname.split('/');
    const headers = {'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp'};
    const send = (type, body) => response.writeHead(200, {...headers, 'Content-Type': type}).end(body);
    if (first === 'model') {
      response.writeHead(200, {...headers, 'Content-Length': fs.statSync(options.model).size});
      return fs.createReadStream(options.model).pipe(response);
    }
    if (first === 'tern_worker.js') return send('text/javascript', kTernWorker);
    if (first === 'page') return send('text/html', `<!doctype html><script type="module">${kPages[rest[0]]}</script>`);
    const file = folders[first] && path.join(folders[first], ...rest);
    if (!file || !fs.existsSync(file)) return response.writeHead(404).end();
    return send(kTypes[path.extname(file)] ?? 'application/octet-stream', fs.readFileSync(file));
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

/** Seconds that all renderers of the browser have computed. */
async function rendererSeconds(session) {
  const {processInfo} = await session.send('SystemInfo.getProcessInfo');
  return processInfo.filter(({type}) => type === 'renderer').reduce((sum, {cpuTime}) => sum + cpuTime, 0);
}

async function measure(browser, url, options) {
  const page = await browser.newPage();
  const session = await browser.newBrowserCDPSession();
  try {
    page.on('console', (message) => message.type() === 'error' && console.error(message.text()));
    page.on('pageerror', (error) => console.error(error.message));
    await page.goto(url);
    await page.waitForFunction(() => window.load, null, {timeout: 60_000});
    await page.evaluate(({threads, gpu}) => window.load(threads, gpu), options);
    await page.evaluate(() => window.decode(8)); // compiles
    const before = await rendererSeconds(session);
    const {perSecond, count} = await page.evaluate((tokens) => window.decode(tokens), options.tokens);
    return {perSecond, cpuMs: ((await rendererSeconds(session)) - before) * 1000 / count};
  } finally {
    await session.detach();
    await page.close();
  }
}

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

async function main() {
  const {values} = parseArgs({options: {
    modules: {type: 'string'}, tern: {type: 'string'}, model: {type: 'string'}, only: {type: 'string'}, gpu: {type: 'boolean', default: false},
    threads: {type: 'string', default: '1'}, tokens: {type: 'string', default: '48'}, rounds: {type: 'string', default: '3'},
  }});
  if (!values.modules || !values.tern || !values.model) {
    console.error('usage: compare_wllama.mjs --modules DIR --tern DIST --model FILE [--threads N] [--tokens N] [--rounds N]');
    process.exit(2);
  }
  const options = {...values, threads: Number(values.threads), tokens: Number(values.tokens)};
  const {chromium} = createRequire(path.resolve(options.modules, 'x.js'))('playwright-core');
  const server = await serve(options);
  const browser = await chromium.launch({executablePath: findChromium(), args: ['--no-sandbox', '--enable-unsafe-webgpu']});
  const results = {tern: [], wllama: []};
  try {
    for (let round = 0; round < Number(values.rounds); ++round) {
      for (const name of Object.keys(results)) {
        if (values.only && values.only !== name) continue;
        const result = await measure(browser, `http://127.0.0.1:${server.address().port}/page/${name}`, options);
        results[name].push(result);
        console.log(`${name}: ${result.perSecond.toFixed(1)} tokens/s, ${result.cpuMs.toFixed(1)} ms of processor time a token`);
      }
    }
  } finally {
    await browser.close();
    server.close();
  }
  if (values.only) return;
  const of = (name, key) => median(results[name].map((result) => result[key]));
  console.log(`${path.basename(options.model)}, ${options.threads} thread(s), medians: ` +
    `speed ×${(of('tern', 'perSecond') / of('wllama', 'perSecond')).toFixed(2)}, ` +
    `processor time ×${(of('wllama', 'cpuMs') / of('tern', 'cpuMs')).toFixed(2)} less`);
}

await main();
