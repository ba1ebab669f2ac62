#include "model/hf_ternary.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "base/half.h"
#include "model/made_tensors.h"
#include "quant/i2_s.h"

namespace tern {
namespace {

constexpr int64_t kPlane = kI2sBlock / 4;

// The codes of one of the four rows in a packed row, as I2_S. `shift` is 0, 2, 4 or 6.
void repack_row(const uint8_t* packed, int64_t cols, int shift, uint8_t* out) {
  const auto code = [shift](uint8_t byte) { return (byte >> shift) & 3; };
  for (int64_t block = 0; block < cols; block += kI2sBlock, packed += kI2sBlock, out += kI2sBlockBytes) {
    for (int64_t p = 0; p < kPlane; ++p) {
      out[p] = static_cast<uint8_t>(code(packed[p]) << 6 | code(packed[p + kPlane]) << 4 |
                                    code(packed[p + 2 * kPlane]) << 2 | code(packed[p + 3 * kPlane]));
    }
  }
}

bool has_code_3(const uint8_t* packed, int64_t n) {
  uint8_t found = 0;
  for (int64_t i = 0; i < n; ++i) found |= static_cast<uint8_t>(packed[i] & packed[i] >> 1);
  return (found & 0x55) != 0;
}

void write_tail(MutableBytes i2_s, float scale) {
  const MutableBytes tail = i2_s.last(kI2sTailBytes);
  std::ranges::fill(tail, std::byte{0});
  store(tail.data(), scale);
}

float rounded_to(Format format, float value) {
  if (format == Format::kBF16) return bf16_to_f32(f32_to_bf16(value));
  if (format == Format::kF16) return f16_to_f32(f32_to_f16(value));
  return value;
}

}  // namespace

bool repack_hf_ternary(Bytes packed, int64_t rows, int64_t cols, float scale, MutableBytes i2_s, ThreadPool& pool) {
  const auto* in = reinterpret_cast<const uint8_t*>(packed.data());
  auto* out = reinterpret_cast<uint8_t*>(i2_s.data());
  const int64_t n_packed = rows / 4, out_row = cols / 4;
  std::atomic<bool> is_good = true;
  pool.run([&](int worker) {
    const auto [first, last] = share_of(n_packed, worker, pool.size());
    for (int64_t r = first; r < last; ++r) {
      if (has_code_3(in + r * cols, cols)) is_good = false;
      for (int i = 0; i < 4; ++i) repack_row(in + r * cols, cols, 2 * i, out + (i * n_packed + r) * out_row);
    }
  });
  write_tail(i2_s, scale);
  return is_good;
}

float quantise_hf_ternary(Bytes weights, Format format, int64_t rows, int64_t cols, MutableBytes i2_s,
                          ThreadPool& pool) {
  const uint64_t in_row = row_bytes(format, cols), out_row = static_cast<uint64_t>(cols) / 4;
  const auto decode_row = [&](int64_t r, std::span<float> row) {
    format_info(format).decode(weights.subspan(static_cast<uint64_t>(r) * in_row, in_row), row);
  };
  // Summed row by row, so that the result does not depend on the number of threads.
  std::vector<double> sums(static_cast<size_t>(rows));
  pool.run([&](int worker) {
    std::vector<float> row(static_cast<size_t>(cols));
    const auto [first, last] = share_of(rows, worker, pool.size());
    for (int64_t r = first; r < last; ++r) {
      decode_row(r, row);
      for (const float w : row) sums[static_cast<size_t>(r)] += std::abs(w);
    }
  });
  double sum = 0;
  for (const double row_sum : sums) sum += row_sum;
  const auto mean = static_cast<float>(sum / (static_cast<double>(rows) * static_cast<double>(cols)));
  const float inverse = 1.0f / (mean < 1e-5f ? 1e-5f : mean);
  const float scale = rounded_to(format, 1.0f / inverse);
  if (!std::isfinite(mean)) return mean;
  pool.run([&](int worker) {
    std::vector<float> row(static_cast<size_t>(cols));
    std::vector<int8_t> codes(static_cast<size_t>(cols));
    const auto [first, last] = share_of(rows, worker, pool.size());
    for (int64_t r = first; r < last; ++r) {
      decode_row(r, row);
      for (size_t c = 0; c < row.size(); ++c) {
        codes[c] = static_cast<int8_t>(std::clamp(std::nearbyint(row[c] * inverse), -1.0f, 1.0f));
      }
      encode_i2_s_codes(codes, i2_s.subspan(static_cast<uint64_t>(r) * out_row, out_row));
    }
  });
  write_tail(i2_s, scale);
  return scale;
}

}  // namespace tern
