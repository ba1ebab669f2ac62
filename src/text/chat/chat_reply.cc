#include "tern/chat_reply.h"

#include <algorithm>
#include <random>
#include <utility>

#include "text/chat/json_scanner.h"
#include "text/chat/tool_call_json.h"

namespace tern {
namespace {

using Kind = ChatDelta::Kind;
using Step = JsonScanner::Step;

constexpr size_t kMostCallBytes = size_t{1} << 20;
constexpr size_t kMostCalls = 1000;  // in a list
constexpr size_t kMostSpace = 64;    // white space held back until it is known what follows it
constexpr size_t kMostBreaks = 8;    // line breaks held back until it is known if a mark follows

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

}  // namespace

class ChatReplyParser::Impl {
 public:
  Impl(ChatFormat format, ChatReplyOptions options)
      : think_begin_(std::move(format.think_begin)),
        think_end_(std::move(format.think_end)),
        tool_names_(std::move(options.tool_names)),
        streams_arguments_(options.stream_arguments),
        grammar_(std::move(options.grammar)),
        ids_(options.id_seed != 0 ? options.id_seed : std::random_device()()) {
    if (format.calls && !tool_names_.empty()) {
      reads_calls_ = true;
      calls_ = *std::move(format.calls);
      call_begin_ = without_json_space(calls_.begin);
      call_end_ = without_json_space(calls_.end);
      may_begin_ = without_json_space(calls_.may_begin);
    }
    if (options.in_thought && !think_end_.empty()) begin_thought();
  }

  std::vector<ChatDelta> feed(std::string_view text) {
    text_ += text;
    while (step()) {
    }
    text_.erase(0, at_);
    at_ = 0;
    return std::exchange(deltas_, {});
  }

  std::vector<ChatDelta> finish() {
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
        if (json_end_ == 0 || !accept_call()) tell(Kind::kContent, call_);
    }
    return std::exchange(deltas_, {});
  }

  int n_calls() const { return n_calls_; }

  std::optional<std::string> partial_call() const {
    if (state_ != State::kCall) return std::nullopt;
    if (!call_begin_.empty()) return compact_json(call_.substr(mark_end_));
    if (!is_checked_) return std::nullopt;
    return compact_json(call_.substr(json_begin_ - 1));
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

  void tell(Kind kind, std::string_view text) {
    if (text.empty()) return;
    const int call = kind == Kind::kCallArguments ? n_calls_ - 1 : -1;
    if (!deltas_.empty() && deltas_.back().kind == kind && deltas_.back().call == call) {
      deltas_.back().text += text;
    } else {
      deltas_.push_back({.kind = kind, .text = std::string(text), .call = call});
    }
  }

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
    if (reads_calls_ && call_begin_.empty()) {
      if (next.starts_with('{')) return begin_call(start, 0);
      if (!may_begin_.empty() && next.starts_with(may_begin_)) return begin_call(start, may_begin_.size());
      if (!may_begin_.empty() && may_begin_.starts_with(next)) return false;
    }
    return go(State::kContent);
  }

  bool content() {
    const std::string_view text = rest();
    const std::string_view mark = reads_calls_ ? std::string_view(call_begin_) : std::string_view();
    const size_t mark_at = find_mark(text, mark);
    const size_t breaks = mark.empty() ? 0 : breaks_before(text, mark_at);
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
    call_ = rest().substr(0, before + mark);
    mark_end_ = call_.size();
    at_ += call_.size();
    scanner_ = {};
    json_begin_ = json_end_ = end_matched_ = 0;
    is_checked_ = has_brackets_ = is_told_ = false;
    return go(State::kCall);
  }

  // The text turned out not to be a call.
  bool give_up() {
    tell(Kind::kContent, call_);
    call_.clear();
    return go(State::kContent);
  }

  bool call() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (call_.size() >= kMostCallBytes) return give_up();
      const bool fits = json_end_ != 0 ? add_to_end(c) : add_to_json(c);
      if (!fits) return give_up();
      ++at_;
      const bool is_whole = json_end_ != 0 && end_matched_ == call_end_.size();
      if (is_whole) return accept_call() || give_up();
    }
    return false;
  }

  // Adds a byte to the call. False: it cannot be part of one.
  bool add_to_json(char c) {
    const bool begins = json_begin_ == 0;
    if (begins && is_json_space(c)) return add(c);
    if (begins && c != (calls_.is_list ? '[' : '{')) return false;
    const int depth = scanner_.depth();
    // Nothing may follow arguments that have been reported.
    if (is_told_ && depth == 1 && c != '}' && !is_json_space(c)) return false;
    const Step step = scanner_.feed(c);
    if (step == Step::kBad) return false;
    if (is_told_ && depth > 1) {
      tell(Kind::kCallArguments, std::string_view(&c, 1));
      return true;
    }
    add(c);
    if (begins) json_begin_ = call_.size();  // index + 1 of its first byte; 0: not yet
    if (step == Step::kDone) json_end_ = call_.size();
    const int inside = calls_.is_list ? 2 : 1;
    if (!is_checked_ && scanner_.after_colon() && scanner_.depth() == inside) {
      is_checked_ = true;
      return begins_like_a_call() || (call_.pop_back(), false);
    }
    if (depth == 1 && scanner_.depth() == 2) arguments_begin();
    return true;
  }

  bool add(char c) {
    call_ += c;
    return true;
  }

  bool add_to_end(char c) {
    if (end_matched_ == 0 && is_json_space(c)) return add(c);
    if (c != call_end_[end_matched_]) return false;
    ++end_matched_;
    return add(c);
  }

  // Most JSON is not a call and should not be held back until its end.
  bool begins_like_a_call() const {
    const size_t quote = call_.find('"', json_begin_ - 1);
    const size_t end = call_.rfind('"');
    return is_call_member(std::string_view(call_).substr(quote, end + 1 - quote), calls_);
  }

  bool is_known(const std::string& name) const { return std::ranges::contains(tool_names_, name); }

  // The first bracket in the object opens the arguments, if the name came before it.
  void arguments_begin() {
    if (!streams_arguments_ || calls_.is_list || has_brackets_) return;
    has_brackets_ = true;
    const std::optional<ToolCall> call = read_tool_call(call_.substr(json_begin_ - 1) + "}}", calls_);
    if (!call || !is_known(call->name)) return;
    is_told_ = true;
    begin(*call);
    tell(Kind::kCallArguments, "{");
    call_.clear();
  }

  // Reports the complete call. False: it is not a call.
  bool accept_call() {
    if (!is_told_) {
      const std::string_view json = std::string_view(call_).substr(json_begin_ - 1, json_end_ + 1 - json_begin_);
      if (grammar_ && !grammar_->matches(compact_json(json) + call_end_)) return false;
      std::vector<std::string_view> objects = {json};
      if (calls_.is_list) {
        auto items = json_items(json, kMostCalls);
        if (!items || items->empty()) return false;
        objects = *std::move(items);
      }
      std::vector<ToolCall> calls;
      for (const std::string_view object : objects) {
        std::optional<ToolCall> call = read_tool_call(object, calls_);
        if (!call || !is_known(call->name)) return false;
        calls.push_back(*std::move(call));
      }
      for (const ToolCall& call : calls) {
        begin(call);
        tell(Kind::kCallArguments, call.arguments);
      }
    }
    call_.clear();
    after_mark_ = after_call_ = true;
    return go(State::kOpening);
  }

  void begin(const ToolCall& call) {
    deltas_.push_back({.kind = Kind::kCallBegin,
                       .text = {},
                       .call = n_calls_++,
                       .id = call.id.empty() ? new_id() : call.id,
                       .name = call.name});
  }

  // Nine letters and digits, as Mistral's templates require.
  std::string new_id() {
    constexpr std::string_view kAlphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    std::string id;
    for (int i = 0; i < 9; ++i) id += kAlphabet[ids_() % kAlphabet.size()];
    return id;
  }

  std::string think_begin_, think_end_;
  std::string call_begin_, call_end_, may_begin_;
  ToolCallFormat calls_;
  bool reads_calls_ = false;
  std::vector<std::string> tool_names_;
  bool streams_arguments_;
  std::shared_ptr<const Grammar> grammar_;
  std::mt19937_64 ids_;

  State state_ = State::kOpening;
  std::string text_;  // not reported yet, from at_ on
  size_t at_ = 0;
  std::vector<ChatDelta> deltas_;
  bool thought_ = false;     // a thought has begun
  bool after_mark_ = false;  // line breaks that follow belong to the mark before them
  bool after_call_ = false;
  int n_calls_ = 0;

  // In a call: its text that has not been reported.
  std::string call_;
  JsonScanner scanner_;
  size_t mark_end_ = 0;
  size_t json_begin_ = 0;
  size_t json_end_ = 0;
  size_t end_matched_ = 0;
  bool is_checked_ = false;    // its first member may belong to a call
  bool has_brackets_ = false;  // a bracket was seen inside its object
  bool is_told_ = false;
};

ChatReplyParser::ChatReplyParser(ChatFormat format, ChatReplyOptions options)
    : impl_(std::make_unique<Impl>(std::move(format), std::move(options))) {}
ChatReplyParser::ChatReplyParser(ChatReplyParser&&) noexcept = default;
ChatReplyParser& ChatReplyParser::operator=(ChatReplyParser&&) noexcept = default;
ChatReplyParser::~ChatReplyParser() = default;

std::vector<ChatDelta> ChatReplyParser::feed(std::string_view text) { return impl_->feed(text); }
std::vector<ChatDelta> ChatReplyParser::finish() { return impl_->finish(); }
int ChatReplyParser::n_calls() const { return impl_->n_calls(); }
std::optional<std::string> ChatReplyParser::partial_call() const { return impl_->partial_call(); }

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
