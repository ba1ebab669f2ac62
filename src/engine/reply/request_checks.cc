#include "engine/reply/request_checks.h"

#include <string>

#include "sample/sampler.h"
#include "sample/sampling.h"

namespace tern {

namespace {

Result<void> check_ids(std::span<const TokenId> tokens, int n_vocab) {
  for (const TokenId token : tokens) {
    if (token < 0 || token >= n_vocab) {
      return fail(ErrorCode::kInvalidArgument, "token id {} is outside the vocabulary, which has ids 0 to {}", token,
                  n_vocab - 1);
    }
  }
  return {};
}

Result<void> check_grammar(const GenerateOptions& options, const Tokenizer* tokenizer) {
  if (options.grammar && options.calls) {
    return fail(ErrorCode::kInvalidArgument,
                "a reply is held to a grammar, or its calls of tools are: give one of them");
  }
  if (!(options.grammar || options.calls) || tokenizer) return {};
  return fail(ErrorCode::kNotSupported, "a grammar is about text, and the model file holds no tokenizer");
}

Result<void> check_sample_options(const GenerateOptions& options, const Tokenizer* tokenizer) {
  const Sampling sampling = sampling_of(options.sample);
  TRY_STATUS(check_sampling(sampling));
  if (sampling.dry_multiplier > 0 && !sampling.dry_sequence_breakers.empty() && !tokenizer) {
    return fail(ErrorCode::kNotSupported,
                "dry_sequence_breakers are texts, and the model file holds no tokenizer; give an empty list");
  }
  if (sampling.mirostat != 0 && !options.reply_so_far.empty()) {
    return fail(ErrorCode::kNotSupported, "reply_so_far is not possible with mirostat {}, which depends on its logits",
                sampling.mirostat);
  }
  if (options.min_tokens < 0 || (options.max_tokens >= 0 && options.min_tokens > options.max_tokens)) {
    return fail(ErrorCode::kInvalidArgument, "min_tokens is {}: it must be from 0 to the maximum of tokens, {}",
                options.min_tokens, options.max_tokens < 0 ? "which has no limit" : std::to_string(options.max_tokens));
  }
  return {};
}

}  // namespace

Result<void> check_prompt(std::span<const TokenId> prompt, int n_vocab, int n_ctx) {
  if (prompt.empty()) return fail(ErrorCode::kInvalidArgument, "the prompt is empty; give at least one token of text");
  TRY_STATUS(check_ids(prompt, n_vocab));
  if (std::ssize(prompt) > n_ctx) {
    return fail(ErrorCode::kInvalidArgument,
                "the prompt has {} tokens, but the context holds {}; shorten it or raise the context size",
                prompt.size(), n_ctx);
  }
  return {};
}

Result<GenerateOptions> check_request(std::span<const TokenId> prompt, const GenerateOptions& options,
                                      const Tokenizer* tokenizer, int n_vocab, int n_ctx,
                                      const SampleOptions& advised) {
  TRY_STATUS(check_prompt(prompt, n_vocab, n_ctx));
  GenerateOptions complete = options;
  complete.sample = merged(options.sample, advised);
  TRY_STATUS(check_sample_options(complete, tokenizer));
  TRY_STATUS(check_logit_bias(options.logit_bias, n_vocab));
  if (options.n_logprobs < -1) {
    return fail(ErrorCode::kInvalidArgument, "n_logprobs is {}: it must be -1 (none) or above", options.n_logprobs);
  }
  if (options.n_prompt_logprobs < -1) {
    return fail(ErrorCode::kInvalidArgument, "n_prompt_logprobs is {}: it must be -1 (none) or above",
                options.n_prompt_logprobs);
  }
  if (options.keep_past_context < -1 || options.keep_past_context > n_ctx / 2) {
    return fail(ErrorCode::kInvalidArgument,
                "{} tokens are to be kept past the context's end: give at most half the context of {}, or -1",
                options.keep_past_context, n_ctx);
  }
  if (options.speculate < 0) {
    return fail(ErrorCode::kInvalidArgument, "speculate is {}: it must be 0 (no draft tokens) or above",
                options.speculate);
  }
  if (!options.reply_so_far.empty()) TRY_STATUS(check_ids(options.reply_so_far, n_vocab));
  TRY_STATUS(check_grammar(options, tokenizer));
  return complete;
}

}  // namespace tern
