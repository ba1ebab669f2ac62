#include "model/declared.h"

#include <algorithm>
#include <array>

#include "base/format_text.h"
#include "base/quoted.h"

namespace tern {
namespace {

// Keys that change nothing whatever they say.
constexpr std::array<std::string_view, 4> kHarmless = {
    "vocab_size",              // the embedding has as many rows as it has
    "tensor_data_layout",      // how another program's converter ordered rows, which the architecture says too
    "rope.scaling.finetuned",  // whether the model was trained with its scaling
    "pooling_type",            // of embeddings; text is generated without
};

// Keys that change nothing as long as they have this value: the model is as those without the key.
struct Neutral {
  std::string_view key;
  double value;
};
constexpr Neutral kNeutralNumbers[] = {
    {"expert_count", 0},
    {"expert_used_count", 0},
    {"expert_shared_count", 0},
    {"expert_group_count", 0},
    {"leading_dense_block_count", 0},
    {"attn_logit_softcapping", 0},
    {"final_logit_softcapping", 0},
    {"attention.max_alibi_bias", 0},
    {"attention.clamp_kqv", 0},
    {"attention.sliding_window", 0},
};
struct NeutralFlag {
  std::string_view key;
  bool value;
};
constexpr NeutralFlag kNeutralFlags[] = {
    {"attention.causal", true}, {"use_parallel_residual", false}, {"swin_norm", false}};

// Tables that follow from the metadata, in files of old converters.
constexpr std::array<std::string_view, 2> kHarmlessTensors = {".attn_rot_embd.weight", ".attn.rotary_emb.inv_freq"};

// What the tokenizer is made from (gguf_vocab.cc), and what it does not need to turn text into ids and back.
constexpr std::string_view kTokenizerKeys = "tokenizer.ggml.";
constexpr std::array<std::string_view, 29> kKnownTokenizerKeys = {
    "model", "pre", "tokens", "scores", "token_type", "merges", "bos_token_id", "eos_token_id", "eot_token_id",
    "eom_token_id", "unknown_token_id", "padding_token_id", "add_bos_token", "add_eos_token", "add_space_prefix",
    "remove_extra_whitespaces", "precompiled_charsmap",
    // Ids of tokens for tasks that are not generating, which a prompt names itself.
    "seperator_token_id", "cls_token_id", "mask_token_id", "add_sep_token", "fim_pre_token_id", "fim_suf_token_id",
    "fim_mid_token_id", "fim_pad_token_id", "fim_rep_token_id", "fim_sep_token_id", "prefix_token_id",
    "suffix_token_id"};

std::unexpected<Error> refused(const std::string& path, const std::string& key, const std::string& value) {
  return fail(ErrorCode::kNotSupported, "{}: {} is {}, which Tern does not compute for this architecture", path,
              quoted(key), value);
}

}  // namespace

std::unexpected<Error> unknown_tensor(const std::string& path, std::string_view tensor,
                                      const std::string& architecture) {
  return fail(ErrorCode::kNotSupported,
              "{}: tensor {} is not one that Tern knows in architecture {}, so the results would be wrong; "
              "this model cannot be run",
              path, quoted(tensor), architecture);
}

// A window that no text reaches the end of is none.
Result<void> ObservedSource::check_key(const std::string& key, std::string_view name) const {
  if (const auto* number = std::ranges::find(kNeutralNumbers, name, &Neutral::key);
      number != std::end(kNeutralNumbers)) {
    TRY(const auto value, source_.get_float(key));
    if (value == number->value) return {};
    if (name == "attention.sliding_window") {
      const std::string prefix = key.substr(0, key.size() - name.size());
      TRY(const auto n_ctx, source_.get_int(prefix + "context_length"));
      if (n_ctx && value >= static_cast<double>(*n_ctx)) return {};
    }
    return refused(path(), key, format_text("{}", value.value_or(0)));
  }
  if (const auto* flag = std::ranges::find(kNeutralFlags, name, &NeutralFlag::key); flag != std::end(kNeutralFlags)) {
    TRY(const auto value, source_.get_bool(key));
    return value == flag->value ? Result<void>() : refused(path(), key, flag->value ? "false" : "true");
  }
  return fail(ErrorCode::kNotSupported,
              "{}: metadata key {} is not one that Tern knows for this architecture, so the results might be wrong; "
              "this model cannot be run",
              path(), quoted(key));
}

Result<void> ObservedSource::check_tensors(const std::string& architecture) const {
  for (const NamedTensor& tensor : source_.tensor_names()) {
    const auto is_used = [&](const std::string& name) { return tensors_.contains(name); };
    const auto is_harmless = [&](std::string_view end) { return tensor.in_file.ends_with(end); };
    if (std::ranges::any_of(tensor.names, is_used) || std::ranges::any_of(kHarmlessTensors, is_harmless)) continue;
    return unknown_tensor(path(), tensor.in_file, architecture);
  }
  return {};
}

Result<void> ObservedSource::check_all_used(const std::string& architecture) const {
  const std::string prefix = architecture + ".";
  for (const std::string& key : source_.keys()) {
    if (key.starts_with(kTokenizerKeys) &&
        !std::ranges::contains(kKnownTokenizerKeys, std::string_view(key).substr(kTokenizerKeys.size()))) {
      return fail(
          ErrorCode::kNotSupported,
          "{}: metadata key {} is not one that Tern knows, so text might be cut into other tokens than the model "
          "was trained with",
          path(), quoted(key));
    }
    if (!key.starts_with(prefix) || keys_.contains(key)) continue;
    const std::string_view name = std::string_view(key).substr(prefix.size());
    if (std::ranges::contains(kHarmless, name)) continue;
    TRY_STATUS(check_key(key, name));
  }
  return check_tensors(architecture);
}

}  // namespace tern
