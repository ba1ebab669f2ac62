// The golden kernels of recurrent layers.
#include "backend/gpu/kernels/delta/delta.h"
#include "backend/gpu/kernels/golden/golden_cases_test_support.h"
#include "backend/gpu/kernels/qkv_heads.h"

namespace tern::gpu {

std::vector<std::pair<std::string, wgsl::Module>> delta_kernels(const Caps& caps) {
  constexpr float kEps = 1e-6f;
  const DeltaShape shape{.n_k_heads = 2, .n_v_heads = 6, .head_dim = 32, .n_taps = 4, .is_tiled = true};
  std::vector<std::pair<std::string, wgsl::Module>> all;
  const auto add = [&](const std::string& name, auto kernel) { all.emplace_back(name, std::move(kernel.module)); };
  add("causal_conv", causal_conv(shape));
  add("keep_columns", keep_columns(shape));
  add("delta_rule", delta_rule({.shape = shape, .caps = caps}));
  add("turn_states", turn_states());
  const GatedNormConfig norm{.n_heads = 6, .head_dim = 32, .eps = kEps, .caps = caps, .gate_stride = 192};
  add("gated_norm", gated_norm(norm));
  DeltaShape rows = shape;
  rows.are_side_by_side = true;
  add("gated_delta", gated_delta({.shape = rows, .norm = norm, .workgroup = 128}));
  add("split_heads", split_heads({.n_heads = 4, .head_dim = 64}));
  add("sigmoid_mul", sigmoid_mul({.width = 256}));
  add("sigmoid_mul_rows", sigmoid_mul({.width = 256, .stride = 768, .head_dim = 64}));
  HeadsConfig heads{.shape = {4, 2, 64}, .normed = true, .eps = kEps, .caps = caps, .gated = true, .n_dims = 16};
  add("qkv_heads_gated", qkv_heads<wgsl::F16x2>(heads));
  heads.gated = false, heads.norms_values = true;
  add("qkv_heads_normed_values", qkv_heads<wgsl::F16x2>(heads));
  add("rotate", rotate({.width = 256, .block = 128}));
  add("rotate_normed", rotate({.width = 256, .block = 128, .normed = true, .eps = kEps, .caps = caps}));
  add("rotate_groups_back", rotate({.width = 192, .block = 64, .is_inverse = true, .n_groups = 2, .head_dim = 32}));
  return all;
}

}  // namespace tern::gpu
