// How the engine is run in this browser.

import {withinTime} from './environment.js';
import {InvalidArgumentError, NotSupportedError} from './errors.js';

/**
 * @typedef {object} Flavor
 * @property {'webgpu' | 'threads' | 'relaxed' | 'simd'} name
 * @property {'webgpu' | 'cpu' | 'ref'} backend
 * @property {number} threads on the CPU, the engine's own included
 * @property {boolean} relaxed relaxed SIMD is used
 * @property {boolean} canWait files may be read with a Promise
 */

const kPackers = 4;

// () -> v128, of two instructions that only engines with the feature accept: i8x16.splat, and the dot product of bytes
// that the engine uses.
function module(...code) {
  const header = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 5, 1, 0x60, 0, 1, 0x7b, 3, 2, 1, 0];
  return new Uint8Array([...header, 10, code.length + 4, 1, code.length + 2, 0, ...code, 0x0b]);
}
const kSplat = [0x41, 1, 0xfd, 0x0f];
export const kSimdModule = module(...kSplat);
export const kRelaxedModule = module(...kSplat, ...kSplat, ...kSplat, 0xfd, 0x93, 2);

/** What an adapter that computes on the CPU is called; '' for others. @param {GPUAdapter} adapter */
function softwareName(adapter) {
  const {info = {}} = adapter;
  const name = info.description || info.device || info.architecture || '';
  const words = `${info.description} ${info.architecture} ${info.device}`;
  const isKnown = /swiftshader|llvmpipe|lavapipe|basic render/i.test(words);
  return info.isFallbackAdapter || adapter.isFallbackAdapter || isKnown ? name || 'a software adapter' : '';
}

/**
 * What this browser can do.
 * @param {import('./environment.js').Environment} env
 * @param {{gpu?: object, webAssembly?: typeof WebAssembly}} [given] a GPU of the caller's instead of the browser's
 * @returns {Promise<{simd: boolean, relaxed: boolean, threads: boolean, whyNoThreads: string, cpus: number,
 *   jspi: boolean, adapter: boolean, software: string, whyNoGpu: string}>} `software`: the name of an adapter that
 *   computes on the CPU
 */
export async function detect(env, {gpu = env.navigator?.gpu, webAssembly = env.webAssembly ?? WebAssembly} = {}) {
  const jspi = typeof webAssembly.Suspending === 'function';
  let whyNoGpu = '';
  let software = '';
  if (!gpu) {
    whyNoGpu = 'this browser has no WebGPU here';
  } else if (!jspi) {
    whyNoGpu = 'this browser has no JavaScript Promise Integration (JSPI), which WebGPU needs here';
  } else {
    try {
      const asked = gpu.requestAdapter({powerPreference: 'high-performance'});
      const adapter = await withinTime(env.startMs, 'no adapter came', asked);
      if (!adapter) whyNoGpu = 'WebGPU found no adapter';
      else software = softwareName(adapter);
    } catch (error) {
      whyNoGpu = `WebGPU does not work (${error.message})`;
    }
  }
  return {
    simd: webAssembly.validate(kSimdModule),
    relaxed: webAssembly.validate(kRelaxedModule),
    // A page may not wait for threads, only a worker may; those have FileReaderSync.
    threads: env.isNode || (env.crossOriginIsolated && env.FileReaderSync !== undefined),
    whyNoThreads: 'threads need a worker in a cross-origin isolated page (headers COOP and COEP)',
    cpus: env.navigator?.hardwareConcurrency ?? 1,
    jspi,
    adapter: whyNoGpu === '',
    software,
    whyNoGpu,
  };
}

/**
 * The ways to try, best first, and why better ones are not among them.
 * @param {{backend?: string, threads?: number}} wanted
 * @param {Awaited<ReturnType<typeof detect>>} can
 * @returns {{flavors: Flavor[], why: string[]}} NotSupportedError: what was asked for cannot be had here
 */
export function chooseFlavors({backend = 'auto', threads}, can) {
  if (!['auto', 'webgpu', 'cpu', 'ref'].includes(backend)) {
    throw new InvalidArgumentError(`backend ${JSON.stringify(backend)}: there are 'auto', 'webgpu' and 'cpu'`);
  }
  if (!can.simd) {
    throw new NotSupportedError('this browser has no WebAssembly SIMD, which Tern needs; use a newer one');
  }
  const why = [];
  const flavors = [];
  if (backend === 'webgpu' && !can.adapter) {
    throw new NotSupportedError(`backend 'webgpu': ${can.whyNoGpu}; use backend 'cpu' or another browser`);
  }
  if (backend === 'auto' && !can.adapter) why.push(`it runs on the CPU because ${can.whyNoGpu}`);
  const isSlow = backend === 'auto' && can.adapter && can.software !== '';
  if (isSlow) {
    why.push(`it runs on the CPU because the only GPU here (${can.software}) is an imitation that computes there, ` +
      'and slower');
  }
  if (can.adapter && !isSlow && backend !== 'cpu' && backend !== 'ref') {
    // They pack weights for the GPU while a model is loaded.
    const packers = can.threads ? Math.min(kPackers, can.cpus) : 1;
    for (const n of packers > 1 ? [packers, 1] : [1]) {
      flavors.push({name: 'webgpu', backend: 'webgpu', threads: n, relaxed: can.relaxed, canWait: can.jspi});
    }
  }
  if (backend === 'webgpu') return {flavors, why};

  const kind = backend === 'ref' ? 'ref' : 'cpu';
  const wanted = threads ?? can.cpus;
  const one = {backend: kind, threads: 1, relaxed: can.relaxed, canWait: can.jspi};
  if (wanted > 1 && can.threads) {
    flavors.push({...one, name: 'threads', threads: Math.min(wanted, can.cpus), canWait: false});
  } else if (wanted > 1) {
    why.push(`the CPU part has one thread because ${can.whyNoThreads}`);
  }
  if (!can.relaxed) why.push('the CPU part is slower because this browser has no relaxed SIMD');
  flavors.push({...one, name: can.relaxed ? 'relaxed' : 'simd'});
  return {flavors, why};
}

/** Whether the CPU may do what the GPU could not: never where the model itself is wrong. */
export function mayFallBack(error) {
  return ['not_supported', 'out_of_memory', 'not_found'].includes(error.code);
}
