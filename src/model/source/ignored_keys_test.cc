// Each added key or tensor is either computed with, or known to have no effect, or refused by name.
#include "model/source/ignored_keys.h"

#include <gtest/gtest.h>

#include <vector>

#include "model/model.h"
#include "model/tiny_gguf_test_support.h"

namespace tern {
namespace {

enum class Outcome { kRefused, kComputed, kSame };

struct Change {
  const char* name;  // the key without its prefix, or the tensor
  void (*apply)(TinyGguf&, const std::string& name);
  Outcome outcome;
};

template <int kValue>
void integer(TinyGguf& file, const std::string& name) {
  file.integers[name] = kValue;
}
template <int kValue>
void number(TinyGguf& file, const std::string& name) {
  file.floats[name] = kValue;
}
template <bool kValue>
void flag(TinyGguf& file, const std::string& name) {
  file.flags[name] = kValue;
}
void norm(TinyGguf& file, const std::string& name) { file.tensors[name] = {GgmlType::kF32, {128}, {}}; }
void bias(TinyGguf& file, const std::string& name) { norm(file, name); }
void divisors(TinyGguf& file, const std::string& name) {
  TinyTensor tensor{GgmlType::kF32, {32}, std::vector<std::byte>(32 * sizeof(float))};
  for (size_t i = 0; i < 32; ++i) store(tensor.data.data() + i * sizeof(float), 1 + static_cast<float>(i));
  file.tensors[name] = tensor;
}

constexpr Change kChanges[] = {
    // Experts, other kinds of attention, other outputs.
    {"expert_count", integer<4>, Outcome::kRefused},
    {"expert_count", integer<0>, Outcome::kSame},
    {"expert_used_count", integer<2>, Outcome::kRefused},
    {"attn_logit_softcapping", number<50>, Outcome::kComputed},
    {"attn_logit_softcapping", number<0>, Outcome::kSame},
    {"final_logit_softcapping", number<30>, Outcome::kComputed},
    {"attention.max_alibi_bias", number<8>, Outcome::kRefused},
    {"attention.clamp_kqv", number<8>, Outcome::kRefused},
    {"attention.causal", flag<false>, Outcome::kRefused},
    {"attention.causal", flag<true>, Outcome::kSame},
    {"use_parallel_residual", flag<true>, Outcome::kRefused},
    {"attention.sliding_window", integer<16>, Outcome::kRefused},
    {"attention.sliding_window", integer<64>, Outcome::kSame},         // equals the context length
    {"attention.sliding_window_pattern", integer<6>, Outcome::kSame},  // there is no window
    {"attention.temperature_scale", number<2>, Outcome::kRefused},
    {"attention.key_length_mla", integer<64>, Outcome::kRefused},
    {"attention.layer_norm_epsilon", number<1>, Outcome::kSame},
    {"ssm.state_size", integer<16>, Outcome::kRefused},
    {"nobody_knows_this", integer<1>, Outcome::kRefused},
    {"vocab_size", integer<9>, Outcome::kSame},
    // Factors.
    {"embedding_scale", number<12>, Outcome::kComputed},
    {"residual_scale", number<2>, Outcome::kComputed},
    {"attention.scale", number<1>, Outcome::kComputed},
    {"logit_scale", number<4>, Outcome::kComputed},
    {"logit_scale", number<1>, Outcome::kSame},
    {"logit_scale", number<0>, Outcome::kSame},
    // RoPE.
    {"rope.scaling.factor", number<2>, Outcome::kComputed},
    {"rope.scaling.factor", number<1>, Outcome::kSame},
    {"rope.scale_linear", number<2>, Outcome::kComputed},
    {"rope.scaling.attn_factor", number<2>, Outcome::kComputed},
    {"rope.scaling.yarn_log_multiplier", number<2>, Outcome::kRefused},
    {"rope.scaling.yarn_ext_factor", number<1>, Outcome::kRefused},
    {"rope.scaling.yarn_attn_factor", number<2>, Outcome::kRefused},
    {"rope.scaling.original_context_length", integer<32>, Outcome::kSame},
    {"rope.scaling.finetuned", flag<true>, Outcome::kSame},
    {"rope.freq_base_swa", number<10000>, Outcome::kSame},
    {"rope.freq_base_swa", number<777>, Outcome::kRefused},
    {"rope_freqs.weight", divisors, Outcome::kComputed},
    {"rope_factors_long.weight", divisors, Outcome::kRefused},
    // Tensors.
    {"blk.0.attn_q.bias", bias, Outcome::kComputed},
    {"blk.1.attn_output.bias", bias, Outcome::kComputed},
    {"blk.0.ffn_down.bias", bias, Outcome::kComputed},
    {"output.bias", bias, Outcome::kRefused},
    {"output_norm.bias", bias, Outcome::kRefused},
    {"blk.0.attn_norm.bias", bias, Outcome::kRefused},
    {"blk.1.post_attention_norm.weight", norm, Outcome::kRefused},
    {"blk.0.post_ffw_norm.weight", norm, Outcome::kRefused},
    {"blk.0.attn_sinks.weight", norm, Outcome::kRefused},
    {"blk.0.attn_q_norm.weight", norm, Outcome::kRefused},
    {"blk.0.attn_q_norm_in.weight", norm, Outcome::kComputed},
    {"blk.0.ffn_gate_inp.weight", norm, Outcome::kRefused},
    {"blk.2.attn_norm.weight", norm, Outcome::kRefused},
    {"token_embd_norm.weight", norm, Outcome::kRefused},
    {"position_embd.weight", norm, Outcome::kRefused},
    {"blk.0.attn_rot_embd.weight", norm, Outcome::kSame},
};

// Everything that the plan is made from and that these changes may affect.
std::vector<double> what_is_computed(const Model& model) {
  const RopeFrequencies turns = rope_frequencies(model.config.ropes[0], model.config.head_dim, model.config.n_ctx);
  std::vector<double> values = turns.frequencies;
  values.push_back(turns.magnitude);
  values.push_back(model.config.embedding_scale);
  values.push_back(model.config.layer(0).window);
  values.push_back(model.config.attention_softcap);
  values.push_back(model.config.logit_softcap);
  for (const Layer& layer : model.weights.layers) {
    values.push_back(static_cast<double>(layer.tensors().size()));
    for (const Tensor* tensor : {&layer.attn_q, &layer.attn_output, &layer.ffn_down}) values.push_back(tensor->scale);
  }
  values.push_back(load<float>(model.weights.output_norm.data.data()));
  return values;
}

TEST(Declared, NothingIsIgnoredInSilence) {
  TinyGguf plain;
  const float gain = 1;
  plain.tensors["output_norm.weight"].data.resize(128 * sizeof(float));
  store(plain.tensors["output_norm.weight"].data.data(), gain);
  const auto before = what_is_computed(open_model(plain.write("plain")).value());
  int number_of_change = 0;
  for (const Change& change : kChanges) {
    SCOPED_TRACE(change.name);
    TinyGguf file = plain;
    change.apply(file, change.name);
    const auto model = open_model(file.write(std::to_string(number_of_change++)));
    if (change.outcome == Outcome::kRefused) {
      ASSERT_FALSE(model);
      EXPECT_EQ(model.error().code, ErrorCode::kNotSupported) << model.error().message;
      const bool is_factors = std::string_view(change.name).starts_with("rope_factors");
      EXPECT_NE(model.error().message.find(is_factors ? "rope_factors_*" : change.name), std::string::npos)
          << model.error().message;
      continue;
    }
    ASSERT_TRUE(model) << model.error().message;
    EXPECT_EQ(what_is_computed(*model) == before, change.outcome == Outcome::kSame);
  }
}

TEST(Declared, KeysOfTheTokenizerToo) {
  TinyGguf file;
  file.token_ids["tokenizer.ggml.fim_pre_token_id"] = 1;
  EXPECT_TRUE(open_model(file.write("known")));
  file.token_ids["tokenizer.ggml.normalizer.lowercase"] = 1;
  const auto model = open_model(file.write("unknown"));
  ASSERT_FALSE(model);
  EXPECT_NE(model.error().message.find("tokenizer.ggml.normalizer.lowercase"), std::string::npos);
}

struct RopeCase {
  const char* name;
  void (*apply)(TinyGguf&);
  ErrorCode code;
  const char* message;
};

TEST(Declared, RopeScalingsThatMakeNoSense) {
  const RopeCase cases[] = {
      {"type", [](TinyGguf& f) { f.strings["bitnet-b1.58.rope.scaling.type"] = "ntk"; }, ErrorCode::kNotSupported,
       "rope.scaling.type is \"ntk\""},
      {"factor", [](TinyGguf& f) { f.floats["rope.scaling.factor"] = 0.5f; }, ErrorCode::kCorruption, "below 1"},
      {"attn_factor", [](TinyGguf& f) { f.floats["rope.scaling.attn_factor"] = -1; }, ErrorCode::kCorruption,
       "attn_factor"},
      {"no_factors", [](TinyGguf& f) { f.strings["bitnet-b1.58.rope.scaling.type"] = "longrope"; },
       ErrorCode::kCorruption, "rope_factors_short.weight is missing"},
      {"longrope_factor",
       [](TinyGguf& f) {
         f.strings["bitnet-b1.58.rope.scaling.type"] = "longrope";
         f.floats["rope.scaling.factor"] = 2;
       },
       ErrorCode::kNotSupported, "rope.scaling.factor is 2 beside longrope"},
      {"zero_divisor",
       [](TinyGguf& f) { f.tensors["rope_freqs.weight"] = {GgmlType::kF32, {32}, std::vector<std::byte>(128)}; },
       ErrorCode::kCorruption, "not a positive number"},
      {"length", [](TinyGguf& f) { f.tensors["rope_freqs.weight"] = {GgmlType::kF32, {31}, {}}; },
       ErrorCode::kCorruption, "has shape [31]"},
      {"betas",
       [](TinyGguf& f) {
         f.strings["bitnet-b1.58.rope.scaling.type"] = "yarn";
         f.floats["rope.scaling.yarn_beta_fast"] = 0.5f;
       },
       ErrorCode::kCorruption, "yarn_beta_fast"},
  };
  for (const RopeCase& c : cases) {
    SCOPED_TRACE(c.name);
    TinyGguf file;
    c.apply(file);
    const auto model = open_model(file.write(c.name));
    ASSERT_FALSE(model);
    EXPECT_EQ(model.error().code, c.code);
    EXPECT_NE(model.error().message.find(c.message), std::string::npos) << model.error().message;
  }
}

TEST(Declared, YarnReadsWhatTransformersReads) {
  TinyGguf file;
  file.strings["bitnet-b1.58.rope.scaling.type"] = "yarn";
  file.floats["rope.scaling.factor"] = 4;
  file.floats["rope.scaling.yarn_beta_fast"] = 16;
  file.integers["rope.scaling.original_context_length"] = 16;
  const RopeParams rope = open_model(file.write("yarn")).value().config.ropes[0];
  EXPECT_EQ(rope.scaling, RopeScaling::kYarn);
  EXPECT_EQ(rope.factor, 4);
  EXPECT_EQ(rope.original_ctx, 16);
  EXPECT_EQ(rope.beta_fast, 16);
  EXPECT_EQ(rope.beta_slow, 1);
}

}  // namespace
}  // namespace tern
