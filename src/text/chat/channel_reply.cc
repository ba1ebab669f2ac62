// Replies that are messages with channels, as gpt-oss writes them behind "<|start|>assistant":
//   <|channel|>analysis<|message|>…<|end|><|start|>assistant<|channel|>final<|message|>…<|return|>
// A message to a function is a call: "<|channel|>commentary to=functions.f <|constrain|>json<|message|>{…}<|call|>".
#include <algorithm>
#include <nlohmann/json.hpp>

#include "text/chat/forms/json_scanner.h"
#include "text/chat/reply_reader.h"

namespace tern {
namespace {

constexpr std::string_view kMessage = "<|message|>", kStart = "<|start|>", kChannel = "<|channel|>";
constexpr std::string_view kRecipient = "to=functions.";
constexpr std::string_view kEnds[] = {"<|end|>", "<|return|>", "<|call|>"};
constexpr size_t kMostHeaderBytes = 400;

// True if the text begins with the mark or is the beginning of it.
bool may_begin(std::string_view text, std::string_view mark) {
  return text.starts_with(mark) || mark.starts_with(text);
}

class ChannelReader final : public ReplyReader {
 public:
  ChannelReader(ChatFormat format, ChatReplyOptions options)
      : format_(std::move(format)), options_(std::move(options)), out_(options_.id_seed) {}

  std::vector<ChatDelta> feed(std::string_view text) override {
    text_ += text;
    while (step()) {
    }
    text_.erase(0, at_);
    at_ = 0;
    return out_.take();
  }

  std::vector<ChatDelta> finish() override {
    if (state_ == State::kCall) {
      if (!accept()) tell(ChatDelta::Kind::kContent, header_ + call_);
    } else if (state_ != State::kHeader) {
      tell(kind(), rest());
    } else if (!rest().starts_with(kStart) && !rest().starts_with(kChannel)) {
      tell(ChatDelta::Kind::kContent, rest());
    }
    return out_.take();
  }

  int n_calls() const override { return out_.n_calls(); }

  std::optional<std::string> partial_call() const override {
    if (options_.tool_names.empty()) return std::nullopt;
    const std::string_view header = state_ == State::kHeader ? rest() : std::string_view(header_);
    const size_t at = header.find(kRecipient);
    if (at == header.npos || (state_ != State::kHeader && state_ != State::kCall)) return std::nullopt;
    if (is_told_) return "";
    return std::string(header.substr(at + kRecipient.size())) + (state_ == State::kCall ? call_ : "");
  }

 private:
  enum class State : uint8_t { kHeader, kThought, kContent, kCall };

  std::string_view rest() const { return std::string_view(text_).substr(at_); }
  ChatDelta::Kind kind() const {
    return state_ == State::kThought ? ChatDelta::Kind::kReasoning : ChatDelta::Kind::kContent;
  }

  // Messages of one kind are separated, as the marks between them are left out.
  void tell(ChatDelta::Kind kind, std::string_view text) {
    if (text.empty()) return;
    bool& is_open = kind == ChatDelta::Kind::kReasoning ? thought_is_open_ : content_is_open_;
    bool& was_told = kind == ChatDelta::Kind::kReasoning ? has_thought_ : has_content_;
    if (was_told && !is_open) out_.tell(kind, "\n\n");
    is_open = was_told = true;
    out_.tell(kind, text);
  }

  bool go(State state) {
    state_ = state;
    if (state == State::kHeader) thought_is_open_ = content_is_open_ = false;
    return true;
  }

  bool step() {
    if (state_ == State::kHeader) return header();
    return state_ == State::kCall ? call() : body();
  }

  bool header() {
    const std::string_view text = rest();
    const size_t end = text.find(kMessage);
    const std::string_view own = text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    const bool is_header = own.empty() || may_begin(own, kStart) || may_begin(own, kChannel) ||
                           may_begin(own, kMessage) || may_begin(own, "to=");
    if (!is_header || std::min(end, text.size()) > kMostHeaderBytes) {
      tell(ChatDelta::Kind::kContent, text.substr(0, 1));  // so that the same mark is not found again
      ++at_;
      return go(State::kContent);
    }
    if (end == text.npos) return false;
    header_ = text.substr(0, end + kMessage.size());
    at_ += header_.size();
    call_.clear();
    scanner_ = {};
    is_told_ = is_complete_ = false;
    if (name_of_call().empty()) {
      if (header_.contains("to=")) tell(ChatDelta::Kind::kContent, header_);  // a call of no known function
      return go(header_.contains("analysis") ? State::kThought : State::kContent);
    }
    if (options_.stream_arguments && (!options_.grammar || options_.grammar->may_begin(header_.substr(
                                                               header_.find(kRecipient) + kRecipient.size())))) {
      out_.tell(CallPart{.begins = true, .name = name_of_call()});
      is_told_ = true;
    }
    return go(State::kCall);
  }

  // The known function that the header names, or nothing.
  std::string name_of_call() const {
    const size_t at = header_.find(kRecipient);
    if (at == header_.npos) return {};
    std::string_view name = std::string_view(header_).substr(at + kRecipient.size());
    name = name.substr(0, name.find_first_of(" <\n"));
    return std::ranges::contains(options_.tool_names, name) ? std::string(name) : std::string();
  }

  // Where the next message or the end of this one may begin, and the mark, if it is complete.
  size_t next_mark(std::string_view text, std::string_view& mark) const {
    for (size_t at = text.find('<'); at != text.npos; at = text.find('<', at + 1)) {
      const std::string_view here = text.substr(at);
      for (const std::string_view one : {kEnds[0], kEnds[1], kEnds[2], kStart, kChannel}) {
        if (!may_begin(here, one)) continue;
        if (here.starts_with(one)) mark = one;
        return at;
      }
    }
    return text.size();
  }

  bool body() {
    std::string_view mark;
    const size_t at = next_mark(rest(), mark);
    tell(kind(), rest().substr(0, at));
    at_ += at;
    if (mark.empty()) return false;
    if (std::ranges::contains(kEnds, mark)) at_ += mark.size();
    return go(State::kHeader);
  }

  bool call() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (is_complete_) {
        if (is_json_space(c)) {
          ++at_;
          continue;
        }
        std::string_view mark;
        const size_t at = next_mark(rest(), mark);
        if (at == 0 && mark.empty()) return false;
        if (!accept()) return give_up();
        if (std::ranges::contains(kEnds, mark) && at == 0) at_ += mark.size();
        return go(State::kHeader);
      }
      const bool is_space = scanner_.depth() == 0 && is_json_space(c);
      const bool begins = scanner_.depth() == 0 && !is_space;
      const auto step = is_space ? JsonScanner::Step::kMore : scanner_.feed(c);
      if (step == JsonScanner::Step::kBad || (begins && c != '{') || call_.size() > CallReader::kMostBytes)
        return give_up();
      ++at_;
      if (is_told_) {
        if (!is_space) out_.tell(CallPart{.arguments = std::string(1, c)});
      } else {
        call_ += c;
      }
      is_complete_ = step == JsonScanner::Step::kDone;
    }
    return false;
  }

  bool give_up() {
    if (!is_told_) tell(ChatDelta::Kind::kContent, header_ + call_);
    return go(State::kContent);
  }

  // Reports the complete call. False: it is not one.
  bool accept() {
    if (is_told_) return true;
    if (!is_complete_ || !nlohmann::json::accept(call_)) return false;
    if (options_.grammar) {
      const auto& pieces = format_.calls->marked->pieces;
      const bool has_end = pieces.back().kind == CallPiece::Kind::kText;
      const std::string whole = header_.substr(header_.find(kRecipient) + kRecipient.size()) + call_;
      if (!options_.grammar->matches(has_end ? whole + pieces.back().text : whole)) return false;
    }
    out_.tell(CallPart{.begins = true, .name = name_of_call(), .arguments = std::string(without_json_space(call_))});
    call_.clear();
    header_.clear();
    return true;
  }

  const ChatFormat format_;
  const ChatReplyOptions options_;
  DeltaWriter out_;
  State state_ = State::kHeader;
  std::string text_;  // not read yet, from at_ on
  size_t at_ = 0;
  std::string header_, call_;
  JsonScanner scanner_;
  bool is_told_ = false;                                    // the call is reported as it arrives
  bool is_complete_ = false;                                // the call's JSON
  bool thought_is_open_ = false, content_is_open_ = false;  // in this message
  bool has_thought_ = false, has_content_ = false;
};

}  // namespace

std::unique_ptr<ReplyReader> make_channel_reader(ChatFormat format, ChatReplyOptions options) {
  return std::make_unique<ChannelReader>(std::move(format), std::move(options));
}

}  // namespace tern
