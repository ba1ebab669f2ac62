#include "backend/gpu/kernels/float/halve_tokens.h"

#include "backend/gpu/kernels/rms_norm.h"

namespace tern::gpu {

using namespace wgsl;

namespace {

// value(i): quad i of the row.
template <class Value>
void write_halves(const HalveTokensConfig& c, const Value& value, const Out<"halves", Vec4<F16>>& halves,
                  const Out<"token_scales", F32>& scales, const Name<U32>& row, const LocalIndex& tid) {
  auto peak = var("peak", 0.0f);
  loop("i", tid, c.width / 4, c.workgroup, [&](const Name<U32>& i) {
    auto v = let("v", abs(value(i)));
    auto low = let("low", max(at(v, 0), at(v, 1)));
    auto high = let("high", max(at(v, 2), at(v, 3)));
    peak = max(peak, max(low, high));
  });
  auto mine = let("mine", peak);
  auto top = reduce_workgroup(Reduce::kMax, c.caps, mine, tid, c.workgroup);
  // 2^e ≤ peak < 2^(e+1) has the exponent bits 127 + e; 2^(10 − e) has 137 − e, which is 264 minus that.
  auto exponent = let("exponent", clamp(bitcast<U32>(top) >> 23u, 64u, 200u));
  auto scale = let("scale", bitcast<F32>((264u - exponent) << 23u));
  when(tid == 0u, [&] { scales[row] = scale; });
  loop("i", tid, c.width / 4, c.workgroup, [&](const Name<U32>& i) {
    // Four columns of the group.
    auto index =
        let("index", grouped_half(c.width, row) / 4u + (i >> 2u) * (kHalvesOfGroup * kRowsOfGroup / 4) + (i & 3u));
    auto exact = let("exact", value(i) * scale);
    if (c.rest_at == 0) {
      halves[index] = vec4h(exact);
      return;
    }
    // Computed from the bits, because compilers optimize the difference from a conversion and back to 0.
    std::vector<Name<F32>> first;
    for (uint32_t i4 = 0; i4 < 4; ++i4) {
      auto as_bits = let("as_bits", bitcast<U32>(at(exact, i4)));
      first.push_back(let("first_bits", bitcast<F32>(as_bits & 0xFFFFE000u)));
    }
    auto high = let("high_bits", vec4f(first[0], first[1], first[2], first[3]));
    halves[index] = vec4h(high);
    halves[index + c.rest_at * (c.width / 4)] = vec4h(exact - high);
  });
}

}  // namespace

HalveTokensKernel halve_tokens(const HalveTokensConfig& c) {
  return kernel(
      c.rest_at > 0 ? "halve_tokens_exactly" : "halve_tokens", c.workgroup,
      [&](FloatX x, Out<"halves", Vec4<F16>> halves, Out<"token_scales", F32> scales, WorkgroupId wg, LocalIndex tid) {
        auto row = c.per_token == 1 ? wg.y : let("row", wg.y * c.per_token + wg.x);
        write_halves(c, [&](const Name<U32>& i) { return e(x[row * (c.width / 4) + i]); }, halves, scales, row, tid);
      });
}

NormHalvesKernel norm_halves(const HalveTokensConfig& c) {
  return kernel(c.rest_at > 0 ? "norm_halves_exactly" : "norm_halves", c.workgroup,
                [&](FloatX x, In<"gain", Vec4<F32>> gain, Out<"halves", Vec4<F16>> halves,
                    Out<"token_scales", F32> scales, WorkgroupId wg, LocalIndex tid) {
                  auto factor = inverse_row_rms(c, x, wg.y, tid);
                  const auto value = [&](const Name<U32>& i) { return x[wg.y * (c.width / 4) + i] * factor * gain[i]; };
                  write_halves(c, value, halves, scales, wg.y, tid);
                });
}

}  // namespace tern::gpu
