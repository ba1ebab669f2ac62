// What this browser is and can, as data: for reports of what went wrong on machines that nobody here has.

import {detect} from './choose_flavor.js';
import {withinTime} from './environment.js';

/** The package's, as in package.json. */
export const kVersion = '0.2.0';

const kLimits = ['maxBufferSize', 'maxStorageBufferBindingSize', 'maxComputeWorkgroupStorageSize',
  'maxComputeInvocationsPerWorkgroup', 'maxStorageBuffersPerShaderStage'];

async function describeGpu(gpu, ms) {
  if (!gpu) return null;
  try {
    const asked = gpu.requestAdapter({powerPreference: 'high-performance'});
    const adapter = await withinTime(ms, 'no adapter came', asked);
    if (!adapter) return null;
    const {vendor = '', architecture = '', device = '', description = ''} = adapter.info ?? {};
    return {
      vendor, architecture, device, description,
      isFallback: Boolean(adapter.info?.isFallbackAdapter ?? adapter.isFallbackAdapter),
      features: [...adapter.features ?? []].sort(),
      limits: Object.fromEntries(kLimits.map((name) => [name, adapter.limits?.[name]])),
      wgsl: [...gpu.wgslLanguageFeatures ?? []].sort(),
    };
  } catch (error) {
    return {error: String(error?.message ?? error)};
  }
}

/**
 * @param {import('./environment.js').Environment} env
 * @returns {Promise<object>} plain data; nothing of it leaves the page by itself
 */
export async function diagnose(env) {
  const {simd, relaxed, jspi, cpus, whyNoGpu, software} = await detect(env);
  return {
    version: kVersion,
    browser: env.navigator?.userAgent ?? '',
    cpus,
    crossOriginIsolated: env.crossOriginIsolated,
    simd, relaxedSimd: relaxed, jspi,
    workers: env.Worker !== undefined,
    storage: env.navigator?.storage?.getDirectory ? 'opfs' : env.caches ? 'cache' : 'memory',
    gpu: await describeGpu(env.navigator?.gpu, env.startMs),
    whyNoGpu, software,
  };
}
