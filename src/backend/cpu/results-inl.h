// What becomes of the results of a linear layer: stored, added, or multiplied with act(gate). The functions are
// compiled once for each instruction set, in results.cc, and called from every kernel: with the exponentials inlined in
// them, they would be longer than the kernels. Included once per instruction set.
#if defined(TERN_BACKEND_CPU_RESULTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TERN_BACKEND_CPU_RESULTS_INL_H_
#undef TERN_BACKEND_CPU_RESULTS_INL_H_
#else
#define TERN_BACKEND_CPU_RESULTS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>

#include "backend/ops.h"
#include "model/config.h"

HWY_BEFORE_NAMESPACE();
namespace tern::cpu {
namespace HWY_NAMESPACE {

// x = cap · tanh(x / cap).
void Cap(float cap, float* x, size_t n);

// out[i] = act(gate[i]) · up[i]; out may be gate or up. A result depends on its own operands only, not on where in a
// vector they were, so it is the same however a layer is cut.
void Glu(GluAct act, const float* gate, const float* up, size_t n, float* out);

// Where the results for all tokens and rows go, and how.
struct Results {
  enum class How { kSet, kAdd, kGlu };  // out = y, out += y, out = act(out) · y

  Results(ops::Store store, float* to, int n_rows)
      : how(store == ops::Store::kAdd ? How::kAdd : How::kSet), out(to), stride(static_cast<size_t>(n_rows)) {}
  Results(GluAct activation, float* gate, int n_rows)
      : how(How::kGlu), act(activation), out(gate), stride(static_cast<size_t>(n_rows)) {}

  How how;
  GluAct act = GluAct::kRelu2;
  float* out;  // [n, rows]
  size_t stride;
};

inline constexpr size_t kMostTileResults = 128;

// y[t][r], [n_tokens, y_rows] and at most kMostTileResults of them, for the tokens from `token` and the rows from `row`
// on; of the rows, the first n_rows.
void PutResults(const Results& results, const float* y, int n_tokens, int y_rows, int token, int row, int n_rows);

template <int kTokens, int kRows>
HWY_INLINE void PutTile(const Results& results, const float (&y)[kTokens][kRows], int token, int row, int n_rows) {
  static_assert(size_t{kTokens} * kRows <= kMostTileResults);
  PutResults(results, y[0], kTokens, kRows, token, row, n_rows);
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
