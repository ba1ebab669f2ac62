// Mixtures of experts in other formats.
#include <gtest/gtest.h>

#include <algorithm>

#include "file/gguf/gguf_writer.h"
#include "model/model.h"
#include "support/checkout.h"
#include "tern/tools.h"
#include "tools/tools_test_support.h"

namespace tern {
namespace {

const std::string kMixtures = source_path("tests/golden/families/");

std::vector<float> decoded(const Tensor& tensor) {
  std::vector<float> values(static_cast<size_t>(tensor.rows) * static_cast<size_t>(tensor.cols));
  Scratch scratch;
  format_info(tensor.format).decode(tensor.data.read_all(scratch).value(), values);
  return values;
}

constexpr Tensor Layer::* kVectors[] = {&Layer::attn_norm,        &Layer::ffn_norm,        &Layer::attn_sinks,
                                        &Layer::attn_q_norm,      &Layer::ffn_router_norm, &Layer::ffn_experts_norm,
                                        &Layer::ffn_experts_post, &Layer::ffn_dense_post,  &Layer::ffn_experts_scale};
constexpr Linear Layer::* kFloats[] = {&Layer::ffn_router, &Layer::ffn_shared_gate};
constexpr Linear Layer::* kPacked[] = {&Layer::attn_q, &Layer::ffn_gate_exps, &Layer::ffn_up_exps,
                                       &Layer::ffn_down_exps, &Layer::ffn_down_shared};

void expect_packed(const Model& before, const Model& after, Format format) {
  for (size_t i = 0; i < before.weights.layers.size(); ++i) {
    const Layer &a = before.weights.layers[i], &b = after.weights.layers[i];
    for (const auto of : kVectors) {
      ASSERT_EQ((a.*of).is_present(), (b.*of).is_present());
      if ((a.*of).is_present()) {
        EXPECT_EQ(decoded(a.*of), decoded(b.*of)) << (a.*of).name;
      }
    }
    for (const auto of : kFloats) {
      ASSERT_EQ((a.*of).is_present(), (b.*of).is_present());
      if ((a.*of).is_present()) {
        EXPECT_EQ(decoded(a.*of), decoded(b.*of)) << (a.*of).name;
      }
    }
    for (const auto of : kPacked) {
      ASSERT_EQ((a.*of).is_present(), (b.*of).is_present());
      if (!(a.*of).is_present()) continue;
      EXPECT_EQ((b.*of).format, format);
      EXPECT_EQ((a.*of).n_experts, (b.*of).n_experts);
      EXPECT_EQ((a.*of).bias.is_present(), (b.*of).bias.is_present());
      const auto wanted = decoded(a.*of), got = decoded(b.*of);
      for (size_t j = 0; j < wanted.size(); ++j) ASSERT_NEAR(got[j], wanted[j], 0.02) << (a.*of).name << " " << j;
    }
  }
}

TEST(ConvertExperts, PacksEveryExpertAndKeepsTheRouter) {
  for (const std::string name :
       {"qwen3moe.gguf", "qwen3moe", "qwen35moe.gguf", "qwen35moe_images.gguf", "olmoe.gguf", "olmoe", "gpt_oss.gguf",
        "gpt_oss", "gpt_oss_mxfp4", "granitemoe.gguf", "gemma4_experts.gguf"}) {
    SCOPED_TRACE(name);
    const TemporaryPath out(".gguf");
    const auto done = convert({.in_path = kMixtures + name, .out_path = out.str(), .type = "q8_0"});
    ASSERT_TRUE(done) << done.error().message;
    const auto before = open_model(kMixtures + name), after = open_model(out.str());
    ASSERT_TRUE(after) << after.error().message;
    EXPECT_EQ(after->config.experts, before->config.experts);
    expect_packed(*before, *after, Format::kQ8_0);
  }
}

void write_imatrix(const std::string& path, const Model& model, size_t n_for_each, bool is_uneven) {
  GgufWriter writer(path);
  writer.add_string("general.type", "imatrix");
  const Linear& w = model.weights.layers[0].ffn_down_exps;
  const auto n = static_cast<size_t>(w.n_experts);
  std::vector<float> sums(n * n_for_each);
  for (size_t i = 0; i < sums.size(); ++i) sums[i] = is_uneven && i / n_for_each == 1 && i % 2 == 0 ? 100 : 1;
  const std::vector<float> counts(n, 1);
  const auto rows = static_cast<int64_t>(n);
  EXPECT_TRUE(writer.add_tensor(w.name + ".in_sum2", GgmlType::kF32,
                                std::vector<int64_t>{rows, static_cast<int64_t>(n_for_each)}));
  EXPECT_TRUE(writer.add_tensor(w.name + ".counts", GgmlType::kF32, std::vector<int64_t>{rows, 1}));
  EXPECT_TRUE(writer.begin());
  EXPECT_TRUE(writer.append(std::as_bytes(std::span(sums))));
  EXPECT_TRUE(writer.append(std::as_bytes(std::span(counts))));
  EXPECT_TRUE(writer.finish());
}

// In one file the second expert's columns differ in importance, in the other none.
TEST(ConvertExperts, EachExpertHasAnImportanceOfItsOwn) {
  const SynthModel file({.preset = "tiny-qwen3moe", .type = "f16"});
  const auto model = open_model(file.str()).value();
  const auto bytes_with = [&](size_t n_for_each, bool is_uneven) {
    const TemporaryPath imatrix("-imatrix.gguf"), out(".gguf");
    write_imatrix(imatrix.str(), model, n_for_each, is_uneven);
    const auto done =
        convert({.in_path = file.str(), .out_path = out.str(), .type = "q4_k", .imatrix_path = imatrix.str()});
    if (!done) return done.error().message;
    const auto packed = open_model(out.str()).value();
    return std::string(as_text(packed.weights.layers[0].ffn_down_exps.data.resident()));
  };
  const std::string even = bytes_with(256, false), uneven = bytes_with(256, true);
  ASSERT_EQ(even.size(), 6 * 256 * row_bytes(Format::kQ4_K, 256));
  ASSERT_EQ(even.size(), uneven.size());
  const size_t each = even.size() / 6;
  for (size_t expert = 0; expert < 6; ++expert) {
    EXPECT_EQ(even.substr(expert * each, each) == uneven.substr(expert * each, each), expert != 1) << expert;
  }
  EXPECT_NE(bytes_with(3, false).find("has 18 values for blk.0.ffn_down_exps.weight, whose rows have 1536"),
            std::string::npos);
}

}  // namespace
}  // namespace tern
