// How `tern eval` cuts a text into windows.
#pragma once

#include <cstddef>
#include <vector>

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

}  // namespace tern
