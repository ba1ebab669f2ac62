#include "server/api/replies/chat_completions.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "server/api/replies/conversation.h"
#include "server/api/replies/messages.h"
#include "server/api/replies/request_hints.h"
#include "server/api/replies/turn_parser.h"

namespace tern::server {
namespace {

constexpr int kMostTopLogprobs = 20;
struct ReadChat {
  ReplyOptions options;
  ConversationPrompt prompt;
  std::shared_ptr<McpRounds> rounds = nullptr;
  Json repeated = Json::object();  // fields of the request that the answer repeats
  Json kept = nullptr;             // the messages, if the answer is to be kept
  std::shared_ptr<ClientTools> tools = std::make_shared<ClientTools>();
};

ApiResult<ReadChat> read_chat(const Json& body, const ModelProfile& model) {
  Fields fields(body);
  ReadChat chat{.options = read_reply_options(fields, model.defaults, model.engine), .prompt = {}};
  GenerateOptions& generate = chat.options.generate;
  bool logprobs = false;
  std::optional<int> top_logprobs;
  fields.read("logprobs", logprobs);
  fields.read("top_logprobs", top_logprobs, Fields::Range{0, kMostTopLogprobs});
  if (top_logprobs && !logprobs) fields.fail("top_logprobs", "is only for \"logprobs\": true");
  if (logprobs) generate.n_logprobs = top_logprobs.value_or(0);
  bool store = false;
  fields.read("store", store);
  refuse_what_is_no_text(fields);
  check_hints(fields);
  const ChatOptions options = read_chat_options(fields, model, generate.thoughts);
  TRY(generate.grammar, read_response_format(fields, model.grammars));
  TRY_STATUS(fields.check());
  TRY(const std::vector<ChatMessage> messages, read_messages(fields.find("messages"), "messages"));
  TRY(const Json metadata, read_metadata(fields));
  if (fields.find("service_tier")) chat.repeated["service_tier"] = "default";
  if (store && model.responses) {
    chat.kept = body.at("messages");
    chat.repeated["metadata"] = metadata;
  }
  TRY(const std::string mcp, read_mcp(fields, model, chat.options.n));
  if (!mcp.empty() && logprobs) return refuse("logprobs: is not for requests with tools of MCP servers", "logprobs");
  TRY(const ToolUse tools, read_tool_use(fields, mcp, OtherTools{*chat.tools, model.grammars}));
  chat.rounds = mcp_rounds(mcp, model, messages, "messages", options, tools, generate);
  TRY(chat.prompt, make_prompt(messages, "messages", options, tools, model, generate));
  return chat;
}

class ChatWriter final : public AnswerWriter {
 public:
  ChatWriter(const ModelProfile& model, const ReadChat& chat, const Client& client)
      : tokenizer_(model.engine.tokenizer()),
        options_(chat.options),
        head_(answer_head("chatcmpl-", "chat.completion.chunk", model.name)),
        store_(model.responses),
        client_(client),
        kept_(chat.kept) {
    head_.update(chat.repeated);
    for (int i = 0; i < options_.n; ++i) {
      choices_.push_back({.parser = TurnParser(chat.prompt.turn, chat.rounds), .calls = ClientCalls(chat.tools)});
    }
  }

  void add(ReplyEvent& news) override {
    Choice& choice = choices_[news.index];
    append(choice.message, choice.take(news));
    add_logprobs(choice, news);
    if (news.finish) choice.finish = news.finish;
  }

  Json whole(const Usage& usage, const GenerateStats& stats) override {
    Json list = Json::array();
    for (size_t i = 0; i < choices_.size(); ++i) {
      Choice& choice = choices_[i];
      list.push_back({{"index", i},
                      {"message", message_json(choice)},
                      {"logprobs", take_logprobs(choice)},
                      {"finish_reason", reason_of(choice, choice.finish)}});
    }
    Json head = head_;
    head["object"] = "chat.completion";
    Json json = with_results(std::move(head), std::move(list), usage, stats);
    if (!kept_.is_null()) store_->keep(json["id"], {.response = json, .items = kept_, .owner = client_.key});
    return json;
  }

  std::vector<Json> first_events() override {
    std::vector<Json> events;
    for (size_t i = 0; i < choices_.size(); ++i) {
      events.push_back(event(i, {{"role", "assistant"}, {"content", ""}, {"refusal", nullptr}}, nullptr, nullptr));
    }
    return events;
  }

  std::vector<Json> events(ReplyEvent& news) override {
    Choice& choice = choices_[news.index];
    add_logprobs(choice, news);
    std::vector<Json> events;
    const std::vector<ChatDelta> deltas = choice.take(news);
    if (!kept_.is_null()) append(choice.message, deltas);
    for (const ChatDelta& delta : deltas) {
      events.push_back(event(news.index, delta_json(choice, delta), take_logprobs(choice), nullptr));
    }
    if (!choice.logprobs.is_null()) {  // of a token that has not made any text yet
      events.push_back(event(news.index, {{"content", ""}}, take_logprobs(choice), nullptr));
    }
    if (news.finish) events.push_back(event(news.index, Json::object(), nullptr, reason_of(choice, news.finish)));
    choice.finish = news.finish;
    return events;
  }

  std::vector<Json> last_events(const Usage& usage, const GenerateStats& stats) override {
    if (!kept_.is_null()) (void)whole(usage, stats);
    if (!options_.include_usage) return {};
    return {with_results(head_, Json::array(), usage, stats)};
  }

 private:
  struct Choice {
    TurnParser parser;
    ClientCalls calls;
    bool is_custom = false;  // the call that is arriving
    ChatMessage message = {.role = "assistant"};
    Json logprobs = nullptr;  // a list, once there are any
    std::optional<FinishReason> finish = {};

    std::vector<ChatDelta> take(ReplyEvent& news) {
      std::vector<ChatDelta> deltas = parser.take(news);
      return calls.take(std::move(deltas), news.finish.has_value());
    }
    bool is_custom_tool(const std::string& name) const {
      const ClientTool* tool = calls.find(name);
      return tool && tool->is_custom;
    }
  };

  static Json reason_of(const Choice& choice, const std::optional<FinishReason>& finish) {
    Json reason = finish_reason(finish);
    if (reason == "stop" && choice.parser.n_calls() > 0) return "tool_calls";
    return reason;
  }

  static Json message_json(const Choice& choice) {
    const ChatMessage& message = choice.message;
    const bool says_nothing = message.content.empty() && !message.tool_calls.empty();
    Json json = {
        {"role", "assistant"}, {"content", says_nothing ? Json(nullptr) : Json(message.content)}, {"refusal", nullptr}};
    if (!message.reasoning.empty()) json["reasoning_content"] = message.reasoning;
    for (const ToolCall& call : message.tool_calls) {
      const bool is_custom = choice.is_custom_tool(call.name);
      const char* const kind = is_custom ? "custom" : "function";
      json["tool_calls"].push_back(
          {{"id", call.id},
           {"type", kind},
           {kind, {{"name", call.name}, {is_custom ? "input" : "arguments", call.arguments}}}});
    }
    return json;
  }

  static Json delta_json(Choice& choice, const ChatDelta& delta) {
    if (delta.kind == ChatDelta::Kind::kCallBegin) choice.is_custom = choice.is_custom_tool(delta.name);
    const char* const kind = choice.is_custom ? "custom" : "function";
    const char* const text = choice.is_custom ? "input" : "arguments";
    switch (delta.kind) {
      case ChatDelta::Kind::kContent:
        return {{"content", delta.text}};
      case ChatDelta::Kind::kReasoning:
        return {{"reasoning_content", delta.text}};
      case ChatDelta::Kind::kCallBegin: {
        const Json call = {
            {"index", delta.call}, {"id", delta.id}, {"type", kind}, {kind, {{"name", delta.name}, {text, ""}}}};
        return {{"tool_calls", Json::array({call})}};
      }
      case ChatDelta::Kind::kCallArguments: {
        const Json call = {{"index", delta.call}, {kind, {{text, delta.text}}}};
        return {{"tool_calls", Json::array({call})}};
      }
    }
    return Json::object();
  }

  Json event(size_t index, Json delta, Json logprobs, Json finish) const {
    Json chunk = head_;
    chunk["choices"] = Json::array({Json{{"index", index},
                                         {"delta", std::move(delta)},
                                         {"logprobs", std::move(logprobs)},
                                         {"finish_reason", std::move(finish)}}});
    if (options_.include_usage) chunk["usage"] = nullptr;
    return chunk;
  }

  void add_logprobs(Choice& choice, const ReplyEvent& news) const {
    if (!news.token) return;
    for (const Logprobs& one : news.logprobs) {
      if (choice.logprobs.is_null()) choice.logprobs = Json::array();
      choice.logprobs.push_back(logprob_json(tokenizer_, *news.token, one));
    }
  }

  static Json take_logprobs(Choice& choice) {
    if (choice.logprobs.is_null()) return nullptr;
    return {{"content", std::exchange(choice.logprobs, nullptr)}, {"refusal", nullptr}};
  }

  const Tokenizer& tokenizer_;
  const ReplyOptions options_;
  Json head_;  // of a stream's events
  std::vector<Choice> choices_;
  ResponseStore* const store_;
  const Client client_;
  const Json kept_;  // the messages to keep the answer with; null: it is not kept
};

}  // namespace

ApiResult<ConversationPrompt> chat_prompt(const Json& body, const ModelProfile& model) {
  TRY(ReadChat chat, read_chat(body, model));
  return std::move(chat.prompt);
}

ApiResult<Asked> read_chat_completion(const Json& body, const ModelProfile& model, const Client& client) {
  TRY(ReadChat chat, read_chat(body, model));
  TRY_STATUS(check_prompt_length(chat.prompt.tokens.size(), model.n_ctx, "messages"));
  auto writer = std::make_unique<ChatWriter>(model, chat, client);
  return Asked{.prompts = {std::move(chat.prompt.tokens)},
               .options = std::move(chat.options),
               .writer = std::move(writer),
               .follow_up = std::move(chat.rounds)};
}

}  // namespace tern::server
