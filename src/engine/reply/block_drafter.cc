#include "engine/reply/block_drafter.h"

#include <algorithm>

namespace tern {
namespace {

constexpr size_t kMostWaitingBytes = size_t{16} << 20;  // while no drafts are asked for

}  // namespace

void BlockDrafter::forget_pairs() {
  first_ += n_run();
  sequence_->clear();
}

void BlockDrafter::release() {
  sequence_->clear();
  std::vector<float>().swap(waiting_);
  tokens_.clear();
  first_ = 0;
}

// Rows of draft tokens that were wrong are replaced by those of the next pass.
void BlockDrafter::observe(size_t first_pos, size_t n_tokens, std::span<const float> hidden) {
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
  const size_t most = std::max<size_t>(kMostWaitingBytes / sizeof(float) / width_, 1);
  if (n_waiting() <= most) return;
  forget_pairs();
  first_ += n_waiting() - most;
  waiting_.erase(waiting_.begin(), waiting_.end() - static_cast<ptrdiff_t>(most * width_));
}

void BlockDrafter::begin(std::span<const TokenId> known, size_t most) {
  tokens_.clear();
  n_wanted_ = 0;
  catches_up_ = false;
  if (known.size() < first_ + 2 || most == 0) return;
  const auto run_before = sequence_->tokens();
  if (std::ranges::mismatch(run_before, known.subspan(first_ + 1)).in1 != run_before.end()) {
    forget_pairs();
    if (known.size() < first_ + 2) return;
  }
  const auto rest = known.subspan(first_ + 1 + n_run());
  if (rest.empty() || rest.size() > n_waiting() || known.size() >= static_cast<size_t>(sequence_->n_ctx())) return;
  to_run_ = rest;
  n_wanted_ = most;
  n_rows_run_ = 0;
  catches_up_ = rest.size() > Draft::kFewTokens;
  tokens_.reserve(most);
}

std::optional<Slice> BlockDrafter::next_slice(size_t most_tokens) {
  if (tokens_.size() == n_wanted_) return std::nullopt;
  std::span<const float> rows = last_;
  WantLogits logits = WantLogits::kLast;
  if (to_run_.empty()) {
    if (sequence_->n_used() == sequence_->n_ctx()) return n_wanted_ = tokens_.size(), std::nullopt;
    running_ = std::span(tokens_).last(1);
  } else {
    running_ = to_run_.first(std::min(most_tokens, to_run_.size()));
    rows = std::span(waiting_).subspan(n_rows_run_ * width_, running_.size() * width_);
    if (running_.size() < to_run_.size()) logits = WantLogits::kNone;
  }
  auto slice = sequence_->extend(running_, logits, 1);
  if (!slice) return fail(), std::nullopt;
  slice->hidden = rows;
  return *slice;
}

void BlockDrafter::take(std::span<const float> hidden, std::span<const float> logits) {
  sequence_->add(running_);
  if (!to_run_.empty()) {
    to_run_ = to_run_.subspan(running_.size());
    n_rows_run_ += running_.size();
    if (!to_run_.empty()) return;
    n_true_ = n_run();
  }
  const auto own = hidden.last(width_);
  last_.assign(own.begin(), own.end());
  tokens_.push_back(static_cast<TokenId>(std::ranges::max_element(logits) - logits.begin()));
}

void BlockDrafter::fail() {
  n_wanted_ = tokens_.size();
  if (n_wanted_ > 0) return;  // what has run is complete
  forget_pairs();
  waiting_.clear();
}

void BlockDrafter::run_together(std::span<BlockDrafter* const> drafters) {
  if (drafters.empty()) return;
  Sequence& any = *drafters.front()->sequence_;
  const Executable& executable = any.executable();
  const auto most_slices = static_cast<size_t>(std::min(executable.max_slices(), executable.max_logit_rows()));
  std::vector<Slice> slices;
  std::vector<BlockDrafter*> in_pass;
  for (;;) {
    slices.clear();
    in_pass.clear();
    auto room = static_cast<size_t>(executable.max_batch());
    for (BlockDrafter* drafter : drafters) {
      if (room == 0 || slices.size() == most_slices) break;
      const auto slice = drafter->next_slice(room);
      if (!slice) continue;
      room -= slice->tokens.size();
      slices.push_back(*slice);
      in_pass.push_back(drafter);
    }
    if (slices.empty()) return;
    const auto logits = any.run(slices);
    const int n_logit_rows =
        std::ranges::fold_left(slices, 0, [](int n, const Slice& slice) { return n + slice.n_logit_rows(); });
    const size_t n_vocab = logits && n_logit_rows > 0 ? logits->size() / static_cast<size_t>(n_logit_rows) : 0;
    size_t n_rows = 0, n_logits = 0;
    for (size_t i = 0; i < slices.size(); ++i) {
      BlockDrafter& drafter = *in_pass[i];
      if (!logits) {
        drafter.fail();
        continue;
      }
      const size_t n = slices[i].tokens.size() * drafter.width_;
      const size_t n_wanted = static_cast<size_t>(slices[i].n_logit_rows()) * n_vocab;
      drafter.take(executable.hidden().subspan(n_rows, n), logits->subspan(n_logits, n_wanted));
      n_rows += n;
      n_logits += n_wanted;
    }
  }
}

// Pairs of draft tokens have the block's own rows, so they are forgotten again: those of the model come later.
Draft BlockDrafter::end() {
  if (tokens_.empty()) return {};
  waiting_.clear();
  sequence_->truncate(n_true_);
  return {.tokens = tokens_, .evidence = 0, .catches_up = catches_up_};
}

Draft BlockDrafter::draft(std::span<const TokenId> known, size_t most) {
  begin(known, most);
  BlockDrafter* const alone = this;
  run_together({&alone, 1});
  return end();
}

}  // namespace tern
