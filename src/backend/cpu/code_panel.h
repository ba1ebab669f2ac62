// A panel: some rows' codes as bytes, in words of four columns, row beside row: [cols / 4][kPanelRows][4]. Both the
// vectors' kernels (code_tiles-inl.h) and AMX's (amx_tiles.h) take it as it is.
#pragma once

#include <cstddef>

namespace tern::cpu {

inline constexpr size_t kPanelRows = 32;

}  // namespace tern::cpu
