#include "model/source/ignored_keys.h"

#include <algorithm>
#include <array>

#include "base/text/format_text.h"
#include "base/text/quoted.h"

namespace tern {
namespace {

// Tables from old converters; their values follow from the metadata.
constexpr std::array<std::string_view, 2> kHarmlessTensors = {".attn_rot_embd.weight", ".attn.rotary_emb.inv_freq"};

constexpr std::string_view kPoolingKey = "pooling_type";  // read where texts become vectors

// Keys that the tokenizer is made from (gguf/vocab.cc).
constexpr std::string_view kTokenizerKeys = "tokenizer.ggml.";
constexpr std::string_view kReadTokenizerKeys[] = {"model",
                                                   "pre",
                                                   "tokens",
                                                   "scores",
                                                   "token_type",
                                                   "merges",
                                                   "bos_token_id",
                                                   "eos_token_id",
                                                   "eot_token_id",
                                                   "eom_token_id",
                                                   "eos_token_ids",
                                                   "eog_token_ids",
                                                   "unknown_token_id",
                                                   "unk_token_id",
                                                   "padding_token_id",
                                                   "add_bos_token",
                                                   "add_eos_token",
                                                   "add_space_prefix",
                                                   "remove_extra_whitespaces",
                                                   "precompiled_charsmap"};

// True for keys without an architecture that are read outside of the families.
bool is_read_elsewhere(std::string_view key) {
  constexpr std::string_view kKeys[] = {"general.architecture", "general.name", "general.alignment",
                                        "tokenizer.chat_template", "tokenizer.chat_template.tool_use"};
  constexpr std::string_view kBeginnings[] = {"general.sampling.", "split.", "tern."};
  return std::ranges::contains(kKeys, key) ||
         std::ranges::any_of(kBeginnings, [&](std::string_view begin) { return key.starts_with(begin); });
}

}  // namespace

std::unexpected<Error> unknown_tensor(const std::string& path, std::string_view tensor,
                                      const std::string& architecture) {
  return fail(ErrorCode::kNotSupported,
              "{}: tensor {} is not one that Tern knows in architecture {}, so the results would be wrong; "
              "this model cannot be run",
              path, tern::quoted(tensor), architecture);
}

Result<ObservedSource::KeyState> ObservedSource::state_of(const std::string& key, const Config& config) const {
  const std::string prefix = config.architecture + ".";
  const bool is_of_tokenizer = key.starts_with(kTokenizerKeys);
  if (is_read_elsewhere(key)) return KeyState{KeyUse::kRead};
  if (key.starts_with("prism.hadamard.")) return KeyState{KeyUse::kRead};
  if (key.starts_with("prism.")) return KeyState{KeyUse::kUnknown};
  if (!is_of_tokenizer && !key.starts_with(prefix)) return KeyState{KeyUse::kOfNoModel};
  const std::string_view name = std::string_view(key).substr(is_of_tokenizer ? kTokenizerKeys.size() : prefix.size());
  const bool is_read =
      is_of_tokenizer ? std::ranges::contains(kReadTokenizerKeys, name) : keys_.contains(key) || name == kPoolingKey;
  if (is_read) return KeyState{KeyUse::kRead};
  const KeyRule* rule = find_key_rule(is_of_tokenizer ? tokenizer_key_rules() : architecture_key_rules(), name);
  if (!rule) return KeyState{KeyUse::kUnknown};
  if (!rule->is_harmless) return KeyState{KeyUse::kHarmless};
  TRY(const bool is_harmless, rule->is_harmless({.source = source_, .config = config}, key));
  return KeyState{is_harmless ? KeyUse::kHarmless : KeyUse::kMatters, rule};
}

std::string ObservedSource::value_text(const std::string& key) const {
  if (const auto flag = source_.get_bool(key); flag && *flag) return **flag ? "true" : "false";
  if (const auto number = source_.get_float(key); number && *number) return format_text("{}", **number);
  if (const auto text = source_.get_string(key); text && *text) return tern::quoted(**text);
  return "a list";
}

std::unexpected<Error> ObservedSource::refused(const std::string& key, const KeyState& state) const {
  if (state.use == KeyUse::kMatters) {
    return fail(ErrorCode::kNotSupported,
                "{}: {} is {}, which Tern does not compute for this architecture (it knows {})", path(),
                tern::quoted(key), value_text(key), state.rule->harmless);
  }
  return fail(ErrorCode::kNotSupported,
              "{}: metadata key {} is not one that Tern knows for this architecture, so {}; ignore the key if you know "
              "that it changes nothing",
              path(), tern::quoted(key),
              key.starts_with(kTokenizerKeys) ? "text might be cut into other tokens than the model was trained with"
                                              : "the results might be wrong");
}

// Overrides were parsed and ignored keys were found in the file before (gguf/changes.cc).
Result<void> ObservedSource::check_changes(const Config& config) const {
  for (const std::string& key : changes().ignored_keys) {
    TRY(const KeyState state, state_of(key, config));
    if (state.use == KeyUse::kRead) {
      return fail(ErrorCode::kInvalidArgument,
                  "{}: {} cannot be ignored, because Tern reads it; to change it, override its value", path(),
                  tern::quoted(key));
    }
    if (state.use == KeyUse::kMatters) {
      return fail(ErrorCode::kInvalidArgument,
                  "{}: {} cannot be ignored, because it is known to change what is computed: it is {}, and "
                  "Tern knows {}",
                  path(), tern::quoted(key), value_text(key), state.rule->harmless);
    }
  }
  for (const std::string& text : changes().overrides) {
    const std::string key = text.substr(0, text.find('='));
    TRY(const KeyState state, state_of(key, config));
    if (state.use != KeyUse::kOfNoModel && state.use != KeyUse::kUnknown) continue;
    return fail(ErrorCode::kInvalidArgument,
                "{}: the override of {} would change nothing: Tern reads no such key in a model of architecture {}",
                path(), tern::quoted(key), config.architecture);
  }
  return {};
}

bool is_harmless_tensor(std::string_view name) {
  return std::ranges::any_of(kHarmlessTensors, [&](std::string_view end) { return name.ends_with(end); });
}

Result<void> ObservedSource::check_tensors(const Config& config) const {
  const auto is_left_out = [&](const NamedTensor& tensor) {
    return std::ranges::any_of(tensor.names, [&](const std::string& name) {
      return config.is_of_prediction(name) || config.is_of_unused_kv(name);
    });
  };
  for (const NamedTensor& tensor : source_.tensor_names()) {
    const auto is_used = [&](const std::string& name) { return tensors_.contains(name); };
    if (std::ranges::any_of(tensor.names, is_used) || is_harmless_tensor(tensor.in_file)) continue;
    if (is_left_out(tensor)) continue;
    return unknown_tensor(path(), tensor.in_file, config.architecture);
  }
  return {};
}

Result<void> ObservedSource::check_all_used(const Config& config) const {
  TRY_STATUS(check_changes(config));
  for (const std::string& key : source_.keys()) {
    TRY(const KeyState state, state_of(key, config));
    const bool is_open = state.use == KeyUse::kUnknown || state.use == KeyUse::kMatters;
    if (is_open && !std::ranges::contains(changes().ignored_keys, key)) return refused(key, state);
  }
  return check_tensors(config);
}

}  // namespace tern
