#include "model/source/key_rules.h"

#include <algorithm>
#include <vector>

#include "file/gguf/gguf.h"

namespace tern {
namespace {

// A number or a flag. Some files have one where the other is meant.
Result<double> number_at(const KeyContext& model, const std::string& key) {
  if (const auto flag = model.source.get_bool(key); flag && *flag) return **flag ? 1 : 0;
  TRY(const auto number, model.source.get_float(key));
  return number.value_or(0);
}

template <int kValue>
Result<bool> is_number(const KeyContext& model, const std::string& key) {
  TRY(const double value, number_at(model, key));
  return value == kValue;
}

template <int Config::* kMember>
Result<bool> equals(const KeyContext& model, const std::string& key) {
  TRY(const double value, number_at(model, key));
  return value == model.config.*kMember;
}

// Layers with a window must rotate like the others.
Result<bool> is_rope_base(const KeyContext& model, const std::string& key) {
  TRY(const double value, number_at(model, key));
  return static_cast<float>(value) == model.config.ropes[0].theta;
}

// A window at least as long as the context has no effect.
Result<bool> is_no_window(const KeyContext& model, const std::string& key) {
  TRY(const double value, number_at(model, key));
  return value == 0 || value >= model.config.n_ctx;
}

// Which layers have a window does not matter if none has one.
Result<bool> has_no_window(const KeyContext& model, const std::string& /*key*/) {
  return std::ranges::all_of(model.config.layers, [](const LayerConfig& layer) { return layer.window == 0; });
}

// The values of a list, or a single value. Only GGUF files have lists.
Result<std::vector<float>> list_at(const KeyContext& model, const std::string& key) {
  const GgufFile* file = model.source.gguf();
  const GgufValue* value = file ? file->find(key) : nullptr;
  if (value && value->is_array && value->count == 0) return std::vector<float>();
  if (value && value->is_array) {
    TRY(auto values, file->get_floats(key));
    return values.value_or(std::vector<float>());
  }
  TRY(const double number, number_at(model, key));
  return std::vector{static_cast<float>(number)};
}

Result<bool> is_all_zero(const KeyContext& model, const std::string& key) {
  TRY(const auto values, list_at(model, key));
  return std::ranges::all_of(values, [](float value) { return value == 0; });
}

Result<bool> is_empty_list(const KeyContext& model, const std::string& key) {
  TRY(const auto values, list_at(model, key));
  return values.empty();
}

// Sections of a head that rotate by the time, row and column of an image patch. A text token has the same position in
// all of them, so if they cover all that rotates, it rotates as usual.
Result<bool> covers_head(const KeyContext& model, const std::string& key) {
  TRY(const auto values, list_at(model, key));
  float sum = 0;
  for (const float value : values) {
    if (value < 0) return false;
    sum += value;
  }
  return 2 * sum == static_cast<float>(model.config.ropes[0].rotated(model.config.head_dim));
}

// SentencePiece options that Tern always applies. Byte-level vocabularies do not have them.
Result<bool> is_usual_sentence_piece(const KeyContext& model, const std::string& key) {
  TRY(const auto kind, model.source.get_string("tokenizer.ggml.model"));
  TRY(const double value, number_at(model, key));
  return value == 1 || kind == "gpt2";
}

Result<bool> is_at_most_one(const KeyContext& model, const std::string& key) {
  TRY(const double value, number_at(model, key));
  return value == 0 || value == 1;
}

constexpr KeyRule kArchitectureRules[] = {
    // Keys without effect, whatever their value.
    {"vocab_size"},                    // the embedding's rows decide
    {"tensor_data_layout"},            // row order of another program's converter, which follows from the architecture
    {"rope.scaling.finetuned"},        // true if the model was trained with its scaling
    {"attention.layer_norm_epsilon"},  // for LayerNorm; all norms of Tern's families are RMSNorm
    {"decoder_start_token_id"},        // for models that also have an encoder
    {"classifier.output_labels"},      // names of a classifier head's outputs; its tensors are refused
    {"mm.tokens_per_image"},           // for the vision part, which is a separate file
    {"source_hf_repo"},
    // Experts.
    {"expert_count", is_number<0>, "0"},
    {"expert_used_count", is_number<0>, "0"},
    {"expert_shared_count", is_number<0>, "0"},
    {"expert_group_count", is_number<0>, "0"},
    {"expert_group_used_count", is_number<0>, "0"},
    {"expert_feed_forward_length", is_number<0>, "0"},
    {"expert_shared_feed_forward_length", is_number<0>, "0"},
    {"expert_weights_scale", is_number<0>, "0"},
    {"expert_weights_norm", is_number<0>, "false"},
    {"expert_gating_func", is_number<0>, "0"},
    {"leading_dense_block_count", is_number<0>, "0"},
    {"moe_every_n_layers", is_number<0>, "0"},
    {"interleave_moe_layer_step", is_number<0>, "0"},
    {"router_logit_softcapping", is_number<0>, "0"},
    // Extra layers, and other paths through the layers.
    {"embedding_length_out", equals<&Config::d_model>, "embedding_length"},
    {"nextn_predict_layers", is_number<0>, "0"},
    {"n_deepstack_layers", is_number<0>, "0"},
    {"rescale_every_n_layers", is_number<0>, "0"},
    {"activation_sparsity_scale", is_all_zero, "0"},
    {"num_loops", is_number<1>, "1"},
    {"norm_before_residual", is_number<0>, "false"},
    {"use_parallel_residual", is_number<0>, "false"},
    {"swin_norm", is_number<0>, "false"},
    {"attn_logit_softcapping", is_number<0>, "0"},
    {"final_logit_softcapping", is_number<0>, "0"},
    {"ssm.", is_number<0>, "0"},
    {"wkv.", is_number<0>, "0"},
    {"shortconv.", is_number<0>, "0"},
    // Attention.
    {"full_attention_interval", is_number<1>, "1"},
    {"attention.causal", is_number<1>, "true"},
    {"attention.max_alibi_bias", is_number<0>, "0"},
    {"attention.clamp_kqv", is_number<0>, "0"},
    {"attention.sliding_window", is_no_window, "0, or context_length and more"},
    {"attention.sliding_window_pattern", has_no_window, "beside no window"},
    {"attention.group_norm_groups", is_number<0>, "0"},
    {"attention.q_lora_rank", is_number<0>, "0"},
    {"attention.kv_lora_rank", is_number<0>, "0"},
    {"attention.output_scale", is_number<1>, "1"},
    {"attention.value_scale", is_number<1>, "1"},
    {"attention.temperature_length", is_number<0>, "0"},
    {"attention.temperature_scale", is_number<0>, "0"},
    {"attention.key_length_swa", equals<&Config::head_dim>, "the width of a head"},
    {"attention.value_length_swa", equals<&Config::head_dim>, "the width of a head"},
    {"attention.key_length_mla", is_number<0>, "0"},
    {"attention.value_length_mla", is_number<0>, "0"},
    {"attention.shared_kv_layers", is_number<0>, "0"},
    {"attention.indexer.", is_number<0>, "0"},
    // RoPE.
    {"rope.dimension_count_swa", equals<&Config::head_dim>, "the width of a head"},
    {"rope.dimension_sections", covers_head, "half the dimensions that rotate in all"},
    {"rope.freq_base_swa", is_rope_base, "rope.freq_base"},
    {"rope.scaling.alpha", is_number<0>, "0"},
    {"rope.scaling.yarn_beta_fast", is_number<32>, "32"},
    {"rope.scaling.yarn_beta_slow", is_number<1>, "1"},
};

constexpr KeyRule kTokenizerRules[] = {
    // Ids of tokens for other tasks than chat; a prompt contains them itself.
    {"seperator_token_id"},  // the spelling used in files
    {"separator_token_id"},
    {"cls_token_id"},
    {"mask_token_id"},
    {"add_sep_token"},
    {"fim_pre_token_id"},
    {"fim_suf_token_id"},
    {"fim_mid_token_id"},
    {"fim_pad_token_id"},
    {"fim_rep_token_id"},
    {"fim_sep_token_id"},
    {"prefix_token_id"},
    {"suffix_token_id"},
    {"middle_token_id"},
    {"image_token_id"},
    {"bos_token_ids"},  // bos_token_id says which one begins a text
    // Stated elsewhere, or irrelevant for one text at a time.
    {"added_tokens"},      // token_type says which tokens are matched whole
    {"model_max_length"},  // same as context_length
    {"add_padding_token"},
    {"add_unknown_token"},
    {"token_type_count", is_at_most_one, "1"},
    {"suppress_tokens", is_empty_list, "an empty list"},
    {"normalizer.lowercase", is_number<0>, "false"},
    {"normalizer.strip_accents", is_number<0>, "false"},
    {"byte_fallback", is_usual_sentence_piece, "true"},
    {"escape_whitespaces", is_usual_sentence_piece, "true"},
};

}  // namespace

std::span<const KeyRule> architecture_key_rules() { return kArchitectureRules; }
std::span<const KeyRule> tokenizer_key_rules() { return kTokenizerRules; }

const KeyRule* find_key_rule(std::span<const KeyRule> rules, std::string_view name) {
  const auto found = std::ranges::find_if(rules, [&](const KeyRule& rule) {
    return rule.name.ends_with('.') ? name.starts_with(rule.name) : name == rule.name;
  });
  return found == rules.end() ? nullptr : &*found;
}

}  // namespace tern
