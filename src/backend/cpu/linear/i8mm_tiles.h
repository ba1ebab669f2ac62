// Multiplies a panel of codes with many tokens on ARM's matrix instructions for bytes (FEAT_I8MM). One SMMLA multiplies
// 2 rows × 8 columns with 8 columns × 2 tokens: twice the products of SDOT.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tern::cpu {

// Columns that one instruction takes.
inline constexpr size_t kI8mmColumns = 8;

// Sets sums[t · kPanelRows + r] = Σ code·q for the panel's rows (code_panel.h) and n tokens. Token t's activations are
// at q + t · cols; cols is a multiple of kI8mmColumns. Call it only if cpu_target().i8mm.
void i8mm_panel(const uint8_t* panel, const int8_t* q, size_t n, size_t cols, int32_t* sums);

}  // namespace tern::cpu
