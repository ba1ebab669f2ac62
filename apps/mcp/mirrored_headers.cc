#include "mcp/mirrored_headers.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <set>

#include "base/text/quoted.h"

namespace tern::mcp {
namespace {

constexpr const char* kMark = "x-mcp-header";

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const std::string_view group = bytes.substr(i, 3);
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k) bits = bits << 8 | (k < group.size() ? static_cast<unsigned char>(group[k]) : 0u);
    for (size_t k = 0; k < 4; ++k) text += k <= group.size() ? kDigits[bits >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

// The number of marks in the whole schema, allowed or not.
size_t count_marks(const Json& schema) {
  size_t n = 0;
  if (schema.is_object()) n += schema.count(kMark);
  if (schema.is_structured()) {
    for (const Json& inner : schema) n += count_marks(inner);
  }
  return n;
}

bool is_token(const std::string& name) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !name.empty() && std::ranges::all_of(name, [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || kMarks.contains(c);
  });
}

// Finds the marks that a chain of properties leads to.
void find_marks(const Json& schema, std::vector<std::string>& path, std::vector<MirroredParameter>& found) {
  const auto properties = schema.find("properties");
  if (properties == schema.end() || !properties->is_object()) return;
  for (const auto& [name, inner] : properties->items()) {
    if (!inner.is_object()) continue;
    path.push_back(name);
    const auto mark = inner.find(kMark);
    const auto type = inner.find("type");
    const bool is_simple = type != inner.end() && (*type == "string" || *type == "integer" || *type == "boolean");
    if (mark != inner.end() && mark->is_string() && is_simple) found.push_back({.path = path, .header = *mark});
    find_marks(inner, path, found);
    path.pop_back();
  }
}

}  // namespace

Result<std::vector<MirroredParameter>> mirrored_parameters(const Json& schema) {
  std::vector<MirroredParameter> found;
  std::vector<std::string> path;
  find_marks(schema, path, found);
  std::set<std::string> names;
  for (const MirroredParameter& each : found) {
    std::string lower = each.header;
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
    if (!is_token(each.header) || !names.insert(lower).second) {
      return fail(ErrorCode::kNotSupported, "has an \"x-mcp-header\" that cannot be used, {}",
                  tern::quoted(each.header));
    }
  }
  if (found.size() == count_marks(schema)) return found;
  return fail(ErrorCode::kNotSupported, "has an \"x-mcp-header\" where the protocol allows none");
}

NamedValues mirrored_headers(const std::vector<MirroredParameter>& parameters, const Json& arguments) {
  NamedValues headers;
  for (const MirroredParameter& each : parameters) {
    const Json* value = &arguments;
    for (const std::string& name : each.path) {
      const auto inner = value->is_object() ? value->find(name) : value->end();
      if (!value->is_object() || inner == value->end()) {
        value = nullptr;
        break;
      }
      value = &*inner;
    }
    if (!value || value->is_null()) continue;
    headers.emplace_back("Mcp-Param-" + each.header,
                         header_value(value->is_string() ? value->get<std::string>() : value->dump()));
  }
  return headers;
}

std::string header_value(std::string_view text) {
  const bool is_plain = std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7F; });
  const bool is_padded = text.starts_with(' ') || text.ends_with(' ');
  const bool looks_encoded = text.starts_with("=?base64?") && text.ends_with("?=");
  return is_plain && !is_padded && !looks_encoded ? std::string(text) : "=?base64?" + base64(text) + "?=";
}

}  // namespace tern::mcp
