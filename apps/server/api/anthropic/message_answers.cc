#include "server/api/anthropic/message_answers.h"

#include <array>
#include <utility>

#include "base/text/format_text.h"
#include "server/api/anthropic/message_request.h"
#include "server/api/anthropic/message_writer.h"
#include "server/api/replies/begun_reply.h"
#include "server/api/replies/mcp_rounds.h"
#include "server/api/replies/thinking.h"

namespace tern::server::anthropic {
namespace {

// Each of these promises something. Others, such as metadata, service_tier, cache_control and what new betas bring,
// change nothing here.
constexpr std::array<std::string_view, 14> kPromises = {
    "mcp_servers",    "container",       "guided_json", "guided_regex",       "guided_choice",
    "guided_grammar", "grammar",         "json_schema", "structured_outputs", "format",
    "functions",      "response_format", "compaction",  "fallbacks"};

void refuse_promises(Fields& fields) {
  fields.refuse(kPromises, "is not supported");
  fields.within("output_config", [](Fields& config) {
    if (config.find("task_budget")) {
      config.fail("task_budget", "is not supported: no model here was taught to keep one; max_tokens limits a reply");
    }
  });
  std::string place = "global";
  fields.read("inference_geo", place);
  if (place != "global") fields.fail("inference_geo", "is not supported: the model runs where this server does");
}

// The number of input tokens from which on a client expects that the conversation is summarized; none: never.
std::optional<int64_t> read_edits(Fields& fields) {
  constexpr int64_t kUsual = 150'000;
  std::optional<int64_t> least;
  fields.within("context_management", [&](Fields& management) {
    const Json* edits = management.find("edits");
    if (edits && !edits->is_array()) return management.fail("edits", "must be a list");
    for (size_t i = 0; edits && i < edits->size(); ++i) {
      management.within_element("edits", i, [&](Fields& edit) {
        std::string type;
        edit.read("type", type);
        if (!type.starts_with("compact")) return;
        least = kUsual;
        edit.within("trigger", [&](Fields& trigger) { trigger.read("value", *least, {0, 1e12}); });
      });
    }
  });
  return least;
}

// {"type": "json_schema", "schema": …}, in `output_format` or in `output_config.format`.
ApiResult<GrammarPtr> read_output_format(Fields& fields, GrammarCache& grammars) {
  const Json* schema = nullptr;
  std::string path;
  const auto read = [&](Fields& format) {
    std::string type;
    format.read("type", type);
    schema = format.find("schema");
    path = format.path_of("schema");
    if (type != "json_schema") return format.fail("type", format_text("'{}' is not json_schema", type.substr(0, 40)));
    if (!schema) format.fail("schema", "is missing");
  };
  fields.within("output_format", read);
  fields.within("output_config", [&](Fields& config) { config.within("format", read); });
  TRY_STATUS(fields.check());
  if (!schema) return nullptr;
  return grammars.get(GrammarCache::Kind::kJsonSchema, dump(*schema), path);
}

struct ReadConversation {
  ConversationPrompt prompt;
  std::shared_ptr<McpRounds> rounds;
  std::optional<int64_t> summarized_from = {};  // see read_edits()
};

ApiResult<ReadConversation> read_conversation(Fields& fields, const ModelProfile& model, GenerateOptions& generate) {
  refuse_promises(fields);
  const std::optional<int64_t> summarized_from = read_edits(fields);
  if (const Json* thread = fields.find("thread"); thread && *thread != false) {
    return refuse("thread: is not supported; send the whole conversation", "thread", "thread_unsupported_request");
  }
  ChatOptions chat{.parse_special = model.defaults.parse_special};
  read_thinking(fields, model.engine, {.chat = chat, .limit = generate.thoughts});
  TRY(generate.grammar, read_output_format(fields, model.grammars));
  TRY(std::vector<ChatMessage> messages, read_message_list(fields));
  TRY(const std::string mcp, read_mcp(fields, model, 1));
  TRY(const ToolUse tools, read_message_tools(fields, mcp));
  ReadConversation read{.prompt = {},
                        .rounds = mcp_rounds(mcp, model, messages, "messages", chat, tools, generate),
                        .summarized_from = summarized_from};
  TRY(read.prompt, make_continued_prompt(messages, "messages", chat, tools, model, generate));
  return read;
}

// In words that clients look for in order to shorten the conversation.
ApiResult<void> check_length(size_t n_tokens, int n_ctx) {
  if (n_tokens == 0) return refuse("messages: have no text", "messages");
  if (n_tokens <= static_cast<size_t>(n_ctx)) return {};
  return refuse(format_text("prompt is too long: {} tokens > {} maximum; shorten it, or start the server with a larger "
                            "--ctx",
                            n_tokens, n_ctx),
                "messages", "context_length_exceeded");
}

}  // namespace

ApiResult<Asked> read_message(const Json& body, const ModelProfile& model, const Client& /*client*/) {
  Fields fields(body);
  ReplyOptions options = read_reply_options(fields, model.defaults, model.engine);
  options.n = 1;
  std::optional<int> max_tokens;
  fields.read("max_tokens", max_tokens, Fields::Range{1, std::numeric_limits<int>::max()});
  if (!max_tokens) fields.fail("max_tokens", "is missing");
  read_stops(fields, "stop_sequences", options.generate.stop);
  TRY_STATUS(fields.check());
  options.generate.max_tokens = *max_tokens;
  TRY(ReadConversation read, read_conversation(fields, model, options.generate));
  TRY_STATUS(check_length(read.prompt.tokens.size(), model.n_ctx));
  if (read.summarized_from && std::cmp_greater_equal(read.prompt.tokens.size(), *read.summarized_from)) {
    return refuse("context_management.edits: nothing is summarized here; send a shorter conversation",
                  "context_management.edits");
  }
  Json more = Json::object();
  if (fields.find("context_management")) more["context_management"] = {{"applied_edits", Json::array()}};
  std::unique_ptr<AnswerWriter> writer = message_writer(model, read.prompt, read.rounds, more);
  return Asked{.prompts = {std::move(read.prompt.tokens)},
               .options = std::move(options),
               .writer = std::move(writer),
               .follow_up = std::move(read.rounds)};
}

ApiResult<Json> count_message_tokens(const Json& body, const ModelProfile& model) {
  Fields fields(body);
  GenerateOptions ignored;
  TRY(const ReadConversation read, read_conversation(fields, model, ignored));
  return Json{{"input_tokens", read.prompt.tokens.size()}};
}

}  // namespace tern::server::anthropic
