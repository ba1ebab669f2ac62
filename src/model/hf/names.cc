#include "model/hf/names.h"

#include <algorithm>
#include <charconv>
#include <span>

#include "base/format_text.h"

namespace tern {
namespace {

struct Name {
  std::string_view gguf;
  std::string_view hf;
  bool is_linear = false;
};

constexpr Name kOuter[] = {{"token_embd", "model.embed_tokens"}, {"output_norm", "model.norm"}, {"output", "lm_head"}};

// inner_attn_ln and ffn_layernorm are 1bitLLM's spellings. ffn_up is both halves in Phi-3.
constexpr Name kInLayer[] = {
    {"attn_norm", "input_layernorm"},
    {"attn_q", "self_attn.q_proj", true},
    {"attn_k", "self_attn.k_proj", true},
    {"attn_v", "self_attn.v_proj", true},
    {"attn_qkv", "self_attn.qkv_proj", true},
    {"attn_q_norm", "self_attn.q_norm"},
    {"attn_k_norm", "self_attn.k_norm"},
    {"attn_sub_norm", "self_attn.attn_sub_norm"},
    {"attn_sub_norm", "self_attn.inner_attn_ln"},
    {"attn_output", "self_attn.o_proj", true},
    {"ffn_norm", "post_attention_layernorm"},
    {"ffn_gate", "mlp.gate_proj", true},
    {"ffn_up", "mlp.up_proj", true},
    {"ffn_up", "mlp.gate_up_proj", true},
    {"ffn_sub_norm", "mlp.ffn_sub_norm"},
    {"ffn_sub_norm", "mlp.ffn_layernorm"},
    {"ffn_down", "mlp.down_proj", true},
};

constexpr std::string_view kWeight = ".weight";

}  // namespace

std::optional<LayerName> parse_layer_name(std::string_view gguf_name) {
  constexpr std::string_view kPrefix = "blk.";
  if (!gguf_name.starts_with(kPrefix) || !gguf_name.ends_with(kWeight)) return std::nullopt;
  gguf_name.remove_prefix(kPrefix.size());
  gguf_name.remove_suffix(kWeight.size());
  LayerName name;
  const auto [end, error] = std::from_chars(gguf_name.data(), gguf_name.data() + gguf_name.size(), name.number);
  if (error != std::errc() || end == gguf_name.data() + gguf_name.size() || *end != '.') return std::nullopt;
  name.rest = gguf_name.substr(static_cast<size_t>(end - gguf_name.data()) + 1);
  return name;
}

std::vector<std::string> hf_names(std::string_view gguf_name) {
  std::vector<std::string> names;
  if (const auto layer = parse_layer_name(gguf_name)) {
    for (const Name& name : kInLayer) {
      if (name.gguf == layer->rest) names.push_back(format_text("model.layers.{}.{}.weight", layer->number, name.hf));
    }
    return names;
  }
  if (!gguf_name.ends_with(kWeight)) return names;
  gguf_name.remove_suffix(kWeight.size());
  for (const Name& name : kOuter) {
    if (name.gguf == gguf_name) names.push_back(std::string(name.hf) + std::string(kWeight));
  }
  return names;
}

bool is_linear_name(std::string_view gguf_name) {
  const auto layer = parse_layer_name(gguf_name);
  return layer &&
         std::ranges::any_of(kInLayer, [&](const Name& name) { return name.is_linear && name.gguf == layer->rest; });
}

std::optional<std::string> gguf_name_of(std::string_view hf_name) {
  constexpr std::string_view kLayers = "model.layers.";
  std::string prefix;
  if (hf_name.starts_with(kLayers)) {
    const size_t dot = std::min(hf_name.size(), hf_name.find('.', kLayers.size()));
    prefix = format_text("blk.{}.", hf_name.substr(kLayers.size(), dot - kLayers.size()));
    hf_name.remove_prefix(std::min(hf_name.size(), dot + 1));
  }
  for (const Name& name : prefix.empty() ? std::span<const Name>(kOuter) : std::span<const Name>(kInLayer)) {
    const std::string weight = std::string(name.hf) + std::string(kWeight);
    if (hf_name == weight || (name.is_linear && hf_name == weight + "_scale")) {
      return prefix + std::string(name.gguf) + std::string(kWeight);
    }
  }
  return std::nullopt;
}

bool is_known_hf_name(std::string_view hf_name) {
  if (hf_name.ends_with("rotary_emb.inv_freq")) return true;  // a table that follows from rope_theta
  return gguf_name_of(hf_name).has_value();
}

}  // namespace tern
