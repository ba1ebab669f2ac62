// Reads values of GGUF's metadata by their kind.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "file/gguf/gguf.h"

namespace tern {

// Calls `use` with a zero of the C++ type for this kind. Precondition: a number or a bool. A bool is read as a byte,
// because files with bytes other than 0 and 1 exist.
template <class Use>
auto with_type_of(GgufKind kind, Use use) {
  switch (kind) {
    case GgufKind::kU8:
      return use(uint8_t{});
    case GgufKind::kI8:
      return use(int8_t{});
    case GgufKind::kU16:
      return use(uint16_t{});
    case GgufKind::kI16:
      return use(int16_t{});
    case GgufKind::kU32:
      return use(uint32_t{});
    case GgufKind::kI32:
      return use(int32_t{});
    case GgufKind::kF32:
      return use(float{});
    case GgufKind::kU64:
      return use(uint64_t{});
    case GgufKind::kI64:
      return use(int64_t{});
    case GgufKind::kF64:
      return use(double{});
    default:
      CHECK(kind == GgufKind::kBool);
      return use(uint8_t{});
  }
}

// Takes the next string off the front of `rest`. GgufFile has checked that it exists.
inline std::string_view take_gguf_string(Bytes& rest) {
  const auto size = static_cast<size_t>(load<uint64_t>(rest.data()));
  const std::string_view text = as_text(rest.subspan(sizeof(uint64_t), size));
  rest = rest.subspan(sizeof(uint64_t) + size);
  return text;
}

}  // namespace tern
