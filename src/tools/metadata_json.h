// GGUF metadata values as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "file/gguf.h"

namespace tern {

// Numbers are numbers, and those that JSON has no word for (infinite, not a number) null. An array of more items than
// kArrayItemsShown is {"count": n, "first": [items]}, unless `whole_arrays`.
constexpr uint64_t kArrayItemsShown = 16;
nlohmann::ordered_json metadata_json(const GgufValue& value, bool whole_arrays);

// The same shape for an array that is JSON already.
nlohmann::ordered_json shortened_array(nlohmann::ordered_json array, bool whole);

}  // namespace tern
