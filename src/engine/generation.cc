#include "engine/generation.h"

#include <algorithm>

#include "engine/prompt_healing.h"
#include "sample/logprobs.h"
#include "sample/sampling.h"

namespace tern {

Generation::Impl::Impl(Context& context, Impl*& active, const Tokenizer* tokenizer, int n_vocab,
                       std::span<const TokenId> prompt, const GenerateOptions& options)
    : context_(context),
      active_(&active),
      options_(options),
      tokenizer_(tokenizer),
      prompt_(prompt.begin(), prompt.end()),
      n_to_heal_(options.heal_prompt && options.max_tokens != 0 ? n_to_heal(prompt, tokenizer) : 0),
      sampler_(sampling_of(options_.sample), n_vocab, options_.logit_bias),
      reply_(tokenizer, options_, prompt.back()) {
  active = this;
  for (const TokenId token : certain_prompt()) sampler_.accept_prompt(token);
  context_.reserve();
  n_read_ = context_.keep_common(certain_prompt());
  reply_.result.tokens.reserve(static_cast<size_t>(context_.n_ctx()));
  reply_.result.stats.n_prompt = static_cast<int>(prompt.size());
  reply_.result.stats.n_reused = static_cast<int>(n_read_);
}

Result<GenerationStep> Generation::Impl::next() {
  if (error_) return std::unexpected(*error_);
  std::optional<TokenId> token;
  if (!done()) {
    auto chosen = n_read_ < prompt_.size() ? read_prompt()
                                           : choose_next().transform([](TokenId next) { return std::optional(next); });
    if (!chosen) {
      reply_.flush();
      detach();
      error_ = std::move(chosen).error();
      return std::unexpected(*error_);
    }
    token = *chosen;
    if (const auto reason = reason_to_end(token)) end(*reason);
  }
  GenerationStep step{.text = untold_text(), .token = token, .finish = {}};
  if (done()) step.finish = result().reason;
  return step;
}

// Without the last tokens that are yet to be chosen again.
std::span<const TokenId> Generation::Impl::certain_prompt() const {
  return std::span(prompt_).first(prompt_.size() - n_to_heal_);
}

Result<std::optional<TokenId>> Generation::Impl::read_prompt() {
  const auto rest = certain_prompt().subspan(n_read_);
  const size_t n = std::min(rest.size(), static_cast<size_t>(context_.max_batch()));
  const bool is_last = n == rest.size();
  TRY(const auto logits, context_.append(rest.first(n), is_last ? WantLogits::kLast : WantLogits::kNone, n_best()));
  n_read_ += n;
  if (is_last && n_to_heal_ > 0) heal(logits);
  if (n_read_ < prompt_.size() || options_.max_tokens == 0) return std::nullopt;
  return choose(logits);
}

void Generation::Impl::heal(std::span<const float> logits) {
  const auto tail = std::span(prompt_).last(n_to_heal_);
  const TokenId healed = choose_healed(logits, tail, *tokenizer_, sampling_of(options_.sample));
  sampler_.accept_prompt(healed);
  const std::string text = spelling(tail, *tokenizer_);
  if (healed == tail.front() && n_to_heal_ > 1) {
    --n_to_heal_;
    return;
  }
  reply_.heal(tokenizer_->piece(healed).substr(text.size()));
  prompt_.resize(prompt_.size() - n_to_heal_);
  prompt_.push_back(healed);
  n_to_heal_ = 0;
}

// The next token, out of logits.
TokenId Generation::Impl::choose(std::span<const float> logits) {
  const TokenId next = sampler_.sample(logits);
  sampler_.accept(next);
  if (options_.n_logprobs >= 0) {
    reply_.result.logprobs.push_back(log_probabilities(logits, next, options_.n_logprobs));
  }
  return next;
}

int Generation::Impl::n_best() const {
  const bool all_matter = n_to_heal_ > 0 || options_.n_logprobs >= 0;
  return all_matter ? 0 : sampler_.n_best();
}

Result<void> Generation::Impl::start_stream() {
  asked_for_stream_ = true;
  if (sampler_.adjusts_logits() || options_.n_logprobs >= 0) return {};
  const Sampling sample = sampling_of(options_.sample);
  int n_tokens = context_.n_ctx() - context_.n_used();
  if (options_.max_tokens >= 0) n_tokens = std::min(n_tokens, options_.max_tokens - 1);  // the first has been chosen
  TRY(stream_, context_.decode(result().tokens.back(), n_tokens,
                               {.temperature = sample.temperature,
                                .top_k = sample.top_k,
                                .top_p = sample.top_p,
                                .min_p = sample.min_p,
                                .uniform = [this] { return sampler_.uniform(); }}));
  return {};
}

Result<TokenId> Generation::Impl::choose_next() {
  if (!asked_for_stream_) TRY_STATUS(start_stream());
  const TokenId last = result().tokens.back();
  if (!stream_) {
    TRY(const auto logits, context_.append(std::span(&last, 1), WantLogits::kLast, n_best()));
    return choose(logits);
  }
  TRY(const TokenId next, stream_->next());
  context_.add(last);
  sampler_.accept(next);
  return next;
}

std::optional<FinishReason> Generation::Impl::reason_to_end(std::optional<TokenId> token) {
  if (n_read_ < prompt_.size()) return std::nullopt;
  if (!token) return FinishReason::kMaxTokens;  // of 0
  const auto reason = reply_.add(*token);
  if (!reason && context_.n_used() == context_.n_ctx()) return FinishReason::kContextFull;
  return reason;
}

void Generation::Impl::cancel() {
  if (!done()) end(FinishReason::kCancelled);
}

void Generation::Impl::end(FinishReason reason) {
  reply_.finish(reason);
  detach();
}

void Generation::Impl::detach() {
  if (done()) return;
  stream_.reset();
  *active_ = nullptr;
  active_ = nullptr;
}

std::string_view Generation::Impl::untold_text() {
  const std::string_view untold = std::string_view(result().text).substr(n_told_);
  n_told_ += untold.size();
  return untold;
}

// ---- the public face

Generation::Generation(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Generation::Generation(Generation&&) noexcept = default;
Generation& Generation::operator=(Generation&&) noexcept = default;
Generation::~Generation() = default;

Result<GenerationStep> Generation::next() { return impl_->next(); }
void Generation::cancel() { impl_->cancel(); }
bool Generation::done() const { return impl_->done(); }
const GenerateResult& Generation::result() const { return impl_->result(); }

}  // namespace tern
