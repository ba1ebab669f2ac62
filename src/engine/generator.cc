#include "engine/generator.h"

#include <algorithm>
#include <cmath>

#include "sample/sampling.h"

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

void Generator::cancel() {
  if (active_) active_->cancel();
}

void Generator::reset() {
  cancel();
  context_.clear();
}

Result<std::unique_ptr<Generation::Impl>> Generator::begin(std::span<const TokenId> prompt,
                                                           const GenerateOptions& options) {
  TRY_STATUS(check_tokens(prompt));
  GenerateOptions advised = options;
  advised.sample = merged(options.sample, advised_);
  TRY_STATUS(check_sampling(sampling_of(advised.sample)));
  TRY_STATUS(check_logit_bias(options.logit_bias, n_vocab_));
  if (options.n_logprobs < -1) {
    return fail(ErrorCode::kInvalidArgument, "n_logprobs is {}: it must be -1 (none) or above", options.n_logprobs);
  }
  cancel();
  return std::make_unique<Generation::Impl>(context_, active_, tokenizer_, n_vocab_, prompt, advised);
}

Result<GenerateResult> Generator::generate(std::span<const TokenId> prompt, const GenerateOptions& options,
                                           const OnText& on_text, std::stop_token stop) {
  TRY(const auto generation, begin(prompt, options));
  const auto show = [&](std::string_view text) {
    if (on_text && !text.empty()) on_text(text);
  };
  for (size_t n_shown = 0;;) {
    if (stop.stop_requested()) generation->cancel();
    const auto step = generation->next();
    if (!step) {
      show(std::string_view(generation->result().text).substr(n_shown));
      return std::unexpected(step.error());
    }
    n_shown += step->text.size();
    show(step->text);
    if (step->finish) return generation->result();
  }
}

Result<void> Generator::logits(std::span<const TokenId> tokens, const Session::OnLogits& on_row) {
  TRY_STATUS(check_tokens(tokens));
  reset();
  const auto chunk = static_cast<size_t>(std::min(context_.max_logit_rows(), context_.max_batch()));
  for (size_t begin = 0; begin < tokens.size(); begin += chunk) {
    const size_t n = std::min(chunk, tokens.size() - begin);
    TRY(const auto rows, context_.append(tokens.subspan(begin, n), WantLogits::kAll));
    for (size_t i = 0; i < n; ++i) {
      TRY_STATUS(on_row(begin + i, rows.subspan(i * static_cast<size_t>(n_vocab_), static_cast<size_t>(n_vocab_))));
    }
  }
  return {};
}

Result<std::vector<float>> Generator::embed(std::span<const TokenId> tokens, bool mean) {
  TRY_STATUS(check_tokens(tokens));
  reset();
  std::vector<double> sum;
  const auto add = [&](std::span<const float> row) {
    sum.resize(row.size());
    for (size_t i = 0; i < row.size(); ++i) sum[i] += row[i];
  };
  const int most = mean ? std::min(context_.max_logit_rows(), context_.max_batch()) : context_.max_batch();
  const auto chunk = static_cast<size_t>(most);
  for (size_t begin = 0; begin < tokens.size(); begin += chunk) {
    const size_t n = std::min(chunk, tokens.size() - begin);
    const bool is_last = begin + n == tokens.size();
    const WantLogits want = mean ? WantLogits::kAll : is_last ? WantLogits::kLast : WantLogits::kNone;
    TRY(const auto rows, context_.append(tokens.subspan(begin, n), want));
    const size_t n_rows = mean ? n : static_cast<size_t>(is_last);
    for (size_t i = 0; i < n_rows; ++i) add(rows.subspan(i * (rows.size() / n_rows), rows.size() / n_rows));
  }
  double squares = 0;
  for (const double value : sum) squares += value * value;
  // Whatever the gains are: a row of zeros has no direction.
  const double inverse = squares > 0 ? 1 / std::sqrt(squares) : 0;
  std::vector<float> values;
  for (const double value : sum) values.push_back(static_cast<float>(value * inverse));
  return values;
}

}  // namespace tern
