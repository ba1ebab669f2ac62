// The hyper-parameters of config.json (Hugging Face) and of the model_config in mlc-chat-config.json, which use the
// same names, as GGUF keys. For .cc files only: it includes the JSON library.
#pragma once

#include <optional>
#include <string>

#include "base/json_reader.h"
#include "model/source_values.h"

namespace tern {

// Members of an object by name and type. Absent and null: std::nullopt; another type: kCorruption.
class JsonConfig {
 public:
  JsonConfig(const Json& object, std::string path) : object_(object), path_(std::move(path)) {}

  Result<std::optional<int64_t>> integer(const char* key) const;
  Result<std::optional<double>> number(const char* key) const;  // finite
  Result<std::optional<std::string>> text(const char* key) const;
  Result<std::optional<bool>> flag(const char* key) const;
  Result<const Json*> object(const char* key) const;  // nullptr where absent

  const Json& json() const { return object_; }
  const std::string& path() const { return path_; }

 private:
  std::unexpected<Error> wrong_type(const char* key, std::string_view wanted) const;

  const Json& object_;
  std::string path_;
};

// What read_transformer_config asks for (transformer.cc), as ARCHITECTURE.* keys. Also the activation of the
// feed-forward layers where it is another than silu, and the kind of a scaled RoPE, for the family to refuse.
// kCorruption: a value that every configuration has is missing; kNotSupported: a model that is computed in another way.
Result<void> set_transformer_values(const JsonConfig& config, const std::string& architecture, SourceValues& values);

}  // namespace tern
