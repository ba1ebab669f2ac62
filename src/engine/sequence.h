// The tokens of one conversation, whatever backend it belongs to, and the blocks that hold their keys and values.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "backend/backend.h"
#include "base/result.h"
#include "engine/kv_blocks.h"

namespace tern {

class Sequence {
 public:
  // For at most n_ctx tokens. `root` (below kFirstPrefix) tells apart sequences whose keys differ though their tokens
  // do not; kNotShared: no other sequence finds its blocks, nor it theirs.
  static constexpr PrefixId kNotShared = kFirstPrefix - 1;
  Sequence(Executable& executable, std::shared_ptr<KvBlocks> blocks, int n_ctx, PrefixId root = 0);
  // The only one in a store of its own. kOutOfMemory where not even a first block fits.
  static Result<std::unique_ptr<Sequence>> alone(Executable& executable, int n_ctx, KvType type);
  Sequence(const Sequence&) = delete;
  Sequence& operator=(const Sequence&) = delete;
  ~Sequence() { clear(); }

  int n_ctx() const { return n_ctx_; }
  int n_used() const { return static_cast<int>(tokens_.size()); }
  std::span<const TokenId> tokens() const { return tokens_; }
  std::span<const KvBlockId> blocks() const { return blocks_; }
  Executable& executable() const { return executable_; }

  // Forgets what is not a beginning of `prompt`, or is all of it: the last token's logits are wanted, so it is always
  // run again. What other sequences have run of the rest is shared. Returns how many tokens are there then.
  size_t keep_common(std::span<const TokenId> prompt);
  void truncate(size_t n_tokens);
  void clear() { truncate(0); }

  // The slice that runs `tokens` after those that are there, with blocks for them. `tokens` and this sequence must
  // stay as they are until it has run. kOutOfMemory.
  Result<Slice> extend(std::span<const TokenId> tokens, WantLogits logits, int n_best = 0);
  // They have run. While a stream runs this sequence, its blocks stay what they are.
  void add(std::span<const TokenId> tokens, bool streams = false);

  // These tokens, whose keys and values are in `contents`, instead of what is there. kOutOfMemory.
  Result<void> restore(std::span<const TokenId> tokens, std::span<const Bytes> contents);
  KvStore& store() const { return pool_->store(); }

  // Runs slices of sequences that share this one's store. The logits are valid until the next run.
  Result<std::span<const float>> run(Batch batch) { return executable_.run(pool_->store(), batch); }

  // Runs at most max_batch() tokens, alone. The logits are valid until the next run. kCorruption where they are no
  // numbers, naming the step that is to blame.
  Result<std::span<const float>> append(std::span<const TokenId> tokens, WantLogits logits, int n_best = 0);
  // The error for logits [n_rows, n_vocab] by which no token can be chosen, after `tokens` have been run.
  Result<void> check_logits(std::span<const float> rows, size_t n_rows, std::span<const TokenId> tokens) const;

  // The slice that a stream starts with: `token` after those that are there, with blocks for n_tokens. kOutOfMemory.
  Result<Slice> start_of_stream(std::span<const TokenId> token, int n_tokens);
  // Gives back blocks beyond those of the tokens that are there.
  void release_rest() { truncate(tokens_.size()); }
  // The device's own choice of the tokens after `token`; null where the host has to choose. add() what the stream has
  // run when it has been taken.
  Result<std::unique_ptr<TokenStream>> decode(TokenId token, int n_tokens, const DeviceSampling& sampling);

  void reserve();  // memory for the ids of all tokens that there may be
  // Takes the first block, so that a lack of memory shows at once. kOutOfMemory.
  Result<void> begin() { return make_room(1); }

 private:
  Result<void> make_room(size_t n_tokens);  // for so many more
  size_t n_blocks_for(size_t n_tokens) const { return (n_tokens + n_per_block_ - 1) / n_per_block_; }
  PrefixId prefix_of(size_t n_blocks) const { return n_blocks == 0 ? root_ : prefixes_[n_blocks - 1]; }

  Executable& executable_;
  std::shared_ptr<KvBlocks> pool_;
  int n_ctx_;
  PrefixId root_;
  size_t n_per_block_;
  std::vector<TokenId> tokens_;     // whose keys and values are in the blocks
  std::vector<KvBlockId> blocks_;   // for them, or for more
  std::vector<PrefixId> prefixes_;  // of the full blocks
};

}  // namespace tern
