#include "engine/kv/sequence.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "engine/kv/not_finite.h"

namespace tern {

Sequence::Sequence(Executable& executable, std::shared_ptr<KvBlocks> blocks, int n_ctx, PrefixId root)
    : executable_(executable),
      pool_(std::move(blocks)),
      n_ctx_(n_ctx),
      root_(root),
      n_per_block_(static_cast<size_t>(pool_->block_tokens())) {
  CHECK(root < kFirstPrefix);
  if (pool_->has_states()) state_ = std::make_unique<SequenceState>(*pool_);
}

Sequence::~Sequence() { clear(); }

Result<std::unique_ptr<Sequence>> Sequence::alone(Executable& executable, int n_ctx, KvType type) {
  TRY(auto store, executable.new_kv_store(executable.kv_block_tokens(n_ctx), type));
  auto blocks = std::make_shared<KvBlocks>(std::move(store), KvBlocks::Options{});
  auto sequence = std::make_unique<Sequence>(executable, std::move(blocks), n_ctx);
  TRY_STATUS(sequence->begin());
  return sequence;
}

void Sequence::reserve() {
  const auto n = static_cast<size_t>(n_ctx_);
  tokens_.reserve(n);
  blocks_.reserve(n_blocks_for(n));
  prefixes_.reserve(n_blocks_for(n));
}

Result<void> Sequence::begin() {
  TRY_STATUS(make_room(1));
  return state_ ? state_->take() : Result<void>();
}

// Releases the last blocks first, so that they are evicted from the prefix cache first.
void Sequence::truncate(size_t n_tokens) {
  CHECK(n_tokens <= tokens_.size());
  tokens_.resize(n_tokens);
  while (blocks_.size() > n_blocks_for(n_tokens)) {
    pool_->release(blocks_.back());
    blocks_.pop_back();
  }
  prefixes_.resize(std::min(prefixes_.size(), n_tokens / n_per_block_));
  if (state_) state_->truncate(n_tokens);
}

size_t Sequence::keep_common(std::span<const TokenId> prompt) {
  CHECK(!prompt.empty());
  const auto known = prompt.first(prompt.size() - 1);
  const auto common = std::ranges::mismatch(known, tokens_);
  truncate(static_cast<size_t>(common.in2 - tokens_.begin()));
  if (state_) {
    keep_common_state(known);
    return tokens_.size();
  }
  if (root_ == kNotShared) return tokens_.size();
  for (size_t n = prefixes_.size(); (n + 1) * n_per_block_ <= known.size(); ++n) {
    const auto found = pool_->find(prefix_of(n), known.subspan(n * n_per_block_, n_per_block_));
    if (!found) break;
    truncate(n * n_per_block_);  // drops a partly filled block
    blocks_.push_back(found->block);
    prefixes_.push_back(found->prefix);
    const auto tokens = known.subspan(n * n_per_block_, n_per_block_);
    tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
  }
  return tokens_.size();
}

// The sequence's own state serves only the tokens that it describes. A snapshot may serve more.
void Sequence::keep_common_state(std::span<const TokenId> known) {
  const size_t n_own = state_->is_valid_for(tokens_.size()) ? tokens_.size() : 0;
  std::vector<KvBlocks::Found> found;
  size_t n_blocks = 0;  // up to the deepest snapshot
  PrefixId prefix = root_;
  while (root_ != kNotShared && (found.size() + 1) * n_per_block_ <= known.size()) {
    const auto next = pool_->find(prefix, known.subspan(found.size() * n_per_block_, n_per_block_));
    if (!next) break;
    found.push_back(*next);
    prefix = next->prefix;
    if (pool_->has_snapshot(next->block) && found.size() * n_per_block_ > n_own) n_blocks = found.size();
  }
  if (n_blocks > 0 && state_->copy_snapshot(found[n_blocks - 1].block, n_blocks * n_per_block_)) {
    const size_t n_tokens = n_blocks * n_per_block_;
    while (!blocks_.empty()) {
      pool_->release(blocks_.back());
      blocks_.pop_back();
    }
    prefixes_.clear();
    for (size_t i = 0; i < n_blocks; ++i) {
      blocks_.push_back(found[i].block);
      prefixes_.push_back(found[i].prefix);
    }
    tokens_.assign(known.begin(), known.begin() + static_cast<ptrdiff_t>(n_tokens));
  } else {
    n_blocks = 0;
    truncate(n_own);
  }
  while (found.size() > n_blocks) {
    pool_->release(found.back().block);
    found.pop_back();
  }
}

size_t Sequence::n_to_snapshot(size_t n) const {
  if (!state_ || root_ == kNotShared || n <= 1) return n;
  // A prompt's last token is always run again, so a snapshot before it is of use.
  const size_t last = (tokens_.size() + n - 1) / n_per_block_ * n_per_block_;
  return last > tokens_.size() ? last - tokens_.size() : n;
}

void Sequence::keep_what_state_describes() {
  if (!state_ || state_->describes(tokens_.size())) return;
  if (state_->n_described() > 0) return truncate(state_->n_described());
  std::vector<TokenId> known = tokens_;
  known.push_back(0);  // a prompt's last token is never kept
  keep_common(known);
}

void Sequence::take_snapshot(bool rolls) {
  if (tokens_.empty() || tokens_.size() % n_per_block_ != 0 || !state_->describes(tokens_.size())) return;
  state_->keep_snapshot(blocks_[tokens_.size() / n_per_block_ - 1], rolls);
}

Result<void> Sequence::make_room(size_t n_tokens) {
  const size_t first = tokens_.size() / n_per_block_;  // the first block to be written
  if (first < blocks_.size() && tokens_.size() % n_per_block_ > 0) {
    TRY(blocks_[first], pool_->copy_on_write(blocks_[first]));
  }
  while (blocks_.size() < n_blocks_for(tokens_.size() + n_tokens)) {
    TRY(const KvBlockId block, pool_->take());
    blocks_.push_back(block);
  }
  return {};
}

Result<Slice> Sequence::extend(std::span<const TokenId> tokens, WantLogits logits, int n_best, bool is_check) {
  CHECK(n_used() + std::ssize(tokens) <= n_ctx_);
  TRY_STATUS(make_room(tokens.size()));
  Slice slice{
      .tokens = tokens, .first_pos = n_used(), .logits = logits, .n_best = n_best, .blocks = blocks_, .n_ctx = n_ctx_};
  if (state_) TRY_STATUS(state_->begin_run(slice, is_check && tokens.size() > 1));
  return slice;
}

void Sequence::add(std::span<const TokenId> tokens, bool streams) {
  tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
  if (state_) state_->add(tokens.size());
  if (root_ == kNotShared) return;
  for (size_t n = prefixes_.size(); (n + 1) * n_per_block_ <= tokens_.size(); ++n) {
    const auto full = std::span(tokens_).subspan(n * n_per_block_, n_per_block_);
    prefixes_.push_back(pool_->publish(prefix_of(n), full, blocks_[n], streams));
  }
  if (state_) take_snapshot(/*rolls=*/tokens.size() == 1);
}

void Sequence::settle() {
  if (!state_) return;
  state_->settle();
  if (!state_->is_valid_for(tokens_.size())) truncate(state_->n_described());
}

Result<void> Sequence::restore(std::span<const TokenId> tokens, std::span<const Bytes> contents, Bytes state) {
  CHECK(std::ssize(tokens) <= n_ctx_ && contents.size() == n_blocks_for(tokens.size()));
  clear();
  TRY_STATUS(make_room(tokens.size()));
  for (size_t i = 0; i < contents.size(); ++i) TRY_STATUS(pool_->store().write(blocks_[i], contents[i]));
  if (state_) TRY_STATUS(state_->write(state, 0));  // add() counts the tokens
  add(tokens);
  return {};
}

Result<std::span<const float>> Sequence::append(std::span<const TokenId> tokens, WantLogits logits, int n_best) {
  TRY(const Slice slice, extend(tokens, logits, n_best));
  TRY(const auto rows, run({&slice, 1}));
  if (auto checked = check_logits(rows, static_cast<size_t>(slice.n_logit_rows()), tokens); !checked) {
    return std::unexpected(explained(std::move(checked).error()));
  }
  add(tokens);
  return rows;
}

Result<void> Sequence::check_logits(std::span<const float> rows, size_t n_rows, std::span<const TokenId> tokens) {
  for (size_t i = 0; i < n_rows; ++i) {
    const size_t width = rows.size() / n_rows;
    if (can_choose_by(rows.subspan(i * width, width))) continue;
    not_finite_ = tokens_;
    not_finite_.insert(not_finite_.end(), tokens.begin(), tokens.end());
    return fail(ErrorCode::kCorruption, "the model's logits are not finite numbers");
  }
  return {};
}

Error Sequence::explained(Error error) {
  if (not_finite_.empty()) return error;
  const std::vector<TokenId> tokens = std::exchange(not_finite_, {});
  return explain_not_finite(executable_, pool_->store().type(), n_ctx_, tokens).error();
}

Result<Slice> Sequence::start_of_stream(std::span<const TokenId> token, int n_tokens) {
  CHECK(token.size() == 1 && n_used() + n_tokens <= n_ctx_);
  TRY_STATUS(make_room(static_cast<size_t>(n_tokens)));
  Slice slice{.tokens = token, .first_pos = n_used(), .blocks = blocks_, .n_ctx = n_ctx_};
  if (state_) TRY_STATUS(state_->begin_stream(slice));
  return slice;
}

Result<std::unique_ptr<TokenStream>> Sequence::decode(TokenId token, int n_tokens, const DeviceSampling& sampling) {
  if (!executable_.decodes()) return nullptr;
  TRY(const Slice start, start_of_stream({&token, 1}, n_tokens));
  return executable_.decode(pool_->store(), {&start, 1}, n_tokens, {&sampling, 1});
}

}  // namespace tern
