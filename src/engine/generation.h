// One reply under way: a state machine over a session's context, one bounded piece of work a step.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "engine/context.h"
#include "engine/reply.h"
#include "sample/sampler.h"
#include "tern/engine.h"

namespace tern {

// Owns all that belongs to the reply and not to the conversation: the rest of the prompt, the sampler, the text, the
// device's token stream. Whatever ends it also drops its stream, and it knows its context no longer.
class Generation::Impl {
 public:
  // Prompt and options have been checked; what `options` leaves open is Tern's own. `active` is where the session keeps
  // its generation under way; it is set to this one until it ends. `tokenizer` may be null: then no text is made. All
  // must outlive the generation, or its end.
  Impl(Context& context, Impl*& active, const Tokenizer* tokenizer, int n_vocab, std::span<const TokenId> prompt,
       const GenerateOptions& options);
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { detach(); }

  // See Generation in include/tern/engine.h.
  Result<GenerationStep> next();
  void cancel();
  bool done() const { return active_ == nullptr; }
  const GenerateResult& result() const { return reply_.result; }
  void set_load_seconds(double seconds) { reply_.result.stats.load_seconds = seconds; }

 private:
  // Each does one piece of work; none while the prompt is not read, or where no token may follow.
  std::span<const TokenId> certain_prompt() const;
  Result<std::optional<TokenId>> read_prompt();
  void heal(std::span<const float> logits);
  TokenId choose(std::span<const float> logits);
  int n_best() const;
  Result<TokenId> choose_next();
  Result<void> start_stream();
  std::optional<FinishReason> reason_to_end(std::optional<TokenId> token);

  void end(FinishReason reason);
  void detach();
  std::string_view untold_text();

  Context& context_;  // not after the end
  Impl** active_;     // null after the end
  const GenerateOptions options_;
  const Tokenizer* tokenizer_;
  std::vector<TokenId> prompt_;
  size_t n_to_heal_;   // so many of the prompt's last tokens are yet to be chosen again
  size_t n_read_ = 0;  // of the prompt
  Sampler sampler_;
  Reply reply_;
  std::unique_ptr<TokenStream> stream_;
  bool asked_for_stream_ = false;
  std::optional<Error> error_;
  size_t n_told_ = 0;  // bytes of the text that steps have told
};

}  // namespace tern
