// The operations of a session on its sequence: replies, one at a time, logits and embeddings.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include "backend/backend.h"
#include "base/result.h"
#include "engine/reply/generation.h"
#include "tern/engine.h"

namespace tern {

class SessionCore {
 public:
  // `tokenizer` may be null: then there is no text. Both must outlive the core. `advised` supplies sampling options
  // that a reply leaves unset. `drafter` proposes draft tokens (GenerateOptions::speculate); null: they come from the
  // text. `times` are the model's pass times, shared by all its sessions; null: this core's own.
  SessionCore(std::unique_ptr<Sequence> sequence, const Tokenizer* tokenizer, int n_vocab,
              const SampleOptions& advised = {}, std::shared_ptr<PassTimes> times = {},
              std::unique_ptr<Drafter> drafter = {})
      : sequence_(std::move(sequence)),
        tokenizer_(tokenizer),
        n_vocab_(n_vocab),
        advised_(advised),
        times_(times ? std::move(times) : std::make_shared<PassTimes>()),
        drafter_(std::move(drafter)) {}
  SessionCore(const SessionCore&) = delete;
  SessionCore& operator=(const SessionCore&) = delete;
  ~SessionCore() { cancel(); }

  // See Session in include/tern/engine.h.
  Result<std::unique_ptr<Generation::Impl>> begin(std::span<const TokenId> prompt, const GenerateOptions& options);
  Result<GenerateResult> generate(std::span<const TokenId> prompt, const GenerateOptions& options,
                                  const OnText& on_text, std::stop_token stop);
  Result<void> logits(std::span<const TokenId> tokens, const Session::OnLogits& on_row);

  Result<std::vector<float>> embed(std::span<const TokenId> tokens, bool mean);

  // Shares the grammar cache of the engine's sessions; by default the core has its own.
  void share_grammars(std::shared_ptr<GrammarCache> grammars) { grammars_ = std::move(grammars); }

  Sequence& sequence() { return *sequence_; }
  int n_ctx() const { return sequence_->n_ctx(); }
  int n_used() const { return sequence_->n_used(); }
  void reset();

 private:
  Result<void> check_tokens(std::span<const TokenId> tokens) const;
  void cancel();          // cancels the generation in progress, if any
  int most_rows() const;  // of logits in one pass

  std::unique_ptr<Sequence> sequence_;
  const Tokenizer* tokenizer_;
  int n_vocab_;
  SampleOptions advised_;
  std::shared_ptr<PassTimes> times_;
  std::unique_ptr<Drafter> drafter_;
  std::shared_ptr<GrammarCache> grammars_ = std::make_shared<GrammarCache>();
  Generation::Impl* active_ = nullptr;  // the generation in progress, which sets this itself
};

}  // namespace tern
