// Multiplies a panel of codes with many tokens on AMX. One tile instruction multiplies 16 tokens × 64 columns with 64
// columns × 16 rows: 16,384 products in 16 cycles.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tern::cpu {

// With fewer tokens, AMX saves nothing.
inline constexpr int kAmxMinTokens = 8;
// Columns of one tile of activations. A row must be whole tiles, or the last one would be read beyond its end.
inline constexpr size_t kAmxColumns = 64;

// Sets sums[t · kPanelRows + r] = Σ code·q for the panel's rows (code_panel.h) and n tokens. Token t's activations are
// at q + t · cols; cols is a multiple of kAmxColumns. Call it only if cpu_target().amx.
void amx_panel(const uint8_t* panel, const int8_t* q, size_t n, size_t cols, int32_t* sums);

}  // namespace tern::cpu
