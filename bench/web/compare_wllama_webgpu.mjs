#!/usr/bin/env node
// Tern's WebGPU against wllama's on the same adapter, in turns: tokens per second while decoding. Both WASM modules run
// under Node on the npm package webgpu (Dawn): Chromium's software adapter has no shader-f16, which wllama needs.
// VK_ICD_FILENAMES picks the Vulkan driver. Models: make_models.py.
//
// usage: compare_wllama_webgpu.mjs --modules DIR --tern DIST --model FILE [--gpu-without NAMES] [--tokens N]
//                                  [--rounds N] [--only NAME] [--log]
//   --modules      a node_modules with @wllama/wllama and webgpu
//   --tern         the folder of tern.js and tern.wasm
//   --gpu-without  what Tern is to do without, as serial (its kernels for drivers on the CPU), separated by commas
//   --only         tern or wllama: that one alone
//   --log          prints what the engines log
import {resolveObjectURL} from 'node:buffer';
import {spawn} from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {parseArgs} from 'node:util';
import {Worker} from 'node:worker_threads';

const kPrompt = 'Once upon a time';
const kContext = 256;
const kWarmUp = 4; // tokens; the first ones compile shaders
const kDawnFlags = ['enable-dawn-features=allow_unsafe_apis'];

/** Lets Dawn look for completed work once in 1 ms; at every turn of Node's loop it takes a core from the driver. */
function spareTheCpu() {
  globalThis.setImmediate = (call, ...args) => setTimeout(call, 1, ...args);
}

// What a browser's worker offers and wllama's asks for, put before its code. The glue takes Node for a browser once
// `process` is gone.
const kWorkerPrologue = `
const {parentPort: kPort, workerData: kData} = require('node:worker_threads');
const kFiles = require('node:fs');
${spareTheCpu}
spareTheCpu();
const kGpu = import(kData.webgpu).then(({create, globals}) => {
  Object.assign(globalThis, globals);
  Object.defineProperty(navigator, 'gpu', {value: create(kData.flags)});
});
Object.assign(globalThis, {
  self: globalThis,
  WorkerGlobalScope: Object,
  location: {href: 'http://localhost/'},
  fetch: async () => new Response(kFiles.readFileSync(kData.wasm), {headers: {'Content-Type': 'application/wasm'}}),
  postMessage: (data, transfer) => kPort.postMessage(data, transfer),
});
kPort.on('message', async (data) => {
  await kGpu;
  delete globalThis.process;
  globalThis.onmessage({data});
});
`;

/** The browser's Worker, for code behind a Blob's URL. */
function workerClass(workerData) {
  return class {
    #worker;
    #queue = []; // until the code has been read

    constructor(url) {
      resolveObjectURL(url).text().then((code) => {
        this.#worker = new Worker(kWorkerPrologue + code, {eval: true, workerData});
        this.#worker.on('message', (data) => this.onmessage?.({data}));
        this.#worker.on('error', (error) => this.onerror?.(error));
        for (const [data, transfer] of this.#queue) this.#worker.postMessage(data, transfer);
      });
    }

    postMessage(data, options) {
      const transfer = Array.isArray(options) ? options : options?.transfer;
      if (this.#worker) this.#worker.postMessage(data, transfer);
      else this.#queue.push([data, transfer]);
    }

    terminate() {
      this.#worker?.terminate();
    }
  };
}

/**
 * Tokens per second of Tern, its text and what it ran on.
 * @returns {Promise<{perSecond: number, text: string, adapter: string}>}
 */
async function measureTern({modules, tern, model, tokens, log, 'gpu-without': without}) {
  spareTheCpu();
  const {create, globals} = await import(pathToFileURL(path.resolve(modules, 'webgpu/index.js')));
  Object.assign(globalThis, globals);
  const {default: createTern} = await import(pathToFileURL(path.resolve(tern, 'tern.js')));
  const file = fs.openSync(model);
  const size = fs.fstatSync(file).size;
  const module = await createTern({
    gpu: create(kDawnFlags),
    onLog: (text) => log && console.error(text),
    files: {
      list: () => ['/model/model.gguf'],
      size: () => size,
      read(_, offset, into) {
        for (let at = 0, count; at < into.length; at += count) {
          count = fs.readSync(file, into, at, into.length - at, offset + at);
          if (count === 0) throw new Error(`${model}: ends before byte ${offset + into.length}`);
        }
      },
    },
  });
  const gpuWithout = without?.split(',') ?? [];
  const params = {path: '/model/model.gguf', backend: 'webgpu', nCtx: kContext, gpuWithout};
  const {adapter} = await module.call('load', params);
  const decode = async (maxTokens) => {
    await module.call('reset');
    await module.call('begin', {prompt: kPrompt, maxTokens, temperature: 0, ignoreEos: true});
    let text = '';
    for (let done = false; !done;) {
      const step = await module.call('step');
      text += step.text;
      done = step.done;
    }
    const {nGenerated, decodeSeconds} = await module.call('stats');
    return {perSecond: (nGenerated - 1) / decodeSeconds, text};
  };
  await decode(kWarmUp);
  return {...await decode(tokens), adapter: adapter.name};
}

/**
 * The same of wllama; throws where not all layers are on WebGPU.
 * @returns {Promise<{perSecond: number, text: string, adapter: string}>}
 */
async function measureWllama({modules, model, tokens, log}) {
  const folder = path.resolve(modules, '@wllama/wllama/esm');
  const workerData = {
    wasm: path.join(folder, 'wasm/wllama.wasm'),
    webgpu: pathToFileURL(path.resolve(modules, 'webgpu/index.js')).href,
    flags: kDawnFlags,
  };
  Object.assign(globalThis, {self: {location: {href: 'http://localhost/'}}, Worker: workerClass(workerData)});
  const {Wllama} = await import(pathToFileURL(path.join(folder, 'index.js')));
  const lines = [];
  const keep = (...texts) => {
    lines.push(texts.join(' '));
    if (log) console.error(...texts);
  };
  const logger = {debug: keep, log: keep, warn: keep, error: keep};
  const wllama = new Wllama({default: '/wllama.wasm'}, {logger, cacheManager: {}});
  try {
    await wllama.loadModel([await fs.openAsBlob(model)], {n_threads: 1, n_gpu_layers: 999, n_ctx: kContext});
    const [, done, all] = /offloaded (\d+)\/(\d+) layers to GPU/.exec(lines.join('\n')) ?? [];
    const offloaded = done && done === all && lines.some((line) => line.includes('using device WebGPU'));
    if (!offloaded) throw new Error('wllama has layers off WebGPU; --log says why (it needs an adapter with f16)');
    const decode = async (count) => {
      const {timings, choices} = await wllama.createCompletion({prompt: kPrompt, max_tokens: count, temperature: 0,
                                                                ignore_eos: true, cache_prompt: false});
      return {perSecond: timings.predicted_per_second, text: choices[0].text};
    };
    await decode(kWarmUp);
    const [, adapter] = /^ggml_webgpu: adapter_info: .*device_desc: (.*)$/m.exec(lines.join('\n')) ?? [];
    return {...await decode(tokens), adapter: adapter ?? 'an adapter that it does not name'};
  } catch (error) {
    if (!log) console.error(lines.slice(-10).join('\n'));
    throw error;
  }
}

const kMeasures = {tern: measureTern, wllama: measureWllama};

/** Runs this program for one measurement, as neither engine is to meet what the other left. */
function measureApart(name, args) {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), ...args, '--measure', name],
                      {stdio: ['ignore', 'pipe', args.includes('--log') ? 'inherit' : 'pipe']});
  const output = [];
  const errors = [];
  child.stdout.on('data', (data) => output.push(data));
  child.stderr?.on('data', (data) => errors.push(data));
  return new Promise((resolve, reject) => child.on('close', (code) => {
    const line = output.join('').split('\n').findLast((text) => text.startsWith('{'));
    if (code === 0 && line) return resolve(JSON.parse(line));
    reject(new Error(`${name} was not measured (exit status ${code})\n${errors.join('')}`));
  }));
}

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

async function main() {
  const {values} = parseArgs({options: {
    modules: {type: 'string'}, tern: {type: 'string'}, model: {type: 'string'}, only: {type: 'string'},
    'gpu-without': {type: 'string'}, tokens: {type: 'string', default: '32'},
    rounds: {type: 'string', default: '3'}, log: {type: 'boolean', default: false},
    measure: {type: 'string'}, // internal: what a child process measures
  }});
  if (!values.modules || !values.tern || !values.model || (values.only && !kMeasures[values.only])) {
    console.error('usage: compare_wllama_webgpu.mjs --modules DIR --tern DIST --model FILE [--gpu-without NAMES] ' +
      '[--tokens N] [--rounds N] [--only tern|wllama] [--log]');
    process.exit(2);
  }
  if (values.measure) {
    console.log(JSON.stringify(await kMeasures[values.measure]({...values, tokens: Number(values.tokens)})));
    process.exit(0); // Dawn's threads would keep the process
  }
  const names = values.only ? [values.only] : Object.keys(kMeasures);
  const results = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round < Number(values.rounds); ++round) {
    for (const name of names) {
      const result = await measureApart(name, process.argv.slice(2));
      results[name].push(result);
      console.log(`${name}: ${result.perSecond.toFixed(1)} tokens/s on ${result.adapter}`);
    }
  }
  if (values.only) return;
  const [tern, wllama] = names.map((name) => median(results[name].map(({perSecond}) => perSecond)));
  const texts = new Set(Object.values(results).flat().map(({text}) => text));
  const same = texts.size === 1 ? 'the same text' : `${texts.size} different texts`;
  console.log(`${path.basename(values.model)}, medians: tern ${tern.toFixed(1)}, wllama ${wllama.toFixed(1)} tokens/s` +
    `, ×${(tern / wllama).toFixed(2)}; ${same}`);
}

try {
  await main();
} catch (error) {
  console.error(`compare_wllama_webgpu: ${error.message}`);
  process.exit(1);
}
