// The CPU's engine for browsers without relaxed SIMD, which the script of tern.wasm runs as well. For bundlers its name
// is literal.
var findPlain = () => Module['locateFile']?.('tern_plain.wasm', scriptDirectory)
  ?? new URL('tern_plain.wasm', import.meta.url).href;
