// Elementwise kernels: RoPE, gate·up, residual add, and copies of rows.
#pragma once

#include "backend/gpu/kernels/common.h"

namespace tern::gpu {

inline constexpr uint32_t kElementwiseWorkgroup = 128;

// Calls body(column) if this invocation has a column.
template <class Body>
void for_column(uint32_t width, const wgsl::WorkgroupId& wg, const wgsl::LocalIndex& tid, Body&& body) {
  auto column = wgsl::let("column", wg.x * kElementwiseWorkgroup + tid);
  if (width % kElementwiseWorkgroup == 0) return body(column);
  wgsl::when(column < width, [&] { body(column); });
}

struct RopeConfig {
  uint32_t n_heads, head_dim;
  bool interleaved = false;  // pairs are adjacent, not half of what rotates apart
  uint32_t n_dims = 0;       // only the first dimensions of a head rotate; 0: all

  uint32_t rotated() const { return n_dims > 0 ? n_dims : head_dim; }

  bool operator==(const RopeConfig&) const = default;
};
using RopeKernel = wgsl::Kernel<wgsl::InOut<"x", wgsl::F32>, wgsl::In<"angles", wgsl::Vec2<wgsl::F32>>, ParamsBuffer,
                                wgsl::WorkgroupId, wgsl::LocalIndex>;
// Rotates x [n_tokens, n_heads, head_dim] in place. angles: RopeAngles (heads.h). One invocation per pair.
// Grid: [⌈n_heads · rotated() / 2 / 128⌉, n_tokens].
RopeKernel rope(const RopeConfig& c);

// One invocation per value of a row. Grid: [⌈width / 128⌉, n_rows].
struct RowsConfig {
  uint32_t width;

  bool operator==(const RowsConfig&) const = default;
};
using GluMulKernel = wgsl::Kernel<wgsl::In<"gate", wgsl::F32>, wgsl::In<"up", wgsl::F32>, wgsl::Out<"y", wgsl::F32>,
                                  wgsl::WorkgroupId, wgsl::LocalIndex>;
struct GluMulConfig {
  uint32_t width, up_width = 0, first = 0;  // `up` may be wider: its columns from `first` on; 0: as wide

  bool operator==(const GluMulConfig&) const = default;
};
GluMulKernel glu_mul(const GluMulConfig& c, Activation act);  // y = act(gate) · up

using AddKernel =
    wgsl::Kernel<wgsl::In<"y", wgsl::F32>, wgsl::InOut<"x", wgsl::F32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
AddKernel add(const RowsConfig& c, float scale = 1);  // x = (x + y) · scale

using AddBiasKernel =
    wgsl::Kernel<wgsl::In<"bias", wgsl::F32>, wgsl::InOut<"x", wgsl::F32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
struct AddBiasConfig {
  uint32_t width, first, count;  // of a row of x; the columns that get the bias of their number

  bool operator==(const AddBiasConfig&) const = default;
};
// x += bias, in every row. One invocation per column. Grid: [⌈count / 128⌉, n_rows].
AddBiasKernel add_bias(const AddBiasConfig& c);

using SoftcapKernel = wgsl::Kernel<wgsl::InOut<"x", wgsl::F32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
SoftcapKernel softcap(const RowsConfig& c, float cap);  // x = cap · tanh(x / cap)

// Copies the rows of x that params lists. Grid: [⌈width / 128⌉, n_logit_rows].
using SelectRowsKernel = wgsl::Kernel<wgsl::In<"x", wgsl::F32>, ParamsBuffer, wgsl::Out<"y", wgsl::F32>,
                                      wgsl::WorkgroupId, wgsl::LocalIndex>;
SelectRowsKernel select_rows(const RowsConfig& c);

}  // namespace tern::gpu
