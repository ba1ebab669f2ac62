// A metadata value that replaces the one in a GGUF file, written as KEY=TYPE:VALUE.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "file/gguf/gguf.h"

namespace tern {

struct GgufOverride {
  std::string key;
  GgufKind kind = GgufKind::kI64;  // kI64 for int, kF64 for float, kBool, or kString for str
  std::string data;                // the bytes of the value, as in a file
};

// kInvalidArgument: no key, a type other than int, float, bool and str, or a value that does not fit the type.
Result<GgufOverride> parse_gguf_override(std::string_view text);

}  // namespace tern
