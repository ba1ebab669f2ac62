#include "engine/reply/reply.h"

#include <algorithm>

namespace tern {

std::optional<FinishReason> Reply::add(TokenId token) {
  const auto seconds = [this] { return std::chrono::duration<double>(Clock::now() - phase_start_).count(); };
  if (result.tokens.empty()) {
    result.stats.prompt_seconds = seconds();
    phase_start_ = Clock::now();
  }
  result.tokens.push_back(token);
  ++result.stats.n_generated;
  const auto reason = reason_to_end(token);
  result.stats.decode_seconds = seconds();
  return reason;
}

std::optional<FinishReason> Reply::reason_to_end(TokenId token) {
  const bool may_stop = result.stats.n_generated > options_.min_tokens;
  if (tokenizer_) {
    if (thoughts_.feed(tokenizer_->piece(token, /*special=*/true))) ++result.stats.n_thought;
    const bool is_stop = std::ranges::contains(tokenizer_->stop_tokens(), token);
    if (is_stop && may_stop && !options_.ignore_eos) return FinishReason::kStopToken;
    std::string_view piece = tokenizer_->piece(token, std::ranges::contains(options_.shown_tokens, token));
    if (strip_space_ && !piece.empty()) {
      if (piece.starts_with(' ')) piece.remove_prefix(1);
      strip_space_ = false;
    }
    result.text += stream_.feed(piece, may_stop);
    if (stream_.stopped()) return FinishReason::kStopString;
  }
  if (options_.max_tokens >= 0 && result.stats.n_generated >= options_.max_tokens) return FinishReason::kMaxTokens;
  return std::nullopt;
}

void Reply::heal(std::string_view text) { result.text += stream_.feed(text); }

void Reply::flush() { result.text += stream_.finish(); }

void Reply::finish(FinishReason reason) {
  flush();
  result.reason = reason;
}

std::string_view Reply::untold_text() {
  const std::string_view untold = std::string_view(result.text).substr(n_told_);
  n_told_ += untold.size();
  return untold;
}

}  // namespace tern
