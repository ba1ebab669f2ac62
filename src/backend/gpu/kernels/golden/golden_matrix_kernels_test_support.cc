// The golden kernels on subgroup matrices: products of many and of few tokens, and attention.
#include "backend/gpu/kernels/attention/matrix_attention.h"
#include "backend/gpu/kernels/float/float_matmul_few.h"
#include "backend/gpu/kernels/float/float_matmul_matrix.h"
#include "backend/gpu/kernels/golden/golden_cases_test_support.h"
#include "backend/gpu/kernels/head/logits_matrix.h"
#include "backend/gpu/kernels/ternary/ternary_batch.h"
#include "backend/gpu/kernels/ternary/ternary_matmul_matrix.h"

namespace tern::gpu {

using wgsl::F16x2;
using wgsl::F32;
using wgsl::I8x4;

namespace {

struct MatrixCases {
  uint32_t width, ffn;
  HeadShape heads;
  std::vector<std::pair<std::string, wgsl::Module>> all = {};

  void add(const std::string& name, auto kernel) { all.emplace_back(name, std::move(kernel.module)); }

  void add_ternary(const wgsl::MatrixShape& shape) {
    const std::string suffix = suffix_of(shape);
    auto c =
        fit(TernaryMatrixMatmulConfig{.rows = width, .cols = ffn, .shape = shape, .subgroup = shape.m == 8 ? 8u : 32u});
    add("ternary_matmul_matrix_" + suffix, ternary_matmul_matrix(c));
    c.store = Store::kAdd;
    add("ternary_matmul_matrix_add_" + suffix, ternary_matmul_matrix(c));
    std::swap(c.rows, c.cols);
    add("ternary_glu_matmul_matrix_" + suffix, ternary_glu_matmul_matrix(c));
    TernaryBatchConfig batch{.cols = width,
                             .caps = {.packed_dot = true, .subgroup = c.subgroup},
                             .shape = shape,
                             .subgroup = c.subgroup,
                             .subgroups = 4};
    if (!has_ternary_batch(batch)) return;
    add("batch_glu_" + suffix, batch_glu(batch, ffn));
    add("batch_qkv_f16_" + suffix, batch_qkv<F16x2>(batch, heads, false));
    add("batch_qkv_f32_" + suffix, batch_qkv<F32>(batch, heads, true));
    batch.cols = ffn;
    add("batch_matvec_add_" + suffix, batch_matvec_add(batch, width));
  }

  void add_floats(const wgsl::MatrixShape& shape) {
    const std::string suffix = suffix_of(shape);
    auto c = fit(FloatMatrixMatmulConfig{.rows = width,
                                         .cols = ffn,
                                         .coding = {.words = WeightWords::kCodes4, .zero = 8, .group = 32},
                                         .shape = shape,
                                         .subgroup = shape.m == 8 ? 8u : 32u});
    add("float_matmul_matrix_" + suffix, float_matmul_matrix(c));
    auto of_logits = c;
    of_logits.of_logits = true;
    add("float_matmul_matrix_of_logits_" + suffix, float_matmul_matrix(of_logits));
    add("logits_matrix_" + suffix,
        logits_matrix({.rows = width, .cols = ffn, .shape = c.shape, .subgroup = c.subgroup, .rest_at = 64}));
    c.up_coding = c.coding;
    c.act = Activation::kSilu;
    add("float_glu_matmul_matrix_" + suffix, float_glu_matmul_matrix(c));
    const std::pair<std::string, WeightCoding> few_bits[] = {
        {"codes2", {.words = WeightWords::kCodes2, .zero = 1, .group = 256}},
        {"signs", {.words = WeightWords::kSigns, .group = 128}}};
    for (const auto& [name, coding] : few_bits) {
      FloatMatmulFewConfig few{.rows = ffn,
                               .cols = width,
                               .coding = coding,
                               .up_coding = coding,
                               .act = Activation::kSilu,
                               .shape = c.shape,
                               .subgroup = c.subgroup};
      if (!has_float_matmul_few(few, 1)) continue;
      const std::string of = "_" + name + "_" + suffix;
      add("float_glu_matmul_few" + of, float_glu_matmul_few(few));
      few.splits = 8, few.teams = 2, few.store = Store::kAdd;
      add("float_matmul_few_add" + of, float_matmul_few(few));
    }
    MatrixAttentionConfig attention{.heads = heads, .shape = c.shape, .subgroup = c.subgroup};
    add("attention_on_matrices_f16_" + suffix, matrix_attention<F16x2>(attention));
    add("attention_on_matrices_sinks_f16_" + suffix, matrix_attention_sinks<F16x2>(attention));
    attention.window = 300, attention.softcap = 50;
    add("attention_on_matrices_q8_0_" + suffix, matrix_attention<I8x4>(attention));
  }

  static std::string suffix_of(const wgsl::MatrixShape& shape) {
    return std::to_string(shape.m) + "x" + std::to_string(shape.n) + "x" + std::to_string(shape.k);
  }
};

}  // namespace

std::vector<std::pair<std::string, wgsl::Module>> matrix_kernels(uint32_t width, uint32_t ffn, const HeadShape& heads) {
  using wgsl::MatrixTypes;
  MatrixCases cases{.width = width, .ffn = ffn, .heads = heads};
  cases.add_ternary({MatrixTypes::kI8ToI32, 8, 8, 8});
  cases.add_ternary({MatrixTypes::kI8ToI32, 16, 16, 32});
  cases.add_floats({MatrixTypes::kF16ToF32, 8, 8, 8});
  cases.add_floats({MatrixTypes::kF16ToF32, 16, 16, 16});
  return std::move(cases.all);
}

}  // namespace tern::gpu
