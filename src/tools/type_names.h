// Names of formats and other types, as users write them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "file/gguf/gguf.h"
#include "quant/format.h"
#include "tern/options.h"

namespace tern {

// kInvalidArgument: an unknown format, or none of `choices`. The message starts with `what` and lists them, with
// `others`: further names that the caller accepts.
Result<Format> choose_type(std::string_view what, const std::string& name, std::span<const Format> choices,
                           std::span<const std::string_view> others = {});

GgmlType ggml_type_of(Format format);

std::string_view kv_type_name(KvType type);  // "f16"

}  // namespace tern
