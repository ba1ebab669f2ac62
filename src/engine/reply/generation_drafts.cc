// Draft tokens in the passes of a reply.
#include <algorithm>

#include "engine/reply/generation.h"

namespace tern {

// Only in decode. A device that chooses tokens itself needs no drafts but those of the model's own layer.
bool Generation::Impl::may_speculate() const {
  return options_.speculate > 0 && is_decoding() && options_.n_logprobs < 0 && !is_constrained() &&
         (drafting_.uses_hidden() || !sequence_.executable().decodes());
}

bool Generation::Impl::prefers_stream() const {
  return n_again_ == 0 && (!may_speculate() || (sequence_.executable().decodes() && drafting_.n_rest() > 0));
}

size_t Generation::Impl::begin_draft(PassPlan plan) {
  plan.most_drafts = most_drafts(plan);
  plan.n_lost = sequence_.n_lost(1 + n_again_);
  return drafting_.begin_draft(tokens_.size(), plan);
}

size_t Generation::Impl::most_drafts(const PassPlan& plan) const {
  constexpr size_t kMostAgain = 8;  // a pass without drafts ends it
  if (n_again_ >= kMostAgain || plan.most_drafts <= n_again_) return 0;
  // ≥ 1, for the token that is certain
  auto room = static_cast<size_t>(sequence_.n_ctx() - sequence_.n_used()) - n_again_;
  if (options_.max_tokens >= 0) {
    const auto left = static_cast<size_t>(options_.max_tokens) - result().tokens.size();  // ≥ 1
    room = std::min(room, left);
  }
  return std::min({plan.most_drafts - n_again_, room - 1, sequence_.most_checked() - 1 - n_again_});
}

Result<Slice> Generation::Impl::slice_with_drafts(PassPlan& plan) {
  plan.most_drafts = most_drafts(plan);
  plan.rows += n_again_;
  plan.n_lost = sequence_.n_lost(1 + n_again_);
  running_ = drafting_.begin_pass(tokens_, n_pending(), plan);
  const int n = n_best(static_cast<int>(drafting_.n_drafts()));
  return sequence_.extend(running_, WantLogits::kAll, n, /*is_check=*/true);
}

// After each position the next token is chosen as usual, with the same random numbers, as long as the draft tokens
// before it match the chosen ones.
Result<void> Generation::Impl::take_drafts(std::span<const float> rows) {
  const size_t width = rows.size() / running_.size(), n_before = tokens_.size();
  GenerateStats& stats = reply_.result.stats;
  stats.n_guessed += static_cast<int>(drafting_.n_drafts());
  for (size_t i = n_again_;; ++i) {
    const auto row = rows.subspan(i * width, width);
    const auto tokens = i == n_again_ ? running_.first(i + 1) : running_.subspan(i, 1);
    TRY_STATUS(sequence_.check_logits(row, 1, tokens));
    sequence_.add(tokens);
    TRY_STATUS(choose(row));
    if (i == n_again_ + drafting_.n_drafts() || running_[i + 1] != tokens_.back() || is_constrained()) break;
    ++stats.n_guessed_right;
  }
  drafting_.add_chosen(std::span(tokens_).subspan(n_before));
  sequence_.settle();
  n_again_ = std::max<size_t>(n_pending(), 1) - 1;
  return {};
}

}  // namespace tern
