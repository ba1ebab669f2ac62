#include "tools/type_names.h"

#include <algorithm>

namespace tern {
namespace {

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

}  // namespace

Result<Format> choose_type(std::string_view what, const std::string& name, std::span<const Format> choices,
                           std::span<const std::string_view> others) {
  const FormatInfo* found = find_format(name);
  if (found && std::ranges::find(choices, found->format) != choices.end()) return found->format;
  std::string names;
  for (const Format format : choices) names += (names.empty() ? "" : ", ") + lower_case(format_info(format).name);
  for (const std::string_view other : others) names += ", " + std::string(other);
  return fail(ErrorCode::kInvalidArgument, "{} cannot be \"{}\"; choose one of {}", what, name, names);
}

GgmlType ggml_type_of(Format format) { return static_cast<GgmlType>(format_info(format).gguf_type); }

std::string_view kv_type_name(KvType type) { return type == KvType::kF32 ? "f32" : "f16"; }

}  // namespace tern
