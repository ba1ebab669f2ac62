#include "server/api/ollama/writer.h"

#include <chrono>
#include <optional>
#include <utility>

#include "server/api/replies/turn_parser.h"

namespace tern::server::ollama {
namespace {

using Clock = std::chrono::steady_clock;
using Kind = ChatDelta::Kind;

int64_t nanoseconds(double seconds) { return static_cast<int64_t>(seconds * 1e9); }

Json call_json(const ToolCall& call, size_t index) {
  const Json arguments = Json::parse(call.arguments, nullptr, /*allow_exceptions=*/false);
  return {{"id", call.id},
          {"function",
           {{"index", index},
            {"name", call.name},
            {"arguments", arguments.is_object() ? arguments : Json::object()}}}};  // one that broke off is no JSON
}

class LineWriter final : public AnswerWriter {
 public:
  LineWriter(const ModelProfile& model, const ConversationPrompt& prompt, bool is_chat,
             std::shared_ptr<McpRounds> rounds)
      : tokenizer_(model.engine.tokenizer()),
        name_(model.name),
        is_chat_(is_chat),
        parser_(prompt.turn, std::move(rounds)) {}

  void add(ReplyEvent& news) override {
    add_logprobs(news);
    append(message_, parser_.take(news));
    if (news.finish) finish_ = news.finish;
  }

  Json whole(const Usage& usage, const GenerateStats& stats) override {
    std::erase_if(message_.tool_calls, [&](const ToolCall& call) { return is_cut_off(call); });
    return last(message_, usage, stats);
  }

  std::vector<Json> first_events() override { return {}; }
  std::vector<Json> idle_events() override { return {line({.role = {}})}; }

  std::vector<Json> events(ReplyEvent& news) override {
    std::vector<Json> events;
    add_logprobs(news);
    const std::vector<ChatDelta> deltas = parser_.take(news);
    finish_ = news.finish;
    for (const ChatDelta& delta : deltas) take(delta, events);
    if (!news.finish) return events;
    tell_call(events);
    return events;
  }

  std::vector<Json> last_events(const Usage& usage, const GenerateStats& stats) override {
    return {last({.role = {}}, usage, stats)};
  }

  Json error_event(const ApiError& error) override { return error.json(ErrorShape::kOllama); }
  StreamForm stream_form() const override { return StreamForm::kLines; }

 private:
  void add_logprobs(const ReplyEvent& news) {
    for (size_t i = 0; news.token && i < news.logprobs.size(); ++i) {
      Json one = logprob_json(tokenizer_, *news.token, news.logprobs[i]);
      if (one["top_logprobs"].empty()) one.erase("top_logprobs");
      logprobs_.push_back(std::move(one));
    }
  }

  // Calls are told whole.
  void take(const ChatDelta& delta, std::vector<Json>& events) {
    if (delta.kind == Kind::kCallArguments) {
      call_->arguments += delta.text;
      return;
    }
    tell_call(events);
    if (delta.kind == Kind::kCallBegin) {
      call_ = ToolCall{.id = delta.id, .name = delta.name, .arguments = delta.text};
    } else if (delta.kind == Kind::kReasoning) {
      events.push_back(line({.role = {}, .reasoning = delta.text}));
    } else {
      events.push_back(line({.role = {}, .content = delta.text}));
    }
  }

  // By the limit of tokens. Such a call is none: clients would make it with no arguments.
  bool is_cut_off(const ToolCall& call) const {
    return finish_ && *finish_ != FinishReason::kStopToken && !Json::accept(call.arguments);
  }

  void tell_call(std::vector<Json>& events) {
    if (!call_) return;
    if (is_cut_off(*call_)) return call_.reset();
    events.push_back(line({.role = {}, .tool_calls = {*std::exchange(call_, std::nullopt)}}, n_calls_++));
  }

  // `first`: the number of the first of the message's calls.
  Json line(const ChatMessage& message, size_t first = 0) {
    Json json = {{"model", name_}, {"created_at", utc_time()}};
    Json text =
        is_chat_ ? Json{{"role", "assistant"}, {"content", message.content}} : Json{{"response", message.content}};
    if (!message.reasoning.empty()) text["thinking"] = message.reasoning;
    for (const ToolCall& call : message.tool_calls) text["tool_calls"].push_back(call_json(call, first++));
    if (is_chat_) {
      json["message"] = std::move(text);
    } else {
      json.update(text);
    }
    json["done"] = false;
    if (!logprobs_.empty()) json["logprobs"] = std::exchange(logprobs_, Json::array());
    return json;
  }

  Json last(const ChatMessage& message, const Usage& usage, const GenerateStats& stats) {
    Json json = line(message);
    json["done"] = true;
    json["done_reason"] = finish_reason(finish_);
    json["total_duration"] = std::chrono::nanoseconds(Clock::now() - start_).count();
    json["load_duration"] = 0;
    json["prompt_eval_count"] = usage.n_prompt;
    json["prompt_eval_duration"] = nanoseconds(stats.prompt_seconds);
    json["eval_count"] = usage.n_generated;
    json["eval_duration"] = nanoseconds(stats.decode_seconds);
    if (usage.joules) json["joules"] = *usage.joules;
    return json;
  }

  const Tokenizer& tokenizer_;
  const std::string name_;
  const bool is_chat_;
  const Clock::time_point start_ = Clock::now();
  TurnParser parser_;
  ChatMessage message_ = {.role = {}};  // of a whole answer
  std::optional<ToolCall> call_ = {};   // begun, and not told yet
  size_t n_calls_ = 0;                  // told
  Json logprobs_ = Json::array();       // not told yet
  std::optional<FinishReason> finish_ = {};
};

}  // namespace

std::unique_ptr<AnswerWriter> line_writer(const ModelProfile& model, const ConversationPrompt& prompt, bool is_chat,
                                          std::shared_ptr<McpRounds> rounds) {
  return std::make_unique<LineWriter>(model, prompt, is_chat, std::move(rounds));
}

}  // namespace tern::server::ollama
