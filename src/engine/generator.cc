#include "engine/generator.h"

#include <algorithm>
#include <chrono>

#include "engine/text_stream.h"
#include "sample/sampler.h"

namespace tern {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

bool contains(const std::vector<TokenId>& tokens, TokenId token) {
  return std::ranges::find(tokens, token) != tokens.end();
}

// What generation has made so far, and where the text goes.
class Reply {
 public:
  Reply(const Tokenizer* tokenizer, const GenerateOptions& options, const OnText& on_text)
      : tokenizer_(tokenizer), options_(options), on_text_(on_text), stream_(options.stop) {}

  // Takes a token; returns why generation ends with it, if it does.
  std::optional<FinishReason> add(TokenId token) {
    result.tokens.push_back(token);
    ++result.stats.n_generated;
    if (tokenizer_) {
      if (!options_.ignore_eos && contains(tokenizer_->stop_tokens(), token)) return FinishReason::kStopToken;
      show(stream_.feed(tokenizer_->piece(token)));
      if (stream_.stopped()) return FinishReason::kStopString;
    }
    if (options_.max_tokens >= 0 && result.stats.n_generated >= options_.max_tokens) return FinishReason::kMaxTokens;
    return std::nullopt;
  }

  GenerateResult finish(FinishReason reason) {
    show(stream_.finish());
    result.reason = reason;
    return std::move(result);
  }

  GenerateResult result;

 private:
  void show(const std::string& text) {
    if (text.empty()) return;
    result.text += text;
    if (on_text_) on_text_(text);
  }

  const Tokenizer* tokenizer_;
  const GenerateOptions& options_;
  const OnText& on_text_;
  TextStream stream_;
};

}  // namespace

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

Result<GenerateResult> Generator::generate(std::span<const TokenId> prompt, const GenerateOptions& options,
                                           const OnText& on_text, std::stop_token stop) {
  TRY_STATUS(check_tokens(prompt));
  TRY_STATUS(check_sample_options(options.sample));
  Sampler sampler(options.sample, n_vocab_);
  for (const TokenId token : prompt) sampler.accept(token);
  cached_.reserve(static_cast<size_t>(n_ctx()));
  Reply reply(tokenizer_, options, on_text);
  GenerateStats& stats = reply.result.stats;
  reply.result.tokens.reserve(static_cast<size_t>(n_ctx()));
  stats.n_prompt = static_cast<int>(prompt.size());

  auto phase_start = Clock::now();
  TRY(auto logits, prefill(prompt, stop, stats.n_reused));
  if (logits.empty()) return reply.finish(FinishReason::kCancelled);
  if (options.max_tokens == 0) return reply.finish(FinishReason::kMaxTokens);
  for (;;) {
    const TokenId token = sampler.sample(logits);
    sampler.accept(token);
    if (stats.n_generated == 0) {
      stats.prompt_seconds = seconds_since(phase_start);
      phase_start = Clock::now();
    }
    auto finish = reply.add(token);
    if (!finish && n_used() == n_ctx()) finish = FinishReason::kContextFull;
    if (!finish && stop.stop_requested()) finish = FinishReason::kCancelled;
    stats.decode_seconds = seconds_since(phase_start);
    if (finish) return reply.finish(*finish);
    TRY(logits, append(std::span(&token, 1), WantLogits::kLast));
  }
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
