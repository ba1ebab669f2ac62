// The constraints of replies (token_constraint.cc) call Module.hold, which the package sets. A library for Emscripten's
// linker.
addToLibrary({
  tern_hold_start: (stripsSpace) => Module['hold'].start(stripsSpace),
  tern_hold_accept: (token) => Module['hold'].accept(token),
  tern_hold_allowed: (words, count) => Module['hold'].allowed(HEAPU8, words >>> 0, count * 8),
});
