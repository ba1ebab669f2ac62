// The tokens of one conversation and the KV blocks that hold their keys and values, on any backend.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "backend/backend.h"
#include "backend/state_layout.h"
#include "base/result.h"
#include "engine/kv/kv_blocks.h"
#include "engine/kv/sequence_state.h"

namespace tern {

class Sequence {
 public:
  // Holds at most n_ctx tokens. `root` (below kFirstPrefix) separates sequences whose keys differ for the same tokens;
  // kNotShared: KV blocks are not shared with other sequences.
  static constexpr PrefixId kNotShared = kFirstPrefix - 1;
  Sequence(Executable& executable, std::shared_ptr<KvBlocks> blocks, int n_ctx, PrefixId root = 0);
  // A sequence with a store of its own. kOutOfMemory: not even a first block fits.
  static Result<std::unique_ptr<Sequence>> alone(Executable& executable, int n_ctx, KvType type);
  Sequence(const Sequence&) = delete;
  Sequence& operator=(const Sequence&) = delete;
  ~Sequence();

  int n_ctx() const { return n_ctx_; }
  int n_used() const { return static_cast<int>(tokens_.size()); }
  std::span<const TokenId> tokens() const { return tokens_; }
  std::span<const KvBlockId> blocks() const { return blocks_; }
  Executable& executable() const { return executable_; }

  // Keeps the common prefix with `prompt`, without the last token of `prompt`: its logits are needed, so it is always
  // run again. Extends the prefix with cached blocks of other sequences. Returns the number of tokens kept. If the
  // model has recurrent layers, the prefix is as long as there is a state for it.
  size_t keep_common(std::span<const TokenId> prompt);
  void truncate(size_t n_tokens);
  void clear() { truncate(0); }

  // Returns the slice that runs `tokens` after the present ones, with blocks allocated for them. `tokens` and this
  // sequence must not change until it has run. If `is_check` is true, all tokens but the first are draft tokens, and
  // fewer than `tokens` may be added afterwards. kOutOfMemory.
  Result<Slice> extend(std::span<const TokenId> tokens, WantLogits logits, int n_best = 0, bool is_check = false);
  // The most tokens, of n, that the next slice of a prompt should have: slices end where a snapshot is to be taken.
  size_t n_to_snapshot(size_t n) const;
  // The most tokens of a check.
  size_t most_checked() const {
    if (!state_) return SIZE_MAX;
    return pool_->store().returns_states() ? kMostPending
                                           : static_cast<size_t>(std::max(pool_->store().most_pending(), 1));
  }
  // To be called after the last add() of a check. Devices return the state to the tokens before the check, unless all
  // have stayed: then the sequence forgets those that have, which must run again.
  void settle();
  // How many of the n known tokens of a check run again if a draft token is wrong.
  size_t n_lost(size_t n) const { return state_ && pool_->store().returns_states() ? n : 0; }
  // Records tokens that have been run. While a stream runs this sequence, its blocks are not replaced.
  void add(std::span<const TokenId> tokens, bool streams = false);

  // Replaces the sequence by these tokens, whose KV blocks are in `contents`, and their state if there are recurrent
  // layers. kOutOfMemory.
  Result<void> restore(std::span<const TokenId> tokens, std::span<const Bytes> contents, Bytes state = {});
  // Forgets the tokens at the end that the state alone does not describe, so that the rest can be saved.
  void keep_what_state_describes();
  Result<void> read_state(MutableBytes out) const { return state_->read(out); }
  KvStore& store() const { return pool_->store(); }

  // Runs slices of sequences that share this sequence's store. The logits are valid until the next run.
  Result<std::span<const float>> run(Batch batch) { return executable_.run(pool_->store(), batch); }

  // Runs at most max_batch() tokens of this sequence only. The logits are valid until the next run. kCorruption: they
  // are not finite; the message names the step that caused it.
  Result<std::span<const float>> append(std::span<const TokenId> tokens, WantLogits logits, int n_best = 0);
  // Checks logits [n_rows, n_vocab] after `tokens` have run. Returns an error if no token can be chosen by them;
  // explained() says which step caused it.
  Result<void> check_logits(std::span<const float> rows, size_t n_rows, std::span<const TokenId> tokens);
  // An error of check_logits() with its cause; other errors stay what they are. Runs the tokens once more, so the
  // logits of the last run are no longer valid.
  Error explained(Error error);

  // The slice that starts a stream: `token` after the present tokens, with blocks for n_tokens. kOutOfMemory.
  Result<Slice> start_of_stream(std::span<const TokenId> token, int n_tokens);
  // After a stream has failed: how far it had come is not known, so a state may describe other tokens.
  void lose_state() {
    if (state_) clear();
  }
  // Releases blocks beyond those of the present tokens.
  void release_rest() { truncate(tokens_.size()); }
  // Starts device-side sampling of the tokens after `token`; null if the host has to choose. Call add() for each token
  // that the stream has run once it is taken.
  Result<std::unique_ptr<TokenStream>> decode(TokenId token, int n_tokens, const DeviceSampling& sampling);

  void reserve();  // allocates memory for the ids of n_ctx tokens
  // Takes the first block, so that lack of memory is reported early. kOutOfMemory.
  Result<void> begin();

 private:
  Result<void> make_room(size_t n_tokens);  // for n_tokens more
  void keep_common_state(std::span<const TokenId> known);
  void take_snapshot(bool rolls);
  size_t n_blocks_for(size_t n_tokens) const { return (n_tokens + n_per_block_ - 1) / n_per_block_; }
  PrefixId prefix_of(size_t n_blocks) const { return n_blocks == 0 ? root_ : prefixes_[n_blocks - 1]; }

  Executable& executable_;
  std::shared_ptr<KvBlocks> pool_;
  int n_ctx_;
  PrefixId root_;
  size_t n_per_block_;
  std::vector<TokenId> tokens_;           // their keys and values are in the blocks
  std::vector<KvBlockId> blocks_;         // for these tokens, possibly more
  std::vector<PrefixId> prefixes_;        // one for each full block
  std::vector<TokenId> not_finite_;       // with the last of these, check_logits() found logits that are no numbers
  std::unique_ptr<SequenceState> state_;  // null: the model has no recurrent layers
};

}  // namespace tern
