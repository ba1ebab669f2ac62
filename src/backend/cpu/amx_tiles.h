// A panel of codes × many tokens on AMX: a tile instruction multiplies 16 tokens × 64 columns with 64 columns × 16
// rows, 16,384 products in 16 cycles.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tern::cpu {

// Below, AMX saves nothing.
inline constexpr int kAmxMinTokens = 8;
// Of a tile of activations: rows are whole ones, or a tile would read beyond the last of them.
inline constexpr size_t kAmxColumns = 64;

// sums[t · kPanelRows + r] = Σ code·q of the panel's rows (code_panel.h) and n tokens, whose activations are at
// q + t · cols; cols is a multiple of kAmxColumns. Only where cpu_target().amx.
void amx_panel(const uint8_t* panel, const int8_t* q, size_t n, size_t cols, int32_t* sums);

}  // namespace tern::cpu
