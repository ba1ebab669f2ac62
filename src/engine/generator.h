// The generate loop over one KV cache, whatever backend it belongs to.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include "backend/backend.h"
#include "base/result.h"
#include "tern/engine.h"

namespace tern {

class Reply;
class Sampler;

class Generator {
 public:
  // `tokenizer` may be null: then no text is made. Both must outlive the generator.
  Generator(Executable& executable, std::unique_ptr<KvCache> cache, const Tokenizer* tokenizer, int n_vocab)
      : executable_(executable), cache_(std::move(cache)), tokenizer_(tokenizer), n_vocab_(n_vocab) {}

  // See Session in include/tern/engine.h.
  Result<GenerateResult> generate(std::span<const TokenId> prompt, const GenerateOptions& options,
                                  const OnText& on_text, std::stop_token stop);
  Result<void> logits(std::span<const TokenId> tokens, const Session::OnLogits& on_row);

  int n_ctx() const { return cache_->n_ctx(); }
  int n_used() const { return static_cast<int>(cached_.size()); }
  void reset() { cached_.clear(); }

 private:
  Result<void> check_tokens(std::span<const TokenId> tokens) const;
  // Makes the cache hold exactly `prompt` and returns the logits after its last token; empty when stopped.
  Result<std::span<const float>> prefill(std::span<const TokenId> prompt, std::stop_token stop, int& n_reused);
  Result<std::span<const float>> append(std::span<const TokenId> tokens, WantLogits logits);
  // The device's own choice of the tokens after `token`; null where the host has to choose.
  Result<std::unique_ptr<TokenStream>> start_stream(TokenId token, const GenerateOptions& options, Sampler& sampler);
  // Runs `token` and returns the one chosen after it.
  Result<TokenId> next_token(TokenId token, Sampler& sampler, TokenStream* stream);
  // Everything after the prompt: from its logits to why the reply ends. An error leaves `reply` with what there was.
  Result<FinishReason> decode(std::span<const float> logits, const GenerateOptions& options,
                              const std::stop_token& stop, Sampler& sampler, Reply& reply);

  Executable& executable_;
  std::unique_ptr<KvCache> cache_;
  const Tokenizer* tokenizer_;
  int n_vocab_;
  std::vector<TokenId> cached_;  // whose keys and values are in the cache
};

}  // namespace tern
