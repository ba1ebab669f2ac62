// Fits the module to the browser (make_adaptable.mjs says how). Beside Emscripten's own options it takes
//   threads   how many may compute, the caller's included; 1 (and the default) runs on any page
//   relaxed   false: the browser has no relaxed SIMD, so the CPU's engine is another file
//   onBytes   called when the engine's bytes are there: what comes then takes no network
// Only this module sees what is put in place of what a browser lacks.

// Where the browser cannot suspend a WebAssembly stack (JSPI), calls simply do not wait: the CPU backend needs none, as
// long as files are read without promises.
var WebAssembly = globalThis.WebAssembly.Suspending ? globalThis.WebAssembly
  : Object.assign(Object.create(globalThis.WebAssembly), {
    Suspending: function Suspending(call) { return call; },
    promising: (call) => call,
  });

Module['threads'] ??= 1;

// Emscripten waits for messages of other threads; on memory that is not shared there can be none.
var Atomics = Module['threads'] > 1 || ENVIRONMENT_IS_PTHREAD ? globalThis.Atomics
  : Object.assign(Object.create(globalThis.Atomics), {
    waitAsync: () => ({ async: true, value: { then() {} } }),
  });

// The bytes, changed if memory is not shared.
var adapted = (binary) => {
  // The bytes of the section "tern.adapt", parsed; the module's own sections come before it.
  const readAdaptations = (bytes) => {
    for (let at = 8; at < bytes.length;) {
      const id = bytes[at++];
      let length = 0;
      for (let shift = 0, byte = 128; byte >= 128; shift += 7) length |= ((byte = bytes[at++]) & 127) << shift;
      const name = new TextDecoder().decode(bytes.subarray(at + 1, at + 1 + bytes[at]));
      if (id === 0 && name === 'tern.adapt') {
        return JSON.parse(new TextDecoder().decode(bytes.subarray(at + 1 + name.length, at + length)));
      }
      at += length;
    }
    throw new Error('the engine’s .wasm file is not whole');
  };
  if (Module['threads'] > 1) return binary;
  const bytes = new Uint8Array(binary).slice();
  bytes[readAdaptations(bytes).shared] = 1;
  return bytes;
};

if (!ENVIRONMENT_IS_PTHREAD) {
  const findModule = () => (Module['relaxed'] === false && typeof findPlain !== 'undefined' ? findPlain()
    : findWasmBinary());
  // As CMakeLists.txt says. Where addresses are scarce, as on phones, memory that may grow so far is refused from the
  // start: then it may grow less.
  const makeMemory = (shared) => {
    for (let maximum = 65536; ; maximum /= 2) {
      try {
        return new WebAssembly.Memory({ initial: 128, maximum, shared });
      } catch (error) {
        if (maximum <= 8192) throw error;
      }
    }
  };
  Module['wasmMemory'] ??= makeMemory(Module['threads'] > 1);
  Module['instantiateWasm'] = (imports, done) => {
    const fetched = Module['wasmBinary'] ? Promise.resolve(Module['wasmBinary']) : getWasmBinary(findModule());
    let exports = null;
    if (typeof placeholders !== 'undefined') {
      imports['placeholder.deferred'] = placeholders(() => exports);
    }
    fetched.then((binary) => {
      Module['onBytes']?.();
      return WebAssembly.instantiate(adapted(binary), imports);
    }).then(({ instance, module }) => {
      exports = instance.exports;
      done(instance, module);
    }).catch((error) => abort(error));
    return {};
  };
}
