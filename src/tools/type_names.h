// Formats and other types by the names that a user gives them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "file/gguf.h"
#include "quant/format.h"
#include "tern/options.h"

namespace tern {

// kInvalidArgument: no format's name, or none of `choices`; the message, which starts with `what`, lists them, and
// `others`, names that the caller would have taken.
Result<Format> choose_type(std::string_view what, const std::string& name, std::span<const Format> choices,
                           std::span<const std::string_view> others = {});

GgmlType ggml_type_of(Format format);

std::string_view kv_type_name(KvType type);  // "f16"

}  // namespace tern
