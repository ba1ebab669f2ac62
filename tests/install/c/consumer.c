/* The default model is the library's own, its text can be had piece by piece, and errors have a code. */
#include <stdio.h>
#include <string.h>
#include <tern/tern.h>

static bool print_text(void* user, const char* text, size_t n_bytes) {
  return fwrite(text, 1, n_bytes, (FILE*)user) == n_bytes;
}

static int fail(tern_error* error, const char* what) {
  fprintf(stderr, "%s: %s\n", what, tern_error_message(error));
  tern_error_free(error);
  return 1;
}

int main(int argc, char** argv) {
  tern_engine* engine = NULL;
  tern_session* session = NULL;
  tern_error* error = NULL;
  int32_t* prompt = NULL;
  size_t n = 0;
  tern_model_info info = {0};
  tern_stats stats = {0};
  tern_generate_options options;
  tern_load_options load;

  if (argc != 2) return fail(NULL, "give the path of the model that is to be found");
  if (strcmp(tern_version(), TERN_VERSION_STRING) != 0) return fail(NULL, tern_version());
  if (tern_engine_load(NULL, &engine, &error)) return fail(error, "load");
  info.size = sizeof info;
  if (tern_engine_info(engine, &info, &error)) return fail(error, "info");
  if (strcmp(info.path, argv[1]) != 0) return fail(NULL, info.path);
  if (tern_session_new(engine, NULL, &session, &error)) return fail(error, "session");
  if (tern_tokenize(engine, "Once upon a time", 16, TERN_ADD_BOS, &prompt, &n, &error)) return fail(error, "tokenize");
  tern_generate_options_init(&options, sizeof options);
  options.max_tokens = 20;
  stats.size = sizeof stats;
  if (tern_generate(session, prompt, n, &options, print_text, stdout, &stats, &error)) return fail(error, "generate");
  if (stats.n_generated != 20) return fail(NULL, "the number of tokens");
  tern_free(prompt);
  tern_session_free(session);
  tern_engine_free(engine);

  tern_load_options_init(&load, sizeof load);
  load.model_path = "/nowhere.gguf";
  if (tern_engine_load(&load, &engine, &error) != TERN_NOT_FOUND) return fail(error, "a file that is not there");
  tern_error_free(error);
  return 0;
}
