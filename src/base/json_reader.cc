#include "base/json_reader.h"

#include <unordered_set>
#include <vector>

#include "base/text/quoted.h"

namespace tern {
namespace {

constexpr size_t kMaxDepth = 64;

// True if brackets nest too deep. The scan needs no memory.
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

struct NameTwice {
  std::string name;
};

// Parses, and throws NameTwice if an object has a duplicate name, which the parsed tree would hide.
Json parse_with_unique_names(std::string_view text) {
  std::vector<std::unordered_set<std::string>> open_objects;
  const auto watch = [&](int /*depth*/, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) open_objects.emplace_back();
    if (event == Json::parse_event_t::object_end) open_objects.pop_back();
    if (event == Json::parse_event_t::key) {
      const auto& name = parsed.get_ref<const std::string&>();
      if (!open_objects.back().insert(name).second) throw NameTwice{name};
    }
    return true;
  };
  return Json::parse(text.begin(), text.end(), watch);
}

}  // namespace

Result<Json> parse_json(std::string_view text, std::string_view path, const JsonLimits& limits) {
  if (text.size() > limits.max_bytes) {
    return fail(ErrorCode::kCorruption, "{}: {} bytes of JSON, more than the {} that Tern reads", path, text.size(),
                limits.max_bytes);
  }
  if (nests_too_deep(text)) return fail(ErrorCode::kCorruption, "{}: JSON nested more than {} deep", path, kMaxDepth);
  try {
    return limits.unique_names ? parse_with_unique_names(text) : Json::parse(text.begin(), text.end());
  } catch (const NameTwice& twice) {
    return fail(ErrorCode::kCorruption, "{}: JSON with {} twice in one object, and it is unclear which one counts",
                path, tern::quoted(twice.name));
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
