// One layer of a device's keys and values on the host, in shuffled blocks.
#pragma once

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "backend/gpu/kernels/kv_cache.h"
#include "backend/ref/ops.h"
#include "base/half.h"
#include "conform/gpu/gpu_bench.h"
#include "conform/kv_blocks.h"

namespace tern::conform {

inline constexpr int kSomePositions = 140, kManyPositions = 256;  // of a sequence

// Poisoned blocks of one sequence of at most n_positions, between blocks that no kernel may touch. The reference
// appends to host blocks first.
struct KvData {
  KvData(const gpu::HeadShape& s, KvType kv_type, uint32_t n_positions, unsigned seed = 1)
      : type(kv_type),
        shape(s),
        blocks(static_cast<int>(s.n_kv_heads), static_cast<int>(s.head_dim), static_cast<int>(n_positions), kv_type,
               seed) {
    const auto n = static_cast<size_t>(kv_blocks_for(static_cast<int>(n_positions)));
    std::vector<uint32_t> order(2 * n);
    std::iota(order.begin(), order.end(), 0u);
    std::shuffle(order.begin(), order.end(), std::mt19937(seed));
    table.assign(order.begin(), order.begin() + static_cast<ptrdiff_t>(n));
    words = poisoned<uint32_t>(2 * n * block_bytes() / 4);
  }
  KvData(const KvData&) = delete;
  KvData& operator=(const KvData&) = delete;

  size_t row_bytes() const {
    const uint32_t dim = shape.head_dim;
    return 4 * (type == KvType::kF32   ? gpu::kv_row_words<wgsl::F32>(dim)
                : type == KvType::kF16 ? gpu::kv_row_words<wgsl::F16x2>(dim)
                                       : gpu::kv_row_words<wgsl::I8x4>(dim));
  }
  size_t block_bytes() const { return 2 * shape.n_kv_heads * kKvBlock * row_bytes(); }
  // Row index of a position's key (side 0) or value (side 1).
  size_t row(size_t side, size_t head, size_t pos) const {
    return ((table[pos / kKvBlock] * 2 + side) * shape.n_kv_heads + head) * kKvBlock + pos % kKvBlock;
  }

  // The q8_0 scale of every value, in the order of floats(); zeros for other types.
  std::vector<float> scales() const {
    const size_t dim = shape.head_dim, n_words = gpu::kv_scale_words(shape.head_dim);
    std::vector<float> all;
    for (size_t at = 0; at < 4 * words.size(); at += row_bytes()) {
      for (size_t i = 0; i < dim; ++i) {
        const size_t group = i / kKvScaleGroup, half = 2 * (group % n_words) + group / n_words;
        const std::byte* const bytes = reinterpret_cast<const std::byte*>(words.data()) + at + dim + 2 * half;
        uint16_t bits = 0;
        if (type == KvType::kQ8_0) std::memcpy(&bits, bytes, sizeof bits);
        all.push_back(f16_to_f32(bits));
      }
    }
    return all;
  }

  // All values as floats, [rows, head_dim].
  std::vector<float> floats() const {
    std::vector<float> values;
    if (type == KvType::kQ8_0) {
      values = scales();
      for (size_t i = 0; i < values.size(); ++i) {
        const size_t at = i / shape.head_dim * row_bytes() + i % shape.head_dim;
        values[i] *= static_cast<float>(reinterpret_cast<const int8_t*>(words.data())[at]);
      }
      return values;
    }
    for (const uint32_t word : words) {
      if (type == KvType::kF32) {
        values.push_back(std::bit_cast<float>(word));
      } else {
        values.push_back(f16_to_f32(static_cast<uint16_t>(word)));
        values.push_back(f16_to_f32(static_cast<uint16_t>(word >> 16)));
      }
    }
    return values;
  }

  // Appends the keys and values of n tokens at position `pos` and after.
  void append(const float* k, const float* v, int n, int pos) {
    ref::kv_append({k, v, blocks.rows(n, pos).rows, blocks.layer});
    const ops::KvLayer& layer = blocks.layer;
    const size_t value = type == KvType::kQ8_0 ? 1 : kv_head_bytes(1, type);
    const size_t dim = shape.head_dim, n_words = gpu::kv_scale_words(shape.head_dim);
    auto* const bytes = reinterpret_cast<std::byte*>(words.data());
    for (int head = 0; head < layer.n_kv_heads; ++head) {
      for (int at = pos; at < pos + n; ++at) {
        const std::byte* const block = blocks.block(static_cast<size_t>(at / kKvBlock));
        const auto to = [&](size_t side) {
          return bytes + row(side, static_cast<size_t>(head), static_cast<size_t>(at)) * row_bytes();
        };
        for (int i = 0; i < layer.head_dim; ++i) {
          const auto copy = [&](size_t side, const std::byte* from, size_t index) {
            std::copy_n(from + index * value, value, to(side) + static_cast<size_t>(i) * value);
          };
          copy(0, block + layer.k_offset, kv_key_at(layer, head, at, i));
          copy(1, block + layer.v_offset, kv_value_at(layer, head, at, i));
        }
        if (type != KvType::kQ8_0) continue;
        for (const size_t side : {size_t{0}, size_t{1}}) std::fill_n(to(side) + dim, 4 * n_words, std::byte{0});
        for (int i = 0; i < layer.head_dim; i += kKvScaleGroup) {
          const auto copy = [&](size_t side, const std::byte* from, size_t index) {
            const size_t group = static_cast<size_t>(i) / kKvScaleGroup;
            std::copy_n(from + kv_scale_offset(layer) + 2 * index, 2,
                        to(side) + dim + 4 * (group % n_words) + 2 * (group / n_words));
          };
          copy(0, block + layer.k_offset, kv_key_scale_at(layer, head, at, i));
          copy(1, block + layer.v_offset, kv_value_scale_at(layer, head, at, i));
        }
      }
    }
  }

  // Attention by the reference.
  void attention(const float* q, int n, int n_heads, int pos, int window, float* out, float softcap = 0) const {
    const auto [rows, tiles] = blocks.rows(n, pos);
    ref::attention({q, rows, tiles, n_heads, window, blocks.layer, out, softcap});
  }

  // `params` of a batch of n tokens at position `pos` and after. The angle table may start with `angles` rows of other
  // sequences.
  std::vector<uint32_t> params(uint32_t pos, uint32_t n, uint32_t angles = 0) const {
    return batch_params(pos, n, table, angles);
  }

  KvType type;
  gpu::HeadShape shape;
  std::vector<uint32_t> table;  // block table
  std::vector<uint32_t> words;
  KvOfOneLayer blocks;
};

// The KvType for each KV word type of the kernels.
template <class KvWord>
constexpr KvType kv_type_of() {
  return std::same_as<KvWord, wgsl::I8x4>    ? KvType::kQ8_0
         : std::same_as<KvWord, wgsl::F16x2> ? KvType::kF16
                                             : KvType::kF32;
}

// The error that storing may add to a value that was not bit-identical before. As f16: pack2x16float may round either
// way, by one step of 11 bits. As a code: it may be off by one, and so may its scale.
inline double kv_error(KvType type, double value, double scale = 0) {
  const double of_half = std::abs(value) * 0x1p-10 + 0x1p-24;
  return type == KvType::kF16 ? of_half : type == KvType::kQ8_0 ? std::abs(scale) * 1.01 + of_half : 0;
}

}  // namespace tern::conform
