#include "server/api/responses/response_writer.h"

#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "server/api/replies/turn_parser.h"
#include "server/api/responses/thought_code.h"

namespace tern::server {
namespace {

using Kind = ChatDelta::Kind;

Json with(Json json, std::string_view name, Json value) {
  json[name] = std::move(value);
  return json;
}

// A part of the output: thoughts, a message or a call. Streams report each item from its beginning to its end.
struct Item {
  Kind kind;
  std::string id;
  std::string text = {};  // or a call's arguments
  std::string call_id = {}, name = {};
  std::string space = {};  // namespace
  bool is_custom = false;  // a call whose text is no JSON
  Json logprobs = Json::array();
  Json pieces = Json::array();       // of the text, as they were told: the bytes and probabilities of each
  const char* status = "completed";  // or incomplete

  bool is_call() const { return kind == Kind::kCallBegin; }
  bool is_thought() const { return kind == Kind::kReasoning; }

  Json part(const ResponseForm& form) const {
    if (is_thought()) return {{"type", form.summarizes ? "summary_text" : "reasoning_text"}, {"text", text}};
    return {{"type", "output_text"}, {"text", text}, {"annotations", Json::array()}, {"logprobs", logprobs}};
  }

  Json json(const ResponseForm& form, bool is_whole) const {
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
    const Json content = is_whole ? Json::array({part(form)}) : Json::array();
    if (!is_thought()) {
      return {{"type", "message"}, {"id", id}, {"role", "assistant"}, {"status", now}, {"content", content}};
    }
    Json json = {{"type", "reasoning"},
                 {"id", id},
                 {"summary", form.summarizes ? content : Json::array()},
                 {"content", form.summarizes ? Json::array() : content},
                 {"status", now}};
    if (form.encodes) json["encrypted_content"] = is_whole ? Json(encode_thoughts(text)) : Json(nullptr);
    return json;
  }
};

const char* id_prefix(Kind kind, bool is_custom) {
  if (kind == Kind::kCallBegin) return is_custom ? "ctc_" : "fc_";
  return kind == Kind::kReasoning ? "rs_" : "msg_";
}

class ResponseWriter final : public AnswerWriter {
 public:
  ResponseWriter(const ModelProfile& model, const ConversationPrompt& prompt, ResponseStart start,
                 std::shared_ptr<McpRounds> rounds)
      : tokenizer_(&model.engine.tokenizer()),
        start_(std::move(start)),
        calls_(start_.tools),
        base_({{"id", new_id("resp_")}, {"object", "response"}, {"created_at", unix_seconds()}}) {
    parser_.emplace(prompt.turn, std::move(rounds));
    base_["model"] = model.name;
    base_.update(start_.repeated);
  }

  static std::vector<Json> replay(const ResponseStore::Kept& kept) {
    ResponseWriter writer(kept.response);
    std::vector<Json> events = writer.first_events();
    const Json& output = kept.response.at("output");
    for (size_t i = 0; i < output.size(); ++i) writer.repeat_item(output[i], kept.pieces.at(i), events);
    writer.is_cut_ = kept.response.at("status") == "incomplete";
    writer.end_item(events);
    events.push_back(writer.last_event(kept.response));
    return events;
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
    n_new_logprobs_ = 0;
    for (size_t i = 0; start_.form.n_logprobs >= 0 && news.token && i < news.logprobs.size(); ++i) {
      logprobs_.push_back(logprob_json(*tokenizer_, *news.token, news.logprobs[i]));
      ++n_new_logprobs_;
    }
    std::vector<ChatDelta> deltas = parser_->take(news);
    take(calls_.take(std::move(deltas), news.finish.has_value()), events);
    if (!news.finish) return events;
    is_cut_ = finish_reason(news.finish) == "length";
    if (items_.empty()) begin_item({.kind = Kind::kContent, .id = new_id("msg_")}, events);
    end_item(events);
    return events;
  }

  std::vector<Json> last_events(const Usage& usage, const GenerateStats&) override {
    const Json json = response(&usage);
    keep(json);
    return {last_event(json)};
  }

  Json error_event(const ApiError& error) override {
    const Json inner = error.json()["error"];
    return event("error", {{"code", inner["code"]}, {"message", inner["message"]}, {"param", inner["param"]}});
  }
  StreamForm stream_form() const override { return StreamForm::kNamedEvents; }

 private:
  // For replays of a kept response.
  explicit ResponseWriter(const Json& response) : base_(response) {
    base_.erase("usage");
    base_.erase("completed_at");
    for (const Json& item : response.at("output")) {
      if (item.at("type") != "reasoning") continue;
      start_.form.summarizes = !item.at("summary").empty();
      start_.form.encodes = item.contains("encrypted_content");
    }
  }

  void keep(const Json& response) {
    if (!start_.store) return;
    Json pieces = Json::array();
    for (const Item& item : items_) pieces.push_back(item.pieces);
    Json& items = start_.items_before;
    for (const Json& item : response["output"]) items.push_back(item);
    start_.store->keep(
        response["id"],
        {.response = response, .items = std::move(items), .pieces = std::move(pieces), .owner = start_.owner});
  }

  Json response(const Usage* usage) const {
    Json json = base_;
    json["status"] = !usage ? "in_progress" : is_cut_ ? "incomplete" : "completed";
    json["incomplete_details"] = usage && is_cut_ ? Json{{"reason", "max_output_tokens"}} : Json(nullptr);
    json["output"] = Json::array();
    for (const Item& item : items_) json["output"].push_back(item.json(start_.form, true));
    if (!usage) return json;
    json["completed_at"] = is_cut_ ? Json(nullptr) : Json(unix_seconds());
    json["usage"] = {{"input_tokens", usage->n_prompt},
                     {"input_tokens_details", {{"cached_tokens", usage->n_cached}, {"cache_write_tokens", 0}}},
                     {"output_tokens", usage->n_generated},
                     {"output_tokens_details", {{"reasoning_tokens", usage->n_thought}}},
                     {"total_tokens", usage->n_prompt + usage->n_generated}};
    if (usage->joules) json["usage"]["joules"] = *usage->joules;
    return json;
  }

  Json event(std::string_view type, const Json& fields) {
    Json json = {{"type", type}, {"sequence_number", n_events_++}};
    json.update(fields);
    return json;
  }

  Json last_event(const Json& response) {
    return event(is_cut_ ? "response.incomplete" : "response.completed", {{"response", response}});
  }

  // Where the last item is, or its part that has the text.
  Json place() const { return {{"item_id", items_.back().id}, {"output_index", items_.size() - 1}}; }
  bool is_summary() const { return start_.form.summarizes && items_.back().is_thought(); }
  Json place_of_part() const { return with(place(), is_summary() ? "summary_index" : "content_index", 0); }
  std::string part_event(const char* ending) const {
    return (is_summary() ? "response.reasoning_summary_part." : "response.content_part.") + std::string(ending);
  }
  std::string text_event(const char* ending) const {
    const Item& item = items_.back();
    std::string type = "response.output_text.";
    if (item.is_call()) type = "response.function_call_arguments.";
    if (item.is_custom) type = "response.custom_tool_call_input.";
    if (item.is_thought()) type = is_summary() ? "response.reasoning_summary_text." : "response.reasoning_text.";
    return type + ending;
  }

  Item item_of(const ChatDelta& delta) const {
    const ClientTool* tool = delta.kind == Kind::kCallBegin ? calls_.find(delta.name) : nullptr;
    const bool is_custom = tool && tool->is_custom;
    return {.kind = delta.kind,
            .id = new_id(id_prefix(delta.kind, is_custom)),
            .call_id = delta.id,
            .name = tool ? tool->name : delta.name,
            .space = tool ? tool->space : "",
            .is_custom = is_custom};
  }

  void begin_item(Item begun, std::vector<Json>& events) {
    end_item(events);
    items_.push_back(std::move(begun));
    is_open_ = true;
    const Item& item = items_.back();
    events.push_back(event("response.output_item.added",
                           {{"output_index", items_.size() - 1}, {"item", item.json(start_.form, false)}}));
    if (item.is_call()) return;
    events.push_back(event(part_event("added"), with(place_of_part(), "part", item.part(start_.form))));
  }

  void end_item(std::vector<Json>& events) {
    if (!std::exchange(is_open_, false)) return;
    if (is_cut_) items_.back().status = "incomplete";
    const Item& item = items_.back();
    if (item.is_custom) {
      events.push_back(event(text_event("done"), with(place(), "input", item.text)));
    } else if (item.is_call()) {
      events.push_back(event(text_event("done"), with(with(place(), "name", item.name), "arguments", item.text)));
    } else {
      Json text = with(place_of_part(), "text", item.text);
      if (!item.is_thought()) text["logprobs"] = item.logprobs;
      events.push_back(event(text_event("done"), text));
      events.push_back(event(part_event("done"), with(place_of_part(), "part", item.part(start_.form))));
    }
    events.push_back(event("response.output_item.done",
                           {{"output_index", items_.size() - 1}, {"item", item.json(start_.form, true)}}));
  }

  void add_piece(const std::string& text, const Json& logprobs, std::vector<Json>& events) {
    Item& item = items_.back();
    item.text += text;
    item.pieces.push_back({text.size(), logprobs.size()});
    item.logprobs.insert(item.logprobs.end(), logprobs.begin(), logprobs.end());
    Json piece = with(item.is_call() ? place() : place_of_part(), "delta", text);
    if (item.kind == Kind::kContent) piece["logprobs"] = logprobs;
    events.push_back(event(text_event("delta"), piece));
  }

  void take(const std::vector<ChatDelta>& deltas, std::vector<Json>& events) {
    for (const ChatDelta& delta : deltas) {
      const Kind kind = delta.kind == Kind::kCallArguments ? Kind::kCallBegin : delta.kind;
      if (delta.kind == Kind::kCallBegin || !is_open_ || items_.back().kind != kind) {
        const bool is_after_thought = !items_.empty() && items_.back().is_thought();
        begin_item(item_of(delta), events);
        // The mark that ended the thought is no part of the message.
        if (is_after_thought) logprobs_.erase(logprobs_.begin(), logprobs_.end() - n_new_logprobs_);
      }
      if (delta.text.empty()) continue;
      const Json logprobs = std::exchange(logprobs_, Json::array());
      n_new_logprobs_ = 0;
      add_piece(readable(delta.text), kind == Kind::kContent ? logprobs : Json::array(), events);
    }
  }

  void repeat_item(const Json& item, const Json& pieces, std::vector<Json>& events) {
    const bool is_custom = item.at("type") == "custom_tool_call", is_thought = item.at("type") == "reasoning";
    const bool is_call = is_custom || item.at("type") == "function_call";
    Item begun{.kind = is_call      ? Kind::kCallBegin
                       : is_thought ? Kind::kReasoning
                                    : Kind::kContent,
               .id = item.at("id")};
    Json part = Json::object();
    if (is_call) {
      begun.call_id = item.at("call_id");
      begun.name = item.at("name");
      begun.space = item.value("namespace", "");
      begun.is_custom = is_custom;
    } else {
      part = item.at(is_thought && start_.form.summarizes ? "summary" : "content").at(0);
    }
    begin_item(std::move(begun), events);
    const std::string text = is_call ? item.at(is_custom ? "input" : "arguments") : part.at("text");
    const Json logprobs = part.value("logprobs", Json::array());
    size_t at = 0;
    ptrdiff_t first = 0;
    for (const Json& piece : pieces) {
      const size_t n = piece.at(0);
      const auto end = first + piece.at(1).get<ptrdiff_t>();
      Json some = Json::array();
      some.insert(some.end(), logprobs.begin() + first, logprobs.begin() + end);
      add_piece(text.substr(at, n), some, events);
      at += n;
      first = end;
    }
  }

  const Tokenizer* tokenizer_ = nullptr;  // null: for replays
  ResponseStart start_ = {};
  ClientCalls calls_{nullptr};
  Json base_;
  std::optional<TurnParser> parser_ = {};
  std::vector<Item> items_;
  Json logprobs_ = Json::array();  // of tokens whose text has not been told
  ptrdiff_t n_new_logprobs_ = 0;   // … of the latest news
  bool is_open_ = false;           // the last item is unfinished
  bool is_cut_ = false;            // the reply has ended at a limit
  int n_events_ = 0;
};

}  // namespace

std::unique_ptr<AnswerWriter> response_writer(const ModelProfile& model, const ConversationPrompt& prompt,
                                              ResponseStart start, std::shared_ptr<McpRounds> rounds) {
  return std::make_unique<ResponseWriter>(model, prompt, std::move(start), std::move(rounds));
}

std::vector<Json> replayed_events(const ResponseStore::Kept& kept) { return ResponseWriter::replay(kept); }

}  // namespace tern::server
