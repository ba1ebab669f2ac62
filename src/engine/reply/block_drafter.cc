#include "engine/reply/block_drafter.h"

#include <algorithm>

namespace tern {

void BlockDrafter::forget_pairs() {
  first_ += n_run();
  sequence_->clear();
}

// Rows of draft tokens that were wrong are replaced by those of the next pass.
void BlockDrafter::observe(size_t first_pos, size_t n_tokens, std::span<const float> hidden) {
  constexpr size_t kMostWaiting = 4096;  // while no drafts are asked for
  if (hidden.empty()) return;
  width_ = hidden.size() / n_tokens;
  const size_t n_known = first_ + n_run() + n_waiting();
  if (first_pos < first_ || first_pos > n_known) {
    waiting_.clear();
    sequence_->clear();
    first_ = first_pos;
  } else if (first_pos < first_ + n_run()) {
    waiting_.clear();
    sequence_->truncate(first_pos - first_);
  } else {
    waiting_.resize((first_pos - first_ - n_run()) * width_);
  }
  waiting_.insert(waiting_.end(), hidden.begin(), hidden.end());
  if (n_waiting() <= kMostWaiting) return;
  forget_pairs();
  first_ += n_waiting() - kMostWaiting;
  waiting_.erase(waiting_.begin(), waiting_.end() - static_cast<ptrdiff_t>(kMostWaiting * width_));
}

std::optional<TokenId> BlockDrafter::run(std::span<const TokenId> tokens, std::span<const float> rows) {
  auto slice = sequence_->extend(tokens, WantLogits::kLast, 1);
  if (!slice) return std::nullopt;
  slice->hidden = rows;
  const auto logits = sequence_->run({&*slice, 1});
  if (!logits) return std::nullopt;
  sequence_->add(tokens);
  const auto own = sequence_->executable().hidden().last(width_);
  last_.assign(own.begin(), own.end());
  return static_cast<TokenId>(std::ranges::max_element(*logits) - logits->begin());
}

// Pairs of draft tokens have the block's own rows, so they are forgotten again: those of the model come later.
Draft BlockDrafter::draft(std::span<const TokenId> known, size_t most) {
  tokens_.clear();
  if (known.size() < first_ + 2 || most == 0) return {};
  const auto run_before = sequence_->tokens();
  if (std::ranges::mismatch(run_before, known.subspan(first_ + 1)).in1 != run_before.end()) {
    forget_pairs();
    if (known.size() < first_ + 2) return {};
  }
  auto rest = known.subspan(first_ + 1 + n_run());
  const auto max_batch = static_cast<size_t>(sequence_->executable().max_batch());
  if (rest.empty() || rest.size() > n_waiting() || known.size() >= static_cast<size_t>(sequence_->n_ctx())) return {};
  std::optional<TokenId> token;
  for (size_t at = 0; at < rest.size(); at += max_batch) {
    const auto part = rest.subspan(at, std::min(max_batch, rest.size() - at));
    token = run(part, std::span(waiting_).subspan(at * width_, part.size() * width_));
    if (token) continue;
    forget_pairs();  // drafts are optional
    waiting_.clear();
    return {};
  }
  waiting_.clear();
  const size_t n_true = n_run();
  while (token) {
    tokens_.push_back(*token);
    if (tokens_.size() == most || sequence_->n_used() == sequence_->n_ctx()) break;
    const std::vector<float> row = last_;
    token = run(std::span(tokens_).last(1), row);
  }
  sequence_->truncate(n_true);
  return {.tokens = tokens_, .evidence = 0};
}

}  // namespace tern
