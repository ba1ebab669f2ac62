#include "engine/generation.h"

#include <algorithm>

#include "sample/sampling.h"

namespace tern {

Generation::Impl::Impl(Context& context, Impl*& active, const Tokenizer* tokenizer, int n_vocab,
                       std::span<const TokenId> prompt, const GenerateOptions& options)
    : context_(context),
      active_(&active),
      options_(options),
      prompt_(prompt.begin(), prompt.end()),
      sampler_(sampling_of(options_.sample), n_vocab),
      reply_(tokenizer, options_, prompt.back()) {
  active = this;
  for (const TokenId token : prompt) sampler_.accept(token);
  context_.reserve();
  n_read_ = context_.keep_common(prompt);
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

Result<std::optional<TokenId>> Generation::Impl::read_prompt() {
  const auto rest = std::span(prompt_).subspan(n_read_);
  const size_t n = std::min(rest.size(), static_cast<size_t>(context_.max_batch()));
  const bool is_last = n == rest.size();
  TRY(const auto logits,
      context_.append(rest.first(n), is_last ? WantLogits::kLast : WantLogits::kNone, sampler_.n_best()));
  n_read_ += n;
  if (!is_last || options_.max_tokens == 0) return std::nullopt;
  const TokenId first = sampler_.sample(logits);
  sampler_.accept(first);
  return first;
}

Result<void> Generation::Impl::start_stream() {
  asked_for_stream_ = true;
  if (sampler_.uses_penalty()) return {};
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
  TokenId next = 0;
  if (stream_) {
    TRY(next, stream_->next());
    context_.add(last);
  } else {
    TRY(const auto logits, context_.append(std::span(&last, 1), WantLogits::kLast, sampler_.n_best()));
    next = sampler_.sample(logits);
  }
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
