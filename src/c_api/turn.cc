// Turns of a conversation with tools.
#include <string>
#include <string_view>

#include "c_api/error.h"
#include "c_api/handles.h"
#include "c_api/memory.h"
#include "c_api/options.h"

using namespace tern;
using namespace tern::c_api;

namespace {

Result<ChatMessage> read(const tern_turn& turn, std::string_view text, int32_t finish) {
  if (finish < TERN_FINISH_NONE || finish > TERN_FINISH_CANCELLED)
    return fail(ErrorCode::kInvalidArgument, "finish is {}, but can be 0 to {}", finish, int{TERN_FINISH_CANCELLED});
  ChatReplyOptions options = turn.turn.reply;
  options.id_seed = turn.id_seed;
  if (turn.holds.calls) options.stream_arguments = false;  // calls are told when they are complete
  ChatReplyParser parser(turn.turn.format, options);
  ChatMessage message{.role = "assistant"};
  append(message, parser.feed(turn.turn.begin));
  append(message, parser.feed(text));
  if (finish == TERN_FINISH_STOP_TOKEN) append(message, parser.feed(turn.turn.end));
  if (finish != TERN_FINISH_NONE) append(message, parser.finish());
  return message;
}

}  // namespace

tern_code tern_turn_new(const tern_engine* engine, const char* messages, size_t n_bytes,
                        const tern_turn_options* options, tern_turn** turn, tern_error** error) {
  return guarded(error, [&] -> Result<void> {
    TRY_STATUS(given(engine, "engine"));
    TRY_STATUS(given(messages, "messages"));
    TRY_STATUS(given(turn, "turn"));
    TRY(const TurnOptions wanted, read_options(options));
    TRY(const auto conversation, messages_from_json(std::string_view(messages, n_bytes)));
    ChatOptions chat{.think = wanted.think, .parse_special = wanted.parse_special};
    if (wanted.use.choice != ToolUse::Choice::kNone) chat.tools = wanted.use.tools;
    auto made = std::make_unique<tern_turn>();
    {
      const std::lock_guard own(engine->shared->mutex);
      TRY(auto prompt, engine->shared->engine.render_chat(conversation, chat));
      TRY(made->turn, chat_turn(engine->shared->engine.chat_format(), std::move(prompt), wanted.use, made->holds));
      made->tokens = engine->shared->engine.tokenizer().encode_chat(made->turn.prompt);
    }
    *turn = made.release();
    return {};
  });
}

void tern_turn_free(tern_turn* turn) { delete turn; }

const char* tern_turn_prompt(const tern_turn* turn, size_t* n_bytes) {
  if (n_bytes) *n_bytes = turn ? turn->turn.prompt.text.size() : 0;
  return turn ? turn->turn.prompt.text.c_str() : "";
}

const int32_t* tern_turn_tokens(const tern_turn* turn, size_t* n_tokens) {
  if (n_tokens) *n_tokens = turn ? turn->tokens.size() : 0;
  return turn ? turn->tokens.data() : nullptr;
}

tern_code tern_turn_read(const tern_turn* turn, const char* text, size_t n_bytes, int32_t finish, char** message,
                         size_t* n_message, tern_error** error) {
  return guarded(error, [&] -> Result<void> {
    TRY_STATUS(given(turn, "turn"));
    if (n_bytes > 0) TRY_STATUS(given(text, "text"));
    TRY_STATUS(given(message, "message"));
    TRY(const ChatMessage said, read(*turn, n_bytes > 0 ? std::string_view(text, n_bytes) : "", finish));
    const std::string json = message_to_json(said);
    *message = copied(std::string_view(json));
    if (n_message) *n_message = json.size();
    return {};
  });
}
