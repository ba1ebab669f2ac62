// The constraints of replies (token_constraint.cc) call Module.tokenConstraint, which the package sets. A library for
// Emscripten's linker.
addToLibrary({
  tern_constraint_start: (stripsSpace) => Module['tokenConstraint'].start(stripsSpace),
  tern_constraint_accept: (token) => Module['tokenConstraint'].accept(token),
  tern_constraint_allowed: (words, count) => Module['tokenConstraint'].allowed(HEAPU8, words >>> 0, count * 8),
  tern_constraint_logits: (logits, count) => Module['tokenConstraint'].logits(HEAPU8.buffer, logits >>> 0, count),
});
