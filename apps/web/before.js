// Where the browser cannot suspend a WebAssembly stack (JSPI), calls simply do not wait: the CPU backend needs none, as
// long as files are read without promises. Only this module sees the stand-ins.
var WebAssembly = globalThis.WebAssembly.Suspending ? globalThis.WebAssembly
  : Object.assign(Object.create(globalThis.WebAssembly), {
    Suspending: function Suspending(call) { return call; },
    promising: (call) => call,
  });
