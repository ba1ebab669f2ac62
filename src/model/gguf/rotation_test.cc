#include "model/gguf/rotation.h"

#include <gtest/gtest.h>

#include "model/model.h"
#include "model/tiny_gguf_test_support.h"

namespace tern {
namespace {

// A file with the keys of a rotation. Its BitNet layers cannot be rotated.
TinyGguf rotated() {
  TinyGguf file;
  file.token_ids["prism.hadamard.version"] = 1;
  file.token_ids["prism.hadamard.block_size"] = 64;
  file.strings["prism.hadamard.transform"] = "normalized-sylvester-walsh-hadamard";
  file.strings["prism.hadamard.axis"] = "input-last-dimension";
  file.strings["prism.hadamard.sign_mode"] = "explicit";
  file.integer_lists["prism.hadamard.sign_widths"] = {4, 2};
  file.integer_lists["prism.hadamard.sign_values"] = {1, -1, 1, 1, -1, 1};
  file.string_lists["prism.hadamard.weight_names"] = {"blk.0.ffn_up.weight"};
  file.string_lists["prism.hadamard.inverse_weight_names"] = {"token_embd.weight"};
  return file;
}

TEST(Rotation, IsReadWithItsSigns) {
  const TinyGguf file = rotated();
  const auto gguf = GgufFile::open(file.write("rotated"), Access::kResident);
  ASSERT_TRUE(gguf) << gguf.error().message;
  const auto rotation = read_rotation(*gguf);
  ASSERT_TRUE(rotation && *rotation) << rotation.error().message;
  EXPECT_EQ((*rotation)->block, 64);
  EXPECT_EQ((*rotation)->signs.at(4), (std::vector<float>{1, -1, 1, 1}));
  EXPECT_EQ((*rotation)->signs.at(2), (std::vector<float>{-1, 1}));
  EXPECT_EQ((*rotation)->weights, (std::vector<std::string>{"blk.0.ffn_up.weight"}));
  EXPECT_TRUE((*rotation)->groups_heads);
  const auto plain = GgufFile::open(TinyGguf().write("plain"), Access::kResident);
  EXPECT_FALSE(read_rotation(*plain).value());
}

struct RotationRefusal {
  std::string what;
  void (*spoil)(TinyGguf& file);
  ErrorCode code;
  std::string message;
};

const RotationRefusal kRotationRefusals[] = {
    {"version", [](TinyGguf& f) { f.token_ids["prism.hadamard.version"] = 2; }, ErrorCode::kNotSupported,
     "prism.hadamard.version is 2, a rotation that Tern does not compute"},
    {"block", [](TinyGguf& f) { f.token_ids["prism.hadamard.block_size"] = 48; }, ErrorCode::kNotSupported,
     "prism.hadamard.block_size is 48"},
    {"transform", [](TinyGguf& f) { f.strings["prism.hadamard.transform"] = "walsh"; }, ErrorCode::kNotSupported,
     "prism.hadamard.transform is 'walsh'"},
    {"axis", [](TinyGguf& f) { f.strings.erase("prism.hadamard.axis"); }, ErrorCode::kCorruption,
     "prism.hadamard.axis is missing"},
    {"mode", [](TinyGguf& f) { f.strings["prism.hadamard.sign_mode"] = "random"; }, ErrorCode::kNotSupported,
     "prism.hadamard.sign_mode is 'random'"},
    {"few_signs", [](TinyGguf& f) { f.integer_lists["prism.hadamard.sign_values"].pop_back(); }, ErrorCode::kCorruption,
     "prism.hadamard.sign_values has 5 values"},
    {"many_signs", [](TinyGguf& f) { f.integer_lists["prism.hadamard.sign_values"].push_back(1); },
     ErrorCode::kCorruption, "prism.hadamard.sign_values has 7 values"},
    {"no_sign", [](TinyGguf& f) { f.integer_lists["prism.hadamard.sign_values"][3] = 0; }, ErrorCode::kCorruption,
     "a value that is neither 1 nor -1"},
    {"unknown", [](TinyGguf& f) { f.token_ids["prism.hadamard.rounds"] = 2; }, ErrorCode::kNotSupported,
     "'prism.hadamard.rounds' is a part of the rotation that Tern does not know"},
    {"int8", [](TinyGguf&) {}, ErrorCode::kNotSupported, "are multiplied with int8 rows"},
};

TEST(Rotation, IsRefusedWithTheReason) {
  for (const RotationRefusal& refusal : kRotationRefusals) {
    TinyGguf file = rotated();
    refusal.spoil(file);
    const std::string path = file.write("rotation_" + refusal.what);
    const auto model = open_model(path);
    ASSERT_FALSE(model) << refusal.what;
    EXPECT_EQ(model.error().code, refusal.code) << refusal.what << ": " << model.error().message;
    EXPECT_NE(model.error().message.find(refusal.message), std::string::npos) << model.error().message;
    EXPECT_TRUE(model.error().message.starts_with(path)) << model.error().message;
  }
}

// What must fit a model's matrices.
TEST(Rotation, FitsTheModel) {
  const auto refusal = [](const Rotation& rotation) {
    Config config;
    config.int8_activations = false;
    Weights weights;
    weights.token_embd = {.name = "token_embd.weight", .rows = 8, .cols = 64};
    weights.output = {.name = "output.weight", .rows = 8, .cols = 64};
    weights.layers.resize(1);
    weights.layers[0].ffn_up = Tensor{.name = "blk.0.ffn_up.weight", .rows = 8, .cols = 96};
    const auto applied = apply_rotation(rotation, "a file", config, weights);
    return applied ? std::string() : applied.error().message;
  };
  EXPECT_EQ(refusal({.block = 32, .signs = {}, .weights = {"blk.0.ffn_up.weight", "output.weight"}, .tables = {}}), "");
  EXPECT_NE(refusal({.block = 64, .signs = {}, .weights = {"blk.0.ffn_up.weight"}, .tables = {}})
                .find("blk.0.ffn_up.weight have 96 values, which blocks of 64"),
            std::string::npos);
  EXPECT_NE(refusal({.block = 32, .signs = {}, .weights = {"blk.7.ffn_up.weight"}, .tables = {}})
                .find("'blk.7.ffn_up.weight', which is no matrix"),
            std::string::npos);
  EXPECT_NE(
      refusal({.block = 32, .signs = {{64, std::vector(64, 1.0f)}}, .weights = {"blk.0.ffn_up.weight"}, .tables = {}})
          .find("no signs for inputs of 96 values"),
      std::string::npos);
  EXPECT_NE(refusal({.block = 32, .signs = {}, .weights = {}, .tables = {"output.weight"}}).find("only the embedding"),
            std::string::npos);
}

}  // namespace
}  // namespace tern
