#include "file/gguf/gguf_metadata.h"

#include <algorithm>

#include "base/text/format_text.h"
#include "base/text/quoted.h"
#include "file/gguf/gguf_limits.h"

namespace tern {
namespace {

bool is_known(uint32_t kind) { return kind <= static_cast<uint32_t>(GgufKind::kF64); }

std::unexpected<Error> unknown_kind(const GgufCursor& cursor, std::string_view key, uint32_t kind) {
  return fail(
      ErrorCode::kCorruption,
      "{}: metadata {} has a value of unknown kind {} at byte {}: the file is damaged; fetch or convert it again",
      cursor.path(), quoted(key), kind, cursor.position() - sizeof(uint32_t));
}

Result<Bytes> take_string_elements(GgufCursor& cursor, std::string_view key, uint64_t count) {
  const uint64_t begin = cursor.position();
  std::string_view text;
  for (uint64_t i = 0; i < count; ++i) {
    if (!cursor.take_string(text)) return cursor.string_cut_short(format_text("{}[{}]", quoted(key), i));
  }
  return cursor.bytes().subspan(begin, cursor.position() - begin);
}

Result<GgufValue> take_array(GgufCursor& cursor, std::string_view key) {
  constexpr uint64_t kHeadBytes = sizeof(uint32_t) + sizeof(uint64_t);
  if (!cursor.has(kHeadBytes)) return cursor.cut_short(format_text("the array {}", quoted(key)), kHeadBytes);
  const auto kind_number = cursor.take<uint32_t>();
  if (!is_known(kind_number)) return unknown_kind(cursor, key, kind_number);
  const auto kind = static_cast<GgufKind>(kind_number);
  if (kind == GgufKind::kArray) {
    return fail(
        ErrorCode::kNotSupported,
        "{}: metadata {} at byte {} is an array of arrays, which GGUF readers do not accept; convert the model again "
        "without it",
        cursor.path(), quoted(key), cursor.position() - sizeof(uint32_t));
  }
  const auto count = cursor.take<uint64_t>();
  const uint64_t least_bytes = kind == GgufKind::kString ? sizeof(uint64_t) : gguf_kind_bytes(kind);
  if (count > cursor.remaining() / least_bytes) {
    return fail(
        ErrorCode::kCorruption,
        "{}: metadata {} promises {} values of kind {} at byte {}, which cannot fit in the {} bytes that follow: the "
        "download may be incomplete; fetch the file again",
        cursor.path(), quoted(key), count, gguf_kind_name(kind), cursor.position(), cursor.remaining());
  }
  GgufValue value{.kind = kind, .is_array = true, .count = count, .data = {}};
  if (kind == GgufKind::kString) {
    TRY(value.data, take_string_elements(cursor, key, count));
  } else {
    if (!cursor.has(count * least_bytes))
      return cursor.cut_short(format_text("the array {}", quoted(key)), count * least_bytes);
    value.data = cursor.take_bytes(count * least_bytes);
  }
  return value;
}

Result<GgufValue> take_value(GgufCursor& cursor, std::string_view key) {
  if (!cursor.has(sizeof(uint32_t))) {
    return cursor.cut_short(format_text("the kind of metadata {}", quoted(key)), sizeof(uint32_t));
  }
  const auto kind_number = cursor.take<uint32_t>();
  if (!is_known(kind_number)) return unknown_kind(cursor, key, kind_number);
  const auto kind = static_cast<GgufKind>(kind_number);
  if (kind == GgufKind::kArray) return take_array(cursor, key);
  if (kind == GgufKind::kString) {
    std::string_view text;
    if (!cursor.take_string(text)) return cursor.string_cut_short(format_text("the value of {}", quoted(key)));
    return GgufValue{.kind = kind, .data = as_bytes(text)};
  }
  const uint32_t bytes = gguf_kind_bytes(kind);
  if (!cursor.has(bytes)) return cursor.cut_short(format_text("the value of {}", quoted(key)), bytes);
  return GgufValue{.kind = kind, .data = cursor.take_bytes(bytes)};
}

}  // namespace

Result<GgufMetadata> read_gguf_metadata(GgufCursor& cursor, uint64_t count) {
  GgufMetadata metadata;
  metadata.entries.reserve(std::min(count, kGgufMostReserved));
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t at = cursor.position();
    std::string_view key;
    if (!cursor.take_string(key)) {
      return cursor.string_cut_short(format_text("the key of metadata entry {} of {}", i + 1, count));
    }
    if (!metadata.index.emplace(key, i).second) {
      return fail(
          ErrorCode::kCorruption,
          "{}: metadata {} at byte {} appears twice, and it is unclear which one counts; convert the model again",
          cursor.path(), quoted(key), at);
    }
    TRY(GgufValue value, take_value(cursor, key));
    metadata.entries.emplace_back(key, value);
  }
  return metadata;
}

}  // namespace tern
