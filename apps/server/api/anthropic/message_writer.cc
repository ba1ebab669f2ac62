#include "server/api/anthropic/message_writer.h"

#include <optional>
#include <utility>

#include "server/api/replies/turn_parser.h"

namespace tern::server::anthropic {
namespace {

// Clients send thoughts back with their signature, and drop those without one. It proves nothing here.
constexpr const char* kSignature = "tern";

using Kind = ChatDelta::Kind;

struct Block {
  Kind kind = Kind::kContent;  // kCallBegin for calls
  std::string text = {};       // or a call's input
  std::string id = {}, name = {};

  Json json(bool is_whole) const {
    switch (kind) {
      case Kind::kReasoning:
        return {{"type", "thinking"}, {"thinking", text}, {"signature", is_whole ? kSignature : ""}};
      case Kind::kCallBegin: {
        const Json input = Json::parse(text, nullptr, /*allow_exceptions=*/false);
        return {{"type", "tool_use"},
                {"id", id},
                {"name", name},
                {"input", input.is_object() ? input : Json::object()}};  // one that broke off is no JSON
      }
      default:
        return {{"type", "text"}, {"text", text}};
    }
  }

  Json delta(const std::string& more) const {
    switch (kind) {
      case Kind::kReasoning:
        return {{"type", "thinking_delta"}, {"thinking", more}};
      case Kind::kCallBegin:
        return {{"type", "input_json_delta"}, {"partial_json", more}};
      default:
        return {{"type", "text_delta"}, {"text", more}};
    }
  }
};

Json usage_json(int n_prompt, int n_cached, int n_generated, const std::optional<double>& joules = {}) {
  Json json = {{"input_tokens", n_prompt - n_cached},
               {"cache_creation_input_tokens", 0},
               {"cache_read_input_tokens", n_cached},
               {"output_tokens", n_generated}};
  if (joules) json["joules"] = *joules;
  return json;
}

class MessageWriter final : public AnswerWriter {
 public:
  MessageWriter(const ModelProfile& model, const ConversationPrompt& prompt, std::shared_ptr<McpRounds> rounds,
                const Json& more)
      : n_prompt_(static_cast<int>(prompt.tokens.size())),
        head_({{"id", new_id("msg_")}, {"type", "message"}, {"role", "assistant"}, {"model", model.name}}),
        more_(more),
        parser_(prompt.turn, std::move(rounds)) {}

  void add(ReplyEvent& news) override { (void)events(news); }

  Json whole(const Usage& usage, const GenerateStats&) override {
    Json content = Json::array();
    for (const Block& block : blocks_) content.push_back(block.json(true));
    return message(std::move(content), stop_json(),
                   usage_json(usage.n_prompt, usage.n_cached, usage.n_generated, usage.joules));
  }

  // The message begins with the first news, which says how much of the prompt was in the cache.
  std::vector<Json> first_events() override { return {}; }

  std::vector<Json> idle_events() override {
    std::vector<Json> events;
    begin(0, events);
    events.push_back({{"type", "ping"}});
    return events;
  }

  std::vector<Json> events(ReplyEvent& news) override {
    std::vector<Json> events;
    begin(news.stats.n_reused, events);
    take(parser_.take(news), events);
    if (!news.finish) return events;
    finish_ = news.finish;
    stop_ = news.stop;
    if (blocks_.empty()) begin_block({}, events);
    end_block(events);
    return events;
  }

  std::vector<Json> last_events(const Usage& usage, const GenerateStats&) override {
    Json delta = {{"type", "message_delta"},
                  {"delta", stop_json()},
                  {"usage", usage_json(usage.n_prompt, usage.n_cached, usage.n_generated, usage.joules)}};
    delta.update(more_);
    return {std::move(delta), {{"type", "message_stop"}}};
  }

  Json error_event(const ApiError& error) override { return error.json(ErrorShape::kAnthropic); }
  StreamForm stream_form() const override { return StreamForm::kNamedEvents; }

 private:
  Json message(Json content, const Json& stop, Json usage) const {
    Json json = head_;
    json["content"] = std::move(content);
    json.update(stop);
    json["usage"] = std::move(usage);
    json.update(more_);
    return json;
  }

  Json stop_json() const {
    if (!finish_) return {{"stop_reason", nullptr}, {"stop_sequence", nullptr}};
    Json sequence = nullptr;
    const char* reason = parser_.n_calls() > 0 ? "tool_use" : "end_turn";
    if (*finish_ == FinishReason::kMaxTokens) reason = "max_tokens";
    if (*finish_ == FinishReason::kContextFull) reason = "model_context_window_exceeded";
    if (*finish_ == FinishReason::kStopString) {
      reason = "stop_sequence";
      sequence = stop_;
    }
    return {{"stop_reason", reason}, {"stop_sequence", sequence}};
  }

  void begin(int n_cached, std::vector<Json>& events) {
    if (std::exchange(has_begun_, true)) return;
    events.push_back({{"type", "message_start"},
                      {"message", message(Json::array(), stop_json(), usage_json(n_prompt_, n_cached, 0))}});
  }

  Json block_event(const char* type) const { return {{"type", type}, {"index", blocks_.size() - 1}}; }

  void begin_block(const ChatDelta& delta, std::vector<Json>& events) {
    end_block(events);
    blocks_.push_back({.kind = delta.kind, .id = delta.id, .name = delta.name});
    is_open_ = true;
    Json event = block_event("content_block_start");
    event["content_block"] = blocks_.back().json(false);
    events.push_back(std::move(event));
    if (blocks_.size() == 1) events.push_back({{"type", "ping"}});
  }

  void add_delta(Json delta, std::vector<Json>& events) const {
    Json event = block_event("content_block_delta");
    event["delta"] = std::move(delta);
    events.push_back(std::move(event));
  }

  void end_block(std::vector<Json>& events) {
    if (!std::exchange(is_open_, false)) return;
    if (blocks_.back().kind == Kind::kReasoning) {
      add_delta({{"type", "signature_delta"}, {"signature", kSignature}}, events);
    }
    events.push_back(block_event("content_block_stop"));
  }

  void take(const std::vector<ChatDelta>& deltas, std::vector<Json>& events) {
    for (const ChatDelta& delta : deltas) {
      const Kind kind = delta.kind == Kind::kCallArguments ? Kind::kCallBegin : delta.kind;
      if (delta.kind == Kind::kCallBegin || !is_open_ || blocks_.back().kind != kind) begin_block(delta, events);
      if (delta.text.empty()) continue;
      blocks_.back().text += delta.text;
      add_delta(blocks_.back().delta(delta.text), events);
    }
  }

  const int n_prompt_;
  const Json head_, more_;
  TurnParser parser_;
  std::vector<Block> blocks_;
  bool has_begun_ = false;
  bool is_open_ = false;  // the last block is unfinished
  std::optional<FinishReason> finish_ = {};
  std::string stop_ = {};
};

}  // namespace

std::unique_ptr<AnswerWriter> message_writer(const ModelProfile& model, const ConversationPrompt& prompt,
                                             std::shared_ptr<McpRounds> rounds, const Json& more) {
  return std::make_unique<MessageWriter>(model, prompt, std::move(rounds), more);
}

}  // namespace tern::server::anthropic
