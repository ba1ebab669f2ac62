// The KV cache of one conversation, whatever backend it belongs to, and the tokens that are in it.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "backend/backend.h"
#include "base/result.h"

namespace tern {

class Context {
 public:
  Context(Executable& executable, std::unique_ptr<KvCache> cache) : executable_(executable), cache_(std::move(cache)) {}

  int n_ctx() const { return cache_->n_ctx(); }
  int n_used() const { return static_cast<int>(tokens_.size()); }
  int max_batch() const { return executable_.max_batch(); }
  int max_logit_rows() const { return executable_.max_logit_rows(); }

  // Forgets what is not a beginning of `prompt`, or is all of it: the last token's logits are wanted, so it is always
  // run again. Returns how many tokens are left.
  size_t keep_common(std::span<const TokenId> prompt);

  // Runs at most max_batch() tokens after those that are there. The logits are valid until the next run; n_best: which
  // of them are wanted (Batch). kCorruption where they are no numbers, naming the step that is to blame.
  Result<std::span<const float>> append(std::span<const TokenId> tokens, WantLogits logits, int n_best = 0);

  // The device's own choice of the tokens after `token`; null where the host has to choose. add() what the stream has
  // run when it has been taken.
  Result<std::unique_ptr<TokenStream>> decode(TokenId token, int n_tokens, const DeviceSampling& sampling);
  void add(TokenId token) { tokens_.push_back(token); }

  void reserve() { tokens_.reserve(static_cast<size_t>(n_ctx())); }  // for all there may be
  void clear() { tokens_.clear(); }

 private:
  Result<void> check_logits(std::span<const float> rows, size_t n_rows, std::span<const TokenId> tokens);

  Executable& executable_;
  std::unique_ptr<KvCache> cache_;
  std::vector<TokenId> tokens_;  // whose keys and values are in the cache
};

}  // namespace tern
