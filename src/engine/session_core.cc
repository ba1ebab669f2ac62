#include "engine/session_core.h"

#include <algorithm>
#include <cmath>

#include "engine/reply/request_checks.h"

namespace tern {

Result<void> SessionCore::check_tokens(std::span<const TokenId> tokens) const {
  return check_prompt(tokens, n_vocab_, n_ctx());
}

int SessionCore::most_rows() const {
  const Executable& executable = sequence_->executable();
  return std::min(executable.max_logit_rows(), executable.max_batch());
}

void SessionCore::cancel() {
  if (active_) active_->cancel();
}

void SessionCore::reset() {
  cancel();
  sequence_->clear();
}

Result<std::unique_ptr<Generation::Impl>> SessionCore::begin(std::span<const TokenId> prompt,
                                                             const GenerateOptions& options) {
  TRY(const auto complete, check_request(prompt, options, tokenizer_, n_vocab_, n_ctx(), advised_));
  cancel();
  return std::make_unique<Generation::Impl>(
      *sequence_, active_, tokenizer_, n_vocab_, prompt, complete,
      Generation::Impl::Shared{.times = *times_, .grammars = *grammars_, .drafter = drafter_.get()});
}

Result<GenerateResult> SessionCore::generate(std::span<const TokenId> prompt, const GenerateOptions& options,
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

Result<void> SessionCore::logits(std::span<const TokenId> tokens, const Session::OnLogits& on_row) {
  TRY_STATUS(check_tokens(tokens));
  reset();
  const auto chunk = static_cast<size_t>(most_rows());
  for (size_t begin = 0; begin < tokens.size(); begin += chunk) {
    const size_t n = std::min(chunk, tokens.size() - begin);
    TRY(const auto rows, sequence_->append(tokens.subspan(begin, n), WantLogits::kAll));
    for (size_t i = 0; i < n; ++i) {
      TRY_STATUS(on_row(begin + i, rows.subspan(i * static_cast<size_t>(n_vocab_), static_cast<size_t>(n_vocab_))));
    }
  }
  return {};
}

Result<std::vector<float>> SessionCore::embed(std::span<const TokenId> tokens, bool mean) {
  TRY_STATUS(check_tokens(tokens));
  reset();
  std::vector<double> sum;
  const auto add = [&](std::span<const float> row) {
    sum.resize(row.size());
    for (size_t i = 0; i < row.size(); ++i) sum[i] += row[i];
  };
  const int most = mean ? most_rows() : sequence_->executable().max_batch();
  const auto chunk = static_cast<size_t>(most);
  for (size_t begin = 0; begin < tokens.size(); begin += chunk) {
    const size_t n = std::min(chunk, tokens.size() - begin);
    const bool is_last = begin + n == tokens.size();
    const WantLogits want = mean ? WantLogits::kAll : is_last ? WantLogits::kLast : WantLogits::kNone;
    TRY(const auto rows, sequence_->append(tokens.subspan(begin, n), want));
    const size_t n_rows = mean ? n : static_cast<size_t>(is_last);
    for (size_t i = 0; i < n_rows; ++i) add(rows.subspan(i * (rows.size() / n_rows), rows.size() / n_rows));
  }
  double squares = 0;
  for (const double value : sum) squares += value * value;
  // Also correct if all values are 0: a zero vector has no direction.
  const double inverse = squares > 0 ? 1 / std::sqrt(squares) : 0;
  std::vector<float> values;
  for (const double value : sum) values.push_back(static_cast<float>(value * inverse));
  return values;
}

}  // namespace tern
