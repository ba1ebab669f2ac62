#include "file/gguf/gguf_q2_0.h"

#include <algorithm>

namespace tern {
namespace {

uint64_t bytes_as(GgmlType type, const TensorRoom& room) {
  const GgmlTypeInfo& info = *ggml_type_info(type);
  return room.n_values / info.block * info.block_bytes;
}

bool fits(GgmlType type, const TensorRoom& room, uint64_t alignment) {
  if (room.row % ggml_type_info(type)->block != 0) return false;
  const uint64_t bytes = bytes_as(type, room);
  return room.bytes == round_up(bytes, alignment) || (room.is_last && room.bytes == bytes);
}

}  // namespace

std::optional<GgmlType> q2_0_layout(std::span<const TensorRoom> rooms, uint64_t alignment) {
  const auto fit_all = [&](GgmlType type, bool with_last) {
    return std::ranges::all_of(
        rooms, [&](const TensorRoom& room) { return (room.is_last && !with_last) || fits(type, room, alignment); });
  };
  // First without the last tensor: a truncated file, or bytes after the last tensor, must not overrule the others.
  for (const bool with_last : {false, true}) {
    std::optional<GgmlType> found;
    int n_found = 0;
    for (const GgmlType type : {GgmlType::kQ2_0, GgmlType::kPQ2_0, GgmlType::kSTQ1_0}) {
      if (!fit_all(type, with_last)) continue;
      found = type;
      ++n_found;
    }
    if (n_found == 1) return found;
  }
  // The only tensor is the last one and is too short for the widest layout. Any layout then reports the truncation.
  const auto last = std::ranges::find_if(rooms, &TensorRoom::is_last);
  const bool is_cut = last != rooms.end() && last->bytes < bytes_as(GgmlType::kQ2_0, *last);
  return is_cut && fit_all(GgmlType::kQ2_0, false) ? std::optional(GgmlType::kQ2_0) : std::nullopt;
}

bool has_room_of(GgmlType type, std::span<const TensorRoom> rooms, uint64_t alignment) {
  return std::ranges::all_of(rooms,
                             [&](const TensorRoom& room) { return room.is_last || fits(type, room, alignment); });
}

}  // namespace tern
