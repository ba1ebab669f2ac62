#include "tools/eval/eval_windows.h"

#include <algorithm>
#include <cmath>

#include "base/result.h"

namespace tern {

std::vector<EvalWindow> eval_windows(size_t n_tokens, size_t width, bool has_bos) {
  std::vector<EvalWindow> windows;
  size_t counted = has_bos ? 0 : 1;  // a first token without BOS cannot be predicted
  for (size_t begin = 0; counted < n_tokens; begin += width / 2) {
    const size_t end = std::min(begin + width, n_tokens);
    windows.push_back({.begin = begin, .end = end, .counted_from = counted});
    counted = end;
  }
  return windows;
}

std::vector<TokenId> EvalText::read(const EvalWindow& window) const {
  std::vector<TokenId> read = bos;
  read.insert(read.end(), tokens.begin() + static_cast<ptrdiff_t>(window.begin),
              tokens.begin() + static_cast<ptrdiff_t>(window.end));
  return read;
}

Result<EvalText> cut_eval_text(const Engine& engine, std::string_view text, int n_ctx) {
  if (!engine.has_tokenizer()) {
    return fail(ErrorCode::kNotSupported,
                "{}: the file holds no tokenizer, so no text can be evaluated; use another model", engine.info().path);
  }
  if (n_ctx < kLeastEvalContext) {
    return fail(ErrorCode::kInvalidArgument, "windows of {} tokens; give at least {}", n_ctx, kLeastEvalContext);
  }
  const Tokenizer& tokenizer = engine.tokenizer();
  EvalText cut{.bos = tokenizer.encode("", {.add_bos = true}),
               .tokens = tokenizer.encode(text, {.add_bos = false}),
               .windows = {}};
  cut.windows = eval_windows(cut.tokens.size(), static_cast<size_t>(n_ctx) - cut.bos.size(), !cut.bos.empty());
  if (cut.windows.empty()) {
    return fail(ErrorCode::kInvalidArgument, "the text has {} tokens; a perplexity needs at least {}",
                cut.tokens.size(), cut.bos.empty() ? 2 : 1);
  }
  return cut;
}

// Uses double because the sum runs over a whole vocabulary.
void Surprise::add(std::span<const float> logits, TokenId token) {
  const double greatest = *std::ranges::max_element(logits);
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - greatest);
  nats_ += greatest + std::log(sum) - static_cast<double>(logits[static_cast<size_t>(token)]);
  ++n_tokens_;
}

EvalResult Surprise::result() const {
  const double per_token = nats_ / static_cast<double>(n_tokens_);
  return {.perplexity = std::exp(per_token), .nats_per_token = per_token, .n_tokens = n_tokens_};
}

}  // namespace tern
