#include "model/hf/ternary.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "base/half.h"
#include "model/source/computed_tensors.h"
#include "quant/formats/i2_s.h"

namespace tern {
namespace {

constexpr int64_t kPlane = kI2sBlock / 4;

// Repacks one of the four rows in a packed row to I2_S. `shift` is 0, 2, 4 or 6.
void repack_row(const uint8_t* packed, int64_t cols, int shift, uint8_t* out) {
  const auto code = [shift](uint8_t byte) { return (byte >> shift) & 3; };
  int64_t block = 0;
  for (; block + kI2sBlock <= cols; block += kI2sBlock, packed += kI2sBlock, out += kI2sBlockBytes) {
    for (int64_t p = 0; p < kPlane; ++p) {
      out[p] = static_cast<uint8_t>(code(packed[p]) << 6 | code(packed[p + kPlane]) << 4 |
                                    code(packed[p + 2 * kPlane]) << 2 | code(packed[p + 3 * kPlane]));
    }
  }
  if (block == cols) return;
  std::fill_n(out, kI2sBlockBytes, uint8_t{0});
  for (int64_t i = 0; i < cols - block; ++i) {
    out[i % kPlane] = static_cast<uint8_t>(out[i % kPlane] | code(packed[i]) << (6 - 2 * (i / kPlane)));
  }
}

bool has_code_3(const uint8_t* packed, int64_t n) {
  uint8_t found = 0;
  for (int64_t i = 0; i < n; ++i) found |= static_cast<uint8_t>(packed[i] & packed[i] >> 1);
  return (found & 0x55) != 0;
}

float rounded_to(Format format, float value) {
  if (format == Format::kBF16) return bf16_to_f32(f32_to_bf16(value));
  if (format == Format::kF16) return f16_to_f32(f32_to_f16(value));
  return value;
}

}  // namespace

Result<bool> repack_hf_ternary(const HfPacked& packed, RowRange rows, MutableBytes i2_s, ThreadPool& pool) {
  const int64_t n_packed = packed.rows / 4, cols = packed.cols;
  const auto out_row = static_cast<int64_t>(row_bytes(Format::kI2_S, cols));
  auto* out = reinterpret_cast<uint8_t*>(i2_s.data());
  std::atomic<bool> is_good = true;
  for (int i = 0; i < 4; ++i) {
    const int64_t begin = std::max(rows.first, i * n_packed),
                  end = std::min(rows.first + rows.count, (i + 1) * n_packed);
    const auto repack = [&](RowRange part, Bytes bytes) -> Result<void> {
      const auto* in = reinterpret_cast<const uint8_t*>(bytes.data());
      uint8_t* to = out + (i * n_packed + part.first - rows.first) * out_row;
      pool.run([&](int worker) {
        const auto [first, last] = share_of(part.count, worker, pool.size());
        for (int64_t r = first; r < last; ++r) {
          if (has_code_3(in + r * cols, cols)) is_good = false;
          repack_row(in + r * cols, cols, 2 * i, to + r * out_row);
        }
      });
      return {};
    };
    const RowRange part{begin - i * n_packed, std::max<int64_t>(0, end - begin)};
    TRY_STATUS(read_rows(packed.bytes, static_cast<uint64_t>(cols), part, repack));
  }
  return is_good.load();
}

Result<HfTernaryScale> hf_ternary_scale(const HfLatent& latent, ThreadPool& pool) {
  const auto cols = static_cast<size_t>(latent.cols);
  const uint64_t in_row = row_bytes(latent.format, latent.cols);
  // Row by row, so that the sum depends neither on the number of threads nor on the pieces.
  std::vector<double> sums(static_cast<size_t>(latent.rows));
  const auto add = [&](RowRange rows, Bytes bytes) -> Result<void> {
    pool.run([&](int worker) {
      std::vector<float> row(cols);
      const auto [first, last] = share_of(rows.count, worker, pool.size());
      for (int64_t r = first; r < last; ++r) {
        format_info(latent.format).decode(bytes.subspan(static_cast<uint64_t>(r) * in_row, in_row), row);
        for (const float w : row) sums[static_cast<size_t>(rows.first + r)] += std::abs(w);
      }
    });
    return {};
  };
  TRY_STATUS(read_rows(latent.weights, in_row, {0, latent.rows}, add));
  double sum = 0;
  for (const double row_sum : sums) sum += row_sum;
  const auto mean = static_cast<float>(sum / (static_cast<double>(latent.rows) * static_cast<double>(latent.cols)));
  const float inverse = 1.0f / (mean < 1e-5f ? 1e-5f : mean);
  return HfTernaryScale{.scale = std::isfinite(mean) ? rounded_to(latent.format, 1.0f / inverse) : mean,
                        .inverse = inverse};
}

Result<void> quantize_hf_ternary(const HfLatent& latent, const HfTernaryScale& scale, RowRange rows, MutableBytes i2_s,
                                 ThreadPool& pool) {
  const auto cols = static_cast<size_t>(latent.cols);
  const uint64_t in_row = row_bytes(latent.format, latent.cols), out_row = row_bytes(Format::kI2_S, latent.cols);
  const auto quantize = [&](RowRange part, Bytes bytes) -> Result<void> {
    pool.run([&](int worker) {
      std::vector<float> row(cols);
      std::vector<int8_t> codes(cols);
      const auto [first, last] = share_of(part.count, worker, pool.size());
      for (int64_t r = first; r < last; ++r) {
        format_info(latent.format).decode(bytes.subspan(static_cast<uint64_t>(r) * in_row, in_row), row);
        for (size_t c = 0; c < cols; ++c) {
          const float rounded = std::nearbyint(row[c] * scale.inverse);
          codes[c] = static_cast<int8_t>((rounded > 0) - (rounded < 0));  // NaN becomes 0
        }
        encode_i2_s_codes(codes, i2_s.subspan(static_cast<uint64_t>(part.first - rows.first + r) * out_row, out_row));
      }
    });
    return {};
  };
  return read_rows(latent.weights, in_row, rows, quantize);
}

std::unique_ptr<MadeRows> i2_s_rows(int64_t rows, int64_t cols, float scale, MadeRows::Make make) {
  std::vector<std::byte> tail(kI2sTailBytes);
  store(tail.data(), scale);
  return std::make_unique<MadeRows>(row_bytes(Format::kI2_S, cols), static_cast<uint64_t>(rows), std::move(make),
                                    std::move(tail));
}

}  // namespace tern
