#include "server/api/replies/turn_parser.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tern::server {
namespace {

bool is_of_call(const ChatDelta& delta) {
  return delta.kind == ChatDelta::Kind::kCallBegin || delta.kind == ChatDelta::Kind::kCallArguments;
}

}  // namespace

TurnParser::TurnParser(const ChatTurn& turn, std::shared_ptr<McpRounds> rounds)
    : rounds_(std::move(rounds)), parser_(turn.format, turn.reply), begun_(parser_.feed(turn.begin)), end_(turn.end) {}

void TurnParser::begin(const ChatTurn& turn) {
  parser_ = ChatReplyParser(turn.format, turn.reply);
  begun_ = parser_.feed(turn.begin);
  end_ = turn.end;
  needs_break_ = needs_break_ || !reply_.content.empty();
  reply_ = {.role = "assistant"};
  calls_.clear();
}

std::vector<ChatDelta> TurnParser::take(ReplyEvent& news) {
  if (std::exchange(is_over_, false)) begin(rounds_->turn());
  std::vector<ChatDelta> deltas = std::exchange(begun_, {});
  std::ranges::move(parser_.feed(news.text), std::back_inserter(deltas));
  if (news.finish) {
    if (*news.finish == FinishReason::kStopToken) std::ranges::move(parser_.feed(end_), std::back_inserter(deltas));
    std::ranges::move(parser_.finish(), std::back_inserter(deltas));
  }
  return rounds_ ? without_calls(std::move(deltas), news) : deltas;
}

// The contents of two replies are apart by a line.
std::vector<ChatDelta> TurnParser::without_calls(std::vector<ChatDelta> deltas, ReplyEvent& news) {
  append(reply_, deltas);
  std::vector<ChatDelta> shown;
  for (ChatDelta& delta : deltas) {
    if (is_of_call(delta)) {
      calls_.push_back(std::move(delta));
      continue;
    }
    const bool is_content = delta.kind == ChatDelta::Kind::kContent;
    if (is_content && std::exchange(needs_break_, false)) delta.text.insert(0, "\n\n");
    shown.push_back(std::move(delta));
  }
  if (!news.finish) return shown;
  if (rounds_->follows(reply_, news)) {
    is_over_ = true;
    news.finish.reset();
  } else {
    std::ranges::move(std::exchange(calls_, {}), std::back_inserter(shown));
  }
  return shown;
}

}  // namespace tern::server
