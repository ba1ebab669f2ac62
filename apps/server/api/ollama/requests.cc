#include "server/api/ollama/requests.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include "base/text/format_text.h"
#include "server/api/ollama/writer.h"
#include "server/api/replies/begun_reply.h"
#include "server/api/replies/fill_in.h"
#include "server/api/replies/thinking.h"

namespace tern::server::ollama {
namespace {

bool is_empty_text(const Json& value) { return value.is_string() && value.get_ref<const std::string&>().empty(); }

constexpr int kMostTokens = std::numeric_limits<int>::max();

// Each of these promises something that is not done here.
constexpr std::array<std::string_view, 9> kPromises = {"template",       "context",         "images",
                                                       "guided_json",    "guided_regex",    "guided_choice",
                                                       "guided_grammar", "response_format", "structured_outputs"};

constexpr std::array<std::string_view, 16> kSampling = {"temperature",
                                                        "top_k",
                                                        "top_p",
                                                        "min_p",
                                                        "num_predict",
                                                        "stop",
                                                        "seed",
                                                        "repeat_penalty",
                                                        "repeat_last_n",
                                                        "presence_penalty",
                                                        "frequency_penalty",
                                                        "num_ctx",
                                                        "typical_p",
                                                        "mirostat",
                                                        "mirostat_tau",
                                                        "mirostat_eta"};
// What loads or runs a model is the server's to decide, or has no effect on the text.
constexpr std::array<std::string_view, 16> kIdle = {
    "num_keep", "num_batch", "num_gpu", "main_gpu",   "use_mmap",         "use_mlock",  "num_thread",     "numa",
    "low_vram", "f16_kv",    "draft",   "vocab_only", "penalize_newline", "logits_all", "embedding_only", "num_gqa"};

void check_options(Fields& options, const Json& all) {
  for (const auto& [name, value] : all.items()) {
    if (value.is_null() || std::ranges::contains(kSampling, name) || std::ranges::contains(kIdle, name)) continue;
    const bool is_off = name == "tfs_z" && value == 1;
    if (!is_off) return options.fail(name.substr(0, 40), "is not supported");
  }
}

ReplyOptions read_options(Fields& fields, const ModelProfile& model) {
  ReplyOptions reply;
  const auto read = [&](Fields& options) {
    reply = read_reply_options(options, model.defaults, model.engine);
    int& most = reply.generate.max_tokens;
    options.read("num_predict", most, {-2, kMostTokens});
    if (most <= 0) most = -1;  // −1: no limit; −2: as much as the context holds
    std::optional<int> n_ctx;
    options.read("num_ctx", n_ctx, Fields::Range{1, kMostTokens});
    if (n_ctx && *n_ctx > model.n_ctx) {
      options.fail("num_ctx",
                   format_text("{} is more than the context of this server, {}; start it with a larger --ctx", *n_ctx,
                               model.n_ctx));
    }
  };
  if (const Json* options = fields.find("options"); options && !options->empty()) {
    fields.within("options", [&](Fields& inner) {
      check_options(inner, *options);
      read(inner);
    });
  } else {
    const Json none = Json::object();
    Fields inner(none);
    read(inner);
  }
  reply.n = 1;
  reply.stream = true;
  fields.read("stream", reply.stream);
  return reply;
}

// "json", or a JSON schema; an empty text means none.
ApiResult<GrammarPtr> read_format(Fields& fields, GrammarCache& grammars) {
  const Json* format = fields.find("format");
  if (!format || is_empty_text(*format)) return nullptr;
  if (*format == "json") return grammars.get(GrammarCache::Kind::kJsonObject, "", "format");
  if (!format->is_object()) return refuse("format: must be \"json\" or a JSON schema", "format");
  return grammars.get(GrammarCache::Kind::kJsonSchema, dump(*format), "format");
}

// True, false, or how much.
ChatOptions read_think(Fields& fields, const ModelProfile& model, ThoughtLimit& thoughts) {
  const Engine& engine = model.engine;
  ChatOptions options{.parse_special = model.defaults.parse_special};
  const Json* think = fields.find("think");
  if (!think || is_empty_text(*think)) return options;
  const bool has_level =
      think->is_string() && set_effort(think->get<std::string>(), engine, {.chat = options, .limit = thoughts});
  if (!think->is_boolean() && !has_level) {
    fields.fail("think", "must be true, false, low, medium or high");
    return options;
  }
  if (think->is_boolean()) options.think = think->get<bool>();
  const ChatFormat format = engine.chat_format();
  if (*options.think && !format.has_channels && format.think_begin.empty()) {
    fields.fail("think", "the model has no thoughts of its own");
  }
  return options;
}

ToolCall read_call(Fields& fields) {
  ToolCall call;
  fields.read("id", call.id);
  fields.within("function", [&](Fields& function) {
    function.read("name", call.name);
    const Json* arguments = function.find("arguments");
    if (arguments && !arguments->is_object()) function.fail("arguments", "must be an object");
    if (arguments) call.arguments = dump(*arguments);
  });
  if (call.name.empty()) fields.fail("function.name", "is missing");
  return call;
}

ChatMessage read_message(Fields& fields) {
  constexpr std::array<std::string_view, 4> kRoles = {"system", "user", "assistant", "tool"};
  constexpr std::array<std::string_view, 1> kImages = {"images"};
  ChatMessage message;
  fields.read("role", message.role);
  if (!std::ranges::contains(kRoles, message.role)) {
    fields.fail("role", format_text("'{}' is not system, user, assistant or tool", message.role.substr(0, 40)));
  }
  fields.refuse(kImages, "are not supported: this model reads text");
  fields.read("content", message.content);
  fields.read("thinking", message.reasoning);
  fields.read("tool_call_id", message.tool_call_id);
  fields.read("name", message.name);
  fields.read("tool_name", message.name);
  const Json* calls = fields.find("tool_calls");
  if (calls && !calls->is_array()) fields.fail("tool_calls", "must be a list");
  for (size_t i = 0; calls && calls->is_array() && i < calls->size(); ++i) {
    fields.within_element("tool_calls", i, [&](Fields& call) { message.tool_calls.push_back(read_call(call)); });
  }
  return message;
}

ApiResult<std::vector<ChatMessage>> read_messages(Fields& fields) {
  const Json* list = fields.find("messages");
  if (!list || !list->is_array() || list->empty()) return refuse("messages: must be a list", "messages");
  std::vector<ChatMessage> messages;
  for (size_t i = 0; i < list->size(); ++i) {
    fields.within_element("messages", i, [&](Fields& message) { messages.push_back(read_message(message)); });
  }
  TRY_STATUS(fields.check());
  return messages;
}

// The prompt as it is, filled in, or as a user's message in the model's template.
ApiResult<ConversationPrompt> generate_prompt(Fields& fields, const ChatOptions& chat, const ModelProfile& model,
                                              GenerateOptions& generate) {
  std::string text, system, suffix;
  bool raw = false;
  fields.read("prompt", text);
  fields.read("system", system);
  fields.read("suffix", suffix);
  fields.read("raw", raw);
  if (raw && !system.empty()) fields.fail("system", "is not for raw prompts");
  if (raw && !suffix.empty()) fields.fail("suffix", "is not for raw prompts");
  TRY_STATUS(fields.check());
  const Tokenizer& tokenizer = model.engine.tokenizer();
  ConversationPrompt prompt;
  if (!suffix.empty()) {
    TRY(prompt.tokens, fill_in_prompt(tokenizer, text, suffix, "suffix"));
    return prompt;
  }
  if (raw) {
    prompt.tokens = encode_raw(tokenizer, text, /*parse_special=*/true);
    return prompt;
  }
  std::vector<ChatMessage> messages;
  if (!system.empty()) messages.push_back({.role = "system", .content = std::move(system)});
  messages.push_back({.role = "user", .content = std::move(text)});
  return make_prompt(messages, "prompt", chat, {}, model, generate);
}

ApiResult<Asked> asked(ConversationPrompt prompt, ReplyOptions options, const ModelProfile& model,
                       const std::string& name, bool is_chat, std::shared_ptr<McpRounds> rounds = nullptr) {
  TRY_STATUS(check_prompt_length(prompt.tokens.size(), model.n_ctx, name));
  std::unique_ptr<AnswerWriter> writer = line_writer(model, prompt, is_chat, rounds);
  return Asked{.prompts = {std::move(prompt.tokens)},
               .options = std::move(options),
               .writer = std::move(writer),
               .follow_up = std::move(rounds)};
}

// How many likely tokens are told beside each one; -1: none, and no probabilities.
void read_logprobs(Fields& fields, GenerateOptions& generate) {
  constexpr int kMost = 20;
  bool logprobs = false;
  std::optional<int> top;
  fields.read("logprobs", logprobs);
  fields.read("top_logprobs", top, Fields::Range{0, kMost});
  if (top && !logprobs) fields.fail("top_logprobs", "is only for \"logprobs\": true");
  if (logprobs) generate.n_logprobs = top.value_or(0);
}

}  // namespace

ApiResult<Asked> read_chat(const Json& body, const ModelProfile& model, const Client& /*client*/) {
  Fields fields(body);
  fields.refuse(kPromises, "is not supported");
  ReplyOptions options = read_options(fields, model);
  read_logprobs(fields, options.generate);
  const ChatOptions chat = read_think(fields, model, options.generate.thoughts);
  TRY_STATUS(fields.check());
  TRY(options.generate.grammar, read_format(fields, model.grammars));
  TRY(std::vector<ChatMessage> messages, read_messages(fields));
  TRY(const std::string mcp, read_mcp(fields, model, 1));
  if (!mcp.empty() && options.generate.n_logprobs >= 0) {
    return refuse("logprobs: is not for requests with tools of MCP servers", "logprobs");
  }
  TRY(const ToolUse tools, read_tool_use(fields, mcp));
  auto rounds = mcp_rounds(mcp, model, messages, "messages", chat, tools, options.generate);
  TRY(ConversationPrompt prompt, make_continued_prompt(messages, "messages", chat, tools, model, options.generate));
  return asked(std::move(prompt), std::move(options), model, "messages", /*is_chat=*/true, std::move(rounds));
}

ApiResult<Asked> read_generate(const Json& body, const ModelProfile& model, const Client& /*client*/) {
  Fields fields(body);
  fields.refuse(kPromises, "is not supported");
  ReplyOptions options = read_options(fields, model);
  read_logprobs(fields, options.generate);
  const ChatOptions chat = read_think(fields, model, options.generate.thoughts);
  TRY_STATUS(fields.check());
  TRY(options.generate.grammar, read_format(fields, model.grammars));
  TRY(ConversationPrompt prompt, generate_prompt(fields, chat, model, options.generate));
  return asked(std::move(prompt), std::move(options), model, "prompt", /*is_chat=*/false);
}

bool is_for_loading(const Json& body, bool is_chat) {
  const auto is_empty = [&](const char* name) {
    const auto it = body.find(name);
    return it == body.end() || it->is_null() || is_empty_text(*it) || (it->is_array() && it->empty());
  };
  return is_chat ? is_empty("messages") : is_empty("prompt") && is_empty("suffix");
}

Json loading_json(const Json& body, const std::string& model, bool is_chat) {
  const auto it = body.find("keep_alive");
  const bool unloads = it != body.end() && (*it == 0 || *it == "0" || *it == "0s");
  Json json = {{"model", model}, {"created_at", utc_time()}};
  if (is_chat) {
    json["message"] = {{"role", "assistant"}, {"content", ""}};
  } else {
    json["response"] = "";
  }
  json["done"] = true;
  json["done_reason"] = unloads ? "unload" : "load";
  return json;
}

}  // namespace tern::server::ollama
