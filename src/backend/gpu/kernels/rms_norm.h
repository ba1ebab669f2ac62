// RMS norm and int8 quantization of rows, as separate kernels and as one.
#pragma once

#include "backend/gpu/kernels/common.h"

namespace tern::gpu {

struct RmsNormConfig {
  uint32_t width;
  float eps;
  Caps caps;
  uint32_t workgroup = 256;
  bool in_loops = false;  // the row is read again for each pass, instead of kept in registers

  bool operator==(const RmsNormConfig&) const = default;
};
using RmsNormKernel = wgsl::Kernel<wgsl::In<"x", wgsl::F32>, wgsl::In<"gain", wgsl::F32>, wgsl::Out<"y", wgsl::F32>,
                                   wgsl::WorkgroupId, wgsl::LocalIndex>;
// y = x / √(mean x² + eps) · gain. Grid: [1, n_rows].
RmsNormKernel rms_norm(const RmsNormConfig& c);

using RmsNormAddKernel = wgsl::Kernel<wgsl::In<"x", wgsl::Vec4<wgsl::F32>>, wgsl::In<"gain", wgsl::Vec4<wgsl::F32>>,
                                      wgsl::InOut<"y", wgsl::Vec4<wgsl::F32>>, wgsl::WorkgroupId, wgsl::LocalIndex>;
// y = (y + x / √(mean x² + eps) · gain) · scale. Grid: [1, n_rows].
RmsNormAddKernel rms_norm_add(const RmsNormConfig& c, float scale);

struct HeadNormConfig {
  uint32_t n_heads, head_dim;
  float eps;
  Caps caps;
  uint32_t workgroup = 64;

  bool operator==(const HeadNormConfig&) const = default;
};
using HeadNormKernel =
    wgsl::Kernel<wgsl::InOut<"x", wgsl::F32>, wgsl::In<"gain", wgsl::F32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
// 1 / √(mean x² + eps) of the head that begins at x[head]. All invocations of the workgroup must call it.
template <class X>
wgsl::Name<wgsl::F32> inverse_head_rms(const HeadNormConfig& c, const X& x, const wgsl::Name<wgsl::U32>& head,
                                       const wgsl::LocalIndex& tid) {
  using namespace wgsl;
  auto squares = var("squares", 0.0f);
  loop("i", tid, c.head_dim, c.workgroup, [&](const Name<U32>& i) {
    auto v = let("v", x[head + i]);
    squares += v * v;
  });
  auto mine = let("mine", squares);
  auto total = reduce_workgroup(Reduce::kSum, c.caps, mine, tid, c.workgroup);
  return let("factor", 1.0f / sqrt(total / static_cast<float>(c.head_dim) + c.eps));
}
// The same for row `row` of x [n_rows, width] of vec4s, with a Config that has a width.
template <class Config, class X>
wgsl::Name<wgsl::F32> inverse_row_rms(const Config& c, const X& x, const wgsl::Name<wgsl::U32>& row,
                                      const wgsl::LocalIndex& tid) {
  using namespace wgsl;
  auto squares = var("squares", 0.0f);
  loop("i", tid, c.width / 4, c.workgroup, [&](const Name<U32>& i) {
    auto v = let("v", x[row * (c.width / 4) + i]);
    squares += dot(v, v);
  });
  auto mine = let("my_squares", squares);
  auto total = reduce_workgroup(Reduce::kSum, c.caps, mine, tid, c.workgroup);
  return let("factor", 1.0f / sqrt(total / static_cast<float>(c.width) + c.eps));
}
// The norm in place for every head of x [n_tokens, n_heads, head_dim], gain [head_dim]. Grid: [n_heads, n_tokens].
HeadNormKernel head_norm(const HeadNormConfig& c);

// x: rows of floats. y: rows of int8 words (common.h). Each element holds four values.
using QuantizeKernel =
    wgsl::Kernel<wgsl::In<"x", wgsl::Vec4<wgsl::F32>>, wgsl::Out<"y", wgsl::I8x4>, wgsl::WorkgroupId, wgsl::LocalIndex>;
// Absmax int8: s = 127 / max(|x|max, 1e-5), q = round(x·s). Grid: [1, n_rows]. `eps` is not used.
QuantizeKernel quantize(const RmsNormConfig& c);

using RmsNormQuantizeKernel =
    wgsl::Kernel<wgsl::In<"x", wgsl::Vec4<wgsl::F32>>, wgsl::In<"gain", wgsl::Vec4<wgsl::F32>>,
                 wgsl::Out<"y", wgsl::I8x4>, wgsl::WorkgroupId, wgsl::LocalIndex>;
RmsNormQuantizeKernel rms_norm_quantize(const RmsNormConfig& c);

}  // namespace tern::gpu
