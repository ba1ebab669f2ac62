// Values by GGUF key that an adapter made from another container's configuration.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "model/source/source.h"

namespace tern {

using SourceValue = std::variant<bool, int64_t, double, std::string, std::vector<int64_t>>;

class SourceValues {
 public:
  // `path`: the file that the values came from, for messages.
  explicit SourceValues(std::string path) : path_(std::move(path)) {}

  void set(std::string key, SourceValue value) { values_.insert_or_assign(std::move(key), std::move(value)); }

  // Sets a tensor of float32 values that follow from the configuration.
  void set_vector(std::string name, std::vector<float> values) {
    vectors_.insert_or_assign(std::move(name), std::move(values));
  }
  // Like ModelSource::find_tensor; the bytes live as long as this object.
  std::optional<SourceTensor> find_vector(std::string_view name) const;
  std::vector<std::string> keys() const;

  // The same as ModelSource's functions.
  Result<std::optional<std::string>> get_string(std::string_view key) const;
  Result<std::optional<int64_t>> get_int(std::string_view key) const;
  Result<std::optional<double>> get_float(std::string_view key) const;
  Result<std::optional<bool>> get_bool(std::string_view key) const;
  Result<std::optional<std::vector<int64_t>>> get_ints(std::string_view key) const;

 private:
  template <class T>
  Result<std::optional<T>> get(std::string_view key, std::string_view wanted) const;

  std::string path_;
  std::map<std::string, SourceValue, std::less<>> values_;
  std::map<std::string, std::vector<float>, std::less<>> vectors_;
};

}  // namespace tern
