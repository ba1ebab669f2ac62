// How `tern eval` cuts a text into windows, and how it counts what a model thinks of them.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "tern/tools.h"

namespace tern {

// The model reads tokens [begin, end) with nothing before them but BOS, and its predictions of [counted_from, end)
// count.
struct EvalWindow {
  size_t begin;
  size_t end;
  size_t counted_from;
  bool operator==(const EvalWindow&) const = default;
};

inline constexpr int kLeastEvalContext = 4;

// Windows of `width` ≥ 2 tokens that overlap by half, so that every token is predicted exactly once, and with at least
// width/2 tokens before it (the first window's with what there is). The last window may be shorter. Without BOS the
// first token of the text is not predicted. Empty where there is nothing to predict.
std::vector<EvalWindow> eval_windows(size_t n_tokens, size_t width, bool has_bos);

// A text in the tokens of one model.
struct EvalText {
  std::vector<TokenId> bos;  // what the model wants before any text: nothing, or one token
  std::vector<TokenId> tokens;
  std::vector<EvalWindow> windows;

  std::vector<TokenId> read(const EvalWindow& window) const;  // what the model reads: BOS and the window's tokens
  // Of those, the first whose prediction counts. The logits after one token predict the next.
  size_t first_target(const EvalWindow& window) const { return bos.size() + (window.counted_from - window.begin); }
};

// `text` in windows of n_ctx tokens, a BOS included. Errors: those of eval() that are about the model or the text.
Result<EvalText> cut_eval_text(const Engine& engine, std::string_view text, int n_ctx);

// Sums over predictions.
class Surprise {
 public:
  void add(std::span<const float> logits, TokenId token);
  EvalResult result() const;

 private:
  double nats_ = 0;
  size_t n_tokens_ = 0;
};

}  // namespace tern
