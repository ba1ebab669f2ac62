#include "server/api/replies/responses.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

#include "base/text/format_text.h"
#include "server/api/replies/conversation.h"
#include "server/api/replies/response_items.h"
#include "server/api/replies/turn_parser.h"

namespace tern::server {
namespace {

// A part of the output: thoughts, a message or a call. Streams report each item from its beginning to its end.
struct Item {
  ChatDelta::Kind kind;
  std::string id;
  std::string text = {};  // or a call's arguments
  std::string call_id = {}, name = {};
  std::string space = {};            // namespace
  bool is_custom = false;            // a call whose text is no JSON
  const char* status = "completed";  // or incomplete

  bool is_call() const { return kind == ChatDelta::Kind::kCallBegin; }
  bool is_thought() const { return kind == ChatDelta::Kind::kReasoning; }

  Json part() const {
    if (is_thought()) return {{"type", "reasoning_text"}, {"text", text}};
    return {{"type", "output_text"}, {"text", text}, {"annotations", Json::array()}, {"logprobs", Json::array()}};
  }

  Json json(bool is_whole) const {
    const char* now = is_whole ? status : "in_progress";
    if (is_call()) {
      Json call = {{"type", is_custom ? "custom_tool_call" : "function_call"},
                   {"id", id},
                   {"call_id", call_id},
                   {"name", name},
                   {is_custom ? "input" : "arguments", text},
                   {"status", now}};
      if (!space.empty()) call["namespace"] = space;
      return call;
    }
    const Json content = is_whole ? Json::array({part()}) : Json::array();
    if (is_thought()) {
      return {{"type", "reasoning"}, {"id", id}, {"summary", Json::array()}, {"content", content}, {"status", now}};
    }
    return {{"type", "message"}, {"id", id}, {"role", "assistant"}, {"status", now}, {"content", content}};
  }
};

class ResponseWriter final : public AnswerWriter {
 public:
  // `repeated`: fields of the request that the answer repeats. `items`: the conversation so far, to be kept in `store`,
  // if that is not null.
  ResponseWriter(const ModelProfile& model, const ConversationPrompt& prompt, const Json& repeated,
                 ResponseStore* store, Json items, std::shared_ptr<McpRounds> rounds,
                 std::shared_ptr<const ClientTools> tools)
      : store_(store),
        items_before_(std::move(items)),
        base_({{"id", new_id("resp_")}, {"object", "response"}, {"created_at", unix_seconds()}}),
        parser_(prompt.turn, std::move(rounds)),
        calls_(std::move(tools)) {
    base_["model"] = model.name;
    base_.update(repeated);
  }

  void add(ReplyEvent& news) override { (void)events(news); }

  Json whole(const Usage& usage, const GenerateStats&) override {
    Json json = response(&usage);
    keep(json);
    return json;
  }

  std::vector<Json> first_events() override {
    std::vector<Json> events;
    for (const char* type : {"response.created", "response.in_progress"}) {
      events.push_back(event(type, {{"response", response(nullptr)}}));
    }
    return events;
  }

  std::vector<Json> events(ReplyEvent& news) override {
    std::vector<Json> events;
    std::vector<ChatDelta> deltas = parser_.take(news);
    take(calls_.take(std::move(deltas), news.finish.has_value()), events);
    if (!news.finish) return events;
    finish_ = news.finish;
    if (items_.empty()) begin_item({.kind = ChatDelta::Kind::kContent, .text = {}}, events);
    end_item(events);
    return events;
  }

  std::vector<Json> last_events(const Usage& usage, const GenerateStats&) override {
    const Json json = response(&usage);
    keep(json);
    return {event(is_cut() ? "response.incomplete" : "response.completed", {{"response", json}})};
  }

  Json error_event(const ApiError& error) override {
    const Json inner = error.json()["error"];
    return event("error", {{"code", inner["code"]}, {"message", inner["message"]}, {"param", inner["param"]}});
  }
  StreamForm stream_form() const override { return StreamForm::kNamedEvents; }

 private:
  using Kind = ChatDelta::Kind;

  void keep(const Json& response) {
    if (!store_) return;
    for (const Json& item : response["output"]) items_before_.push_back(item);
    store_->keep(response["id"], {.response = response, .items = std::move(items_before_)});
  }

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
                       {"output_tokens_details", {{"reasoning_tokens", usage->n_thought}}},
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
    const ClientTool* tool = is_call ? calls_.find(delta.name) : nullptr;
    const bool is_custom = tool && tool->is_custom;
    items_.push_back({.kind = delta.kind,
                      .id = new_id(is_custom    ? "ctc_"
                                   : is_call    ? "fc_"
                                   : is_thought ? "rs_"
                                                : "msg_"),
                      .call_id = delta.id,
                      .name = tool ? tool->name : delta.name,
                      .space = tool ? tool->space : "",
                      .is_custom = is_custom});
    is_open_ = true;
    events.push_back(event("response.output_item.added",
                           {{"output_index", items_.size() - 1}, {"item", items_.back().json(false)}}));
    if (!is_call) {
      events.push_back(event("response.content_part.added", with(place_in_content(), "part", items_.back().part())));
    }
  }

  void end_item(std::vector<Json>& events) {
    if (!std::exchange(is_open_, false)) return;
    if (is_cut()) items_.back().status = "incomplete";
    const Item& item = items_.back();
    if (item.is_custom) {
      events.push_back(event("response.custom_tool_call_input.done", with(place(), "input", item.text)));
    } else if (item.is_call()) {
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
      events.push_back(event(items_.back().is_custom    ? "response.custom_tool_call_input.delta"
                             : kind == Kind::kCallBegin ? "response.function_call_arguments.delta"
                             : kind == Kind::kReasoning ? "response.reasoning_text.delta"
                                                        : "response.output_text.delta",
                             piece));
    }
  }

  ResponseStore* const store_;
  Json items_before_;
  Json base_;
  TurnParser parser_;
  ClientCalls calls_;
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
          {"previous_response_id", or_else("previous_response_id", nullptr)},
          {"reasoning", or_else("reasoning", {{"effort", nullptr}, {"summary", nullptr}})},
          {"store", or_else("store", true)},
          {"temperature", sampling.temperature},
          {"text", or_else("text", {{"format", {{"type", "text"}}}})},
          {"tool_choice", or_else("tool_choice", "auto")},
          {"tools", or_else("tools", Json::array())},
          {"top_p", sampling.top_p},
          {"truncation", or_else("truncation", "disabled")}};
}

constexpr std::array<std::string_view, 3> kPromises = {"background", "conversation", "prompt"};

void check_promises(Fields& fields) {
  for (const std::string_view name : kPromises) {
    if (const Json* found = fields.find(name); found && *found != false) fields.fail(name, "is not supported");
  }
  std::vector<std::string> include;
  fields.read_texts("include", include, 100);
  int top_logprobs = 0;
  fields.read("top_logprobs", top_logprobs, {0, 20});
  if (top_logprobs > 0) fields.fail("top_logprobs", "is not supported here; /v1/chat/completions has them");
  if (std::ranges::contains(include, "message.output_text.logprobs")) {
    fields.fail("include", "message.output_text.logprobs is not supported; /v1/chat/completions has them");
  }
}

// The items of the conversation that the request continues.
ApiResult<Json> earlier_items(Fields& fields, const ModelProfile& model) {
  std::string id;
  fields.read("previous_response_id", id);
  TRY_STATUS(fields.check());
  if (id.empty()) return Json::array();
  auto kept = model.responses ? model.responses->find(id) : std::nullopt;
  if (kept) return std::move(kept->items);
  return refuse(format_text("previous_response_id: '{}' is not kept here any more; send the whole conversation",
                            id.substr(0, 64)),
                "previous_response_id", "previous_response_not_found");
}

// Makes the prompt. If it is too long and may be shortened, the first questions and their answers are left out, as few
// as possible, such that a quarter of the context remains for the reply.
class FittingPrompt {
 public:
  FittingPrompt(const std::vector<ChatMessage>& messages, const ChatOptions& chat, const ToolUse& use,
                const ModelProfile& model, GenerateOptions& generate)
      : messages_(messages), chat_(chat), use_(use), model_(model), generate_(generate), base_(generate) {}

  ApiResult<ConversationPrompt> make(bool may_shorten) {
    const auto is_system = [](const ChatMessage& m) { return m.role == "system" || m.role == "developer"; };
    head_ = static_cast<size_t>(std::ranges::find_if_not(messages_, is_system) - messages_.begin());
    TRY(ConversationPrompt prompt, make_from(head_));
    const auto most = static_cast<size_t>(model_.n_ctx - model_.n_ctx / 4);
    if (!may_shorten || prompt.tokens.size() <= static_cast<size_t>(model_.n_ctx)) return prompt;
    std::vector<size_t> starts;
    for (size_t i = head_ + 1; i < messages_.size(); ++i) {
      if (messages_[i].role == "user") starts.push_back(i);
    }
    size_t begin = 0, end = starts.size();  // the shortest prompt that is known to fit, or none, is at `end`
    while (begin < end) {
      const size_t middle = (begin + end) / 2;
      TRY(const ConversationPrompt shorter, make_from(starts[middle]));
      if (shorter.tokens.size() <= most) {
        end = middle;
      } else {
        begin = middle + 1;
      }
    }
    if (starts.empty()) return prompt;
    return make_from(starts[std::min(end, starts.size() - 1)]);
  }

 private:
  ApiResult<ConversationPrompt> make_from(size_t first) {
    std::vector<ChatMessage> some(messages_.begin(), messages_.begin() + static_cast<ptrdiff_t>(head_));
    some.insert(some.end(), messages_.begin() + static_cast<ptrdiff_t>(first), messages_.end());
    generate_ = base_;
    return make_prompt(some, "input", chat_, use_, model_, generate_);
  }

  const std::vector<ChatMessage>& messages_;
  const ChatOptions& chat_;
  const ToolUse& use_;
  const ModelProfile& model_;
  GenerateOptions& generate_;
  const GenerateOptions base_;
  size_t head_ = 0;  // messages that stay
};

struct ResponsePrompt {
  ConversationPrompt prompt;
  Json before, items, notes;  // see earlier_items(), input_items(), tools_of_chats()
  std::shared_ptr<McpRounds> rounds;
  std::shared_ptr<ClientTools> tools = std::make_shared<ClientTools>();
};

ApiResult<ResponsePrompt> read_conversation(const Json& body, Fields& fields, const ModelProfile& model,
                                            GenerateOptions& generate) {
  ResponsePrompt read{.prompt = {}, .before = {}, .items = {}, .notes = Json::array(), .rounds = {}};
  std::string truncation = "disabled";
  fields.read("truncation", truncation);
  if (truncation != "auto" && truncation != "disabled") fields.fail("truncation", "must be auto or disabled");
  check_promises(fields);
  TRY(generate.grammar, read_text_format(fields, model.grammars));
  const ChatOptions chat = read_chat_options(fields, model, generate.thoughts);
  TRY(read.before, earlier_items(fields, model));
  TRY(read.items, input_items(fields));
  if (model.responses) TRY_STATUS(resolve_references(read.items, *model.responses));
  TRY(const std::vector<ChatMessage> messages, read_items(fields, read.before, read.items, read.notes));
  TRY(const Json tools, tools_of_chats(fields, {*read.tools, model.grammars}, read.notes));
  Json as_chat = body;
  as_chat["tools"] = tools;
  Fields chat_fields(as_chat);
  TRY(const std::string mcp, read_mcp(chat_fields, model, 1));
  TRY(const ToolUse use, read_tool_use(chat_fields, mcp));
  read.rounds = mcp_rounds(mcp, model, messages, "input", chat, use, generate);
  TRY(read.prompt, FittingPrompt(messages, chat, use, model, generate).make(truncation == "auto"));
  return read;
}

}  // namespace

ApiResult<Asked> read_response(const Json& body, const ModelProfile& model) {
  Fields fields(body);
  ReplyOptions options = read_reply_options(fields, model.defaults, model.engine);
  fields.read("max_output_tokens", options.generate.max_tokens, {1, 1e9});
  options.n = 1;
  bool store = true;
  fields.read("store", store);
  TRY(ResponsePrompt read, read_conversation(body, fields, model, options.generate));
  TRY_STATUS(check_prompt_length(read.prompt.tokens.size(), model.n_ctx, "input"));
  ResponseStore* const responses = store ? model.responses : nullptr;
  Json repeated = repeated_fields(body, model.engine.sampling(options.generate.sample));
  repeated["store"] = responses != nullptr;
  if (!read.notes.empty()) repeated["notes"] = std::move(read.notes);
  Json all = read.before;
  if (responses) all.insert(all.end(), read.items.begin(), read.items.end());
  auto writer = std::make_unique<ResponseWriter>(model, read.prompt, repeated, responses, std::move(all), read.rounds,
                                                 std::move(read.tools));
  return Asked{.prompts = {std::move(read.prompt.tokens)},
               .options = std::move(options),
               .writer = std::move(writer),
               .follow_up = std::move(read.rounds)};
}

ApiResult<Json> count_response_tokens(const Json& body, const ModelProfile& model) {
  Fields fields(body);
  GenerateOptions ignored;
  TRY(const ResponsePrompt read, read_conversation(body, fields, model, ignored));
  return Json{{"object", "response.input_tokens"}, {"input_tokens", read.prompt.tokens.size()}};
}

}  // namespace tern::server
