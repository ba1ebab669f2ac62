#include "backend/repack.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "backend/cpu/ops/ops.h"
#include "backend/ref/ops.h"

namespace tern::cpu {
namespace {

constexpr int kRows = 5, kCols = 512;

// Rows of −s, 0 and s in an irregular order. Row 2 is all zeros, so its blocks have scale 0.
std::vector<std::byte> encode_rows(Format format, float scale, float scale_of_last_row) {
  std::vector<std::byte> bytes(tensor_bytes(format, kRows, kCols));
  const uint64_t stride = row_bytes(format, kCols);
  for (int r = 0; r < kRows; ++r) {
    std::vector<float> row(kCols);
    for (int i = 0; i < kCols; ++i) {
      row[static_cast<size_t>(i)] =
          r == 2 ? 0.0f
                 : static_cast<float>((i * i + 7 * r) % 11 % 3 - 1) * (r == kRows - 1 ? scale_of_last_row : scale);
    }
    format_info(format).encode(row, MutableBytes(bytes).subspan(static_cast<uint64_t>(r) * stride, stride));
  }
  return bytes;
}

std::vector<float> multiply(void (*op)(const ops::TernaryLinear&), const Tensor& w) {
  std::vector<int8_t> q(kCols);
  int32_t sum = 0;
  for (int i = 0; i < kCols; ++i) sum += q[static_cast<size_t>(i)] = static_cast<int8_t>(i * 37 % 251 - 125);
  const float scale = 20.0f;
  std::vector<float> out(kRows);
  op({{q.data(), &scale, &sum}, 1, &w, ops::Store::kSet, out.data()});
  return out;
}

void cpu_ternary_linear(const ops::TernaryLinear& op) {
  std::atomic<int> next = 0;
  std::vector<float> scratch(ternary_scratch(kCols));
  WorkQueue queue(next, 1, scratch);
  ternary_linear(op, queue);
}

// Any bytes decode to the same values in both formats.
void expect_two_bits(Format from, Format to) {
  const auto block_bytes = static_cast<size_t>(format_info(from).block_bytes);
  std::vector<std::byte> bytes(tensor_bytes(from, kRows, kCols));
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(i % block_bytes == block_bytes - 1 ? 0x30 + i % 3 : (i * i + 7 * i) % 251);
  }
  const Tensor w{.name = "w", .format = from, .rows = kRows, .cols = kCols, .data = bytes, .scale = 3.0f};
  Plan plan;
  for (const SlotType type : {SlotType::kInt8Blocks, SlotType::kF32}) {
    plan.slots.push_back({.name = "x", .type = type, .rows = RowsOf::kBatch, .width = kCols});
  }
  plan.steps = {{"w", step::FloatLinear{{0}, &w, {1}}},
                {"w", step::FloatLinearAdd{{0}, &w, {1}}},
                {"w", step::FloatGlu{{0}, &w, &w, GluAct::kSilu, {1}}},
                {"w", step::FloatLinear{{1}, &w, {1}}}};
  const auto repacked = repack_block_inputs(plan);
  ASSERT_EQ(repacked.size(), 4u);
  EXPECT_EQ(std::get<step::FloatLinear>(plan.steps[3].body).w, &w) << "floats stay with what they have";
  for (const Repacked& r : repacked) {
    EXPECT_EQ(r.tensor.format, to);
    EXPECT_EQ(r.tensor.scale, 3.0f);
    std::vector<float> expected(kRows * kCols), actual(expected.size());
    format_info(from).decode(w.data, expected);
    format_info(to).decode(r.tensor.data, actual);
    EXPECT_EQ(actual, expected);
  }
}

TEST(Repack, Base3OnBlocksBecomesTwoBits) {
  expect_two_bits(Format::kTQ1_0, Format::kTQ2_0);
  expect_two_bits(Format::kPTQ1_0, Format::kPQ2_0);
  expect_two_bits(Format::kSTQ1_0, Format::kTQ2_0);
}

TEST(Repack, OtherTernaryFormatsGiveTheSameResult) {
  for (const Format format : {Format::kTQ1_0, Format::kTQ2_0}) {
    const auto bytes = encode_rows(format, 0.5f, 0.5f);
    const Tensor w{.name = "w", .format = format, .rows = kRows, .cols = kCols, .data = bytes, .scale = 3.0f};
    Plan plan;
    plan.steps = {{"w", step::TernaryLinear{{0}, &w, {1}}}, {"w", step::TernaryGlu{{0}, &w, &w, GluAct::kRelu2, {1}}}};
    const auto repacked = repack_ternary(plan).value();
    ASSERT_EQ(repacked.size(), 3u);
    const Tensor& packed = *std::get<step::TernaryLinear>(plan.steps[0].body).w;
    EXPECT_EQ(packed.format, Format::kI2_S);
    EXPECT_EQ(packed.scale, 1.5f);
    EXPECT_EQ(multiply(cpu_ternary_linear, packed), multiply(ref::ternary_linear, w));
  }
}

// Matrices that are not in memory are repacked as their rows are read.
TEST(Repack, InPiecesGivesTheSameBytes) {
  for (const Format format : {Format::kTQ1_0, Format::kTQ2_0}) {
    const auto bytes = encode_rows(format, 0.5f, 0.5f);
    const uint64_t stride = row_bytes(format, kCols);
    const MadeRows source(stride, kRows, [&](uint64_t first, uint64_t n, MutableBytes out) -> Result<void> {
      std::ranges::copy(Bytes(bytes).subspan(first * stride, n * stride), out.begin());
      return {};
    });
    const Tensor in_memory{.name = "w", .format = format, .rows = kRows, .cols = kCols, .data = bytes, .scale = 3.0f};
    Tensor in_pieces = in_memory;
    in_pieces.data = StoredBytes(source, 0, source.size());
    Plan plan;
    plan.steps = {{"w", step::TernaryLinear{{0}, &in_memory, {1}}}, {"w", step::TernaryLinear{{0}, &in_pieces, {1}}}};
    const auto repacked = repack_ternary(plan).value();
    ASSERT_EQ(repacked.size(), 2u);
    const Tensor &expected = repacked[0].tensor, &actual = repacked[1].tensor;
    EXPECT_TRUE(repacked[1].bytes.empty());
    EXPECT_EQ(actual.format, Format::kI2_S);
    EXPECT_EQ(actual.scale, expected.scale);
    tern::Scratch scratch;
    EXPECT_TRUE(std::ranges::equal(actual.data.read_all(scratch).value(), expected.data));
    const uint64_t last = row_bytes(Format::kI2_S, kCols) * (kRows - 1);
    EXPECT_TRUE(std::ranges::equal(actual.data.read(last, 100, scratch).value(), expected.data.subspan(last, 100)));
  }
}

// The result is that of the encoder for the whole matrix, with any number of threads. It is in memory.
TEST(Reencode, IsTheEncoderRowByRow) {
  std::vector<std::byte> bytes(tensor_bytes(Format::kF16, kRows, kCols));
  std::vector<float> values(static_cast<size_t>(kRows) * kCols);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * i % 1009) / 512 - 1;
  format_info(Format::kF16).encode(values, bytes);
  format_info(Format::kF16).decode(bytes, values);
  const Tensor w{.name = "w", .format = Format::kF16, .rows = kRows, .cols = kCols, .data = bytes, .scale = 3.0f};
  for (const Format format : {Format::kQ8_0, Format::kQ6_K}) {
    std::vector<std::byte> expected(tensor_bytes(format, kRows, kCols));
    format_info(format).encode(values, expected);
    const Repacked made = reencode(w, format).value();
    EXPECT_EQ(made.tensor.format, format);
    EXPECT_EQ(made.tensor.scale, 3.0f);
    tern::Scratch scratch;
    EXPECT_TRUE(std::ranges::equal(made.tensor.data.read_all(scratch).value(), expected));
    for (const int n_threads : {1, 3, 8}) {
      Plan plan;
      plan.steps = {{"w", step::FloatLinear{{0}, &made.tensor, {1}}}, {"v", step::FloatLinear{{0}, &w, {1}}}};
      ThreadPool pool(n_threads);
      const MaterializedTensors resident = make_resident(plan, pool).value();
      const Tensor& actual = *std::get<step::FloatLinear>(plan.steps[0].body).w;
      EXPECT_EQ(resident.tensors.size(), 1u);
      ASSERT_TRUE(actual.data.is_resident());
      EXPECT_TRUE(std::ranges::equal(actual.data, expected));
      EXPECT_EQ(std::get<step::FloatLinear>(plan.steps[1].body).w, &w);
    }
  }
}

TEST(Reencode, RefusesPartsOfBlocks) {
  const std::vector<std::byte> bytes(tensor_bytes(Format::kF16, 2, 72));
  const Tensor w{.name = "output.weight", .format = Format::kF16, .rows = 2, .cols = 72, .data = bytes};
  const auto refused = reencode(w, Format::kQ8_0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kNotSupported);
  EXPECT_EQ(
      refused.error().message,
      "tensor output.weight: rows of 72 values are not whole blocks of 32, which Q8_0 needs; use the file's head");
}

TEST(Repack, RefusesBlocksOfDifferentScales) {
  const auto bytes = encode_rows(Format::kTQ2_0, 0.5f, 0.25f);
  const Tensor w{.name = "blk.0.attn_q.weight", .format = Format::kTQ2_0, .rows = kRows, .cols = kCols, .data = bytes};
  Plan plan;
  plan.steps = {{"w", step::TernaryLinearAdd{{0}, &w, {1}}}};
  const auto repacked = repack_ternary(plan);
  ASSERT_FALSE(repacked);
  EXPECT_EQ(repacked.error().code, ErrorCode::kNotSupported);
  EXPECT_NE(repacked.error().message.find("blk.0.attn_q.weight"), std::string::npos);
}

TEST(Repack, LeavesI2sAlone) {
  const auto bytes = encode_rows(Format::kI2_S, 1.0f, 1.0f);
  const Tensor w{.name = "w", .format = Format::kI2_S, .rows = kRows, .cols = kCols, .data = bytes};
  Plan plan;
  plan.steps = {{"w", step::TernaryLinear{{0}, &w, {1}}}};
  EXPECT_TRUE(repack_ternary(plan).value().empty());
  EXPECT_EQ(std::get<step::TernaryLinear>(plan.steps[0].body).w, &w);
}

}  // namespace
}  // namespace tern::cpu
