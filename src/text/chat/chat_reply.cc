#include "tern/chat_reply.h"

#include <algorithm>
#include <array>
#include <utility>

#include "text/chat/forms/call_reader.h"
#include "text/chat/forms/json_scanner.h"
#include "text/chat/reply_reader.h"

namespace tern {
namespace {

using Kind = ChatDelta::Kind;

constexpr size_t kMostSpace = 64;  // white space held back until it is known what follows it
constexpr size_t kMostBreaks = 8;  // line breaks held back until it is known if a mark follows

// Where `mark`, or a prefix of it that ends the text, begins; the text's end: not found.
size_t find_mark(std::string_view text, std::string_view mark) {
  if (mark.empty()) return text.size();
  for (size_t at = text.find(mark[0]); at != text.npos; at = text.find(mark[0], at + 1)) {
    if (mark.starts_with(text.substr(at, mark.size()))) return at;
  }
  return text.size();
}

// The number of line breaks at the end of text[0, end).
size_t breaks_before(std::string_view text, size_t end) {
  size_t n = 0;
  while (n < end && n < kMostBreaks && text[end - 1 - n] == '\n') ++n;
  return n;
}

// Reads replies that are text with marks.
class MarkReader final : public ReplyReader {
 public:
  MarkReader(ChatFormat format, ChatReplyOptions options)
      : think_begin_(std::move(format.think_begin)),
        think_end_(std::move(format.think_end)),
        content_begin_(std::move(format.content_begin)),
        closing_tags_({std::move(format.content_end), std::move(format.reply_end)}),
        options_(std::move(options)),
        out_(options_.id_seed) {
    if (format.calls && !options_.tool_names.empty()) call_ = make_call_reader(*format.calls, options_);
    if (options_.in_thought && !think_end_.empty()) begin_thought();
  }

  std::vector<ChatDelta> feed(std::string_view text) override {
    text_ += text;
    while (step()) {
    }
    text_.erase(0, at_);
    at_ = 0;
    return out_.take();
  }

  std::vector<ChatDelta> finish() override {
    switch (state_) {
      case State::kOpening:
        if (after_mark_) skip_breaks();
        tell(Kind::kContent, rest());
        break;
      case State::kContent:
        tell(Kind::kContent, rest());
        break;
      case State::kThought:
        tell(Kind::kReasoning, rest());
        break;
      case State::kCall:
        if (!call_->may_end() || !accept_call()) {
          tell_parts();
          if (!is_surely_a_call()) tell(Kind::kContent, call_->text());
        }
        tell(Kind::kContent, rest());
    }
    return out_.take();
  }

  int n_calls() const override { return out_.n_calls(); }

  std::optional<std::string> partial_call() const override {
    if (state_ != State::kCall) return std::nullopt;
    return call_->partial();
  }

 private:
  enum class State : uint8_t {
    kOpening,  // only white space so far; a thought, or a call without a mark, may begin
    kContent,
    kThought,
    kCall,
  };

  // Handles the next part of the text that is certain. False: more text is needed.
  bool step() {
    switch (state_) {
      case State::kOpening:
        return opening();
      case State::kContent:
        return content();
      case State::kThought:
        return thought();
      case State::kCall:
        return call();
    }
    return false;
  }

  std::string_view rest() const { return std::string_view(text_).substr(at_); }

  void tell(Kind kind, std::string_view text) { out_.tell(kind, text); }

  void take(Kind kind, size_t n) {
    tell(kind, rest().substr(0, n));
    at_ += n;
  }

  void skip_breaks() {
    while (at_ < text_.size() && text_[at_] == '\n') ++at_;
  }

  bool go(State state) {
    state_ = state;
    return true;
  }

  bool opening() {
    if (after_mark_) skip_breaks();
    const std::string_view text = rest();
    size_t space = 0;
    while (space < text.size() && space < kMostSpace && is_json_space(text[space])) ++space;
    size_t start = space;
    if (after_call_ && start < text.size() && text[start] == ';') ++start;  // separates calls without a mark
    while (start < text.size() && start < kMostSpace && is_json_space(text[start])) ++start;
    const std::string_view next = text.substr(start);
    if (next.empty()) return false;
    if (!thought_ && !after_call_ && !think_begin_.empty()) {
      if (next.starts_with(think_begin_)) {
        at_ += start + think_begin_.size();
        return begin_thought();
      }
      if (think_begin_.starts_with(next)) return false;
    }
    if (call_) {
      const Matched starts = call_->starts(next);
      if (starts.match == Match::kYes) return begin_call(start, starts.end);
      if (starts.match == Match::kMaybe) return false;
    }
    if (!content_begin_.empty() && !has_content_ && !after_call_) {
      if (content_begin_.starts_with(next) && next != content_begin_) return false;
      if (next.starts_with(content_begin_)) at_ += start + content_begin_.size();
    }
    has_content_ = true;
    return go(State::kContent);
  }

  bool content() {
    const std::string_view text = rest();
    const std::string_view mark = call_ ? std::string_view(call_->mark()) : std::string_view();
    const size_t mark_at = find_mark(text, mark);
    const size_t breaks = mark.empty() ? 0 : breaks_before(text, mark_at);
    const auto place = [&](const std::string& tag) { return find_mark(text, tag); };
    const std::string& tag = *std::ranges::min_element(closing_tags_, {}, place);
    if (const size_t at = place(tag); at < mark_at) {
      take(Kind::kContent, at);
      if (at + tag.size() > text.size()) return false;
      at_ += tag.size();
      return true;
    }
    if (mark_at + mark.size() <= text.size() && !mark.empty()) {
      take(Kind::kContent, mark_at - breaks);
      return begin_call(breaks, mark.size());
    }
    take(Kind::kContent, mark_at - breaks);
    return false;
  }

  bool begin_thought() {
    thought_ = true;
    after_mark_ = true;
    return go(State::kThought);
  }

  bool thought() {
    if (after_mark_) skip_breaks();
    const std::string_view text = rest();
    if (text.empty()) return false;
    const size_t mark_at = find_mark(text, think_end_);
    const size_t breaks = breaks_before(text, mark_at);
    after_mark_ = after_mark_ && mark_at == breaks;
    take(Kind::kReasoning, mark_at - breaks);
    if (mark_at + think_end_.size() > text.size()) return false;
    at_ += breaks + think_end_.size();
    after_mark_ = true;
    return go(State::kOpening);
  }

  // A call's mark was found. The `before` bytes in front of it belong to the call if it is one.
  bool begin_call(size_t before, size_t mark) {
    call_->begin(rest().substr(0, before + mark));
    at_ += before + mark;
    return go(State::kCall);
  }

  // The text turned out not to be a call. Its last bytes may begin the mark of one.
  bool give_up() {
    tell_parts();
    std::string_view text = call_->text();
    size_t n = std::min(text.size(), call_->mark().size() - (call_->mark().empty() ? 0 : 1));
    while (n > 0 && !call_->mark().starts_with(text.substr(text.size() - n))) --n;
    text_.insert(at_, text.substr(text.size() - n));
    tell(Kind::kContent, text.substr(0, text.size() - n));
    return go(State::kContent);
  }

  bool call() {
    while (at_ < text_.size()) {
      const CallReader::Step step = call_->feed(text_[at_]);
      if (step == CallReader::Step::kBad) return give_up();
      ++at_;
      if (step == CallReader::Step::kDone) return accept_call() || give_up();
      if (call_->has_parts()) tell_parts();
    }
    return false;
  }

  // What has begun would have become a call if the reply had not broken off: it is held to the form from its start.
  bool is_surely_a_call() const {
    if (call_->is_told()) return true;
    return options_.stream_arguments && !options_.grammar && call_->partial();
  }

  // Reports the complete call. False: it is not a call.
  bool accept_call() {
    if (!call_->accept()) return false;
    tell_parts();
    if (const std::string rest = call_->rest(); !rest.empty()) text_.insert(at_, rest);
    after_mark_ = after_call_ = true;
    return go(State::kOpening);
  }

  void tell_parts() {
    for (const CallPart& part : call_->take()) out_.tell(part);
  }

  const std::string think_begin_, think_end_, content_begin_;
  const std::array<std::string, 2> closing_tags_;  // of the content and the reply; no part of either
  const ChatReplyOptions options_;
  DeltaWriter out_;

  State state_ = State::kOpening;
  std::string text_;  // not reported yet, from at_ on
  size_t at_ = 0;
  bool thought_ = false;  // a thought has begun
  bool has_content_ = false;
  bool after_mark_ = false;  // line breaks that follow belong to the mark before them
  bool after_call_ = false;
  std::unique_ptr<CallReader> call_;  // null: calls are not read
};

}  // namespace

void DeltaWriter::tell(ChatDelta::Kind kind, std::string_view text) {
  if (text.empty()) return;
  const int call = kind == Kind::kCallArguments ? n_calls_ - 1 : -1;
  if (!deltas_.empty() && deltas_.back().kind == kind && deltas_.back().call == call) {
    deltas_.back().text += text;
  } else {
    deltas_.push_back({.kind = kind, .text = std::string(text), .call = call});
  }
}

void DeltaWriter::tell(const CallPart& part) {
  if (part.begins) {
    deltas_.push_back({.kind = Kind::kCallBegin,
                       .text = {},
                       .call = n_calls_++,
                       .id = part.id.empty() ? new_id() : part.id,
                       .name = part.name});
  }
  tell(Kind::kCallArguments, part.arguments);
}

// Nine letters and digits, as Mistral's templates require.
std::string DeltaWriter::new_id() {
  constexpr std::string_view kAlphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string id;
  for (int i = 0; i < 9; ++i) id += kAlphabet[ids_() % kAlphabet.size()];
  return id;
}

class ChatReplyParser::Impl {
 public:
  Impl(ChatFormat format, ChatReplyOptions options) {
    if (format.has_channels) {
      reader = make_channel_reader(std::move(format), std::move(options));
    } else {
      reader = std::make_unique<MarkReader>(std::move(format), std::move(options));
    }
  }
  std::unique_ptr<ReplyReader> reader;
};

ChatReplyParser::ChatReplyParser(ChatFormat format, ChatReplyOptions options)
    : impl_(std::make_unique<Impl>(std::move(format), std::move(options))) {}
ChatReplyParser::ChatReplyParser(ChatReplyParser&&) noexcept = default;
ChatReplyParser& ChatReplyParser::operator=(ChatReplyParser&&) noexcept = default;
ChatReplyParser::~ChatReplyParser() = default;

std::vector<ChatDelta> ChatReplyParser::feed(std::string_view text) { return impl_->reader->feed(text); }
std::vector<ChatDelta> ChatReplyParser::finish() { return impl_->reader->finish(); }
int ChatReplyParser::n_calls() const { return impl_->reader->n_calls(); }
std::optional<std::string> ChatReplyParser::partial_call() const { return impl_->reader->partial_call(); }

void append(ChatMessage& message, std::span<const ChatDelta> deltas) {
  for (const ChatDelta& delta : deltas) {
    switch (delta.kind) {
      case Kind::kContent:
        message.content += delta.text;
        break;
      case Kind::kReasoning:
        message.reasoning += delta.text;
        break;
      case Kind::kCallBegin:
        message.tool_calls.push_back({.id = delta.id, .name = delta.name});
        break;
      case Kind::kCallArguments:
        message.tool_calls.at(static_cast<size_t>(delta.call)).arguments += delta.text;
        break;
    }
  }
}

}  // namespace tern
