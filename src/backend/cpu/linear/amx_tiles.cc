#include "backend/cpu/linear/amx_tiles.h"

#include "backend/cpu/linear/code_panel.h"
#include "base/check.h"

#if defined(__linux__) && defined(__x86_64__)
#include <immintrin.h>

namespace tern::cpu {
namespace {

constexpr size_t kTileRows = 16, kTileRowBytes = 64;
constexpr long kPanelStride = kPanelRows * 4, kSumsStride = kPanelRows * sizeof(int32_t);
static_assert(kPanelRows == 2 * kTileRows);

// The operand of LDTILECFG: the shapes of the eight tiles. Intel's manual, volume 1, chapter 18.
struct alignas(64) TileConfig {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};
};
static_assert(sizeof(TileConfig) == 64);

// Tiles 0 … 3 hold sums, 4 and 5 activations (n_tokens tokens each), 6 and 7 codes.
TileConfig config_for(size_t n_tokens) {
  TileConfig config;
  for (int tile = 0; tile < 8; ++tile) {
    config.row_bytes[tile] = kTileRowBytes;
    config.rows[tile] = static_cast<uint8_t>(tile < 6 ? n_tokens : kTileRows);
  }
  return config;
}

#define TERN_AMX __attribute__((target("amx-tile,amx-int8")))

// Multiplies 16 or 32 tokens with 32 rows; 16 are fewer if the tiles are configured for fewer.
template <int kTokens>
TERN_AMX void multiply(const uint8_t* panel, const int8_t* q, size_t cols, int32_t* sums) {
  const auto q_stride = static_cast<long>(cols);
  const int8_t* const q2 = q + kTileRows * cols;
  _tile_zero(0);
  _tile_zero(1);
  if constexpr (kTokens == 32) {
    _tile_zero(2);
    _tile_zero(3);
  }
  for (size_t i = 0; i < cols; i += kTileRowBytes, panel += kTileRowBytes * kPanelRows) {
    _tile_loadd(4, q + i, q_stride);
    _tile_loadd(6, panel, kPanelStride);
    _tile_loadd(7, panel + kTileRowBytes, kPanelStride);
    _tile_dpbsud(0, 4, 6);
    _tile_dpbsud(1, 4, 7);
    if constexpr (kTokens == 32) {
      _tile_loadd(5, q2 + i, q_stride);
      _tile_dpbsud(2, 5, 6);
      _tile_dpbsud(3, 5, 7);
    }
  }
  _tile_stored(0, sums, kSumsStride);
  _tile_stored(1, sums + kTileRows, kSumsStride);
  if constexpr (kTokens == 32) {
    _tile_stored(2, sums + kTileRows * kPanelRows, kSumsStride);
    _tile_stored(3, sums + kTileRows * kPanelRows + kTileRows, kSumsStride);
  }
}

}  // namespace

TERN_AMX void amx_panel(const uint8_t* panel, const int8_t* q, size_t n, size_t cols, int32_t* sums) {
  size_t t = 0;
  if (n >= kTileRows) {
    const TileConfig config = config_for(kTileRows);
    _tile_loadconfig(&config);
    for (; t + 2 * kTileRows <= n; t += 2 * kTileRows) {
      multiply<32>(panel, q + t * cols, cols, sums + t * kPanelRows);
    }
    for (; t + kTileRows <= n; t += kTileRows) {
      multiply<16>(panel, q + t * cols, cols, sums + t * kPanelRows);
    }
  }
  if (t < n) {
    const TileConfig config = config_for(n - t);
    _tile_loadconfig(&config);
    multiply<16>(panel, q + t * cols, cols, sums + t * kPanelRows);
  }
  _tile_release();
}

}  // namespace tern::cpu

#else

namespace tern::cpu {

void amx_panel(const uint8_t*, const int8_t*, size_t, size_t, int32_t*) { CHECK(false); }

}  // namespace tern::cpu

#endif
