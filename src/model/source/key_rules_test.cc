// Tests every key of the tables on every architecture: harmless values act as if the key were absent, and others are
// refused, naming the key.
#include "model/source/key_rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "model/families/family.h"
#include "model/model.h"
#include "model/tiny_gguf_test_support.h"

namespace tern {
namespace {

// Heads of 64 dimensions, a context of 64, d_model 128, and a frequency base of 10,000.
TinyGguf tiny_of(const Family& family) {
  if (family.parts.layer_inputs) return tiny_gemma4();
  TinyGguf file;
  if (family.parts.delta) {
    file = tiny_qwen35();
    file.architecture = family.architecture;
    if (family.parts.experts != Experts::kNone) put_experts(file);
    return file;
  }
  file.architecture = family.architecture;
  if (!family.parts.sub_norms) {
    std::erase_if(file.tensors, [](const auto& tensor) { return tensor.first.contains("_sub_norm"); });
    for (auto& [name, tensor] : file.tensors) {
      if (tensor.type == GgmlType::kI2_S) tensor.type = GgmlType::kF16;
    }
  }
  const auto vector = [](int64_t n) { return TinyTensor{GgmlType::kF32, {n}, {}}; };
  for (const std::string blk : {"blk.0.", "blk.1."}) {
    if (family.parts.head_norms) {
      for (const auto* norm : {"attn_q_norm", "attn_k_norm"}) file.tensors[blk + norm + ".weight"] = vector(64);
    }
    if (family.parts.whole_norms) {
      file.tensors[blk + "attn_q_norm.weight"] = vector(128);
      file.tensors[blk + "attn_k_norm.weight"] = vector(64);
    }
    if (family.parts.sinks) file.tensors[blk + "attn_sinks.weight"] = vector(2);
    if (family.parts.ffn_norm != "ffn_norm") {
      file.tensors.erase(blk + "ffn_norm.weight");
      file.tensors[blk + std::string(family.parts.ffn_norm) + ".weight"] = vector(128);
    }
    if (family.parts.post_norms) {
      for (const auto* norm : {"post_attention_norm", "post_ffw_norm"})
        file.tensors[blk + norm + ".weight"] = vector(128);
    }
    if (family.parts.joined) {
      for (const auto* part : {"attn_q", "attn_k", "attn_v", "ffn_gate"}) file.tensors.erase(blk + part + ".weight");
      file.tensors[blk + "attn_qkv.weight"] = {GgmlType::kF16, {256, 128}, {}};
      file.tensors[blk + "ffn_up.weight"] = {GgmlType::kF16, {512, 128}, {}};
    }
  }
  if (family.needs_window) file.integers["attention.sliding_window"] = 16;
  if (family.parts.experts != Experts::kNone) put_experts(file);
  return file;
}

using Edit = std::function<void(TinyGguf& file, const std::string& name)>;

Edit set_u32(uint32_t value) {
  return [=](TinyGguf& file, const std::string& name) { file.integers[name] = value; };
}
Edit set_f32(float value) {
  return [=](TinyGguf& file, const std::string& name) { file.floats[name] = value; };
}
Edit set_flag(bool value) {
  return [=](TinyGguf& file, const std::string& name) { file.flags[name] = value; };
}
Edit set_text(std::string value) {
  return [=](TinyGguf& file, const std::string& name) { file.strings[file.architecture + "." + name] = value; };
}
Edit set_floats(std::vector<float> values) {
  return [=](TinyGguf& file, const std::string& name) { file.float_lists[file.architecture + "." + name] = values; };
}
Edit set_ints(std::vector<int32_t> values) {
  return [=](TinyGguf& file, const std::string& name) { file.integer_lists[file.architecture + "." + name] = values; };
}
Edit set_texts(std::vector<std::string> values) {
  return [=](TinyGguf& file, const std::string& name) { file.string_lists[file.architecture + "." + name] = values; };
}

struct KeyCase {
  std::string name;
  std::vector<Edit> harmless;
  std::vector<Edit> refused = {};  // empty: no value has an effect
  // Excludes families that use the key themselves, or need layers with a window.
  std::function<bool(const Family&)> is_for = [](const Family&) { return true; };
};

std::vector<KeyCase> cases_of_architecture() {
  const auto without_window = [](const Family& f) { return !f.needs_window; };
  const auto computes_none = [](const Family& f) { return !f.needs_window && f.architecture != "phi3"; };
  const auto not_gemma4 = [](const Family& f) { return !f.parts.layer_inputs; };
  const auto not_recurrent = [](const Family& f) { return !f.parts.delta; };
  const auto no_mixture = [](const Family& f) { return f.parts.experts == Experts::kNone; };
  const std::vector<Edit> zero = {set_u32(0), set_f32(0), set_flag(false)};
  const std::vector<Edit> not_zero = {set_u32(2), set_f32(0.5f), set_flag(true)};
  std::vector<KeyCase> cases = {
      {"vocab_size", {set_u32(9)}},
      {"tensor_data_layout", {set_text("Meta AI original pth")}},
      {"rope.scaling.finetuned", {set_flag(true)}},
      {"attention.layer_norm_epsilon", {set_f32(1e-5f), set_f32(1)}},
      {"decoder_start_token_id", {set_u32(5)}},
      {"classifier.output_labels", {set_texts({"yes", "no"})}},
      {"mm.tokens_per_image", {set_u32(256)}},
      {"source_hf_repo", {set_text("x/y")}},
      {"embedding_length_out", {set_u32(128)}, {set_u32(0), set_u32(64)}},
      {"activation_sparsity_scale",
       {set_floats({0}), set_floats({0, 0}), set_floats({}), set_f32(0)},
       {set_floats({0, 1}), set_f32(1)}},
      {"num_loops", {set_u32(1)}, {set_u32(0), set_u32(2)}},
      {"full_attention_interval", {set_u32(1)}, {set_u32(4)}, not_recurrent},
      {"nextn_predict_layers", zero, not_zero, not_recurrent},
      {"expert_count", zero, not_zero,
       [](const Family& f) { return f.parts.experts == Experts::kNone && !f.parts.layer_inputs; }},
      {"expert_used_count", zero, not_zero, no_mixture},
      {"expert_feed_forward_length", zero, not_zero, no_mixture},
      {"expert_shared_feed_forward_length", zero, not_zero, no_mixture},
      {"expert_gating_func", zero, not_zero, no_mixture},
      {"expert_weights_norm", zero, not_zero, no_mixture},
      {"expert_weights_scale", zero, not_zero, no_mixture},
      {"attention.causal", {set_flag(true), set_u32(1)}, {set_flag(false)}},
      {"attention.sliding_window", {set_u32(0), set_u32(64), set_u32(4096)}, {set_u32(63)}, computes_none},
      {"attention.sliding_window_pattern", {set_u32(6), set_ints({1, 0})}, {}, without_window},
      {"attention.output_scale", {set_f32(1)}, {set_f32(0), set_f32(2)}},
      {"attention.value_scale", {set_f32(1)}, {set_f32(0), set_f32(2)}},
      {"rope.dimension_sections",
       {set_ints({32, 0, 0, 0}), set_ints({8, 12, 12})},
       {set_ints({64, 0, 0, 0}), set_ints({48, -16}), set_ints({0, 0, 0, 0}), set_ints({1, 1, 1, 0})}},
      {"rope.freq_base_swa",
       {set_f32(10000)},
       {set_f32(777)},
       [](const Family& f) { return f.architecture != "gemma3" && f.architecture != "gemma4"; }},
      {"attention.shared_kv_layers", zero, not_zero, not_gemma4},
      {"rope.scaling.yarn_beta_fast", {set_f32(32)}, {set_f32(16)}},
      {"rope.scaling.yarn_beta_slow", {set_f32(1)}, {set_f32(2)}},
  };
  for (const char* name : {"attention.key_length_swa", "attention.value_length_swa", "rope.dimension_count_swa"}) {
    cases.push_back({name, {set_u32(64)}, {set_u32(0), set_u32(32)}, not_gemma4});
  }
  // All other keys count parts that only other kinds of models have.
  for (const KeyRule& rule : architecture_key_rules()) {
    const std::string name = std::string(rule.name) + (rule.name.ends_with('.') ? "some_key" : "");
    if (name.ends_with("softcapping") && !name.starts_with("router")) continue;  // computed
    if (!std::ranges::contains(cases, name, &KeyCase::name)) cases.push_back({name, zero, not_zero});
  }
  return cases;
}

void check_key_case(const Family& family, const KeyCase& c, const std::string& key) {
  int n = 0;
  for (const Edit& edit : c.harmless) {
    TinyGguf file = tiny_of(family);
    edit(file, c.name);
    const auto model = open_model(file.write("harmless"));
    EXPECT_TRUE(model) << family.architecture << ", value " << n << ": " << model.error().message;
    ++n;
  }
  for (const Edit& edit : c.refused) {
    TinyGguf file = tiny_of(family);
    edit(file, c.name);
    const std::string path = file.write("refused");
    const auto model = open_model(path);
    ASSERT_FALSE(model) << family.architecture << ", value " << n;
    EXPECT_EQ(model.error().code, ErrorCode::kNotSupported) << model.error().message;
    EXPECT_NE(model.error().message.find("'" + key + "' is "), std::string::npos) << model.error().message;
    // The key is known to matter, so it cannot be ignored either.
    const auto ignored = open_model(path, {}, Access::kResident, {.ignored_keys = {key}});
    ASSERT_FALSE(ignored) << family.architecture << ", value " << n;
    EXPECT_NE(ignored.error().message.find("'" + key + "' cannot be ignored"), std::string::npos)
        << ignored.error().message;
    ++n;
  }
}

class KeyRules : public testing::TestWithParam<size_t> {};

TEST_P(KeyRules, EveryRowOnEveryArchitecture) {
  const Family& family = families()[GetParam()];
  ASSERT_TRUE(open_model(tiny_of(family).write("plain")));
  for (const KeyCase& c : cases_of_architecture()) {
    SCOPED_TRACE(c.name);
    if (c.is_for(family)) check_key_case(family, c, std::string(family.architecture) + "." + c.name);
  }
}

TEST_P(KeyRules, TheActivationIsWhatTheFamilyComputes) {
  const Family& family = families()[GetParam()];
  struct Names {
    GluAct act;
    std::vector<std::string> names;
  };
  const std::string key = std::string(family.architecture) + ".hidden_act";
  for (const std::string& full : {key, key + "ivation"}) {
    for (const auto& [act, names] : {Names{GluAct::kSilu, {"silu", "swish"}},
                                     {GluAct::kRelu2, {"relu2", "relu_squared"}},
                                     {GluAct::kGeluTanh, {"gelu_tanh", "gelu_pytorch_tanh", "gelu_new"}}}) {
      for (const std::string& name : names) {
        TinyGguf file = tiny_of(family);
        file.strings[full] = name;
        const auto model = open_model(file.write("act"));
        EXPECT_EQ(model.has_value(), act == family.glu_act) << full << " " << name;
        if (model) continue;
        EXPECT_EQ(model.error().code, ErrorCode::kNotSupported);
        const std::string both =
            full + " is '" + name + "', but Tern computes " + std::string(glu_act_name(family.glu_act));
        EXPECT_NE(model.error().message.find(both), std::string::npos) << model.error().message;
      }
    }
    TinyGguf file = tiny_of(family);
    file.strings[full] = "gelu";  // the variant with the error function
    EXPECT_FALSE(open_model(file.write("gelu")));
  }
}

INSTANTIATE_TEST_SUITE_P(Families, KeyRules, testing::Range<size_t>(0, families().size()), [](const auto& of) {
  std::string name(families()[of.param].architecture);
  std::erase_if(name, [](char c) { return c == '-' || c == '.'; });
  return name;
});

// The tokenizer's other keys never have an effect.
TEST(TokenizerKeyRules, EveryRow) {
  const auto whole = [](auto TinyGguf::* map, auto value) {
    return [=](TinyGguf& file, const std::string& key) { (file.*map)[key] = value; };
  };
  const auto off = whole(&TinyGguf::bools, false), on = whole(&TinyGguf::bools, true);
  std::vector<KeyCase> cases = {
      {"token_type_count", {whole(&TinyGguf::token_ids, 1u)}, {whole(&TinyGguf::token_ids, 2u)}},
      {"suppress_tokens",
       {whole(&TinyGguf::integer_lists, std::vector<int32_t>())},
       {whole(&TinyGguf::integer_lists, std::vector<int32_t>{1})}},
      {"normalizer.lowercase", {off}, {on}},
      {"normalizer.strip_accents", {off}, {on}},
      {"byte_fallback", {on}, {off}},
      {"escape_whitespaces", {on}, {off}},
      {"added_tokens", {whole(&TinyGguf::string_lists, std::vector<std::string>{"<x>"})}},
      {"bos_token_ids", {whole(&TinyGguf::integer_lists, std::vector<int32_t>{1})}},
  };
  for (const KeyRule& rule : tokenizer_key_rules()) {
    if (std::ranges::contains(cases, rule.name, &KeyCase::name)) continue;
    ASSERT_FALSE(rule.is_harmless) << rule.name << " is in no test";
    cases.push_back({std::string(rule.name), {whole(&TinyGguf::token_ids, 3u), on}});
  }
  for (KeyCase& c : cases) {
    SCOPED_TRACE(c.name);
    c.name = "tokenizer.ggml." + c.name;
    check_key_case(*find_family("bitnet-b1.58"), c, c.name);
  }
}

// Byte-level vocabularies have neither option, so files may set them.
TEST(TokenizerKeyRules, SentencePiecesOptionsAreNothingToByteLevel) {
  TinyGguf file;
  file.strings["tokenizer.ggml.model"] = "gpt2";
  for (const char* name : {"byte_fallback", "escape_whitespaces"}) {
    file.bools[std::string("tokenizer.ggml.") + name] = false;
  }
  EXPECT_TRUE(open_model(file.write("gpt2")));
}

TEST(WindowOfZero, IsNoneInGemma) {
  for (const char* architecture : {"gemma2", "gemma3"}) {
    TinyGguf file = tiny_of(*find_family(architecture));
    EXPECT_EQ(open_model(file.write("windows"))->config.layer(0).window, 16);
    file.integers["attention.sliding_window"] = 0;
    file.integers["attention.sliding_window_pattern"] = 6;
    const auto model = open_model(file.write("none"));
    ASSERT_TRUE(model) << model.error().message;
    for (int i = 0; i < model->config.n_layers; ++i) {
      EXPECT_EQ(model->config.layer(i).window, 0);
      EXPECT_EQ(model->config.layer(i).rope, 0);  // rotates like layers without a window
    }
    file.integers.erase("attention.sliding_window");
    EXPECT_FALSE(open_model(file.write("missing")));
  }
}

}  // namespace
}  // namespace tern
