#include "model/model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "file/gguf/gguf_writer.h"
#include "model/gguf/keys.h"
#include "model/tiny_gguf_test_support.h"
#include "quant/formats/i2_s.h"

namespace tern {
namespace {

TEST(OpenModel, ReadsShapeAndWeights) {
  for (const std::string architecture : {"bitnet-b1.58", "bitnet-25", "bitnet"}) {
    TinyGguf file;
    file.architecture = architecture;
    const Model model = open_model(file.write("valid")).value();
    EXPECT_EQ(model.config.architecture, architecture);
    EXPECT_EQ(model.config.n_layers, 2);
    EXPECT_EQ(model.config.head_dim, 64);
    EXPECT_EQ(model.config.kv_width(), 64);
    EXPECT_EQ(model.config.n_vocab, 8);
    EXPECT_EQ(model.config.ropes[0].theta, 10000.0f);
    EXPECT_EQ(model.weights.layers.size(), 2u);
    EXPECT_EQ(model.weights.layers[1].ffn_down.cols, 256);
    EXPECT_EQ(model.weights.output.data.data(), model.weights.token_embd.data.data());  // tied
  }
}

TEST(OpenModel, TakesAnOutputMatrixOfItsOwn) {
  TinyGguf file;
  file.tensors["output.weight"] = {GgmlType::kF16, {8, 128}, {}};
  const Model model = open_model(file.write("untied")).value();
  EXPECT_NE(model.weights.output.data.data(), model.weights.token_embd.data.data());
}

TEST(OpenModel, ScaleTensorsMultiply) {
  TinyGguf file;
  TinyTensor& q = file.tensors["blk.1.attn_q.weight"];
  q.data.resize(128 * 128 / 4 + 32);
  std::vector<int8_t> codes(128 * 128, 1);
  codes[0] = 0;
  encode_i2_s_tensor(codes, 0.5f, q.data);
  const float scale = 3.0f;
  file.tensors["blk.1.attn_q.scale"] = {GgmlType::kF32, {1}, {}};
  file.tensors["blk.1.attn_q.scale"].data.resize(4);
  store(file.tensors["blk.1.attn_q.scale"].data.data(), scale);
  const Model model = open_model(file.write("scale")).value();
  EXPECT_EQ(model.weights.layers[1].attn_q.scale, 1.5f);
  EXPECT_EQ(model.weights.layers[0].attn_q.scale, 1.0f);
}

// In the file, blocks of 128 values span the boundaries of rows of 192.
TEST(OpenModel, GivesRowsThatEndInsideABlockBlocksOfTheirOwn) {
  TinyGguf file;
  file.integers["feed_forward_length"] = 192;
  for (const std::string blk : {"blk.0.", "blk.1."}) {
    file.tensors[blk + "ffn_gate.weight"].shape = file.tensors[blk + "ffn_up.weight"].shape = {192, 128};
    file.tensors[blk + "ffn_down.weight"].shape = {128, 192};
    file.tensors[blk + "ffn_sub_norm.weight"].shape = {192};
  }
  std::vector<int8_t> codes(128 * 192);
  for (size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<int8_t>(static_cast<int>(i * i % 7 % 3) - 1);
  TinyTensor& in_file = file.tensors["blk.1.ffn_down.weight"];
  in_file.data.resize(codes.size() / 4 + kI2sTailBytes);
  encode_i2_s_tensor(codes, 0.25f, in_file.data);
  const std::string path = file.write("flat");
  for (const Access access : {Access::kResident, Access::kPieces}) {
    const auto model = open_model(path, {}, access);
    ASSERT_TRUE(model) << model.error().message;
    const Tensor& down = model->weights.layers[1].ffn_down;
    EXPECT_EQ(down.scale, 0.25f);
    EXPECT_EQ(down.data.is_resident(), access == Access::kResident);
    ASSERT_EQ(down.data.size(), tensor_bytes(Format::kI2_S, 128, 192));
    Scratch scratch;
    const Bytes bytes = down.data.read_all(scratch).value();
    EXPECT_EQ(i2_s_scale(bytes), 0.25f);
    std::vector<int8_t> row(192);
    for (size_t r = 0; r < 128; ++r) {
      decode_i2_s_codes(bytes.subspan(r * 64, 64), row);
      ASSERT_TRUE(std::ranges::equal(row, std::span(codes).subspan(r * 192, 192))) << "row " << r;
    }
  }
}

// Sets one value per layer instead of one for all.
void set_list(TinyGguf& file, const std::string& key, const std::vector<int32_t>& values) {
  file.integers.erase(key);
  file.integer_lists[file.architecture + "." + key] = values;
}

// The second layer has twice as many heads and KV heads, and a narrower feed-forward layer.
TinyGguf file_of_different_layers() {
  TinyGguf file;
  file.integers["attention.key_length"] = 64;
  set_list(file, "attention.head_count", {2, 4});
  set_list(file, "attention.head_count_kv", {1, 2});
  set_list(file, "feed_forward_length", {256, 192});
  const auto shape = [&](const std::string& name, std::vector<int64_t> dims) {
    file.tensors["blk.1." + name + ".weight"].shape = std::move(dims);
  };
  shape("attn_q", {256, 128});
  shape("attn_k", {128, 128});
  shape("attn_v", {128, 128});
  shape("attn_sub_norm", {256});
  shape("attn_output", {128, 256});
  shape("ffn_gate", {192, 128});
  shape("ffn_up", {192, 128});
  shape("ffn_sub_norm", {192});
  shape("ffn_down", {128, 192});
  return file;
}

void expect_shape(const LayerConfig& l, std::vector<int> heads_kv_heads_and_d_ff) {
  EXPECT_EQ((std::vector{l.n_heads, l.n_kv_heads, l.d_ff}), heads_kv_heads_and_d_ff);
}

TEST(OpenModel, LayersMayDiffer) {
  const auto model = open_model(file_of_different_layers().write("layers"));
  ASSERT_TRUE(model) << model.error().message;
  const Config& c = model->config;
  expect_shape(c.layer(0), {2, 1, 256});
  expect_shape(c.layer(1), {4, 2, 192});
  EXPECT_EQ((std::vector{c.n_heads, c.n_kv_heads, c.d_ff}), (std::vector{4, 2, 256}));
  EXPECT_EQ((std::vector{c.q_width(0), c.kv_width(0), c.q_width(1), c.kv_width(1)}), (std::vector{128, 64, 256, 128}));
  EXPECT_EQ(model->weights.layers[0].attn_q.rows, 128);
  EXPECT_EQ(model->weights.layers[1].attn_q.rows, 256);
  EXPECT_EQ(model->weights.layers[1].ffn_down.cols, 192);
}

TEST(OpenModel, AListOfEqualValuesIsANumber) {
  TinyGguf file;
  set_list(file, "attention.head_count", {2, 2});
  set_list(file, "attention.head_count_kv", {1, 1});
  set_list(file, "feed_forward_length", {256, 256});
  const auto model = open_model(file.write("list"));
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_TRUE(model->config.layers.empty());
  EXPECT_EQ(model->config.head_dim, 64);
  expect_shape(model->config.layer(1), {2, 1, 256});
}

TEST(OpenModel, LayersHaveAsManyKvHeadsAsHeadsWhereNothingElseIsSaid) {
  TinyGguf file = file_of_different_layers();
  file.integer_lists.erase("bitnet-b1.58.attention.head_count_kv");
  for (const std::string name : {"attn_k", "attn_v"}) {
    file.tensors["blk.0." + name + ".weight"].shape = {128, 128};
    file.tensors["blk.1." + name + ".weight"].shape = {256, 128};
  }
  const auto model = open_model(file.write("no_kv"));
  ASSERT_TRUE(model) << model.error().message;
  expect_shape(model->config.layer(0), {2, 2, 256});
  expect_shape(model->config.layer(1), {4, 4, 192});
}

// A family's own layer settings and per-layer lists do not overwrite each other; fused matrices work too.
TEST(OpenModel, LayersMayDifferAndHaveAWindow) {
  TinyGguf file;
  file.architecture = "phi3";
  file.integers["attention.sliding_window"] = 16;
  file.integers["attention.key_length"] = 64;
  set_list(file, "attention.head_count", {2, 4});
  const auto f16 = [](int64_t rows, int64_t cols) { return TinyTensor{GgmlType::kF16, {rows, cols}, {}}; };
  std::erase_if(file.tensors,
                [](const auto& t) { return t.second.type == GgmlType::kI2_S || t.first.contains("sub"); });
  for (const int64_t layer : {0, 1}) {
    const std::string blk = "blk." + std::to_string(layer) + ".";
    const int64_t q_width = layer == 0 ? 128 : 256;
    file.tensors[blk + "attn_qkv.weight"] = f16(q_width + 2 * 64, 128);
    file.tensors[blk + "attn_output.weight"] = f16(128, q_width);
    file.tensors[blk + "ffn_up.weight"] = f16(512, 128);
    file.tensors[blk + "ffn_down.weight"] = f16(128, 256);
  }
  const auto model = open_model(file.write("phi3"));
  ASSERT_TRUE(model) << model.error().message;
  expect_shape(model->config.layer(0), {2, 1, 256});
  expect_shape(model->config.layer(1), {4, 1, 256});
  EXPECT_EQ(model->config.layer(0).window, 16);
  EXPECT_EQ(model->config.layer(1).window, 16);
  EXPECT_EQ(model->weights.layers[1].attn_q.rows, 256);
  EXPECT_EQ(model->weights.layers[1].attn_v.rows, 64);
}

// The keys that convert writes: a list if layers differ, else a number.
TEST(GgufKeys, SayWhatLayersHave) {
  const auto rewritten = [](const TinyGguf& from, const std::string& name) {
    const Model model = open_model(from.write(name)).value();
    const std::string path = from.write(name + "_keys");  // a unique file name
    GgufWriter writer(path);
    write_gguf_config(model.config, writer);
    EXPECT_TRUE(writer.begin() && writer.finish());
    return GgufFile::open(path).value();
  };
  const GgufFile list = rewritten(file_of_different_layers(), "list");
  EXPECT_EQ(*list.get_ints("bitnet-b1.58.attention.head_count").value(), (std::vector<int64_t>{2, 4}));
  EXPECT_EQ(*list.get_ints("bitnet-b1.58.attention.head_count_kv").value(), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(*list.get_ints("bitnet-b1.58.feed_forward_length").value(), (std::vector<int64_t>{256, 192}));
  EXPECT_EQ(*list.get_int("bitnet-b1.58.attention.key_length").value(), 64);

  TinyGguf equal;
  set_list(equal, "attention.head_count", {2, 2});
  const GgufFile number = rewritten(equal, "number");
  EXPECT_EQ(*number.get_int("bitnet-b1.58.attention.head_count").value(), 2);
  EXPECT_EQ(*number.get_int("bitnet-b1.58.attention.head_count_kv").value(), 1);
  EXPECT_EQ(*number.get_int("bitnet-b1.58.feed_forward_length").value(), 256);
  EXPECT_EQ(number.find("bitnet-b1.58.attention.key_length"), nullptr);
}

struct Refusal {
  const char* what;
  void (*spoil)(TinyGguf&);
  ErrorCode code;
  const char* message;  // part of the message
};

constexpr Refusal kRefusals[] = {
    {"architecture", [](TinyGguf& f) { f.architecture = "mamba"; }, ErrorCode::kNotSupported, "architecture \"mamba\""},
    {"no_architecture", [](TinyGguf& f) { f.architecture = ""; }, ErrorCode::kCorruption,
     "general.architecture is missing"},
    {"missing_key", [](TinyGguf& f) { f.integers.erase("block_count"); }, ErrorCode::kCorruption,
     "block_count is missing"},
    {"missing_eps", [](TinyGguf& f) { f.floats.erase("attention.layer_norm_rms_epsilon"); }, ErrorCode::kCorruption,
     "layer_norm_rms_epsilon is missing"},
    {"zero_layers", [](TinyGguf& f) { f.integers["block_count"] = 0; }, ErrorCode::kCorruption, "block_count is 0"},
    {"many_layers", [](TinyGguf& f) { f.integers["block_count"] = 4000000000u; }, ErrorCode::kCorruption,
     "outside 1 to"},
    {"one_layer_more", [](TinyGguf& f) { f.integers["block_count"] = 3; }, ErrorCode::kCorruption,
     "blk.2.attn_norm.weight is missing"},
    {"heads", [](TinyGguf& f) { f.integers["attention.head_count"] = 3; }, ErrorCode::kCorruption, "not a multiple"},
    {"kv_heads", [](TinyGguf& f) { f.integers["attention.head_count"] = 4, f.integers["attention.head_count_kv"] = 3; },
     ErrorCode::kCorruption, "head_count_kv 3"},
    {"list_short", [](TinyGguf& f) { set_list(f, "attention.head_count", {2}); }, ErrorCode::kCorruption,
     "attention.head_count has 1 values, but the model has 2 layers"},
    {"list_long", [](TinyGguf& f) { set_list(f, "feed_forward_length", {256, 256, 256}); }, ErrorCode::kCorruption,
     "feed_forward_length has 3 values, but the model has 2 layers"},
    {"list_empty", [](TinyGguf& f) { set_list(f, "attention.head_count_kv", {}); }, ErrorCode::kCorruption,
     "attention.head_count_kv has 0 values"},
    {"list_no_heads", [](TinyGguf& f) { set_list(f, "attention.head_count", {0, 2}); }, ErrorCode::kNotSupported,
     "attention.head_count is 0 in layer 0: Tern does not compute layers without attention"},
    {"list_no_kv_heads", [](TinyGguf& f) { set_list(f, "attention.head_count_kv", {1, 0}); }, ErrorCode::kNotSupported,
     "attention.head_count_kv is 0 in layer 1"},
    {"list_no_ff", [](TinyGguf& f) { set_list(f, "feed_forward_length", {256, 0}); }, ErrorCode::kNotSupported,
     "feed_forward_length is 0 in layer 1"},
    {"list_negative", [](TinyGguf& f) { set_list(f, "attention.head_count", {2, -2}); }, ErrorCode::kCorruption,
     "attention.head_count is -2 in layer 1, outside 1 to 4096"},
    {"list_many", [](TinyGguf& f) { set_list(f, "attention.head_count", {2, 4097}); }, ErrorCode::kCorruption,
     "is 4097 in layer 1, outside 1 to 4096"},
    {"list_multiple",
     [](TinyGguf& f) {
       f = file_of_different_layers();
       set_list(f, "attention.head_count_kv", {1, 3});
     },
     ErrorCode::kCorruption, "attention.head_count 4 is not a multiple of attention.head_count_kv 3 in layer 1"},
    {"list_no_head_dim",
     [](TinyGguf& f) {
       f = file_of_different_layers();
       f.integers.erase("attention.key_length");
     },
     ErrorCode::kCorruption, "head_count differs from layer to layer, so the width of a head cannot follow from it"},
    {"list_of_large_gemma",
     [](TinyGguf& f) {
       f.architecture = "gemma2";
       f.integers["block_count"] = 46;
       f.integers["attention.key_length"] = 64;
       set_list(f, "attention.head_count", std::vector<int32_t>(46, 2));
       f.integer_lists["gemma2.attention.head_count"].back() = 4;
     },
     ErrorCode::kNotSupported, "head_count differs from layer to layer, so attention.scale cannot follow from it"},
    {"list_not_32", [](TinyGguf& f) { set_list(f, "feed_forward_length", {256, 200}); }, ErrorCode::kNotSupported,
     "feed_forward_length is 200, not a multiple of 32"},
    {"list_shape",
     [](TinyGguf& f) {
       f = file_of_different_layers();
       f.tensors["blk.1.attn_q.weight"].shape = {128, 128};
     },
     ErrorCode::kCorruption, "blk.1.attn_q.weight has shape [128, 128], but the metadata asks for [256, 128]"},
    {"list_floats",
     [](TinyGguf& f) {
       f.integers.erase("attention.head_count");
       f.float_lists["bitnet-b1.58.attention.head_count"] = {2, 2};
     },
     ErrorCode::kCorruption, "is an array of f32, but an array of integers is needed"},
    {"list_of_another_key", [](TinyGguf& f) { set_list(f, "attention.key_length", {64, 64}); }, ErrorCode::kCorruption,
     "is an array of i32, but an integer is needed"},
    {"rope_dims", [](TinyGguf& f) { f.integers["rope.dimension_count"] = 32; }, ErrorCode::kNotSupported,
     "partial RoPE"},
    {"odd_head", [](TinyGguf& f) { f.integers["attention.key_length"] = 63; }, ErrorCode::kNotSupported,
     "head_dim is 63, not a multiple of 4"},
    {"not_32", [](TinyGguf& f) { f.integers["feed_forward_length"] = 200; }, ErrorCode::kNotSupported,
     "is 200, not a multiple of"},
    {"not_4", [](TinyGguf& f) { f.integers["attention.head_count"] = 64, f.integers["attention.key_length"] = 6; },
     ErrorCode::kNotSupported, "head_dim is 6, not a multiple of 4"},
    {"eps", [](TinyGguf& f) { f.floats["attention.layer_norm_rms_epsilon"] = std::numeric_limits<float>::quiet_NaN(); },
     ErrorCode::kCorruption, "positive number"},
    {"theta", [](TinyGguf& f) { f.floats["rope.freq_base"] = -1; }, ErrorCode::kCorruption, "rope.freq_base"},
    {"missing_tensor", [](TinyGguf& f) { f.tensors.erase("blk.1.ffn_up.weight"); }, ErrorCode::kCorruption,
     "blk.1.ffn_up.weight is missing"},
    {"missing_embedding", [](TinyGguf& f) { f.tensors.erase("token_embd.weight"); }, ErrorCode::kCorruption,
     "token_embd.weight"},
    {"shape", [](TinyGguf& f) { f.tensors["blk.0.attn_k.weight"].shape = {128, 128}; }, ErrorCode::kCorruption,
     "has shape [128, 128], but the metadata asks for [64, 128]"},
    {"transposed", [](TinyGguf& f) { f.tensors["blk.0.ffn_gate.weight"].shape = {128, 256}; }, ErrorCode::kCorruption,
     "[128, 256]"},
    {"narrow", [](TinyGguf& f) { f.tensors["blk.0.attn_output.weight"].shape = {128, 20}; }, ErrorCode::kNotSupported,
     "is I2_S with rows of 20 values; Tern takes rows of 32 or more, a multiple of 4"},
    {"norm_shape", [](TinyGguf& f) { f.tensors["output_norm.weight"].shape = {64}; }, ErrorCode::kCorruption,
     "asks for [128]"},
    {"type", [](TinyGguf& f) { f.tensors["blk.0.attn_k.weight"].type = GgmlType::kF16; }, ErrorCode::kNotSupported,
     "is F16, but Tern runs it only as I2_S, TQ1_0, TQ2_0"},
    {"norm_type",
     [](TinyGguf& f) {
       f.tensors["blk.0.attn_norm.weight"] = {GgmlType::kQ8_0, {128}, std::vector<std::byte>(128 / 32 * 34)};
     },
     ErrorCode::kNotSupported, "only as F32"},
    {"codes", [](TinyGguf& f) { f.tensors["blk.1.ffn_down.weight"].data.assign(128 * 256 / 4 + 32, std::byte{0xFF}); },
     ErrorCode::kCorruption, "finite"},
    {"layout",
     [](TinyGguf& f) {
       auto& data = f.tensors["blk.1.ffn_down.weight"].data;
       data.assign(128 * 256 / 4 + 32, std::byte{0});
       data[1000] = std::byte{0xC0};
     },
     ErrorCode::kCorruption, "no ternary weight has"},
    {"all_equal",
     [](TinyGguf& f) {
       auto& data = f.tensors["blk.0.ffn_up.weight"].data;
       data.resize(256 * 128 / 4 + 32);
       encode_i2_s_tensor(std::vector<int8_t>(256 * 128, 0), 1.0f, data);
     },
     ErrorCode::kCorruption, "blk.0.ffn_up.weight has the same value everywhere"},
    {"zero_scale",
     [](TinyGguf& f) {
       auto& data = f.tensors["blk.0.ffn_up.weight"].data;
       data.resize(256 * 128 / 4 + 32);
       std::vector<int8_t> codes(256 * 128, 0);
       codes[1] = 1;
       encode_i2_s_tensor(codes, 0.0f, data);
     },
     ErrorCode::kCorruption, "a scale that is zero or not a number"},
    {"rotated", [](TinyGguf& f) { f.token_ids["prism.hadamard.version"] = 1; }, ErrorCode::kCorruption,
     "prism.hadamard.transform is missing"},
    {"extension", [](TinyGguf& f) { f.token_ids["prism.other"] = 1; }, ErrorCode::kNotSupported,
     "'prism.other' is an extension"},
};

TEST(OpenModel, RefusesWithTheReason) {
  for (const Refusal& refusal : kRefusals) {
    TinyGguf file;
    refusal.spoil(file);
    const std::string path = file.write(std::string("refused_") + refusal.what);
    const auto model = open_model(path);
    ASSERT_FALSE(model) << refusal.what;
    EXPECT_EQ(model.error().code, refusal.code) << refusal.what << ": " << model.error().message;
    EXPECT_NE(model.error().message.find(refusal.message), std::string::npos) << model.error().message;
    EXPECT_TRUE(model.error().message.starts_with(path)) << model.error().message;
    EXPECT_EQ(model.error().message.find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace tern
