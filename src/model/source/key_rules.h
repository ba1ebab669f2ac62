// Metadata keys that other programs write and no family uses, with the values at which they have no effect.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "model/source/config.h"
#include "model/source/source.h"

namespace tern {

struct KeyContext {
  const ModelSource& source;
  const Config& config;  // the model that is computed
};

struct KeyRule {
  std::string_view name;  // without "ARCH." or "tokenizer.ggml."; a '.' at its end: all keys that begin so
  // True if the model's value of `key` has no effect; null: no value has an effect.
  Result<bool> (*is_harmless)(const KeyContext& model, const std::string& key) = nullptr;
  std::string_view harmless = {};  // the value without effect, for messages
};

// Tables of keys that no family asks for.
std::span<const KeyRule> architecture_key_rules();
std::span<const KeyRule> tokenizer_key_rules();

const KeyRule* find_key_rule(std::span<const KeyRule> rules, std::string_view name);  // null: no rule

}  // namespace tern
