// A small model without weights, for tests of plans.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "plan/plan.h"

namespace tern::plan_test {

inline constexpr int kLayers = 3;

inline Config small_config() {
  return {.architecture = "bitnet-b1.58",
          .n_layers = kLayers,
          .d_model = 256,
          .n_heads = 4,
          .n_kv_heads = 2,
          .head_dim = 64,
          .d_ff = 640,
          .n_vocab = 300,
          .n_ctx = 32,
          .rms_eps = 1e-5f,
          .ropes = {{.theta = 10000}}};
}

inline Config float_config() {
  Config c = small_config();
  c.int8_activations = false;
  return c;
}

inline Tensor tensor(std::string name, int rows, int cols) {
  return {.name = std::move(name), .rows = rows, .cols = cols, .data = {}};
}

inline Weights small_weights(const Config& c) {
  Weights w;
  w.token_embd = tensor("token_embd.weight", c.n_vocab, c.d_model);
  for (int i = 0; i < c.n_layers; ++i) {
    const std::string blk = "blk." + std::to_string(i) + ".";
    const int d_ff = c.layer(i).d_ff;
    Layer& l = w.layers.emplace_back();
    l.attn_norm = tensor(blk + "attn_norm.weight", 1, c.d_model);
    l.attn_q = tensor(blk + "attn_q.weight", c.q_width(i), c.d_model);
    l.attn_k = tensor(blk + "attn_k.weight", c.kv_width(i), c.d_model);
    l.attn_v = tensor(blk + "attn_v.weight", c.kv_width(i), c.d_model);
    l.attn_output = tensor(blk + "attn_output.weight", c.d_model, c.q_width(i));
    l.ffn_norm = tensor(blk + "ffn_norm.weight", 1, c.d_model);
    l.ffn_gate = tensor(blk + "ffn_gate.weight", d_ff, c.d_model);
    l.ffn_up = tensor(blk + "ffn_up.weight", d_ff, c.d_model);
    l.ffn_down = tensor(blk + "ffn_down.weight", c.d_model, d_ff);
    if (c.int8_activations) {  // like BitNet; otherwise like Qwen3
      l.attn_sub_norm = tensor(blk + "attn_sub_norm.weight", 1, c.q_width(i));
      l.ffn_sub_norm = tensor(blk + "ffn_sub_norm.weight", 1, d_ff);
    } else {
      l.attn_q_norm = tensor(blk + "attn_q_norm.weight", 1, c.head_dim);
      l.attn_k_norm = tensor(blk + "attn_k_norm.weight", 1, c.head_dim);
    }
  }
  w.output_norm = tensor("output_norm.weight", 1, c.d_model);
  w.output = w.token_embd;
  return w;
}

// The same with mixtures of experts and a shared network instead of dense ones.
inline Config expert_config() {
  Config c = float_config();
  c.experts = {.n = 6, .n_used = 2, .d_ff = 64, .d_ff_shared = 96};
  return c;
}

inline Weights expert_weights(const Config& c) {
  Weights w = small_weights(c);
  for (int i = 0; i < c.n_layers; ++i) {
    const std::string blk = "blk." + std::to_string(i) + ".";
    Layer& l = w.layers[static_cast<size_t>(i)];
    l.ffn_gate = l.ffn_up = l.ffn_down = {};
    const auto experts = [&](const char* name, int rows, int cols) {
      Tensor all = tensor(blk + name, c.experts.n * rows, cols);
      all.n_experts = c.experts.n;
      return all;
    };
    l.ffn_router = tensor(blk + "ffn_gate_inp", c.experts.n, c.d_model);
    l.ffn_gate_exps = experts("ffn_gate_exps", c.experts.d_ff, c.d_model);
    l.ffn_up_exps = experts("ffn_up_exps", c.experts.d_ff, c.d_model);
    l.ffn_down_exps = experts("ffn_down_exps", c.d_model, c.experts.d_ff);
    l.ffn_shared_gate = tensor(blk + "ffn_gate_inp_shexp", 1, c.d_model);
    l.ffn_gate_shared = tensor(blk + "ffn_gate_shexp", c.experts.d_ff_shared, c.d_model);
    l.ffn_up_shared = tensor(blk + "ffn_up_shexp", c.experts.d_ff_shared, c.d_model);
    l.ffn_down_shared = tensor(blk + "ffn_down_shexp", c.d_model, c.experts.d_ff_shared);
  }
  return w;
}

// The same with recurrent layers only.
inline Config recurrent_config() {
  Config c = float_config();
  c.layers = std::vector<LayerConfig>(kLayers, {.is_recurrent = true});
  c.delta = {.n_k_heads = 2, .n_v_heads = 4, .head_dim = 32, .conv_taps = 4};
  return c;
}

inline Weights recurrent_weights(const Config& c) {
  Weights w = small_weights(c);
  for (int i = 0; i < kLayers; ++i) {
    const std::string blk = "blk." + std::to_string(i) + ".";
    Layer& l = w.layers[static_cast<size_t>(i)];
    l.delta_qkv = tensor(blk + "attn_qkv.weight", c.delta.channels(), c.d_model);
    l.delta_gate = tensor(blk + "attn_gate.weight", c.delta.value_width(), c.d_model);
    l.delta_alpha = tensor(blk + "ssm_alpha.weight", c.delta.n_v_heads, c.d_model);
    l.delta_beta = tensor(blk + "ssm_beta.weight", c.delta.n_v_heads, c.d_model);
    l.delta_conv = tensor(blk + "ssm_conv1d.weight", c.delta.channels(), c.delta.conv_taps);
    l.delta_decay = tensor(blk + "ssm_a", 1, c.delta.n_v_heads);
    l.delta_dt_bias = tensor(blk + "ssm_dt.bias", 1, c.delta.n_v_heads);
    l.delta_norm = tensor(blk + "ssm_norm.weight", 1, c.delta.head_dim);
    l.delta_output = tensor(blk + "ssm_out.weight", c.d_model, c.delta.value_width());
  }
  return w;
}

// The plan of that model. Its weights exist as long as the process.
inline Plan small_plan(const PlanOptions& options) {
  static const Config config = small_config();
  static const Weights weights = small_weights(config);
  return make_plan(config, weights, options);
}

inline std::map<std::string_view, int> count_ops(const Plan& plan) {
  std::map<std::string_view, int> counts;
  for (const Step& step : plan.steps) ++counts[op_name(step.body)];
  return counts;
}

}  // namespace tern::plan_test
