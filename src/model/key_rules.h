// Metadata keys that other programs write and that no family computes with, and the values at which they change
// nothing.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "model/config.h"
#include "model/source.h"

namespace tern {

struct KeyContext {
  const ModelSource& source;
  const Config& config;  // what is computed
};

struct KeyRule {
  std::string_view name;  // without "ARCH." or "tokenizer.ggml."; with a '.' at its end all that begin so
  // Whether the value that the model has for `key` changes nothing; null: no value does.
  Result<bool> (*is_harmless)(const KeyContext& model, const std::string& key) = nullptr;
  std::string_view harmless = {};  // the value that changes nothing, for messages
};

// The tables, for keys that nothing asks for.
std::span<const KeyRule> architecture_key_rules();
std::span<const KeyRule> tokenizer_key_rules();

const KeyRule* find_key_rule(std::span<const KeyRule> rules, std::string_view name);  // null: there is none

}  // namespace tern
