#include "engine/generator.h"

#include <algorithm>

#include "engine/reply.h"
#include "sample/sampler.h"

namespace tern {

Result<void> Generator::check_tokens(std::span<const TokenId> tokens) const {
  if (tokens.empty()) return fail(ErrorCode::kInvalidArgument, "the prompt is empty; give at least one token of text");
  for (const TokenId token : tokens) {
    if (token < 0 || token >= n_vocab_) {
      return fail(ErrorCode::kInvalidArgument, "token id {} is outside the vocabulary, which has ids 0 to {}", token,
                  n_vocab_ - 1);
    }
  }
  if (static_cast<int64_t>(tokens.size()) > n_ctx()) {
    return fail(ErrorCode::kInvalidArgument,
                "the prompt has {} tokens, but the context holds {}; shorten it or raise the context size",
                tokens.size(), n_ctx());
  }
  return {};
}

Result<std::span<const float>> Generator::append(std::span<const TokenId> tokens, WantLogits logits) {
  const Batch batch{.tokens = tokens, .first_pos = n_used(), .logits = logits};
  TRY(const auto rows, executable_.run(*cache_, batch));
  cached_.insert(cached_.end(), tokens.begin(), tokens.end());
  return rows;
}

Result<std::span<const float>> Generator::prefill(std::span<const TokenId> prompt, std::stop_token stop,
                                                  int& n_reused) {
  // The last token is always run again: its logits are wanted.
  const auto common = std::ranges::mismatch(prompt.first(prompt.size() - 1), cached_);
  const auto reused = static_cast<size_t>(common.in1 - prompt.begin());
  n_reused = static_cast<int>(reused);
  cached_.resize(reused);
  std::span<const float> logits;
  for (auto rest = prompt.subspan(reused); !rest.empty();) {
    if (stop.stop_requested()) return std::span<const float>();
    const size_t n = std::min(rest.size(), static_cast<size_t>(executable_.max_batch()));
    TRY(logits, append(rest.first(n), n == rest.size() ? WantLogits::kLast : WantLogits::kNone));
    rest = rest.subspan(n);
  }
  return logits;
}

Result<std::unique_ptr<TokenStream>> Generator::start_stream(TokenId token, const GenerateOptions& options,
                                                             Sampler& sampler) {
  if (sampler.uses_penalty()) return nullptr;
  const SampleOptions& sample = options.sample;
  int n_tokens = n_ctx() - n_used();
  if (options.max_tokens >= 0) n_tokens = std::min(n_tokens, options.max_tokens - 1);  // the first has been chosen
  return executable_.decode(*cache_, token, n_used(), n_tokens,
                            {.temperature = sample.temperature,
                             .top_k = sample.top_k,
                             .top_p = sample.top_p,
                             .min_p = sample.min_p,
                             .uniform = [&sampler] { return sampler.uniform(); }});
}

Result<TokenId> Generator::next_token(TokenId token, Sampler& sampler, TokenStream* stream) {
  TokenId next = 0;
  if (stream) {
    TRY(next, stream->next());
    cached_.push_back(token);
  } else {
    TRY(const auto logits, append(std::span(&token, 1), WantLogits::kLast));
    next = sampler.sample(logits);
  }
  sampler.accept(next);
  return next;
}

Result<FinishReason> Generator::decode(std::span<const float> logits, const GenerateOptions& options,
                                       const std::stop_token& stop, Sampler& sampler, Reply& reply) {
  TokenId token = sampler.sample(logits);
  sampler.accept(token);
  std::unique_ptr<TokenStream> stream;
  for (bool first = true;; first = false) {
    auto finish = reply.add(token);
    if (!finish && n_used() == n_ctx()) finish = FinishReason::kContextFull;
    if (!finish && stop.stop_requested()) finish = FinishReason::kCancelled;
    if (finish) return *finish;
    if (first) {
      TRY(stream, start_stream(token, options, sampler));
    }
    TRY(token, next_token(token, sampler, stream.get()));
  }
}

Result<GenerateResult> Generator::generate(std::span<const TokenId> prompt, const GenerateOptions& options,
                                           const OnText& on_text, std::stop_token stop) {
  TRY_STATUS(check_tokens(prompt));
  TRY_STATUS(check_sample_options(options.sample));
  Sampler sampler(options.sample, n_vocab_);
  for (const TokenId token : prompt) sampler.accept(token);
  cached_.reserve(static_cast<size_t>(n_ctx()));
  Reply reply(tokenizer_, options, on_text, prompt.empty() ? -1 : prompt.back());
  reply.result.tokens.reserve(static_cast<size_t>(n_ctx()));
  reply.result.stats.n_prompt = static_cast<int>(prompt.size());
  TRY(const auto logits, prefill(prompt, stop, reply.result.stats.n_reused));
  if (logits.empty()) return reply.finish(FinishReason::kCancelled);
  if (options.max_tokens == 0) return reply.finish(FinishReason::kMaxTokens);
  auto reason = decode(logits, options, stop, sampler, reply);
  if (reason) return reply.finish(*reason);
  reply.flush();
  return std::unexpected(std::move(reason).error());
}

Result<void> Generator::logits(std::span<const TokenId> tokens, const Session::OnLogits& on_row) {
  TRY_STATUS(check_tokens(tokens));
  reset();
  const auto chunk = static_cast<size_t>(std::min(executable_.max_logit_rows(), executable_.max_batch()));
  for (size_t begin = 0; begin < tokens.size(); begin += chunk) {
    const size_t n = std::min(chunk, tokens.size() - begin);
    TRY(const auto rows, append(tokens.subspan(begin, n), WantLogits::kAll));
    for (size_t i = 0; i < n; ++i) {
      TRY_STATUS(on_row(begin + i, rows.subspan(i * static_cast<size_t>(n_vocab_), static_cast<size_t>(n_vocab_))));
    }
  }
  return {};
}

}  // namespace tern
