#include "tools/eval/divergence.h"

#include <algorithm>
#include <cmath>

#include "backend/kv_cache.h"
#include "engine/engine_impl.h"
#include "tools/difference.h"

namespace tern {
namespace {

// ln Σ exp(logit).
double log_sum(std::span<const float> logits) {
  const double greatest = *std::ranges::max_element(logits);
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - greatest);
  return greatest + std::log(sum);
}

// KL divergence Σ p·ln(p/q) with p = softmax(reference) and q = softmax(model).
double divergence(std::span<const float> reference, std::span<const float> model) {
  const double p_sum = log_sum(reference), q_sum = log_sum(model);
  double total = 0;
  for (size_t i = 0; i < reference.size(); ++i) {
    const double log_p = static_cast<double>(reference[i]) - p_sum;
    if (const double p = std::exp(log_p); p > 0) total += p * (log_p - (static_cast<double>(model[i]) - q_sum));
  }
  return std::max(total, 0.0);  // rounding may leave a zero sum slightly negative
}

// The smallest of the sorted values that at least this share of them do not exceed.
double quantile(std::span<const double> sorted, double share) {
  const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::max<size_t>(rank, 1) - 1];
}

// A model partway through a text. Two of them run side by side, so that only a few rows of logits are in memory.
class Reader {
 public:
  static Result<Reader> start(const Predictor& predictor, int n_ctx) {
    Executable& executable = *EngineAccess::impl(predictor.engine).executable;
    TRY(auto cache, executable.new_cache(n_ctx, predictor.kv_type));
    return Reader(executable, std::move(cache));
  }

  int most_tokens() const { return std::min(executable_.max_batch(), executable_.max_logit_rows()); }

  // Returns the logits after each of `tokens` at `first_pos`, [tokens, n_vocab]. They are valid until any reader of the
  // engine runs again.
  Result<std::span<const float>> run(std::span<const TokenId> tokens, size_t first_pos) {
    return executable_.run(*cache_,
                           {.tokens = tokens, .first_pos = static_cast<int>(first_pos), .logits = WantLogits::kAll});
  }

 private:
  Reader(Executable& executable, std::unique_ptr<KvCache> cache) : executable_(executable), cache_(std::move(cache)) {}
  Executable& executable_;
  std::unique_ptr<KvCache> cache_;
};

class Comparison {
 public:
  Comparison(Reader own, Reader reference, size_t n_vocab)
      : own_(std::move(own)), reference_(std::move(reference)), n_vocab_(n_vocab) {}

  // `tokens`: what both models read of one window; `first_target`: the first of them whose prediction counts.
  Result<void> add_window(std::span<const TokenId> tokens, size_t first_target) {
    const auto chunk = static_cast<size_t>(std::min(own_.most_tokens(), reference_.most_tokens()));
    for (size_t begin = 0; begin < tokens.size(); begin += chunk) {
      const auto batch = tokens.subspan(begin, std::min(chunk, tokens.size() - begin));
      TRY(const auto own, own_.run(batch, begin));
      found_.assign(own.begin(), own.end());  // the reference may use the same engine and overwrite them
      const std::span<const float> found = found_;
      TRY(const auto expected, reference_.run(batch, begin));
      for (size_t i = 0; i < batch.size(); ++i) {
        const size_t target = begin + i + 1;
        if (target < first_target || target >= tokens.size()) continue;
        TRY_STATUS(
            add(found.subspan(i * n_vocab_, n_vocab_), expected.subspan(i * n_vocab_, n_vocab_), tokens[target]));
      }
    }
    return {};
  }

  Divergence result() && {
    std::ranges::sort(divergences_);
    const auto n = static_cast<double>(divergences_.size());
    double sum = 0;
    for (const double value : divergences_) sum += value;
    return {.model = own_surprise_.result(),
            .reference = reference_surprise_.result(),
            .kl_mean = sum / n,
            .kl_median = quantile(divergences_, 0.5),
            .kl_99 = quantile(divergences_, 0.99),
            .kl_max = divergences_.back(),
            .same_top1 = static_cast<double>(n_same_top1_) / n};
  }

 private:
  Result<void> add(std::span<const float> found, std::span<const float> expected, TokenId target) {
    own_surprise_.add(found, target);
    reference_surprise_.add(expected, target);
    divergences_.push_back(divergence(expected, found));
    if (!std::isfinite(divergences_.back())) {
      return fail(ErrorCode::kCorruption,
                  "at prediction {} the logits of one of the models are not finite, so the two cannot be compared",
                  divergences_.size());
    }
    n_same_top1_ += top1(found) == top1(expected) ? 1 : 0;
    return {};
  }

  Reader own_, reference_;
  const size_t n_vocab_;
  std::vector<float> found_;  // logits of a batch, [tokens, n_vocab]
  Surprise own_surprise_, reference_surprise_;
  std::vector<double> divergences_;
  size_t n_same_top1_ = 0;
};

}  // namespace

Result<Divergence> measure_divergence(const Predictor& model, const Predictor& reference, const EvalText& text,
                                      int n_ctx, const OnProgress& on_progress) {
  TRY(auto own_reader, Reader::start(model, n_ctx));
  TRY(auto reference_reader, Reader::start(reference, n_ctx));
  Comparison comparison(std::move(own_reader), std::move(reference_reader),
                        static_cast<size_t>(model.engine.info().n_vocab));
  for (const EvalWindow& window : text.windows) {
    TRY_STATUS(comparison.add_window(text.read(window), text.first_target(window)));
    if (on_progress) {
      on_progress({.what = "reading", .done = window.end, .total = text.tokens.size(), .unit = "tokens"});
    }
  }
  return std::move(comparison).result();
}

}  // namespace tern
