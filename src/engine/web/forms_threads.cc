// What the C library for programs with threads calls of JavaScript. tern_forms.wasm has one thread, which never waits,
// so there is nothing to do (apps/web/link_forms).
extern "C" {
void _emscripten_init_main_thread_js(void*) {}
void _emscripten_thread_mailbox_await(void*) {}
void emscripten_check_blocking_allowed() {}
}
