// The hyper-parameters of config.json (Hugging Face) and of the model_config in mlc-chat-config.json, which use the
// same names, as GGUF keys. For .cc files only: it includes the JSON library.
#pragma once

#include <optional>
#include <string>

#include "base/json_reader.h"
#include "model/source/source_values.h"

namespace tern {

// Members of an object by name and type. std::nullopt: absent or null; kCorruption: another type.
class JsonConfig {
 public:
  JsonConfig(const Json& object, std::string path) : object_(object), path_(std::move(path)) {}

  Result<std::optional<int64_t>> integer(const char* key) const;
  Result<std::optional<double>> number(const char* key) const;  // finite
  Result<std::optional<std::string>> text(const char* key) const;
  Result<std::optional<bool>> flag(const char* key) const;
  Result<const Json*> object(const char* key) const;  // nullptr: absent

  const Json& json() const { return object_; }
  const std::string& path() const { return path_; }

 private:
  std::unexpected<Error> wrong_type(const char* key, std::string_view wanted) const;

  const Json& object_;
  std::string path_;
};

// Sets the ARCHITECTURE.* keys that read_config() asks for (families/transformer.cc), including the feed-forward
// activation and RoPE. kCorruption: a mandatory value is missing; kNotSupported: a model that Tern does not compute.
Result<void> set_transformer_values(const JsonConfig& config, const std::string& architecture, SourceValues& values);

}  // namespace tern
