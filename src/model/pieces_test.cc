// Models read in pieces have the same weights as in memory, for every container.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <iterator>

#include "model/model.h"
#include "support/checkout.h"

namespace tern {
namespace {

const std::string kGolden = source_path("tests/golden/");

std::vector<const Tensor*> tensors_of(const Weights& weights) {
  std::vector<const Tensor*> tensors = {&weights.token_embd, &weights.output_norm, &weights.output};
  for (const Layer& l : weights.layers) {
    std::ranges::copy(l.tensors(), std::back_inserter(tensors));
  }
  return tensors;
}

// The bytes, read `n` at a time.
std::vector<std::byte> read_by(const StoredBytes& bytes, uint64_t n) {
  std::vector<std::byte> all;
  Scratch scratch;
  for (uint64_t at = 0; at < bytes.size(); at += n) {
    const auto piece = bytes.read(at, std::min(n, bytes.size() - at), scratch);
    EXPECT_TRUE(piece) << piece.error().message;
    if (piece) all.insert(all.end(), piece->begin(), piece->end());
  }
  return all;
}

class ModelInPieces : public testing::TestWithParam<const char*> {};

TEST_P(ModelInPieces, HasTheSameWeights) {
  const std::string path = kGolden + GetParam();
  const auto in_memory = open_model(path), in_pieces = open_model(path, {}, Access::kPieces);
  ASSERT_TRUE(in_memory) << in_memory.error().message;
  ASSERT_TRUE(in_pieces) << in_pieces.error().message;
  EXPECT_EQ(in_pieces->name, in_memory->name);
  EXPECT_EQ(in_pieces->weights.n_params(), in_memory->weights.n_params());  // detects tied weights
  EXPECT_EQ(in_pieces->weights.bytes_per_token(0), in_memory->weights.bytes_per_token(0));
  EXPECT_EQ(in_pieces->source->file_bytes(), in_memory->source->file_bytes());
  EXPECT_EQ(in_pieces->source->read_text()->has_value(), in_memory->source->read_text()->has_value());
  const auto expected = tensors_of(in_memory->weights), actual = tensors_of(in_pieces->weights);
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    const Tensor &a = *actual[i], &e = *expected[i];
    ASSERT_EQ(a.name, e.name);
    EXPECT_EQ(a.format, e.format) << a.name;
    EXPECT_EQ(a.scale, e.scale) << a.name;
    EXPECT_FALSE(a.data.is_resident()) << a.name;
    ASSERT_TRUE(e.data.is_resident()) << e.name;
    for (const uint64_t n : {a.data.size(), uint64_t{1000}}) {
      EXPECT_TRUE(std::ranges::equal(read_by(a.data, n), e.data)) << a.name << " by " << n;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Containers, ModelInPieces,
                         testing::Values("../../models/tern-stories.gguf", "bitnet/b_alignment.gguf",
                                         "bitnet/d_scale_tensors.gguf", "families/llama_bitlinear.gguf",
                                         "packed/qwen3_q4_0.gguf", "packed/qwen3_tq2_0.gguf",
                                         "families/bitnet_autobitlinear", "families/llama_bitlinear", "families/llama",
                                         "families/qwen3_tied", "families/phi3", "containers/phi3_q4f16_1",
                                         "containers/qwen3_q4f16_1", "containers/llama_q4f32_1"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::ranges::replace_if(
                               name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
                           return name;
                         });

}  // namespace
}  // namespace tern
