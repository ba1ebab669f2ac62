// What bindings.cc tells the page while it works.
addToLibrary({
  // Emscripten's, for std::thread: as many as have been made ready.
  emscripten_num_logical_cores: () => Module['threads'],

  tern_app_progress__deps: ['$UTF8ToString'],
  tern_app_progress__sig: 'vpddp',
  tern_app_progress: (what, done, total, unit) => {
    Module['onProgress']?.(UTF8ToString(what), done, total, UTF8ToString(unit));
  },
});
