// The golden kernels of rows that are made int8 before their products.
#include "backend/gpu/kernels/delta/delta.h"
#include "backend/gpu/kernels/float/int8_rows.h"
#include "backend/gpu/kernels/golden/golden_cases_test_support.h"

namespace tern::gpu {

std::vector<std::pair<std::string, wgsl::Module>> int8_kernels(const Caps& caps) {
  constexpr float kEps = 1e-6f;
  constexpr WeightCoding kCodes2{.words = WeightWords::kCodes2, .zero = 1, .group = 128};
  std::vector<std::pair<std::string, wgsl::Module>> all;
  const auto add = [&](const std::string& name, auto kernel) { all.emplace_back(name, std::move(kernel.module)); };
  Int8RowsConfig rows{.width = 1024, .coding = kCodes2, .caps = caps};
  add("int8_rows", int8_rows(rows));
  rows.normed = true, rows.eps = kEps;
  add("int8_rows_normed", int8_rows(rows));
  auto products = fit(FloatLinearConfig{.rows = 96, .cols = 1024, .coding = kCodes2, .up_coding = kCodes2});
  products.act = Activation::kSilu;
  products.int8_x = true;
  products.caps = caps;
  products.lanes = 16;
  products.rows_per_group = 2;
  add("int8_glu_leaving", int8_glu_leaving(products, kCodes2));
  products.columns = 2;
  add("int8_glu_columns", int8_glu(products));
  products.store = Store::kAdd;
  add("int8_linear_add_columns", int8_linear(products));
  add("rotate_leaving", rotate_leaving({.width = 256, .block = 128, .caps = caps}, kCodes2));
  add("sigmoid_mul_leaving", sigmoid_mul_leaving({.width = 256}, kCodes2, caps));
  const DeltaShape shape{
      .n_k_heads = 2, .n_v_heads = 6, .head_dim = 64, .n_taps = 4, .is_tiled = true, .are_side_by_side = true};
  const GatedNormConfig norm{.n_heads = 6, .head_dim = 64, .eps = kEps, .caps = caps, .gate_stride = 384};
  add("gated_delta_leaving", gated_delta_leaving({.shape = shape, .norm = norm, .workgroup = 128}, kCodes2));
  return all;
}

}  // namespace tern::gpu
