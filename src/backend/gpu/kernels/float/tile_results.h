// What products on f16 subgroup matrices do with the sums of their tiles. Included only by the files of their kernels.
#pragma once

#include <span>
#include <vector>

#include "backend/gpu/kernels/float/float_matmul.h"

namespace tern::gpu {

// Calls take(row of the binding, token, each matrix's result) for every result of this invocation that exists.
// factors(token): the power of two by which the token was multiplied.
template <class Tile, class Sums, class Factors, class Take>
void take_results(const Tile& t, const Sums& sums, const Factors& factors, const Take& take) {
  using namespace wgsl;
  auto through = shared<F32>("sums", t.shape.sums());
  sums.for_each(through, [&](const Name<U32>& row, const Name<U32>& token, std::span<const Name<F32>> of_row) {
    when(token < t.n_tokens && row < t.n_rows, [&] {
      auto unscale = let("unscale", 1.0f / factors(token));
      std::vector<Name<F32>> unscaled;
      for (const auto& sum : of_row) unscaled.push_back(let("unscaled", sum * unscale));
      take(row, token, unscaled);
    });
  });
}

// Stores a result in y, or adds it; `rows`: those of y.
inline auto stored_in(const wgsl::InOut<"y", wgsl::F32>& y, uint32_t rows, Store store, const RowRange& range) {
  using namespace wgsl;
  return [&y, rows, store, &range](const Name<U32>& row, const Name<U32>& token, const std::vector<Name<F32>>& sums) {
    auto index = let("index", token * rows + range.get<"first">() + row);
    if (store == Store::kAdd) {
      y[index] += sums[0];
    } else {
      y[index] = sums[0];
    }
  };
}

// Stores act(gate) · up.
inline auto gated_in(const wgsl::Out<"y", wgsl::F32>& y, uint32_t rows, Activation act) {
  using namespace wgsl;
  return [&y, rows, act](const Name<U32>& row, const Name<U32>& token, const std::vector<Name<F32>>& sums) {
    y[token * rows + row] = gated(act, sums[0], sums[1]);
  };
}

}  // namespace tern::gpu
