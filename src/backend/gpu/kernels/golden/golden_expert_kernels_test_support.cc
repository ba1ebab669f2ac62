// The golden kernels of mixtures of experts.
#include "backend/gpu/kernels/experts.h"
#include "backend/gpu/kernels/float/float_matmul_matrix.h"
#include "backend/gpu/kernels/golden/golden_cases_test_support.h"

namespace tern::gpu {
namespace {

constexpr WeightCoding kCodes4{.words = WeightWords::kCodes4, .zero = 8, .group = 32};
constexpr uint32_t kExperts = 6, kUsed = 2;

template <class Linear>
OfExperts<Linear> of_experts(Linear linear) {
  linear.coding = linear.up_coding = kCodes4;
  linear.act = Activation::kSilu;
  return {.linear = linear, .n_used = kUsed};
}
template <class Linear>
OfExperts<Linear> of_choices(OfExperts<Linear> c) {
  c.own_input = c.has_bias = true;
  return c;
}
template <class Linear>
OfExperts<Linear> bounded(OfExperts<Linear> c) {
  c.has_bias = true, c.limit = 7, c.linear.act = Activation::kSwigluOai;
  return c;
}

}  // namespace

std::vector<std::pair<std::string, wgsl::Module>> expert_kernels(const Caps& caps) {
  std::vector<std::pair<std::string, wgsl::Module>> all;
  const auto add = [&](const std::string& name, auto kernel) { all.emplace_back(name, std::move(kernel.module)); };
  add("expert_tiles",
      expert_tiles(
          {.n_experts = kExperts, .n_used = kUsed, .tokens = 32, .factors_at = 1024, .caps = caps, .workgroup = 128}));
  const auto few = of_experts(fit(FloatLinearConfig{.rows = 96, .cols = 256, .coding = kCodes4, .caps = caps}));
  add("expert_linear", expert_linear(of_choices(few)));
  add("expert_glu", expert_glu(few, kExperts));
  add("expert_glu_bounded", expert_glu(bounded(few), kExperts));
  auto normed = few;
  normed.linear.normed = true, normed.linear.eps = 1e-6f, normed.linear.rows_per_group = 1;
  add("expert_norm_glu", expert_norm_glu(normed, kExperts));
  add("route", route({.n_experts = 10, .n_used = kUsed, .weighs_chosen = true, .workgroup = 64}));
  add("mix_experts_add", mix_experts({.width = 256, .n_used = kUsed, .has_shared = true, .store = Store::kAdd}));
  return all;
}

std::vector<std::pair<std::string, wgsl::Module>> expert_tile_kernels() {
  std::vector<std::pair<std::string, wgsl::Module>> all;
  const auto add = [&](const std::string& name, auto kernel) { all.emplace_back(name, std::move(kernel.module)); };
  auto tiles = of_experts(FloatMatmulConfig{.rows = 96, .cols = 256, .coding = kCodes4, .tile_tokens = 32});
  add("expert_matmul", expert_matmul(of_choices(tiles)));
  tiles.linear.tile_rows = 32;
  add("expert_glu_matmul", expert_glu_matmul(tiles, kExperts));
  add("expert_glu_matmul_bounded", expert_glu_matmul(bounded(tiles), kExperts));
  for (const uint32_t size : {8u, 16u}) {
    const auto matrices =
        of_experts(fit(FloatMatrixMatmulConfig{.rows = 96,
                                               .cols = 256,
                                               .coding = kCodes4,
                                               .shape = {wgsl::MatrixTypes::kF16ToF32, size, size, size},
                                               .subgroup = size == 8 ? 8u : 32u}));
    const std::string suffix = size == 8 ? "_8x8x8" : "_16x16x16";
    add("expert_matmul_matrix" + suffix, expert_matmul_matrix(of_choices(matrices)));
    add("expert_glu_matmul_matrix" + suffix, expert_glu_matmul_matrix(matrices, kExperts));
    add("expert_glu_matmul_matrix_bounded" + suffix, expert_glu_matmul_matrix(bounded(matrices), kExperts));
  }
  return all;
}

}  // namespace tern::gpu
