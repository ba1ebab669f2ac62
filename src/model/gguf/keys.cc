#include "model/gguf/keys.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "model/families/family.h"
#include "model/source/rope_keys.h"

namespace tern {
namespace {

// All sections of a rotated head have the same positions in text, so their sizes have no effect.
void write_delta(const Config& c, const std::string& prefix, GgufWriter& writer) {
  const DeltaConfig& d = c.delta;
  const auto attends = std::ranges::find(c.layers, false, &LayerConfig::is_recurrent);
  for (const auto& [key, value] : {std::pair{"ssm.conv_kernel", d.conv_taps},
                                   {"ssm.state_size", d.head_dim},
                                   {"ssm.group_count", d.n_k_heads},
                                   {"ssm.time_step_rank", d.n_v_heads},
                                   {"ssm.inner_size", d.value_width()},
                                   {"full_attention_interval", static_cast<int>(attends - c.layers.begin()) + 1}}) {
    writer.add_u32(prefix + key, static_cast<uint32_t>(value));
  }
  const int pairs = c.ropes[0].rotated(c.head_dim) / 2, third = (pairs + 2) / 3;
  writer.add_i32s(prefix + "rope.dimension_sections", std::array{third, third, pairs - 2 * third, 0});
}

}  // namespace

void write_gguf_config(const Config& c, GgufWriter& writer) {
  const Family& family = *find_family(c.architecture);
  const std::string prefix = c.architecture + ".";
  const auto add_u32 = [&](std::string_view key, int value) {
    writer.add_u32(prefix + std::string(key), static_cast<uint32_t>(value));
  };
  // Adds a number, or a list if layers differ.
  const auto add_of_layers = [&](std::string_view key, int LayerConfig::* value) {
    if (!c.layers_differ(value)) return add_u32(key, c.layer(0).*value);
    std::vector<int32_t> values;
    for (int i = 0; i < c.n_layers; ++i) values.push_back(c.layer(i).*value);
    writer.add_i32s(prefix + std::string(key), values);
  };
  writer.add_string("general.architecture", c.architecture);
  add_u32("vocab_size", c.n_vocab);
  add_u32("context_length", c.n_ctx);
  add_u32("embedding_length", c.d_model);
  add_u32("block_count", c.n_layers + c.n_prediction_layers);
  if (c.n_prediction_layers > 0) add_u32("nextn_predict_layers", c.n_prediction_layers);
  add_of_layers("feed_forward_length", &LayerConfig::d_ff);
  add_u32("rope.dimension_count", c.ropes[0].rotated(c.head_dim));
  if (c.has_recurrent_layers()) write_delta(c, prefix, writer);
  add_of_layers("attention.head_count", &LayerConfig::n_heads);
  add_of_layers("attention.head_count_kv", &LayerConfig::n_kv_heads);
  if (c.head_dim * c.n_heads != c.d_model || c.layers_differ(&LayerConfig::n_heads) || family.parts.head_norms) {
    add_u32("attention.key_length", c.head_dim);
    add_u32("attention.value_length", c.head_dim);
  }
  if (!c.layers.empty() && c.layers.front().window > 0) {
    add_u32("attention.sliding_window", c.layers.front().window);
    const auto whole = std::ranges::find(c.layers, 0, &LayerConfig::window);
    if (whole != c.layers.end()) {
      add_u32("attention.sliding_window_pattern", static_cast<int>(whole - c.layers.begin()) + 1);
    }
  } else if (family.needs_window) {
    add_u32("attention.sliding_window", 0);
  }
  if (c.experts.n > 0) {
    add_u32("expert_count", c.experts.n);
    add_u32("expert_used_count", c.experts.n_used);
    add_u32("expert_feed_forward_length", c.experts.d_ff);
    if (c.experts.d_ff_shared > 0) add_u32("expert_shared_feed_forward_length", c.experts.d_ff_shared);
  }
  writer.add_f32(prefix + "attention.layer_norm_rms_epsilon", c.rms_eps);
  write_rope(c.ropes[0], c.architecture, writer);
  if (c.ropes.size() > 1) writer.add_f32(prefix + "rope.freq_base_swa", c.ropes[1].theta);
  const auto add_scale = [&](std::string_view key, float value, float usual) {
    if (value != usual) writer.add_f32(prefix + std::string(key), value);
  };
  const Config usual;
  add_scale("embedding_scale", c.embedding_scale, usual.embedding_scale);
  add_scale("residual_scale", c.residual_scale, usual.residual_scale);
  add_scale("attention.scale", c.attention_scale, usual.attention_scale);
  add_scale("logit_scale", c.logit_scale, usual.logit_scale);
  add_scale("attn_logit_softcapping", c.attention_softcap, usual.attention_softcap);
  add_scale("final_logit_softcapping", c.logit_softcap, usual.logit_softcap);
  if (c.glu_act != family.glu_act) {
    writer.add_string(prefix + "feed_forward.activation", std::string(glu_act_name(c.glu_act)));
  }
}

}  // namespace tern
