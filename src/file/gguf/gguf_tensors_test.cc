#include "base/text/format_text.h"
#include "file/gguf/gguf_test_support.h"

namespace tern {
namespace {

using enum ErrorCode;

using Shape = std::vector<int64_t>;

// One tensor with `bytes` of data.
GgufBytes one_tensor(std::initializer_list<uint64_t> ne, uint32_t type, size_t bytes, uint64_t offset = 0) {
  return GgufBytes(1, 0).tensor("t", ne, type, offset).align().data(bytes);
}

// The worked example of the format's description, with a type that Tern reads: one key, one row of 128 values.
GgufBytes worked_example(uint32_t type, size_t bytes) {
  return GgufBytes(1, 1).string("general.architecture", "qwen3").tensor("t", {128, 1}, type, 0).align().data(bytes);
}

TEST(GgufTensors, WorkedExample) {
  const GgufBytes bytes = worked_example(8, 136);  // Q8_0: four blocks of 34 bytes
  ASSERT_EQ(bytes.bytes().size(), 128u + 136);
  const auto file = bytes.parse();
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->get_string("general.architecture").value(), "qwen3");
  const GgufTensor* tensor = file->find_tensor("t");
  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(tensor->type, GgmlType::kQ8_0);
  EXPECT_EQ(tensor->shape, (Shape{1, 128}));
  EXPECT_EQ(tensor->offset, 128u);
  EXPECT_EQ(tensor->data.size(), 136u);
  EXPECT_EQ(tensor->span, 136u);
  EXPECT_EQ(tensor->n_elements(), 128);
  EXPECT_EQ(file->find_tensor("u"), nullptr);
}

TEST(GgufTensors, SizeOfEveryType) {
  struct Case {
    uint32_t type;
    std::string_view name;
    uint64_t cols, bytes;  // bytes of 2 rows
  };
  const Case cases[] = {
      {0, "F32", 3, 24},      {1, "F16", 3, 12},       {2, "Q4_0", 64, 72},       {8, "Q8_0", 64, 136},
      {14, "Q6_K", 256, 420}, {30, "BF16", 3, 12},     {34, "TQ1_0", 512, 216},   {35, "TQ2_0", 512, 264},
      {36, "I2_S", 256, 160}, {41, "Q1_0", 256, 72},   {42, "Q2_0", 128, 72},     {142, "PQ2_0", 256, 136},
      {3, "Q4_1", 64, 80},    {6, "Q5_0", 64, 88},     {7, "Q5_1", 64, 96},       {10, "Q2_K", 256, 168},
      {11, "Q3_K", 256, 220}, {12, "Q4_K", 256, 288},  {13, "Q5_K", 256, 352},    {20, "IQ4_NL", 64, 72},
      {39, "MXFP4", 64, 68},  {43, "STQ1_0", 256, 84}, {143, "PTQ1_0", 256, 112}, {23, "IQ4_XS", 512, 544},
  };
  EXPECT_EQ(std::size(cases), ggml_types().size());
  for (const Case& c : cases) {
    EXPECT_EQ(ggml_type_info(static_cast<GgmlType>(c.type))->name, c.name);
    const GgufBytes bytes = one_tensor({c.cols, 2}, c.type, c.bytes);
    const auto file = bytes.parse();
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(file->tensors()[0].data.size(), c.bytes) << c.name;
    EXPECT_EQ(file->tensors()[0].shape, (Shape{2, static_cast<int64_t>(c.cols)}));
    expect_refused(one_tensor({c.cols, 2}, c.type, c.bytes - 1).parse(), kCorruption, "(1 are missing)");
  }
}

TEST(GgufTensors, NamesTypesThatItCannotRead) {
  const std::pair<uint32_t, std::string_view> cases[] = {
      {15, "(Q8_K)"},
      {22, "(IQ2_S)"},
      {31, "(Q4_0_4_4"},
      {37, "I8_S of bitnet.cpp, or IQ4_NL_4_8"},
      {38, "(TL1 of"},
      {40, "(NVFP4)"},
      {135, "(IQ2_BN of"},
      {999, "(unknown)"},
      {0xFFFFFFFF, "(unknown)"},
  };
  for (const auto& [number, part] : cases) {
    const auto file = worked_example(number, 256).parse();
    expect_refused(file, kNotSupported, part);
    expect_refused(file, kNotSupported, format_text("tensor 't' at byte 69 has type {} ", number));
    expect_refused(file, kNotSupported, "get this model in one of F32, F16,");
  }
}

// Readable types have no entry among the unreadable ones.
TEST(GgufTensors, EveryTypeHasOneName) {
  for (const GgmlTypeInfo& type : ggml_types()) {
    EXPECT_EQ(unreadable_type_name(static_cast<uint32_t>(type.type)), "") << type.name;
  }
}

TEST(GgufTensors, I2sOfTheOldMeaningIsToldByItsRoom) {
  // 512 values: I2_S takes 128 + 32 bytes, IQ4_NL_4_4 288.
  expect_refused(one_tensor({512}, 36, 288).parse(), kNotSupported, "IQ4_NL_4_4");
  EXPECT_TRUE(one_tensor({512}, 36, 160).parse());
  EXPECT_TRUE(one_tensor({512}, 36, 1000).parse());  // bytes after the last tensor are allowed
}

TEST(GgufTensors, RowsAreWholeBlocks) {
  expect_refused(one_tensor({8640, 3}, 36, 8640).parse(), kCorruption,
                 "is I2_S with 25920 values, which is not a multiple of its block of 128");
  expect_refused(one_tensor({48, 2}, 8, 102).parse(), kCorruption, "not a multiple of its block of 32");
  expect_refused(one_tensor({128, 2}, 35, 66).parse(), kCorruption, "not a multiple of its block of 256");
}

// In bitnet_b1_58-3B, rows of ffn_down have 67.5 blocks.
TEST(GgufTensors, BlocksOfI2sRunAcrossRows) {
  const auto file = one_tensor({8640, 4}, 36, 8640 + 32).parse();
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->tensors().front().data.size(), 8640u + 32);
  EXPECT_EQ(ggml_tensor_bytes(GgmlType::kI2_S, Shape{2, 64}), 64u);
  EXPECT_EQ(ggml_tensor_bytes(GgmlType::kI2_S, Shape{3, 64, 3}), std::nullopt);
  EXPECT_EQ(ggml_tensor_bytes(GgmlType::kI2_S, Shape{128, 3, 3}), 9u * 32 + 32);
}

TEST(GgufTensors, RefusesShapesThatAreNone) {
  expect_refused(one_tensor({}, 0, 4).data(32).parse(), kCorruption, "has 0 dimensions, not 1 to 4");
  expect_refused(one_tensor({1, 1, 1, 1, 1}, 0, 4).parse(), kCorruption, "has 5 dimensions, not 1 to 4");
  expect_refused(one_tensor({4, 0}, 0, 16).parse(), kCorruption, "a dimension of 0");
  expect_refused(one_tensor({4, 1ull << 63}, 0, 16).parse(), kCorruption, "a dimension of 9223372036854775808");
  expect_refused(one_tensor({1ull << 32, 1ull << 32}, 0, 16).parse(), kCorruption, "more than 2^63 values");
  expect_refused(one_tensor({1ull << 62}, 0, 16).parse(), kCorruption, "more than 2^63 bytes");
  expect_refused(one_tensor({1ull << 60}, 0, 16).parse(), kCorruption, "are missing");
  EXPECT_TRUE(one_tensor({2, 3, 4, 5}, 0, 480).parse());
}

TEST(GgufTensors, RefusesOffsetsOutsideTheFile) {
  expect_refused(one_tensor({8}, 0, 96, 8).parse(), kCorruption,
                 "at offset 8, which is not a multiple of the alignment 32");
  expect_refused(one_tensor({8}, 0, 96, 96).parse(), kCorruption, "(32 are missing)");
  expect_refused(one_tensor({8}, 0, 96, 0ull - 32).parse(), kCorruption, "beyond any file");
  expect_refused(one_tensor({8}, 0, 96, 0ull - 96).parse(), kCorruption, "beyond any file");
  EXPECT_TRUE(one_tensor({8}, 0, 96, 64).parse());
}

TEST(GgufTensors, SaysWhatATruncatedFileLacks) {
  GgufBytes bytes(2, 0);
  bytes.tensor("a", {1000}, 0, 0).tensor("b", {2000}, 1, 4000).align();
  const size_t data_begin = bytes.bytes().size();
  bytes.data(5000);
  expect_refused(
      bytes.parse(), kCorruption,
      format_text("the data of tensor 'b' ends at byte {}, but the file has {} bytes (3000 are missing): the "
                  "download may be incomplete",
                  data_begin + 8000, data_begin + 5000));
}

TEST(GgufTensors, RefusesOverlapsAndDoubledNames) {
  GgufBytes inside(2, 0);
  inside.tensor("a", {64}, 0, 0).tensor("b", {8}, 0, 224).align().data(512);
  expect_refused(inside.parse(), kCorruption,
                 "tensor 'a' needs 256 bytes at byte 96, but tensor 'b' begins 224 bytes later");
  GgufBytes same(2, 0);
  same.tensor("a", {8}, 0, 0).tensor("b", {8}, 0, 0).align().data(512);
  expect_refused(same.parse(), kCorruption, "overlap");
  GgufBytes doubled(2, 0);
  doubled.tensor("a", {8}, 0, 0).tensor("a", {8}, 0, 32).align().data(512);
  expect_refused(doubled.parse(), kCorruption, "tensor 'a' at byte 57 appears twice");
}

TEST(GgufTensors, TensorsNeedNotBeInOrder) {
  GgufBytes bytes(3, 0);
  bytes.tensor("c", {8}, 0, 128).tensor("a", {8}, 0, 0).tensor("b", {8}, 0, 64).align();
  bytes.data(64, 'a').data(64, 'b').data(32, 'c');
  const auto file = bytes.parse();
  ASSERT_TRUE(file) << file.error().message;
  for (const std::string_view name : {"a", "b", "c"}) {
    EXPECT_EQ(as_text(file->find_tensor(name)->data), std::string(32, name[0]));
  }
  EXPECT_EQ(file->find_tensor("a")->span, 64u);
  EXPECT_EQ(file->find_tensor("b")->span, 64u);
  EXPECT_EQ(file->find_tensor("c")->span, 32u);
}

TEST(GgufTensors, TheLastTensorsPaddingMayBeAbsent) {
  GgufBytes bytes(2, 0);
  bytes.tensor("a", {3}, 0, 0).tensor("b", {3}, 0, 32).align().data(32 + 12);
  const auto file = bytes.parse();
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->find_tensor("b")->data.size(), 12u);
  EXPECT_EQ(file->find_tensor("b")->span, 12u);
}

TEST(GgufTensors, HonorsTheAlignment) {
  GgufBytes bytes(2, 1);
  bytes.scalar<uint32_t>("general.alignment", 4, 64).tensor("a", {1}, 0, 0).tensor("b", {1}, 0, 64).align(64);
  const size_t data_begin = bytes.bytes().size();
  bytes.data(64, 'a').data(4, 'b');
  const auto file = bytes.parse();
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->find_tensor("a")->offset, data_begin);
  EXPECT_EQ(as_text(file->find_tensor("b")->data), "bbbb");
  GgufBytes odd(1, 1);
  odd.scalar<uint32_t>("general.alignment", 4, 64).tensor("a", {1}, 0, 32).align(64).data(64);
  expect_refused(odd.parse(), kCorruption, "not a multiple of the alignment 64");
}

TEST(GgufTensors, TakesNamesOfUpToOneKibibyte) {
  const std::string name(1024, 'n');
  EXPECT_TRUE(GgufBytes(1, 0).tensor(name, {8}, 0, 0).align().data(32).parse());
  expect_refused(GgufBytes(1, 0).tensor(name + "n", {8}, 0, 0).align().data(32).parse(), kCorruption,
                 "tensor 1 of 1 at byte 24 has a name of 1025 bytes, more than 1024");
  expect_refused(GgufBytes(1, 0).put<uint64_t>(1ull << 63).data(64).parse(), kCorruption, "the name of tensor 1 of 1");
}

TEST(GgmlTensorBytes, RefusesWhatIsNoTensor) {
  EXPECT_EQ(ggml_tensor_bytes(GgmlType::kF16, Shape{2, 3}), 12u);
  EXPECT_EQ(ggml_tensor_bytes(GgmlType::kTQ2_0, Shape{3, 512}), 396u);
  EXPECT_EQ(ggml_tensor_bytes(GgmlType::kI2_S, Shape{1, 128}), 64u);
  EXPECT_EQ(ggml_tensor_bytes(GgmlType::kI2_S, Shape{3, 64}), std::nullopt);
  EXPECT_EQ(ggml_tensor_bytes(GgmlType::kTQ2_0, Shape{2, 128}), std::nullopt);
  EXPECT_EQ(ggml_tensor_bytes(GgmlType::kF32, Shape{}), std::nullopt);
  EXPECT_EQ(ggml_tensor_bytes(GgmlType::kF32, Shape{0}), std::nullopt);
  EXPECT_EQ(ggml_tensor_bytes(GgmlType::kF32, Shape{-1, -1}), std::nullopt);
  EXPECT_EQ(ggml_tensor_bytes(GgmlType::kF32, Shape{1ll << 61}), std::nullopt);
  EXPECT_EQ(ggml_tensor_bytes(static_cast<GgmlType>(15), Shape{256}), std::nullopt);
}

}  // namespace
}  // namespace tern
