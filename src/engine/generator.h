// What a session does with its context: replies, one at a time, and logits.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include "backend/backend.h"
#include "base/result.h"
#include "engine/context.h"
#include "engine/generation.h"
#include "tern/engine.h"

namespace tern {

class Generator {
 public:
  // `tokenizer` may be null: then no text is made. Both must outlive the generator. `advised` stands for what a reply's
  // options leave open.
  Generator(Executable& executable, std::unique_ptr<KvCache> cache, const Tokenizer* tokenizer, int n_vocab,
            const SampleOptions& advised = {})
      : context_(executable, std::move(cache)), tokenizer_(tokenizer), n_vocab_(n_vocab), advised_(advised) {}
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;
  ~Generator() { cancel(); }

  // See Session in include/tern/engine.h.
  Result<std::unique_ptr<Generation::Impl>> begin(std::span<const TokenId> prompt, const GenerateOptions& options);
  Result<GenerateResult> generate(std::span<const TokenId> prompt, const GenerateOptions& options,
                                  const OnText& on_text, std::stop_token stop);
  Result<void> logits(std::span<const TokenId> tokens, const Session::OnLogits& on_row);

  Result<std::vector<float>> embed(std::span<const TokenId> tokens, bool mean);

  int n_ctx() const { return context_.n_ctx(); }
  int n_used() const { return context_.n_used(); }
  void reset();

 private:
  Result<void> check_tokens(std::span<const TokenId> tokens) const;
  void cancel();  // the generation under way, if there is one

  Context context_;
  const Tokenizer* tokenizer_;
  int n_vocab_;
  SampleOptions advised_;
  Generation::Impl* active_ = nullptr;  // the generation under way; it sets this
};

}  // namespace tern
