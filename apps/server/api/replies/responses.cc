#include "server/api/replies/responses.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "server/api/replies/conversation.h"
#include "server/api/replies/response_items.h"

namespace tern::server {
namespace {

// A part of the output: thoughts, a message or a call. Streams report each item from its beginning to its end.
struct Item {
  ChatDelta::Kind kind;
  std::string id;
  std::string text = {};  // or a call's arguments
  std::string call_id = {}, name = {};

  bool is_call() const { return kind == ChatDelta::Kind::kCallBegin; }
  bool is_thought() const { return kind == ChatDelta::Kind::kReasoning; }

  Json part() const {
    if (is_thought()) return {{"type", "reasoning_text"}, {"text", text}};
    return {{"type", "output_text"}, {"text", text}, {"annotations", Json::array()}, {"logprobs", Json::array()}};
  }

  Json json(bool is_whole) const {
    const char* status = is_whole ? "completed" : "in_progress";
    if (is_call()) {
      return {{"type", "function_call"}, {"id", id},        {"call_id", call_id}, {"name", name},
              {"arguments", text},       {"status", status}};
    }
    const Json content = is_whole ? Json::array({part()}) : Json::array();
    if (is_thought()) {
      return {{"type", "reasoning"}, {"id", id}, {"summary", Json::array()}, {"content", content}, {"status", status}};
    }
    return {{"type", "message"}, {"id", id}, {"role", "assistant"}, {"status", status}, {"content", content}};
  }
};

class ResponseWriter final : public AnswerWriter {
 public:
  // `repeated`: fields of the request that the answer repeats.
  ResponseWriter(const ModelProfile& model, const ConversationPrompt& prompt, const Json& repeated)
      : end_(prompt.turn.end),
        base_({{"id", new_id("resp_")}, {"object", "response"}, {"created_at", unix_seconds()}}),
        parser_(prompt.turn.format, prompt.turn.reply) {
    base_["model"] = model.name;
    base_.update(repeated);
    begun_ = parser_.feed(prompt.turn.begin);
  }

  void add(ReplyEvent& news) override { (void)events(news); }

  Json whole(const Usage& usage, const GenerateStats&) override { return response(&usage); }

  std::vector<Json> first_events() override {
    std::vector<Json> events;
    for (const char* type : {"response.created", "response.in_progress"}) {
      events.push_back(event(type, {{"response", response(nullptr)}}));
    }
    return events;
  }

  std::vector<Json> events(ReplyEvent& news) override {
    std::vector<Json> events;
    take(std::exchange(begun_, {}), events);
    take(parser_.feed(news.text), events);
    if (!news.finish) return events;
    finish_ = news.finish;
    if (*finish_ == FinishReason::kStopToken) take(parser_.feed(end_), events);
    take(parser_.finish(), events);
    if (items_.empty()) begin_item({.kind = ChatDelta::Kind::kContent, .text = {}}, events);
    end_item(events);
    return events;
  }

  std::vector<Json> last_events(const Usage& usage, const GenerateStats&) override {
    return {event(is_cut() ? "response.incomplete" : "response.completed", {{"response", response(&usage)}})};
  }

  Json error_event(const ApiError& error) override {
    const Json inner = error.json()["error"];
    return event("error", {{"code", inner["code"]}, {"message", inner["message"]}, {"param", inner["param"]}});
  }
  StreamForm stream_form() const override { return StreamForm::kNamedEvents; }

 private:
  using Kind = ChatDelta::Kind;

  bool is_cut() const { return finish_reason(finish_) == "length"; }

  Json response(const Usage* usage) const {
    Json json = base_;
    json["status"] = !usage ? "in_progress" : is_cut() ? "incomplete" : "completed";
    json["incomplete_details"] = usage && is_cut() ? Json{{"reason", "max_output_tokens"}} : Json(nullptr);
    json["output"] = Json::array();
    for (const Item& item : items_) json["output"].push_back(item.json(true));
    if (usage) {
      json["usage"] = {{"input_tokens", usage->n_prompt},
                       {"input_tokens_details", {{"cached_tokens", usage->n_cached}, {"cache_write_tokens", 0}}},
                       {"output_tokens", usage->n_generated},
                       {"output_tokens_details", {{"reasoning_tokens", 0}}},
                       {"total_tokens", usage->n_prompt + usage->n_generated}};
      if (usage->joules) json["usage"]["joules"] = *usage->joules;
    }
    return json;
  }

  Json event(std::string_view type, const Json& fields) {
    Json json = {{"type", type}, {"sequence_number", n_events_++}};
    json.update(fields);
    return json;
  }

  Json place() const { return {{"item_id", items_.back().id}, {"output_index", items_.size() - 1}}; }
  Json place_in_content() const {
    Json json = place();
    json["content_index"] = 0;
    return json;
  }
  static Json with(Json json, std::string_view name, Json value) {
    json[name] = std::move(value);
    return json;
  }

  void begin_item(const ChatDelta& delta, std::vector<Json>& events) {
    end_item(events);
    const bool is_call = delta.kind == Kind::kCallBegin, is_thought = delta.kind == Kind::kReasoning;
    items_.push_back({.kind = delta.kind,
                      .id = new_id(is_call      ? "fc_"
                                   : is_thought ? "rs_"
                                                : "msg_"),
                      .call_id = delta.id,
                      .name = delta.name});
    is_open_ = true;
    events.push_back(event("response.output_item.added",
                           {{"output_index", items_.size() - 1}, {"item", items_.back().json(false)}}));
    if (!is_call) {
      events.push_back(event("response.content_part.added", with(place_in_content(), "part", items_.back().part())));
    }
  }

  void end_item(std::vector<Json>& events) {
    if (!std::exchange(is_open_, false)) return;
    const Item& item = items_.back();
    if (item.is_call()) {
      events.push_back(event("response.function_call_arguments.done",
                             with(with(place(), "name", item.name), "arguments", item.text)));
    } else {
      Json text = with(place_in_content(), "text", item.text);
      if (!item.is_thought()) text["logprobs"] = Json::array();
      events.push_back(event(item.is_thought() ? "response.reasoning_text.done" : "response.output_text.done", text));
      events.push_back(event("response.content_part.done", with(place_in_content(), "part", item.part())));
    }
    events.push_back(
        event("response.output_item.done", {{"output_index", items_.size() - 1}, {"item", item.json(true)}}));
  }

  void take(const std::vector<ChatDelta>& deltas, std::vector<Json>& events) {
    for (const ChatDelta& delta : deltas) {
      const Kind kind = delta.kind == Kind::kCallArguments ? Kind::kCallBegin : delta.kind;
      if (delta.kind == Kind::kCallBegin || !is_open_ || items_.back().kind != kind) begin_item(delta, events);
      if (delta.text.empty()) continue;
      items_.back().text += delta.text;
      Json piece = with(kind == Kind::kCallBegin ? place() : place_in_content(), "delta", delta.text);
      if (kind == Kind::kContent) piece["logprobs"] = Json::array();
      events.push_back(event(kind == Kind::kCallBegin   ? "response.function_call_arguments.delta"
                             : kind == Kind::kReasoning ? "response.reasoning_text.delta"
                                                        : "response.output_text.delta",
                             piece));
    }
  }

  const std::string end_;
  Json base_;
  ChatReplyParser parser_;
  std::vector<ChatDelta> begun_;  // from the end of the prompt, which begins the reply
  std::vector<Item> items_;
  bool is_open_ = false;  // the last item is unfinished
  int n_events_ = 0;
  std::optional<FinishReason> finish_ = {};
};

// The request's fields that the answer repeats, with defaults for those that are absent.
Json repeated_fields(const Json& body, const Sampling& sampling) {
  const auto or_else = [&](const char* name, Json otherwise) {
    const auto it = body.find(name);
    return it == body.end() || it->is_null() ? std::move(otherwise) : Json(*it);
  };
  return {{"error", nullptr},
          {"instructions", or_else("instructions", nullptr)},
          {"max_output_tokens", or_else("max_output_tokens", nullptr)},
          {"metadata", or_else("metadata", Json::object())},
          {"parallel_tool_calls", or_else("parallel_tool_calls", true)},
          {"previous_response_id", nullptr},
          {"reasoning", {{"effort", nullptr}, {"summary", nullptr}}},
          {"store", false},
          {"temperature", sampling.temperature},
          {"text", or_else("text", {{"format", {{"type", "text"}}}})},
          {"tool_choice", or_else("tool_choice", "auto")},
          {"tools", or_else("tools", Json::array())},
          {"top_p", sampling.top_p},
          {"truncation", "disabled"}};
}

}  // namespace

ApiResult<Asked> read_response(const Json& body, const ModelProfile& model) {
  Fields fields(body);
  ReplyOptions options = read_reply_options(fields, model.defaults, model.engine.info().n_vocab);
  fields.read("max_output_tokens", options.generate.max_tokens, {1, 1e9});
  options.n = 1;
  std::string previous, truncation;
  bool background = false;
  fields.read("previous_response_id", previous);
  fields.read("background", background);
  fields.read("truncation", truncation);
  if (!previous.empty()) {
    fields.fail("previous_response_id", "is not supported: nothing is kept here; send the whole conversation");
  }
  if (background) fields.fail("background", "is not supported");
  if (truncation == "auto") fields.fail("truncation", "auto is not supported; shorten the conversation yourself");
  TRY(options.generate.grammar, read_text_format(fields, model.grammars));
  const ChatOptions chat = read_chat_options(fields);
  TRY(const std::vector<ChatMessage> messages, read_items(fields));
  TRY(const Json tools, tools_of_chats(fields));
  Json as_chat = body;
  as_chat["tools"] = tools;
  Fields chat_fields(as_chat);
  TRY(const ToolUse use, read_tool_use(chat_fields));
  TRY(ConversationPrompt prompt, make_prompt(messages, "input", chat, use, model, options.generate));
  TRY_STATUS(check_prompt_length(prompt.tokens.size(), model.n_ctx, "input"));
  auto writer = std::make_unique<ResponseWriter>(model, prompt,
                                                 repeated_fields(body, model.engine.sampling(options.generate.sample)));
  return Asked{.prompts = {std::move(prompt.tokens)}, .options = std::move(options), .writer = std::move(writer)};
}

}  // namespace tern::server
