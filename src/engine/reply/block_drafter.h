// Drafts with the model's own layer behind the last one (PredictionBlock).
#pragma once

#include <memory>
#include <vector>

#include "engine/reply/speculation.h"

namespace tern {

// The block runs pairs: a token, and the hidden row of the token before it. Its keys and values begin at the first row
// that was observed, with position 0: RoPE depends on distances alone. The evidence is the position in the draft.
class BlockDrafter final : public Drafter {
 public:
  explicit BlockDrafter(std::unique_ptr<Sequence> sequence) : sequence_(std::move(sequence)) {}
  Draft draft(std::span<const TokenId> known, size_t most) override;
  void observe(size_t first_pos, size_t n_tokens, std::span<const float> hidden) override;
  bool is_free() const override { return false; }
  double expected(size_t /*kind*/) const override { return 0.7; }

 private:
  size_t n_run() const { return static_cast<size_t>(sequence_->n_used()); }
  size_t n_waiting() const { return width_ == 0 ? 0 : waiting_.size() / width_; }
  void forget_pairs();  // the first row that waits becomes the first of all
  // Runs pairs. Returns the likeliest token after the last one; none: memory is short.
  std::optional<TokenId> run(std::span<const TokenId> tokens, std::span<const float> rows);

  std::unique_ptr<Sequence> sequence_;
  size_t width_ = 0;
  size_t first_ = 0;            // position of the first row
  std::vector<float> waiting_;  // rows whose pairs have not run
  std::vector<float> last_;     // the block's own row after its last pair
  std::vector<TokenId> tokens_;
};

}  // namespace tern
