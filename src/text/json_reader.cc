#include "text/json_reader.h"

namespace tern {
namespace {

// The parser needs up to 20 times the file's size, so this bounds its memory. The largest published file has 33 MB.
constexpr size_t kMaxBytes = size_t{64} << 20;
constexpr size_t kMaxDepth = 64;

// Whether brackets nest too deep, by a scan that needs no memory.
bool nests_too_deep(std::string_view text) {
  size_t depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxDepth) return true;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return false;
}

}  // namespace

Result<Json> parse_json(std::string_view text, std::string_view path) {
  if (text.size() > kMaxBytes) {
    return fail(ErrorCode::kCorruption, "{}: {} bytes of JSON; a tokenizer.json has at most {}", path, text.size(),
                kMaxBytes);
  }
  if (nests_too_deep(text)) return fail(ErrorCode::kCorruption, "{}: JSON nested more than {} deep", path, kMaxDepth);
  try {
    return Json::parse(text.begin(), text.end());
  } catch (const Json::parse_error& error) {
    return fail(ErrorCode::kCorruption, "{}: not valid JSON, at byte {}", path, error.byte);
  } catch (const Json::exception&) {  // a number outside what double can hold
    return fail(ErrorCode::kCorruption, "{}: JSON with a number that is out of range", path);
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::kOutOfMemory, "{}: not enough memory to parse {} bytes of JSON", path, text.size());
  }
}

Result<const Json*> member(const Json& object, const char* key, Json::value_t type, std::string_view path) {
  const auto it = object.find(key);
  if (it == object.end() || it->is_null()) return nullptr;
  if (it->type() != type) {
    return fail(ErrorCode::kCorruption, "{}: \"{}\" is of type {}, not {}", path, key, it->type_name(),
                Json(type).type_name());
  }
  return &*it;
}

Result<std::string> string_or(const Json& object, const char* key, const char* otherwise, std::string_view path) {
  TRY(const Json* value, member(object, key, Json::value_t::string, path));
  return value ? value->get<std::string>() : otherwise;
}

Result<bool> bool_or(const Json& object, const char* key, bool otherwise, std::string_view path) {
  TRY(const Json* value, member(object, key, Json::value_t::boolean, path));
  return value ? value->get<bool>() : otherwise;
}

}  // namespace tern
