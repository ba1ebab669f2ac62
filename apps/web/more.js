// The part of the GPU's engine that few models need (rare_functions.txt) is a file of its own, fetched when one of its
// functions is first called. Their places in the table have placeholders until then. Other threads than the first only
// pack weights for the GPU, and call none of them.
var findMore = () => Module['locateFile']?.('tern_gpu_more.wasm', scriptDirectory)
  ?? new URL('tern_gpu_more.wasm', import.meta.url).href;

var placeholders = (exportsOf) => {
  let coming = null;
  const fetchMore = async () => {
    try {
      const bytes = adapted(new Uint8Array(await readAsync(findMore())));
      await WebAssembly.instantiate(bytes, { primary: exportsOf() });
    } catch (error) {
      coming = null;  // the next call tries again
      throw new Error(`tern_gpu_more.wasm, a part of the engine, cannot be loaded: ${error.message ?? error}`);
    }
  };
  return new Proxy({}, {
    get: (_, index) => new WebAssembly.Suspending(async (...given) => {
      await (coming ??= fetchMore());
      return WebAssembly.promising(exportsOf()['__indirect_function_table'].get(Number(index)))(...given);
    }),
  });
};

if (ENVIRONMENT_IS_PTHREAD) {
  const placeholder = () => { throw new Error('a thread called a function of tern_gpu_more.wasm'); };
  Module['instantiateWasm'] = (imports, done) => {
    const withPlaceholders = { ...imports, 'placeholder.deferred': new Proxy({}, { get: () => placeholder }) };
    done(new WebAssembly.Instance(wasmModule, withPlaceholders), wasmModule);
    return {};
  };
}
