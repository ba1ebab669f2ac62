#include "model/source/source_values.h"

namespace tern {

template <class T>
Result<std::optional<T>> SourceValues::get(std::string_view key, std::string_view wanted) const {
  const auto found = values_.find(key);
  if (found == values_.end()) return std::nullopt;
  if (const T* value = std::get_if<T>(&found->second)) return *value;
  return fail(ErrorCode::kCorruption, "{}: the value of {} is not {}; download the file again", path_, key, wanted);
}

Result<std::optional<std::string>> SourceValues::get_string(std::string_view key) const {
  return get<std::string>(key, "a text");
}

Result<std::optional<int64_t>> SourceValues::get_int(std::string_view key) const {
  return get<int64_t>(key, "an integer");
}

Result<std::optional<double>> SourceValues::get_float(std::string_view key) const {
  const auto found = values_.find(key);
  if (found != values_.end()) {
    if (const auto* integer = std::get_if<int64_t>(&found->second)) return static_cast<double>(*integer);
  }
  return get<double>(key, "a number");
}

Result<std::optional<bool>> SourceValues::get_bool(std::string_view key) const {
  return get<bool>(key, "true or false");
}

Result<std::optional<std::vector<int64_t>>> SourceValues::get_ints(std::string_view key) const {
  const auto found = values_.find(key);
  const auto* list = found == values_.end() ? nullptr : std::get_if<std::vector<int64_t>>(&found->second);
  return list ? std::optional(*list) : std::nullopt;
}

std::optional<SourceTensor> SourceValues::find_vector(std::string_view name) const {
  const auto found = vectors_.find(name);
  if (found == vectors_.end()) return std::nullopt;
  const std::vector<float>& values = found->second;
  return SourceTensor{.name = std::string(name),
                      .format = Format::kF32,
                      .type_name = "F32",
                      .shape = {static_cast<int64_t>(values.size())},
                      .data = std::as_bytes(std::span(values))};
}

std::vector<std::string> SourceValues::keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : values_) keys.push_back(key);
  return keys;
}

}  // namespace tern
