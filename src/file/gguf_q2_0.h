// Which of its two layouts type 42 has in a file, and whether other numbers that two programs use mean what Tern reads.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "file/gguf.h"

namespace tern {

// A tensor of such a type. 42 is Q2_0 in groups of 64 (llama.cpp) or of 128 (files of the Prism fork, which later took
// 142 for it).
struct TensorRoom {
  uint64_t n_values = 0;
  bool whole_128 = false;  // rows are whole groups of 128
  uint64_t bytes = 0;      // up to the next tensor, or for the last tensor up to the end of the file
  bool is_last = false;    // of all tensors in the file: what follows it may be padding, or nothing
};

// kQ2_0 or kPQ2_0 for all of them: a file is written by one program. 2.25 and 2.125 bits per value differ by more than
// the padding to `alignment` in all but tiny tensors, so every tensor has a say. nullopt where the rooms do not tell.
std::optional<GgmlType> q2_0_layout(std::span<const TensorRoom> rooms, uint64_t alignment);

// Whether the rooms are those of tensors of `type`, whose number another program uses for a format of another size.
// Only the last tensor of a file may have more room, or less where the file was cut.
bool has_room_of(GgmlType type, std::span<const TensorRoom> rooms, uint64_t alignment);

}  // namespace tern
