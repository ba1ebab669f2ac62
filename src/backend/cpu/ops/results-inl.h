// Stores the results of a linear layer: sets, adds, or multiplies with act(gate). The functions are compiled once per
// instruction set, in results.cc, and called from every kernel: with the exponentials inlined, they would be longer
// than the kernels. Included once per instruction set.
#if defined(TERN_BACKEND_CPU_RESULTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TERN_BACKEND_CPU_RESULTS_INL_H_
#undef TERN_BACKEND_CPU_RESULTS_INL_H_
#else
#define TERN_BACKEND_CPU_RESULTS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>

#include "backend/ops.h"
#include "model/source/config.h"

HWY_BEFORE_NAMESPACE();
namespace tern::cpu {
namespace HWY_NAMESPACE {

// x = cap · tanh(x / cap).
void Cap(float cap, float* x, size_t n);

// x[i] *= 1 / (1 + e^−gate[i]).
void MulSigmoid(const float* gate, size_t n, float* x);

// out[i] = act(gate[i]) · up[i]; out may be gate or up. A result depends only on its own operands, not on its position
// in a vector, so it is the same however a layer is divided.
void Glu(GluAct act, const float* gate, const float* up, size_t n, float* out);

// The destination of the results for all tokens and rows, and how they are stored.
struct Results {
  enum class How { kSet, kAdd, kGlu };  // out = y, out += y, out = act(out) · y

  Results(ops::Store store, float* to, int n_rows)
      : how(store == ops::Store::kAdd ? How::kAdd : How::kSet), out(to), stride(static_cast<size_t>(n_rows)) {}
  Results(GluAct activation, float* gate, int n_rows)
      : how(How::kGlu), act(activation), out(gate), stride(static_cast<size_t>(n_rows)) {}

  // The same for the tokens of an expert: token t is row rows[t] of `out`. `add`, [rows] or null, is added to each y
  // first. If most is not 0, act() and its factor are bounded (ExpertConfig::limit).
  Results of(const int* rows, const float* add, float most = 0) const {
    Results r = *this;
    r.tokens = rows;
    r.bias = add;
    r.limit = most;
    r.is_plain = false;
    return r;
  }
  float* row(int token) const { return out + static_cast<size_t>(tokens ? tokens[token] : token) * stride; }

  How how;
  GluAct act = GluAct::kRelu2;
  float* out;  // [n, rows]
  size_t stride;
  const int* tokens = nullptr;
  const float* bias = nullptr;
  float limit = 0;
  bool is_plain = how != How::kGlu;  // whole tiles are set or added as they are
};

inline constexpr size_t kMostTileResults = 128;

// Stores y[t][r], [n_tokens, y_rows] with at most kMostTileResults values, for the tokens from `token` and the rows
// from `row` on. Only the first n_rows rows are stored.
void PutResults(const Results& results, const float* y, int n_tokens, int y_rows, int token, int row, int n_rows);

template <int kTokens, int kRows>
HWY_INLINE void PutTile(const Results& results, const float (&y)[kTokens][kRows], int token, int row, int n_rows) {
  static_assert(size_t{kTokens} * kRows <= kMostTileResults);
  if (n_rows != kRows || !results.is_plain) {
    return PutResults(results, y[0], kTokens, kRows, token, row, n_rows);
  }
  // Whole tiles that are stored or added: a call for each of them would cost prompts 4 %.
  float* out = results.out + static_cast<size_t>(token) * results.stride + static_cast<size_t>(row);
  if (results.how == Results::How::kAdd) {
    for (size_t t = 0; t < kTokens; ++t, out += results.stride) {
      for (size_t r = 0; r < kRows; ++r) out[r] += y[t][r];
    }
  } else {
    for (size_t t = 0; t < kTokens; ++t, out += results.stride) std::copy_n(y[t], kRows, out);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
