// Perplexity: how well the model predicts a text.
#include <algorithm>
#include <cmath>

#include "engine/engine_impl.h"
#include "tern/tools.h"
#include "tools/eval_windows.h"

namespace tern {
namespace {

// −log of the probability that softmax(logits) gives to `token`. In double: the sum runs over a whole vocabulary.
double nats(std::span<const float> logits, TokenId token) {
  const double greatest = *std::ranges::max_element(logits);
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - greatest);
  return greatest + std::log(sum) - static_cast<double>(logits[static_cast<size_t>(token)]);
}

// The token that the model wants before any text, if it wants one.
std::vector<TokenId> first_token(const Tokenizer& tokenizer) { return tokenizer.encode("", {.add_bos = true}); }

struct Sum {
  double nats = 0;
  size_t n_tokens = 0;
};

// Adds what the model thinks of the predictions of one window.
Result<void> add_window(Session& session, std::span<const TokenId> bos, std::span<const TokenId> text,
                        EvalWindow window, Sum& sum) {
  std::vector<TokenId> tokens(bos.begin(), bos.end());
  tokens.insert(tokens.end(), text.begin() + static_cast<ptrdiff_t>(window.begin),
                text.begin() + static_cast<ptrdiff_t>(window.end));
  // Row i predicts tokens[i + 1].
  const size_t first_target = bos.size() + (window.counted_from - window.begin);
  return session.logits(tokens, [&](size_t i, std::span<const float> logits) -> Result<void> {
    if (i + 1 < first_target || i + 1 >= tokens.size()) return {};
    sum.nats += nats(logits, tokens[i + 1]);
    ++sum.n_tokens;
    return {};
  });
}

Result<void> check_arguments(const Engine& engine, int n_ctx) {
  if (!engine.has_tokenizer()) {
    return fail(ErrorCode::kNotSupported,
                "{}: the file holds no tokenizer, so no text can be evaluated; use another model", engine.info().path);
  }
  if (n_ctx != 0 && n_ctx < kLeastEvalContext) {
    return fail(ErrorCode::kInvalidArgument, "windows of {} tokens; give at least {}", n_ctx, kLeastEvalContext);
  }
  return {};
}

}  // namespace

std::vector<EvalWindow> eval_windows(size_t n_tokens, size_t width, bool has_bos) {
  std::vector<EvalWindow> windows;
  size_t counted = has_bos ? 0 : 1;  // nothing predicts a first token that has nothing before it
  for (size_t begin = 0; counted < n_tokens; begin += width / 2) {
    const size_t end = std::min(begin + width, n_tokens);
    windows.push_back({.begin = begin, .end = end, .counted_from = counted});
    counted = end;
  }
  return windows;
}

Result<EvalResult> eval(const Engine& engine, std::string_view text, int n_ctx, const OnProgress& on_progress) {
  TRY_STATUS(check_arguments(engine, n_ctx));
  TRY(Session session, engine.new_session({.n_ctx = n_ctx}));
  const Tokenizer& tokenizer = engine.tokenizer();
  const std::vector<TokenId> bos = first_token(tokenizer);
  const std::vector<TokenId> tokens = tokenizer.encode(text, {.add_bos = false});
  const auto width = static_cast<size_t>(session.n_ctx()) - bos.size();
  const std::vector<EvalWindow> windows = eval_windows(tokens.size(), width, !bos.empty());
  if (windows.empty()) {
    return fail(ErrorCode::kInvalidArgument, "the text has {} tokens; a perplexity needs at least {}", tokens.size(),
                bos.empty() ? 2 : 1);
  }
  Sum sum;
  for (const EvalWindow& window : windows) {
    TRY_STATUS(add_window(session, bos, tokens, window, sum));
    if (on_progress) on_progress({.what = "reading", .done = window.end, .total = tokens.size(), .unit = "tokens"});
  }
  const double per_token = sum.nats / static_cast<double>(sum.n_tokens);
  return EvalResult{.perplexity = std::exp(per_token), .nats_per_token = per_token, .n_tokens = sum.n_tokens};
}

}  // namespace tern
