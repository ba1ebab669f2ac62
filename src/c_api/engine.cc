// Engines and sessions.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>

#include "c_api/error.h"
#include "c_api/handles.h"
#include "c_api/memory.h"
#include "c_api/options.h"
#include "tern/hub.h"
#include "tern/published.h"

using namespace tern;
using namespace tern::c_api;

namespace {

constexpr size_t kInfoSize = 112;  // in the first version
static_assert(sizeof(tern_model_info) == kInfoSize);

}  // namespace

tern_code tern_engine_load(const tern_load_options* options, tern_engine** engine, tern_error** error) {
  return guarded(error, [&] -> Result<void> {
    TRY_STATUS(given(engine, "engine"));
    TRY(const auto load, read_options(options));
    TRY(auto loaded, Engine::load(load));
    *engine = new tern_engine{std::make_shared<SharedEngine>(std::move(loaded))};
    return {};
  });
}

void tern_engine_free(tern_engine* engine) { delete engine; }

tern_code tern_engine_info(const tern_engine* engine, tern_model_info* info, tern_error** error) {
  return guarded(error, [&] -> Result<void> {
    TRY_STATUS(given(engine, "engine"));
    TRY_STATUS(given(info, "info"));
    const Engine& of = engine->shared->engine;
    const ModelInfo& known = of.info();
    return fill_struct(info,
                       {.size = sizeof(tern_model_info),
                        .path = known.path.c_str(),
                        .name = known.name.c_str(),
                        .architecture = known.architecture.c_str(),
                        .backend = known.backend.c_str(),
                        .head = known.head.c_str(),
                        .gpu = known.adapter ? known.adapter->name.c_str() : "",
                        .n_params = known.n_params,
                        .file_bytes = known.file_bytes,
                        .bytes_per_token = known.bytes_per_token,
                        .kv_bytes_per_token = known.kv_bytes_per_token,
                        .n_vocab = known.n_vocab,
                        .n_ctx = known.n_ctx,
                        .n_layers = known.n_layers,
                        .n_threads = known.n_threads,
                        .has_tokenizer = of.has_tokenizer(),
                        .has_chat_template = of.has_chat_template()},
                       kInfoSize, "tern_model_info");
  });
}

tern_code tern_default_model_path(char** path, tern_error** error) {
  return guarded(error, [&] -> Result<void> {
    TRY_STATUS(given(path, "path"));
    TRY(const auto found, default_model_path());
    *path = copied(found);
    return {};
  });
}

tern_code tern_pull(const char* model, const tern_pull_options* options, char** path, tern_error** error) {
  return guarded(error, [&] -> Result<void> {
    TRY_STATUS(given(model, "model"));
    TRY_STATUS(given(path, "path"));
    TRY(const auto pull, read_options(options));
    const PublishedModel* published = find_published_model(model);
    TRY(const auto found, hub_pull(published ? std::string(published->hub_name) : model, pull));
    *path = copied(found);
    return {};
  });
}

tern_code tern_session_new(tern_engine* engine, const tern_session_options* options, tern_session** session,
                           tern_error** error) {
  return guarded(error, [&] -> Result<void> {
    TRY_STATUS(given(engine, "engine"));
    TRY_STATUS(given(session, "session"));
    TRY(const auto wanted, read_options(options));
    const auto draft = wanted.draft ? options->draft->shared : nullptr;
    TRY(auto made, [&] {
      const Turn turn(*engine->shared, draft.get());
      return engine->shared->engine.new_session(wanted);
    }());  // the lock is released here: if the next lines fail, the session's destructor takes it
    *session = new tern_session{std::make_shared<SharedSession>(engine->shared, draft, std::move(made))};
    return {};
  });
}

void tern_session_free(tern_session* session) { delete session; }

int32_t tern_session_n_ctx(const tern_session* session) {
  if (!session) return 0;
  const Turn turn = session->turn();
  return session->session().n_ctx();
}

int32_t tern_session_n_used(const tern_session* session) {
  if (!session) return 0;
  const Turn turn = session->turn();
  return session->session().n_used();
}

void tern_session_reset(tern_session* session) {
  if (!session) return;
  const Turn turn = session->turn();
  session->session().reset();
}

tern_code tern_session_save_cache(tern_session* session, const char* path, tern_error** error) {
  return guarded(error, [&] -> Result<void> {
    TRY_STATUS(given(session, "session"));
    TRY_STATUS(given(path, "path"));
    const Turn turn = session->turn();
    return session->session().save_cache(path);
  });
}

tern_code tern_session_load_cache(tern_session* session, const char* path, bool* loaded, tern_error** error) {
  return guarded(error, [&] -> Result<void> {
    TRY_STATUS(given(session, "session"));
    TRY_STATUS(given(path, "path"));
    const Turn turn = session->turn();
    TRY(const bool found, session->session().load_cache(path));
    if (loaded) *loaded = found;
    return {};
  });
}

tern_code tern_session_logits(tern_session* session, const int32_t* tokens, size_t n_tokens, size_t first,
                              float* logits, size_t n_floats, tern_error** error) {
  return guarded(error, [&] -> Result<void> {
    TRY_STATUS(given(session, "session"));
    TRY_STATUS(given(tokens, "tokens"));
    TRY_STATUS(given(logits, "logits"));
    const auto n_vocab = static_cast<size_t>(session->shared->engine->engine.info().n_vocab);
    if (first >= n_tokens) {
      return fail(ErrorCode::kInvalidArgument, "logits from token {} on, of {} tokens", first, n_tokens);
    }
    const size_t n_rows = n_tokens - first;
    if (n_floats / n_vocab != n_rows || n_floats % n_vocab != 0) {
      return fail(ErrorCode::kInvalidArgument, "logits has room for {} numbers; {} rows of {} are asked for", n_floats,
                  n_rows, n_vocab);
    }
    const Turn turn = session->turn();
    return session->session().logits(std::span(tokens, n_tokens),
                                     [&](size_t i, std::span<const float> row) -> Result<void> {
                                       if (i >= first) std::ranges::copy(row, logits + (i - first) * n_vocab);
                                       return {};
                                     });
  });
}
