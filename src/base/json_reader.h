// Parses untrusted JSON with limits and fetches members by name and type. Only for .cc files: the include is heavy.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tern {

using Json = nlohmann::json;

struct JsonLimits {
  // The parser needs up to 20 times the text's size, so this limits its memory. The largest published tokenizer.json
  // has 33 MB.
  size_t max_bytes = size_t{64} << 20;
  // Rejects objects with a duplicate name, because readers differ in which of the two they use.
  bool unique_names = false;
};

// kCorruption: invalid JSON, over the limits, or nested more than 64 deep.
Result<Json> parse_json(std::string_view text, std::string_view path, const JsonLimits& limits = {});

// Returns the member `key` of `object` if it has the type; nullptr if it is absent or null; else kCorruption. `object`
// must be a JSON object.
Result<const Json*> member(const Json& object, const char* key, Json::value_t type, std::string_view path);

Result<std::string> string_or(const Json& object, const char* key, const char* otherwise, std::string_view path);
Result<bool> bool_or(const Json& object, const char* key, bool otherwise, std::string_view path);

}  // namespace tern
