// GGUF metadata values as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "file/gguf/gguf.h"

namespace tern {

// Numbers become JSON numbers; infinity and NaN become null. Unless `whole_arrays`, an array with more than
// kArrayItemsShown items becomes {"count": n, "first": [items]}.
constexpr uint64_t kArrayItemsShown = 16;
nlohmann::ordered_json metadata_json(const GgufValue& value, bool whole_arrays);

// The same for an array that is already JSON.
nlohmann::ordered_json shortened_array(nlohmann::ordered_json array, bool whole);

}  // namespace tern
