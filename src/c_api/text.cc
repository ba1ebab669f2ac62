// Text, tokens and conversations.
#include <span>
#include <string_view>
#include <vector>

#include "c_api/error.h"
#include "c_api/handles.h"
#include "c_api/memory.h"
#include "c_api/options.h"

using namespace tern;
using namespace tern::c_api;

namespace {

Result<void> has_tokenizer(const tern_engine* engine) {
  TRY_STATUS(given(engine, "engine"));
  if (engine->shared->engine.has_tokenizer()) return {};
  return fail(ErrorCode::kNotSupported, "{}: the model has no tokenizer", engine->shared->engine.info().path);
}

Result<void> only_flags(uint32_t flags, uint32_t known) {
  if ((flags & ~known) == 0) return {};
  return fail(ErrorCode::kInvalidArgument, "flags {:#x} have no meaning here", flags & ~known);
}

void give_tokens(const std::vector<TokenId>& ids, int32_t** tokens, size_t* n_tokens) {
  *tokens = copied(std::span<const int32_t>(ids));
  *n_tokens = ids.size();
}

// The caller holds the engine's lock.
Result<ChatPrompt> rendered(const tern_engine* engine, const tern_chat_message* messages, size_t n_messages,
                            const tern_chat_options* options) {
  TRY(const auto wanted, read_options(options));
  if (n_messages > 0) TRY_STATUS(given(messages, "messages"));
  std::vector<ChatMessage> conversation;
  for (const tern_chat_message& message : std::span(messages, n_messages)) {
    TRY_STATUS(given(message.role, "a message's role"));
    TRY_STATUS(given(message.content, "a message's content"));
    conversation.push_back({message.role, message.content});
  }
  return engine->shared->engine.render_chat(conversation, wanted);
}

void give_text(std::string_view made, char** text, size_t* n_bytes) {
  *text = copied(made);
  if (n_bytes) *n_bytes = made.size();
}

}  // namespace

tern_code tern_tokenize(const tern_engine* engine, const char* text, size_t n_bytes, uint32_t flags, int32_t** tokens,
                        size_t* n_tokens, tern_error** error) {
  return guarded(error, [&] -> Result<void> {
    TRY_STATUS(has_tokenizer(engine));
    if (n_bytes > 0) TRY_STATUS(given(text, "text"));
    TRY_STATUS(given(tokens, "tokens"));
    TRY_STATUS(given(n_tokens, "n_tokens"));
    TRY_STATUS(only_flags(flags, TERN_ADD_BOS | TERN_SPECIAL_TOKENS));
    const std::lock_guard turn(engine->shared->mutex);
    const auto ids = engine->shared->engine.tokenizer().encode(
        n_bytes > 0 ? std::string_view(text, n_bytes) : std::string_view(),
        {.add_bos = (flags & TERN_ADD_BOS) != 0, .parse_special = (flags & TERN_SPECIAL_TOKENS) != 0});
    give_tokens(ids, tokens, n_tokens);
    return {};
  });
}

tern_code tern_detokenize(const tern_engine* engine, const int32_t* tokens, size_t n_tokens, uint32_t flags,
                          char** text, size_t* n_bytes, tern_error** error) {
  return guarded(error, [&] -> Result<void> {
    TRY_STATUS(has_tokenizer(engine));
    if (n_tokens > 0) TRY_STATUS(given(tokens, "tokens"));
    TRY_STATUS(given(text, "text"));
    TRY_STATUS(only_flags(flags, TERN_SPECIAL_TOKENS));
    const std::vector<TokenId> ids(tokens, tokens + n_tokens);
    const std::lock_guard turn(engine->shared->mutex);
    give_text(engine->shared->engine.tokenizer().decode(ids, (flags & TERN_SPECIAL_TOKENS) != 0), text, n_bytes);
    return {};
  });
}

int32_t tern_find_token(const tern_engine* engine, const char* text) {
  if (!text || !has_tokenizer(engine)) return -1;
  const std::lock_guard turn(engine->shared->mutex);
  return engine->shared->engine.tokenizer().find(text).value_or(-1);
}

int32_t tern_bos_token(const tern_engine* engine) {
  if (!has_tokenizer(engine)) return -1;
  const std::lock_guard turn(engine->shared->mutex);
  return engine->shared->engine.tokenizer().bos().value_or(-1);
}

const int32_t* tern_stop_tokens(const tern_engine* engine, size_t* n_tokens) {
  if (n_tokens) *n_tokens = 0;
  if (!has_tokenizer(engine)) return nullptr;
  const std::lock_guard turn(engine->shared->mutex);
  const auto& ids = engine->shared->engine.tokenizer().stop_tokens();
  if (n_tokens) *n_tokens = ids.size();
  return ids.data();
}

tern_code tern_render_chat(const tern_engine* engine, const tern_chat_message* messages, size_t n_messages,
                           const tern_chat_options* options, char** text, size_t* n_bytes, tern_error** error) {
  return guarded(error, [&] -> Result<void> {
    TRY_STATUS(given(engine, "engine"));
    TRY_STATUS(given(text, "text"));
    const std::lock_guard turn(engine->shared->mutex);
    TRY(const ChatPrompt prompt, rendered(engine, messages, n_messages, options));
    give_text(prompt.text, text, n_bytes);
    return {};
  });
}

tern_code tern_tokenize_chat(const tern_engine* engine, const tern_chat_message* messages, size_t n_messages,
                             const tern_chat_options* options, int32_t** tokens, size_t* n_tokens, tern_error** error) {
  return guarded(error, [&] -> Result<void> {
    TRY_STATUS(has_tokenizer(engine));
    TRY_STATUS(given(tokens, "tokens"));
    TRY_STATUS(given(n_tokens, "n_tokens"));
    const std::lock_guard turn(engine->shared->mutex);
    TRY(const ChatPrompt prompt, rendered(engine, messages, n_messages, options));
    give_tokens(engine->shared->engine.tokenizer().encode_chat(prompt), tokens, n_tokens);
    return {};
  });
}
