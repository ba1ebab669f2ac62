// Interleaved matrices: every byte is in its place, and plans point to the right matrices.
#include "backend/cpu/linear/interleave.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "backend/cpu/ops/cpu_target.h"

namespace tern::cpu {
namespace {

constexpr Format kInterleaved[] = {Format::kQ4_0, Format::kQ8_0};

// Pseudorandom bytes, so that no two nearby positions have the same surroundings.
std::vector<std::byte> some_bytes(uint64_t n) {
  std::vector<std::byte> bytes(n);
  uint32_t state = 12345;
  for (std::byte& b : bytes) b = static_cast<std::byte>((state = state * 1664525 + 1013904223) >> 24);
  return bytes;
}

TEST(Interleave, PutsEveryByteInItsPlace) {
  for (const Format format : kInterleaved) {
    const auto block = static_cast<uint64_t>(format_info(format).block_bytes);
    for (const int cols : {32, 480, 512, 544, 1024, 1504}) {
      const auto row = some_bytes(row_bytes(format, cols));
      const uint64_t blocks = row.size() / block, records = (blocks + 15) / 16;
      ASSERT_EQ(interleaved_row_bytes(format, cols), records * 16 * block);
      std::vector<std::byte> out(records * 16 * block, std::byte{0xEE});
      interleave_row(format, row, cols, out);
      for (uint64_t b = 0; b < records * 16; ++b) {
        const uint64_t record = b / 16 * 16 * block, lane = b % 16;
        for (uint64_t i = 0; i < block; ++i) {
          // Bytes 0 and 1 are the scale, stored after all words. The other bytes are grouped into words of four.
          const uint64_t at = i < 2 ? 16 * (block - 2) + 2 * lane + i : (i - 2) / 4 * 64 + 4 * lane + (i - 2) % 4;
          const std::byte expected = b < blocks ? row[b * block + i] : std::byte{0};
          ASSERT_EQ(out[record + at], expected) << cols << " columns, block " << b << ", byte " << i;
        }
      }
    }
  }
}

TEST(Interleave, PutsEveryValueOfQ6KInItsPlace) {
  for (const int cols : {256, 512, 768, 1280}) {
    const auto row = some_bytes(row_bytes(Format::kQ6_K, cols));
    const auto records = static_cast<size_t>(cols + 511) / 512;
    ASSERT_EQ(interleaved_row_bytes(Format::kQ6_K, cols), records * 448);
    std::vector<std::byte> out(records * 448, std::byte{0xEE});
    interleave_row(Format::kQ6_K, row, cols, out);
    const auto from = [&](size_t at) { return at < row.size() ? std::to_integer<int>(row[at]) : 0; };
    const auto to = [&](size_t at) { return std::to_integer<int>(out[at]); };
    for (size_t i = 0; i < records * 512; ++i) {
      const size_t block = i / 256 * 210, half = i % 256 / 128, quarter = i % 128 / 32, l = i % 32;
      const int low = from(block + 64 * half + 32 * (quarter % 2) + l) >> (quarter / 2 * 4) & 15;
      const int high = from(block + 128 + 32 * half + l) >> (2 * quarter) & 3;
      const size_t record = i / 512 * 448, lane = i % 512 / 32, step = l / 4, at = record + 4 * lane + l % 4;
      ASSERT_EQ(to(at + 64 * (step % 4)) >> (step / 4 * 4) & 15, low) << cols << " columns, value " << i;
      ASSERT_EQ(to(at + 64 * (4 + step / 4)) >> (step % 4 * 2) & 3, high) << cols << " columns, value " << i;
      ASSERT_EQ(to(record + 384 + 2 * lane + l / 16), from(block + 192 + i % 256 / 16)) << i;
      ASSERT_EQ(to(record + 416 + 2 * lane), from(block + 208)) << i;
      ASSERT_EQ(to(record + 416 + 2 * lane + 1), from(block + 209)) << i;
    }
  }
}

// A plan over three matrices: `a` is shared and also used with float input, `other` has a format that is never
// interleaved.
struct SomePlan {
  explicit SomePlan(Format format)
      : bytes(some_bytes(tensor_bytes(Format::kQ8_0, 7, 544))),
        a{.name = "a",
          .format = format,
          .rows = 7,
          .cols = 544,
          .data = Bytes(bytes).first(tensor_bytes(format, 7, 544)),
          .scale = 3.0f},
        b{.name = "b", .format = format, .rows = 1, .cols = 544, .data = Bytes(bytes).last(row_bytes(format, 544))},
        other{.name = "other", .format = Format::kTQ2_0, .rows = 1, .cols = 256, .data = Bytes(bytes).first(66)} {
    for (const SlotType type : {SlotType::kInt8Blocks, SlotType::kF32}) {
      plan.slots.push_back({.name = "x", .type = type, .rows = RowsOf::kBatch, .width = 544});
    }
    plan.steps = {{"glu", step::FloatGlu{{0}, &a, &b, GluAct::kSilu, {1}}},
                  {"again", step::FloatLinearAdd{{0}, &a, {1}}},
                  {"other", step::FloatLinear{{0}, &other, {1}}},
                  {"floats", step::FloatLinear{{1}, &a, {1}}}};
  }
  std::vector<std::byte> bytes;
  Tensor a, b, other;
  Plan plan;
};

void expect_rows(const Tensor& actual, const Tensor& original) {
  EXPECT_TRUE(actual.is_rearranged);
  EXPECT_EQ(actual.format, original.format);
  EXPECT_EQ(actual.scale, original.scale);
  const uint64_t from = row_bytes(original.format, original.cols);
  const uint64_t to = interleaved_row_bytes(original.format, original.cols);
  ASSERT_EQ(actual.data.size(), static_cast<uint64_t>(original.rows) * to);
  for (uint64_t r = 0; r < static_cast<uint64_t>(original.rows); ++r) {
    std::vector<std::byte> expected(to);
    interleave_row(original.format, original.data.subspan(r * from, from), original.cols, expected);
    EXPECT_TRUE(std::ranges::equal(actual.data.subspan(r * to, to), expected)) << original.name << ", row " << r;
  }
}

TEST(Interleave, ReplacesWhatMeetsInt8BlocksOnce) {
  for (const Format format : kInterleaved) {
    for (const int n_threads : {1, 3}) {
      SomePlan p(format);
      ThreadPool pool(n_threads);
      const auto weights = interleave_block_inputs(p.plan, UINT64_MAX, pool);
      ASSERT_EQ(weights.tensors.size(), 2u);
      const auto& glu = std::get<step::FloatGlu>(p.plan.steps[0].body);
      expect_rows(*glu.w_gate, p.a);
      expect_rows(*glu.w_up, p.b);
      EXPECT_EQ(std::get<step::FloatLinearAdd>(p.plan.steps[1].body).w, glu.w_gate);
      EXPECT_EQ(std::get<step::FloatLinear>(p.plan.steps[2].body).w, &p.other);
      EXPECT_EQ(std::get<step::FloatLinear>(p.plan.steps[3].body).w, &p.a);
      EXPECT_FALSE(p.a.is_rearranged);
    }
  }
}

// Rows that are computed when they are read.
TEST(Interleave, ReadsWhatIsNotInMemory) {
  for (const Format format : kInterleaved) {
    SomePlan p(format);
    const uint64_t stride = row_bytes(format, 544);
    const auto make = [&](uint64_t first, uint64_t n, MutableBytes out) -> Result<void> {
      std::ranges::copy(Bytes(p.bytes).subspan(first * stride, n * stride), out.begin());
      return {};
    };
    const MadeRows made(stride, 7, make);
    const Tensor original = p.a;
    p.a.data = StoredBytes(made, 0, made.size());
    ThreadPool pool(3);
    for (const bool reads_alone : {false, true}) {
      Plan plan = p.plan;
      const auto weights = interleave_block_inputs(plan, UINT64_MAX, pool, reads_alone);
      ASSERT_EQ(weights.tensors.size(), 2u);
      expect_rows(*std::get<step::FloatGlu>(plan.steps[0].body).w_gate, original);
    }
  }
}

TEST(Interleave, KnowsWhatNoOtherStepReads) {
  SomePlan p(Format::kQ4_0);
  EXPECT_TRUE(only_interleaved(p.plan).contains(&p.b));
  EXPECT_FALSE(only_interleaved(p.plan).contains(&p.a)) << "a step multiplies it with floats";
  EXPECT_FALSE(only_interleaved(p.plan).contains(&p.other));
}

// An embedding that is the head, too, is in memory once.
TEST(Interleave, TablesAreReadBack) {
  for (const Format format : {Format::kQ4_0, Format::kQ8_0, Format::kIQ4_NL}) {
    SomePlan p(format);
    const Tensor embedding = p.b;  // another tensor of the same bytes
    p.plan.steps.push_back({.body = step::Embed{.table = &embedding, .out = 0}});
    const bool is_read = is_read_back(format);
    EXPECT_EQ(is_read, format != Format::kIQ4_NL);
    EXPECT_TRUE(only_interleaved(p.plan).contains(&p.b));
    EXPECT_EQ(only_interleaved(p.plan).contains(&embedding), is_read);
    ThreadPool pool(1);
    const Tensor original = p.b;
    const auto weights = interleave_block_inputs(p.plan, UINT64_MAX, pool);
    const Tensor& table = *std::get<step::Embed>(p.plan.steps.back().body).table;
    EXPECT_EQ(table.is_rearranged, is_read);
    if (!is_read) continue;
    const uint64_t from = interleaved_row_bytes(format, table.cols), to = row_bytes(format, table.cols);
    for (uint64_t r = 0; r < static_cast<uint64_t>(table.rows); ++r) {
      std::vector<std::byte> row(to);
      read_back_row(format, table.data.subspan(r * from, from), table.cols, row);
      EXPECT_TRUE(std::ranges::equal(row, original.data.subspan(r * to, to))) << r;
    }
  }
}

// Half of a record would be padding, and 256-bit vectors need none of it.
TEST(Interleave, LeavesShortRowsToVectorsThatFitThem) {
  const CpuTarget& before = cpu_target();
  ThreadPool pool(1);
  for (const CpuTarget& target : cpu_targets()) {
    if (!can_run(target)) continue;
    choose_cpu_target(target);
    for (const Format format : kInterleaved) {
      for (const int cols : {256, 512}) {
        const auto bytes = some_bytes(row_bytes(format, cols));
        const Tensor w{.name = "w", .format = format, .rows = 1, .cols = cols, .data = Bytes(bytes)};
        Plan plan{.slots = {{.name = "x", .type = SlotType::kInt8Blocks, .rows = RowsOf::kBatch, .width = cols}},
                  .steps = {{"w", step::FloatLinear{{0}, &w, {0}}}}};
        const bool stays = cols == 256 && (target.name == "avx2" || target.name == "avxvnni");
        EXPECT_EQ(only_interleaved(plan).contains(&w), !stays) << target.name;
        const auto copies = interleave_block_inputs(plan, UINT64_MAX, pool);
        EXPECT_EQ(std::get<step::FloatLinear>(plan.steps[0].body).w->is_rearranged, !stays) << target.name;
      }
    }
  }
  choose_cpu_target(before);
}

TEST(Interleave, LeavesAPlanAloneWhereMemoryIsShort) {
  SomePlan p(Format::kQ4_0);
  ThreadPool pool(1);
  const uint64_t needed = 8 * interleaved_row_bytes(Format::kQ4_0, 544);
  EXPECT_TRUE(interleave_block_inputs(p.plan, needed - 1, pool).tensors.empty());
  EXPECT_EQ(std::get<step::FloatGlu>(p.plan.steps[0].body).w_gate, &p.a);
  EXPECT_EQ(interleave_block_inputs(p.plan, needed, pool).tensors.size(), 2u);
}

}  // namespace
}  // namespace tern::cpu
