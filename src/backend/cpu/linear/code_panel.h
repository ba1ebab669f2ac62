// A panel holds the codes of some rows as bytes, in words of four columns, with the rows side by side: [cols /
// 4][kPanelRows][4]. The vector kernels (code_tiles-inl.h) and AMX (amx_tiles.h) use the same layout.
#pragma once

#include <cstddef>

namespace tern::cpu {

inline constexpr size_t kPanelRows = 32;

}  // namespace tern::cpu
