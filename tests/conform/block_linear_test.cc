// float_linear and float_glu on int8 blocks, in every packed format that the CPU supports.
#include "backend/cpu/linear/block_linear.h"

#include "backend/cpu/linear/interleave.h"
#include "backend/cpu/ops/ops.h"
#include "backend/ref/ops.h"
#include "base/half.h"
#include "conform/conform.h"
#include "conform/matrix.h"

namespace tern::conform {
namespace {

// All packed formats except those in base 3, which are converted when a model is loaded.
const std::vector<Format> kFormats = [] {
  std::vector<Format> list;
  for (const Format format : float_row_formats()) {
    const Coding& coding = format_info(format).coding;
    if (coding.has_codes() && coding.n_codes != 3) list.push_back(format);
  }
  return list;
}();

// Offsets of the f16 numbers or exponents in a block: the bytes that d or dmin depends on.
std::vector<size_t> f16_places(const FormatInfo& info) {
  std::vector<std::byte> block(static_cast<size_t>(info.block_bytes));
  std::vector<size_t> places;
  BlockParts zero = {}, parts = {};
  info.unpack(block.data(), zero);
  for (size_t i = 0; i < block.size(); ++i) {
    block[i] = std::byte{1};
    info.unpack(block.data(), parts);
    block[i] = std::byte{0};
    const bool is_exponent = info.coding.has_bf16_d && parts.d != zero.d;
    if (is_exponent || (parts.d ^ zero.d) == 1 || (parts.dmin ^ zero.dmin) == 1) places.push_back(i);
  }
  return places;
}

// Calls put(byte) for every byte of the matrix that is not part of an f16 number.
template <class Put>
void for_other_bytes(Matrix& w, const Put& put) {
  const auto& info = format_info(w.tensor.format);
  const std::vector<size_t> places = f16_places(info);
  const auto block_bytes = static_cast<size_t>(info.block_bytes);
  for (size_t i = 0; i < w.bytes.size(); ++i) {
    const bool is_scale =
        std::ranges::any_of(places, [&](size_t at) { return i % block_bytes == at || i % block_bytes == at + 1; });
    if (!is_scale) put(w.bytes[i]);
  }
}

struct BlockInput {
  BlockInput(int n_tokens, int n_cols)
      : n(n_tokens),
        cols(n_cols),
        q(static_cast<size_t>(n * cols), 1),
        scale(static_cast<size_t>(n * cols / kInt8Block), 1),
        sum(scale.size(), 1) {}
  // Blocks of extreme values come first: their sums need more than 16 bits.
  static BlockInput random(int n, int cols, uint64_t seed) {
    BlockInput in(n, cols);
    Values values(seed);
    for (size_t b = 0; b < in.scale.size(); ++b) {
      in.scale[b] = static_cast<float>(values.integer(1, 1000)) / 1000;
      for (size_t i = b * kInt8Block; i < (b + 1) * kInt8Block; ++i) {
        in.q[i] = static_cast<int8_t>(b == 0 ? 127 : b == 1 ? -127 : values.integer(-127, 127));
      }
    }
    in.add_up();
    return in;
  }
  void add_up() {
    for (size_t b = 0; b < scale.size(); ++b) {
      sum[b] = 0;
      for (size_t i = b * kInt8Block; i < (b + 1) * kInt8Block; ++i) sum[b] += q[i];
    }
  }
  ops::FloatRows view(int token = 0) const {
    const auto first = static_cast<size_t>(token * cols);
    return {.blocks = {q.data() + first, scale.data() + first / kInt8Block, sum.data() + first / kInt8Block}};
  }
  int n, cols;
  Guarded<int8_t> q;
  Guarded<float> scale;
  Guarded<int32_t> sum;
};

// Σ |w·x| of one row and token, with the separately multiplied parts of w added up. Rounding errors are relative to it.
double magnitude(const Tensor& w, int row, const BlockInput& in, int token) {
  const std::vector<double> weights = weight_magnitudes(w, row);
  double total = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    const size_t at = static_cast<size_t>(token * w.cols) + i;
    total += std::abs(weights[i] * in.q.data()[at] * static_cast<double>(in.scale.data()[at / kInt8Block]));
  }
  return total * w.scale;
}

// A block's dot product is an exact integer below 2^24. There is one rounding for d_w·d_x, one for each block's fused
// multiply-add, one for each addition of lanes (at most 4) and one for the tensor's scale. Each min (of a block or half
// a block) adds a product with the sum of the activations and a fused multiply-add. The reference rounds each weight at
// most twice when it decodes, and its result once.
double bound(const Tensor& w, double magnitude) {
  const Coding& coding = format_info(w.format).coding;
  const int adds = 1 + (coding.has_mins ? kInt8Block / coding.group : 0);
  return (w.cols / kInt8Block * adds + 12) * kUlp * magnitude;
}

std::vector<float> run_linear(const Tensor& w, const BlockInput& in, int token, int n, int n_threads) {
  std::vector<float> out(static_cast<size_t>(n * w.rows));
  run_on(n_threads, cpu::float_linear, {in.view(token), n, &w, ops::Store::kSet, out.data()},
         cpu::block_scratch(w.cols, n));
  return out;
}

// An interleaved matrix, as the backend makes it when a model is loaded, in exactly as many bytes as it needs.
struct InterleavedMatrix {
  explicit InterleavedMatrix(const Tensor& w) : tensor(w) {
    const uint64_t from = row_bytes(w.format, w.cols), to = cpu::interleaved_row_bytes(w.format, w.cols);
    bytes.resize(static_cast<uint64_t>(w.rows) * to);
    for (uint64_t r = 0; r < static_cast<uint64_t>(w.rows); ++r) {
      cpu::interleave_row(w.format, w.data.subspan(r * from, from), w.cols, MutableBytes(bytes).subspan(r * to, to));
    }
    tensor.data = bytes;
    tensor.is_rearranged = true;
  }
  std::vector<std::byte> bytes;
  Tensor tensor;
};

void expect_near_reference(const Tensor& w, const BlockInput& in, ops::Store store, int n_threads) {
  const auto count = static_cast<size_t>(in.n * w.rows);
  Guarded<float> expected(count), actual(count, 1);
  for (size_t i = 0; i < count; ++i) expected[i] = actual[i] = static_cast<float>(i % 7);
  ref::float_linear({in.view(), in.n, &w, store, expected.data()});
  run_on(n_threads, cpu::float_linear, {in.view(), in.n, &w, store, actual.data()}, cpu::block_scratch(w.cols, in.n));
  for (int token = 0; token < in.n; ++token) {
    for (int row = 0; row < w.rows; ++row) {
      const auto at = static_cast<size_t>(token * w.rows + row);
      const double sum_rounding = store == ops::Store::kAdd ? 2 * kUlp * (std::abs(expected[at]) + 6) : 0;
      ASSERT_NEAR(actual[at], expected[at], bound(w, magnitude(w, row, in, token)) + sum_rounding)
          << format_info(w.format).name << " " << w.rows << "×" << w.cols << ", token " << token << ", row " << row;
    }
  }
  ASSERT_TRUE(actual.intact());
  if (!cpu::has_interleaved(w.format)) return;
  const InterleavedMatrix interleaved(w);
  Guarded<float> same(count, 1);
  for (size_t i = 0; i < count; ++i) same[i] = static_cast<float>(i % 7);
  run_on(n_threads, cpu::float_linear, {in.view(), in.n, &interleaved.tensor, store, same.data()},
         cpu::block_scratch(w.cols, in.n));
  ASSERT_EQ(same.values(), actual.values())
      << format_info(w.format).name << " interleaved, " << w.rows << "×" << w.cols;
  ASSERT_TRUE(same.intact());
}

TEST(Conform, BlockLinear) {
  on_every_target([] {
    uint64_t seed = 1;
    for (const Format format : kFormats) {
      const int block = format_info(format).block;
      for (const int blocks : {1, 2, 3, 512 / block, 512 / block + 1}) {
        for (const int rows : {1, 3, 17}) {
          for (const int n : {1, 2, 5, 9}) {
            const Matrix w(format, rows, blocks * block, ++seed);
            const auto store = seed % 2 == 0 ? ops::Store::kSet : ops::Store::kAdd;
            const int n_threads = 1 + static_cast<int>(seed % 3);
            expect_near_reference(w.tensor, BlockInput::random(n, w.tensor.cols, ++seed), store, n_threads);
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  });
}

// The bytes of a matrix are random: all codes occur, also those that no quantizer writes, and both signs.
TEST(Conform, BlockLinearOfRandomBytes) {
  on_every_target([] {
    for (const Format format : kFormats) {
      Matrix w(format, 7, 768, 5);
      Values values(static_cast<uint64_t>(format));
      for_other_bytes(w, [&](unsigned char& byte) { byte = static_cast<unsigned char>(values.integer(0, 255)); });
      for (const int n : {1, 5}) expect_near_reference(w.tensor, BlockInput::random(n, 768, 9), ops::Store::kSet, 2);
      if (HasFatalFailure()) return;
    }
  });
}

// The largest possible sums: every code at its minimum or maximum, every activation at 127 or −127.
TEST(Conform, BlockLinearOfExtremes) {
  on_every_target([] {
    for (const Format format : kFormats) {
      for (const int fill : {0x00, 0xFF, 0x80, 0x7F}) {
        Matrix w(format, 4, 512, 5);
        for_other_bytes(w, [&](unsigned char& byte) { byte = static_cast<unsigned char>(fill); });
        for (const int q : {127, -127}) {
          for (const int n : {1, 4}) {
            BlockInput in(n, 512);
            for (size_t i = 0; i < in.q.size(); ++i) in.q[i] = static_cast<int8_t>(q);
            for (size_t b = 0; b < in.scale.size(); ++b) in.scale[b] = 0.25f;
            in.add_up();
            expect_near_reference(w.tensor, in, ops::Store::kSet, 1);
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  });
}

// One nonzero activation: the product is right at every position, its sign included, and nothing else contributes.
TEST(Conform, BlockLinearKeepsEveryPosition) {
  on_every_target([] {
    constexpr int kCols = 768;
    for (const Format format : kFormats) {
      // One activation at a time against a row of distinguishable weights.
      const Matrix w(format, 1, kCols, 77);
      std::vector<float> weights(kCols);
      format_info(format).decode(w.tensor.data, weights);
      for (int position = 0; position < kCols; ++position) {
        BlockInput in(1, kCols);
        in.q[static_cast<size_t>(position)] = static_cast<int8_t>(position % 2 == 0 ? 101 : -77);
        in.scale[static_cast<size_t>(position / kInt8Block)] = 0.5f;
        in.add_up();
        const double expected = static_cast<double>(weights[static_cast<size_t>(position)]) *
                                in.q[static_cast<size_t>(position)] * 0.5 * w.tensor.scale;
        ASSERT_NEAR(run_linear(w.tensor, in, 0, 1, 1)[0], expected, 4 * kUlp * magnitude(w.tensor, 0, in, 0))
            << format_info(format).name << " position " << position;
      }
    }
  });
}

// f16 scales from the smallest subnormal to the largest number, of both signs, and zero.
TEST(Conform, BlockLinearConvertsScalesExactly) {
  on_every_target([] {
    const uint16_t scales[] = {0x0001, 0x03FF, 0x0400, 0x3C00, 0x7BFF, 0x8001, 0xFBFF, 0x0000};
    const uint8_t exponents[] = {0, 1, 2, 60, 103, 127, 144, 220};
    for (const Format format : kFormats) {
      const auto& info = format_info(format);
      Matrix w(format, 8, 512, 3);
      for (size_t row = 0; row < 8; ++row) {
        const size_t stride = row_bytes(format, 512);
        for (size_t at = row * stride; at < (row + 1) * stride; at += static_cast<size_t>(info.block_bytes)) {
          for (const size_t d : f16_places(info)) {
            if (info.coding.has_bf16_d) {
              w.bytes[at + d] = exponents[row];
            } else {
              std::memcpy(&w.bytes[at + d], &scales[row], 2);
            }
          }
        }
      }
      for (const int n : {1, 4}) expect_near_reference(w.tensor, BlockInput::random(n, 512, 4), ops::Store::kSet, 1);
      if (HasFatalFailure()) return;
    }
  });
}

// A token's result depends neither on its neighbors in the batch nor on the number of threads.
TEST(Conform, BlockLinearDoesNotDependOnTheBatch) {
  on_every_target([] {
    constexpr int kTokens = 11;
    for (const Format format : kFormats) {
      for (const int rows : {1, 6, 35}) {
        const Matrix w(format, rows, 1280, 5);
        const BlockInput in = BlockInput::random(kTokens, 1280, 6);
        const std::vector<float> batch = run_linear(w.tensor, in, 0, kTokens, 3);
        for (const int n : {1, 2, 3, 4, 5}) {
          for (int token = 0; token + n <= kTokens; token += n) {
            const auto first = batch.begin() + token * rows;
            ASSERT_EQ(run_linear(w.tensor, in, token, n, 1 + token % 2), std::vector<float>(first, first + n * rows))
                << format_info(format).name << ", tokens from " << token << " on, " << n << " at a time";
          }
        }
      }
    }
  });
}

// The fused op gives the same bits as its parts, also with two formats.
TEST(Conform, BlockGluIsItsPartsOneAfterAnother) {
  on_every_target([] {
    uint64_t seed = 300;
    for (const GluAct act : {GluAct::kSilu, GluAct::kRelu2}) {
      for (const Format format : kFormats) {
        for (const Format up_format : {format, Format::kQ4_0}) {
          for (const int rows : {1, 18}) {
            for (const int n : {1, 5}) {
              const Matrix gate(format, rows, 768, ++seed), up(up_format, rows, 768, ++seed);
              const BlockInput in = BlockInput::random(n, 768, ++seed);
              const std::vector<float> g = run_linear(gate.tensor, in, 0, n, 1), u = run_linear(up.tensor, in, 0, n, 1);
              Guarded<float> expected(g.size()), actual(g.size(), 1);
              run_on(1, cpu::glu_mul, {g.data(), u.data(), act, g.size(), expected.data()});
              run_on(2, cpu::float_glu, {in.view(), n, &gate.tensor, &up.tensor, act, actual.data()},
                     2 * cpu::block_scratch(768, n));
              ASSERT_EQ(actual.values(), expected.values()) << format_info(format).name;
              ASSERT_TRUE(actual.intact());
            }
          }
        }
      }
    }
  });
}

// One op may use an interleaved and a plain matrix: they share the input.
TEST(Conform, BlockGluOfInterleavedMatrices) {
  on_every_target([] {
    for (const Format format : {Format::kQ4_0, Format::kQ8_0, Format::kQ4_1}) {
      for (const int n : {1, 5}) {
        const Matrix gate(format, 18, 800, 7), up(format, 18, 800, 8);
        const InterleavedMatrix gate2(gate.tensor), up2(up.tensor);
        const BlockInput in = BlockInput::random(n, 800, 9);
        const auto run = [&](const Tensor& g, const Tensor& u) {
          std::vector<float> out(static_cast<size_t>(n) * 18);
          run_on(2, cpu::float_glu, {in.view(), n, &g, &u, GluAct::kSilu, out.data()}, cpu::block_scratch(800, n));
          return out;
        };
        const std::vector<float> expected = run(gate.tensor, up.tensor);
        ASSERT_EQ(run(gate2.tensor, up2.tensor), expected);
        ASSERT_EQ(run(gate.tensor, up2.tensor), expected);
        ASSERT_EQ(run(gate2.tensor, up.tensor), expected);
      }
    }
  });
}

TEST(Conform, QuantizeBlocksIsBitIdentical) {
  on_every_target([] {
    for (const int width : {32, 64, 96, 512, 2592}) {
      for (const int n : {1, 3}) {
        Guarded<float> in(static_cast<size_t>(n * width), 1);
        Values(static_cast<uint64_t>(width)).fill(in);
        for (size_t i = 0; i < 32; ++i) in[i] = 0;                                                 // a block of zeros
        if (width > 32) in[32] = -1e-40f;                                                          // subnormal
        for (size_t i = 64; i < 96 && i < in.size(); ++i) in[i] = static_cast<float>(i) / 2 - 40;  // halves
        BlockInput expected(n, width), actual(n, width);
        ref::quantize_blocks({in.data(), n, width, {expected.q.data(), expected.scale.data(), expected.sum.data()}});
        run_on(2, cpu::quantize_blocks,
               {in.data(), n, width, {actual.q.data(), actual.scale.data(), actual.sum.data()}});
        ASSERT_EQ(actual.q.values(), expected.q.values());
        ASSERT_EQ(actual.scale.values(), expected.scale.values());
        ASSERT_EQ(actual.sum.values(), expected.sum.values());
        ASSERT_TRUE(actual.q.intact() && actual.scale.intact() && actual.sum.intact());
      }
    }
  });
}

// A NaN or infinity makes its block NaN, and so every result of its token.
TEST(Conform, BlocksOfNoNumbersGiveNone) {
  on_every_target([] {
    constexpr int kCols = 512, kRows = 5, kTokens = 2;
    for (const float bad : {NAN, std::numeric_limits<float>::infinity()}) {
      for (const size_t place : {0u, 31u, 77u, 511u}) {
        std::vector<float> in(size_t{kTokens} * kCols);
        Values(9).fill(in);
        in[kCols + place] = bad;
        BlockInput expected(kTokens, kCols), actual(kTokens, kCols);
        ref::quantize_blocks(
            {in.data(), kTokens, kCols, {expected.q.data(), expected.scale.data(), expected.sum.data()}});
        run_on(1, cpu::quantize_blocks,
               {in.data(), kTokens, kCols, {actual.q.data(), actual.scale.data(), actual.sum.data()}});
        ASSERT_EQ(actual.q.values(), expected.q.values());
        ASSERT_EQ(actual.sum.values(), expected.sum.values());
        for (size_t b = 0; b < actual.scale.size(); ++b) {
          ASSERT_EQ(std::isnan(actual.scale[b]), b == (kCols + place) / kInt8Block) << b;
          ASSERT_EQ(std::isnan(expected.scale[b]), std::isnan(actual.scale[b]));
        }
        for (const Format format : {Format::kQ8_0, Format::kQ4_0, Format::kQ4_K, Format::kQ6_K, Format::kQ1_0}) {
          const Matrix w(format, kRows, kCols, 4);
          const auto y = run_linear(w.tensor, actual, 0, kTokens, 1);
          for (size_t i = 0; i < y.size(); ++i) {
            ASSERT_EQ(std::isnan(y[i]), i >= kRows) << format_info(format).name << " at " << i;
          }
        }
      }
    }
  });
}

}  // namespace
}  // namespace tern::conform
