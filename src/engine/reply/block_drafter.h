// Drafts with the model's own layer behind the last one (PredictionBlock).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/reply/speculation.h"

namespace tern {

// The block runs pairs: a token, and the hidden row of the token before it. Its keys and values begin at the first row
// that was observed, with position 0: RoPE depends on distances alone. The evidence is the position in the draft.
class BlockDrafter final : public Drafter {
 public:
  // The sequence must not share prefixes: what it holds for a token depends on the hidden row, too.
  explicit BlockDrafter(std::unique_ptr<Sequence> sequence) : sequence_(std::move(sequence)) {}
  Draft draft(std::span<const TokenId> known, size_t most) override;
  void observe(size_t first_pos, size_t n_tokens, std::span<const float> hidden) override;
  bool uses_hidden() const override { return true; }
  void release() override;
  bool is_free() const override { return false; }
  double expected(size_t /*kind*/) const override { return 0.7; }

  // draft() in three parts, so that the blocks of several replies run as one batch. Their sequences must share a store,
  // and `known` must not change until end().
  void begin(std::span<const TokenId> known, size_t most);
  static void run_together(std::span<BlockDrafter* const> drafters);
  Draft end();

 private:
  size_t n_run() const { return static_cast<size_t>(sequence_->n_used()); }
  size_t n_waiting() const { return width_ == 0 ? 0 : waiting_.size() / width_; }
  void forget_pairs();  // the first row that waits becomes the first of all
  // The next pairs of the draft, at most so many; none if it is complete or memory is short.
  std::optional<Slice> next_slice(size_t most_tokens);
  void take(std::span<const float> hidden, std::span<const float> logits);  // of the last slice
  void fail();                                                              // drafts are optional

  std::unique_ptr<Sequence> sequence_;
  size_t width_ = 0;
  size_t first_ = 0;            // position of the first row
  std::vector<float> waiting_;  // rows whose pairs have not run
  std::vector<float> last_;     // the block's own row after its last pair
  std::vector<TokenId> tokens_;
  // These describe the draft in progress. Pairs of known tokens run first.
  std::span<const TokenId> to_run_, running_;
  size_t n_wanted_ = 0;
  size_t n_rows_run_ = 0;  // of those that wait
  size_t n_true_ = 0;      // pairs without those of draft tokens
  bool catches_up_ = false;
};

}  // namespace tern
