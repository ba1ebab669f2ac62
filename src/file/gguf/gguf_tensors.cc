#include "file/gguf/gguf_tensors.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/text/format_text.h"
#include "base/text/quoted.h"
#include "file/gguf/gguf_limits.h"
#include "file/gguf/gguf_q2_0.h"

namespace tern {
namespace {

constexpr std::string_view kGgufDamaged = "the file is damaged; fetch or convert it again";

// A tensor as listed in the file, before its data is located.
struct TensorEntry {
  GgufTensor tensor;
  uint64_t entry_at = 0;         // byte of the entry in the file, for messages
  uint64_t relative_offset = 0;  // of the data, from the start of all data
  uint64_t bytes = 0;            // of the data
};

std::string readable_types() {
  std::string names;
  for (const GgmlTypeInfo& info : ggml_types()) names += (names.empty() ? "" : ", ") + std::string(info.name);
  return names;
}

std::unexpected<Error> unreadable_type(std::string_view path, const TensorEntry& entry, uint32_t number) {
  const std::string_view known_as = unreadable_type_name(number);
  return fail(ErrorCode::kNotSupported,
              "{}: tensor {} at byte {} has type {} ({}), which Tern cannot read; get this model in one of {}", path,
              quoted(entry.tensor.name), entry.entry_at, number, known_as.empty() ? "unknown" : known_as,
              readable_types());
}

// Reads and checks the shape, and stores it with rows first.
Result<void> take_shape(GgufCursor& cursor, TensorEntry& entry) {
  const auto name = [&] { return quoted(entry.tensor.name); };
  if (!cursor.has(sizeof(uint32_t))) {
    return cursor.cut_short(format_text("the rank of tensor {}", name()), sizeof(uint32_t));
  }
  const auto n_dims = cursor.take<uint32_t>();
  if (n_dims < 1 || n_dims > kGgufMostDimensions) {
    return fail(ErrorCode::kCorruption, "{}: tensor {} at byte {} has {} dimensions, not 1 to {}: {}", cursor.path(),
                name(), entry.entry_at, n_dims, kGgufMostDimensions, kGgufDamaged);
  }
  const uint64_t shape_bytes = n_dims * sizeof(uint64_t);
  if (!cursor.has(shape_bytes)) return cursor.cut_short(format_text("the shape of tensor {}", name()), shape_bytes);
  entry.tensor.shape.resize(n_dims);
  int64_t n_elements = 1;
  for (int64_t& dim : entry.tensor.shape) {
    dim = cursor.take<int64_t>();
    if (dim < 1) {
      return fail(ErrorCode::kCorruption, "{}: tensor {} at byte {} has a dimension of {}, which must be 1 or more: {}",
                  cursor.path(), name(), entry.entry_at, static_cast<uint64_t>(dim), kGgufDamaged);
    }
    if (__builtin_mul_overflow(n_elements, dim, &n_elements)) {
      return fail(ErrorCode::kCorruption, "{}: tensor {} at byte {} has more than 2^63 values: {}", cursor.path(),
                  name(), entry.entry_at, kGgufDamaged);
    }
  }
  std::ranges::reverse(entry.tensor.shape);
  return {};
}

// The error for rows that are not whole blocks: every later row would start inside a block. I2_S allows that, but a
// tensor that ends inside a block has lost its last values.
std::unexpected<Error> broken_rows(std::string_view path, const TensorEntry& entry, const GgmlTypeInfo& info) {
  const std::string name = quoted(entry.tensor.name);
  const int64_t cols = entry.tensor.shape.back();
  if (info.type == GgmlType::kI2_S) {
    return fail(ErrorCode::kCorruption,
                "{}: tensor {} at byte {} is I2_S with {} values, which is not a multiple of its block of 128: {}",
                path, name, entry.entry_at, entry.tensor.n_elements(), kGgufDamaged);
  }
  return fail(ErrorCode::kCorruption,
              "{}: tensor {} at byte {} is {} with rows of {} values, which is not a multiple of its block of {}: {}",
              path, name, entry.entry_at, info.name, cols, info.block, kGgufDamaged);
}

Result<TensorEntry> take_entry(GgufCursor& cursor, uint64_t number, uint64_t count) {
  TensorEntry entry;
  entry.entry_at = cursor.position();
  std::string_view& name = entry.tensor.name;
  if (!cursor.take_string(name))
    return cursor.string_cut_short(format_text("the name of tensor {} of {}", number, count));
  if (name.size() > kGgufLongestName) {
    return fail(ErrorCode::kCorruption, "{}: tensor {} of {} at byte {} has a name of {} bytes, more than {}: {}",
                cursor.path(), number, count, entry.entry_at, name.size(), kGgufLongestName, kGgufDamaged);
  }
  TRY_STATUS(take_shape(cursor, entry));
  constexpr uint64_t kRestBytes = sizeof(uint32_t) + sizeof(uint64_t);
  if (!cursor.has(kRestBytes)) {
    return cursor.cut_short(format_text("the type and offset of tensor {}", quoted(name)), kRestBytes);
  }
  const auto type_number = cursor.take<uint32_t>();
  entry.tensor.type = static_cast<GgmlType>(type_number);
  entry.relative_offset = cursor.take<uint64_t>();
  const GgmlTypeInfo* info = ggml_type_info(entry.tensor.type);
  if (info == nullptr) return unreadable_type(cursor.path(), entry, type_number);
  if ((info->is_flat ? entry.tensor.n_elements() : entry.tensor.shape.back()) % info->block != 0) {
    return broken_rows(cursor.path(), entry, *info);
  }
  const auto bytes = ggml_tensor_bytes(entry.tensor.type, entry.tensor.shape);
  if (!bytes) {
    return fail(ErrorCode::kCorruption, "{}: tensor {} at byte {} has more than 2^63 bytes: {}", cursor.path(),
                quoted(name), entry.entry_at, kGgufDamaged);
  }
  entry.bytes = *bytes;
  return entry;
}

// The space of each tensor of `type`, in the file's order of entries.
std::vector<TensorRoom> rooms_of(const GgufCursor& cursor, std::span<const TensorEntry> entries, GgmlType type,
                                 uint64_t alignment) {
  std::vector<uint64_t> offsets;
  for (const TensorEntry& entry : entries) offsets.push_back(entry.relative_offset);
  std::ranges::sort(offsets);
  const uint64_t data_begin = std::min(round_up(cursor.position(), alignment), cursor.file_bytes());
  const uint64_t data_bytes = cursor.file_bytes() - data_begin;
  std::vector<TensorRoom> rooms;
  for (const TensorEntry& entry : entries) {
    if (entry.tensor.type != type) continue;
    const auto next = std::ranges::upper_bound(offsets, entry.relative_offset);
    const bool is_last = next == offsets.end();
    const uint64_t end = is_last ? std::max(data_bytes, entry.relative_offset) : *next;
    rooms.push_back({.n_values = static_cast<uint64_t>(entry.tensor.n_elements()),
                     .row = static_cast<uint64_t>(entry.tensor.shape.back()),
                     .bytes = end - entry.relative_offset,
                     .is_last = is_last});
  }
  return rooms;
}

const TensorEntry& first_of(std::span<const TensorEntry> entries, GgmlType type) {
  return *std::ranges::find_if(entries, [&](const TensorEntry& entry) { return entry.tensor.type == type; });
}

// Type 42 has three layouts that differ only in the space between tensors. This runs before data is located, because it
// decides how many bytes these tensors need.
Result<void> decide_q2_0(const GgufCursor& cursor, std::vector<TensorEntry>& entries, uint64_t alignment) {
  const auto rooms = rooms_of(cursor, entries, GgmlType::kQ2_0, alignment);
  if (rooms.empty()) return {};
  const auto layout = q2_0_layout(rooms, alignment);
  if (!layout) {
    const TensorEntry& first = first_of(entries, GgmlType::kQ2_0);
    return fail(
        ErrorCode::kNotSupported,
        "{}: tensor {} at byte {} and all others of type 42 could be Q2_0 in groups of 64 or of 128, or STQ1_0, and "
        "the {} bytes that it takes fit none, or several; get this model in one of {}",
        cursor.path(), quoted(first.tensor.name), first.entry_at, rooms.front().bytes, readable_types());
  }
  for (TensorEntry& entry : entries) {
    if (entry.tensor.type != GgmlType::kQ2_0) continue;
    entry.tensor.type = *layout;
    entry.bytes = ggml_tensor_bytes(*layout, entry.tensor.shape).value();
  }
  return {};
}

// Rejects type numbers of the Prism fork in files of ik_llama.cpp, which uses them for smaller ternary formats of its
// own.
Result<void> check_prism_types(const GgufCursor& cursor, std::span<const TensorEntry> entries, uint64_t alignment) {
  constexpr std::pair<GgmlType, std::string_view> kShared[] = {{GgmlType::kPQ2_0, "IQ2_TN"},
                                                               {GgmlType::kPTQ1_0, "IQ1_TN"}};
  for (const auto& [type, other] : kShared) {
    const auto rooms = rooms_of(cursor, entries, type, alignment);
    if (has_room_of(type, rooms, alignment)) continue;
    const TensorEntry& first = first_of(entries, type);
    return fail(ErrorCode::kNotSupported,
                "{}: tensor {} at byte {} has type {} and takes {} bytes, not the {} of {}: it may be {} of "
                "ik_llama.cpp; get this model in one of {}",
                cursor.path(), quoted(first.tensor.name), first.entry_at, static_cast<uint32_t>(type),
                rooms.front().bytes, first.bytes, ggml_type_info(type)->name, other, readable_types());
  }
  return {};
}

// Converts offsets relative to the data into file offsets, and checks that the file is long enough.
Result<void> place_all(const GgufCursor& cursor, std::vector<TensorEntry>& entries, uint64_t alignment) {
  const uint64_t data_begin = round_up(cursor.position(), alignment);
  const uint64_t file_bytes = cursor.file_bytes();
  const TensorEntry* last = nullptr;
  uint64_t last_end = 0;
  for (TensorEntry& entry : entries) {
    if (entry.relative_offset % alignment != 0) {
      return fail(ErrorCode::kCorruption,
                  "{}: tensor {} at byte {} has its data at offset {}, which is not a multiple of the alignment {}: {}",
                  cursor.path(), quoted(entry.tensor.name), entry.entry_at, entry.relative_offset, alignment,
                  kGgufDamaged);
    }
    uint64_t end = 0;
    if (__builtin_add_overflow(data_begin, entry.relative_offset, &entry.tensor.offset) ||
        __builtin_add_overflow(entry.tensor.offset, entry.bytes, &end)) {
      return fail(ErrorCode::kCorruption, "{}: tensor {} at byte {} has its data at offset {}, beyond any file: {}",
                  cursor.path(), quoted(entry.tensor.name), entry.entry_at, entry.relative_offset, kGgufDamaged);
    }
    if (end > last_end) {
      last = &entry;
      last_end = end;
    }
  }
  if (last_end > file_bytes) {
    return fail(
        ErrorCode::kCorruption,
        "{}: the data of tensor {} ends at byte {}, but the file has {} bytes ({} are missing): the download may be "
        "incomplete; fetch the file again",
        cursor.path(), quoted(last->tensor.name), last_end, file_bytes, last_end - file_bytes);
  }
  return {};
}

// llama.cpp once used I2_S's number for IQ4_NL_4_4: 18 bytes for 32 values. Only the data's size distinguishes them.
bool is_iq4_nl_4_4(const TensorEntry& entry, uint64_t alignment) {
  if (entry.tensor.type != GgmlType::kI2_S) return false;
  const uint64_t i2_s_room = round_up(entry.bytes, alignment);
  const uint64_t iq4_bytes = static_cast<uint64_t>(entry.tensor.n_elements()) / 32 * 18;
  const uint64_t span = entry.tensor.span;
  return span != i2_s_room && (span == iq4_bytes || span == round_up(iq4_bytes, alignment));
}

// Sets the tensors' views of the file. All are known to end within it.
Result<void> cut_data(const GgufCursor& cursor, std::vector<TensorEntry>& entries, uint64_t alignment) {
  std::vector<TensorEntry*> by_offset(entries.size());
  std::ranges::transform(entries, by_offset.begin(), [](TensorEntry& entry) { return &entry; });
  std::ranges::stable_sort(by_offset, {}, [](const TensorEntry* entry) { return entry->tensor.offset; });
  for (size_t i = 0; i < by_offset.size(); ++i) {
    TensorEntry& entry = *by_offset[i];
    GgufTensor& tensor = entry.tensor;
    const bool is_last = i + 1 == by_offset.size();
    tensor.span = (is_last ? cursor.file_bytes() : by_offset[i + 1]->tensor.offset) - tensor.offset;
    if (is_iq4_nl_4_4(entry, alignment)) {
      return fail(ErrorCode::kNotSupported,
                  "{}: tensor {} at byte {} has type 36 and takes 4.5 bits per value: it is IQ4_NL_4_4 (removed from "
                  "llama.cpp), not I2_S; get this model in one of {}",
                  cursor.path(), quoted(tensor.name), entry.entry_at, readable_types());
    }
    if (entry.bytes > tensor.span) {
      return fail(ErrorCode::kCorruption,
                  "{}: tensor {} needs {} bytes at byte {}, but tensor {} begins {} bytes later, so they overlap: {}",
                  cursor.path(), quoted(tensor.name), entry.bytes, tensor.offset, quoted(by_offset[i + 1]->tensor.name),
                  tensor.span, kGgufDamaged);
    }
    tensor.data = cursor.stored(tensor.offset, entry.bytes);
  }
  return {};
}

}  // namespace

Result<GgufTensors> read_gguf_tensors(GgufCursor& cursor, uint64_t count, uint64_t alignment) {
  GgufTensors tensors;
  std::vector<TensorEntry> entries;
  entries.reserve(std::min(count, kGgufMostReserved));
  for (uint64_t i = 0; i < count; ++i) {
    TRY(TensorEntry entry, take_entry(cursor, i + 1, count));
    if (!tensors.index.emplace(entry.tensor.name, i).second) {
      return fail(ErrorCode::kCorruption,
                  "{}: tensor {} at byte {} appears twice, and it is unclear which one counts; convert the model again",
                  cursor.path(), quoted(entry.tensor.name), entry.entry_at);
    }
    entries.push_back(std::move(entry));
  }
  TRY_STATUS(check_prism_types(cursor, entries, alignment));  // before type 42 may become kPQ2_0
  TRY_STATUS(decide_q2_0(cursor, entries, alignment));
  TRY_STATUS(place_all(cursor, entries, alignment));
  TRY_STATUS(cut_data(cursor, entries, alignment));
  tensors.entries.reserve(entries.size());
  for (TensorEntry& entry : entries) tensors.entries.push_back(std::move(entry.tensor));
  return tensors;
}

}  // namespace tern
