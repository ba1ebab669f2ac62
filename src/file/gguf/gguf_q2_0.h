// Detects which of its three layouts type 42 has in a file, and whether type numbers shared by two programs have Tern's
// meaning.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "file/gguf/gguf.h"

namespace tern {

// The space of one tensor. Type 42 is Q2_0 in groups of 64 (llama.cpp) or of 128 (files of the Prism fork, which later
// used 142 for it), or STQ1_0 (files of Hunyuan's makers, which later used 43).
struct TensorRoom {
  uint64_t n_values = 0;
  uint64_t row = 0;      // values of a row
  uint64_t bytes = 0;    // up to the next tensor, or for the last tensor up to the end of the file
  bool is_last = false;  // the last tensor in the file: padding, or nothing, may follow it
};

// Returns kQ2_0, kPQ2_0 or kSTQ1_0 for all of them, because one program wrote the file. 2.25, 2.125 and 1.3125 bits per
// value differ by more than the padding to `alignment` except in tiny tensors, so every tensor counts. nullopt if the
// sizes do not decide it.
std::optional<GgmlType> q2_0_layout(std::span<const TensorRoom> rooms, uint64_t alignment);

// True if the sizes match `type`, whose number another program uses for a format of another size. Only the last tensor
// of a file may differ: larger, or smaller if the file was cut.
bool has_room_of(GgmlType type, std::span<const TensorRoom> rooms, uint64_t alignment);

}  // namespace tern
