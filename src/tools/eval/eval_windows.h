// How `tern eval` cuts a text into windows and scores the predictions.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "tern/tools.h"

namespace tern {

// The model reads tokens [begin, end) after BOS alone. Its predictions of [counted_from, end) count.
struct EvalWindow {
  size_t begin;
  size_t end;
  size_t counted_from;
  bool operator==(const EvalWindow&) const = default;
};

inline constexpr int kLeastEvalContext = 4;

// Returns windows of `width` ≥ 2 tokens that overlap by half. Every token is predicted exactly once, with at least
// width/2 tokens before it (fewer in the first window). The last window may be shorter. Without BOS, the first token of
// the text is not predicted. Empty if there is nothing to predict.
std::vector<EvalWindow> eval_windows(size_t n_tokens, size_t width, bool has_bos);

// A text as tokens of one model.
struct EvalText {
  std::vector<TokenId> bos;  // the tokens before any text: none or one
  std::vector<TokenId> tokens;
  std::vector<EvalWindow> windows;

  std::vector<TokenId> read(const EvalWindow& window) const;  // what the model reads: BOS and the window's tokens
  // Index in read() of the first token whose prediction counts. The logits after one token predict the next.
  size_t first_target(const EvalWindow& window) const { return bos.size() + (window.counted_from - window.begin); }
};

// Cuts `text` into windows of n_ctx tokens, including BOS. Errors: those of eval() about the model or the text.
Result<EvalText> cut_eval_text(const Engine& engine, std::string_view text, int n_ctx);

// Sums surprise (−log probability) over predictions.
class Surprise {
 public:
  void add(std::span<const float> logits, TokenId token);
  EvalResult result() const;

 private:
  double nats_ = 0;
  size_t n_tokens_ = 0;
};

}  // namespace tern
