// Formats by the names that a user gives them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "file/gguf.h"
#include "quant/format.h"

namespace tern {

// kInvalidArgument: no format's name, or none of `choices`; the message, which starts with `what`, lists them.
Result<Format> choose_type(std::string_view what, const std::string& name, std::span<const Format> choices);

GgmlType ggml_type_of(Format format);

}  // namespace tern
