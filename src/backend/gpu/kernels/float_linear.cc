#include "backend/gpu/kernels/float_linear.h"

namespace tern::gpu {

using namespace wgsl;

namespace {

// The values of one quad of weights, four at a time.
std::vector<Name<Vec4<F32>>> unpack(const Caps& caps, const Name<Vec4<F16x2>>& quad) {
  std::vector<Name<Vec4<F32>>> values;
  for (uint32_t i = 0; i < 4; i += 2) {
    if (caps.f16) {
      auto low = let("low", vec2f(bitcast_f16(at(quad, i))));
      auto high = let("high", vec2f(bitcast_f16(at(quad, i + 1))));
      values.push_back(let("w", vec4f(low, high)));
    } else {
      auto low = let("low", unpack2x16float(at(quad, i)));
      auto high = let("high", unpack2x16float(at(quad, i + 1)));
      values.push_back(let("w", vec4f(low, high)));
    }
  }
  return values;
}
std::vector<Name<Vec4<F32>>> unpack(const Caps&, const Name<Vec4<F32>>& quad) { return {quad}; }

}  // namespace

template <class Quad>
FloatLinearKernel<Quad> float_linear(const FloatLinearConfig& c) {
  constexpr uint32_t kVectors = std::same_as<Quad, Vec4<F16x2>> ? 2 : 1;  // of x per quad of w
  const uint32_t quads = c.cols / (4 * kVectors);
  CHECK(c.cols % (4 * kVectors) == 0);
  return kernel("float_linear", c.workgroup,
                [&](In<"w", Quad> w, In<"x", Vec4<F32>> x, RowRange range, Out<"y", F32> y, WorkgroupId wg,
                    NumWorkgroups n_wg, LocalIndex tid) {
                  auto group = let("group", tid / c.lanes);
                  auto lane_of_row = let("lane_of_row", tid & (c.lanes - 1));
                  auto count = let("count", range.get<"count">());
                  const uint32_t groups = c.workgroup / c.lanes;
                  auto first = let("first", (wg.y * n_wg.x + wg.x) * c.rows_per_workgroup() + group);
                  std::vector<Name<U32>> rows, starts;
                  std::vector<Var<F32>> sums;
                  for (uint32_t r = 0; r < c.rows_per_group; ++r) {
                    rows.push_back(let("row", first + r * groups));
                    starts.push_back(let("start", min(rows[r], count - 1u) * quads));
                    sums.push_back(var("acc", 0.0f));
                  }
                  auto x_base = let("x_base", wg.z * (c.cols / 4));
                  loop("i", lane_of_row, quads, c.lanes, [&](const Name<U32>& i) {
                    std::vector<Name<Quad>> w4;
                    for (uint32_t r = 0; r < c.rows_per_group; ++r) w4.push_back(let("w4", w[starts[r] + i]));
                    std::vector<Name<Vec4<F32>>> x4;
                    for (uint32_t k = 0; k < kVectors; ++k) x4.push_back(let("x4", x[x_base + i * kVectors + k]));
                    for (uint32_t r = 0; r < c.rows_per_group; ++r) {
                      const auto values = unpack(c.caps, w4[r]);
                      for (uint32_t k = 0; k < kVectors; ++k) sums[r] += dot(values[k], x4[k]);
                    }
                  });
                  for (uint32_t r = 0; r < c.rows_per_group; ++r) {
                    auto mine = let("mine", sums[r]);
                    auto total = reduce_lanes(Reduce::kSum, c.caps, mine, tid, c.lanes, c.workgroup);
                    when(lane_of_row == 0u && rows[r] < count,
                         [&] { y[wg.z * c.rows + range.get<"first">() + rows[r]] = total; });
                  }
                });
}

template FloatLinearKernel<Vec4<F16x2>> float_linear<Vec4<F16x2>>(const FloatLinearConfig&);
template FloatLinearKernel<Vec4<F32>> float_linear<Vec4<F32>>(const FloatLinearConfig&);

}  // namespace tern::gpu
