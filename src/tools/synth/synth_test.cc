#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>

#include "base/fnv1a.h"
#include "file/gguf/gguf.h"
#include "model/model.h"
#include "quant/format.h"
#include "quant/formats/i2_s.h"
#include "tern/engine.h"
#include "tools/random_values.h"
#include "tools/synth/synth_presets.h"
#include "tools/synth/synth_tensors.h"
#include "tools/tools_test_support.h"

namespace tern {
namespace {

Result<void> synth_to(const std::string& path, SynthOptions options) {
  options.out_path = path;
  return synth(options);
}

SynthFormats all_linear(Format format, Format embedding = Format::kF16) {
  return {.linear = format, .experts = format, .embedding = embedding};
}

TEST(Synth, WritesAModelThatOpens) {
  const SynthModel file;
  const auto model = open_model(file.str());
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_EQ(model->config.architecture, "bitnet-b1.58");
  EXPECT_EQ(model->config.n_layers, 2);
  EXPECT_EQ(model->config.d_model, 128);
  EXPECT_EQ(model->config.n_heads, 2);
  EXPECT_EQ(model->config.n_kv_heads, 1);
  EXPECT_EQ(model->config.d_ff, 256);
  EXPECT_EQ(model->config.n_vocab, 320);
  EXPECT_EQ(model->config.n_ctx, 256);
  EXPECT_FLOAT_EQ(model->config.ropes[0].theta, 1e4f);
  EXPECT_FLOAT_EQ(model->config.rms_eps, 1e-5f);
  EXPECT_EQ(model->weights.token_embd.format, Format::kF16);
  EXPECT_EQ(model->weights.layers[1].ffn_down.format, Format::kI2_S);
}

TEST(Synth, ATokenizerOfBytesReadsAnyText) {
  const SynthModel file({.preset = "tiny", .tokenizer = "bytes"});
  const auto engine = Engine::load({.model_path = file.str(), .n_threads = 1});
  ASSERT_TRUE(engine) << engine.error().message;
  const std::string text = "ab \n\x01\u00e9\u20ac";
  const auto ids = engine->tokenizer().encode(text);
  ASSERT_EQ(ids.size(), text.size());
  EXPECT_EQ(engine->tokenizer().decode(ids), text);
  EXPECT_EQ(synth_to("x.gguf", {.preset = "tiny", .tokenizer = "words"}).error().code, ErrorCode::kInvalidArgument);
}

TEST(Synth, EveryLinearFormatHoldsTheSameWeights) {
  const auto* shape = find_synth_shape("stories");
  const auto planar = synth_tensors(*shape, all_linear(Format::kI2_S), 3);
  for (const Format format : {Format::kTQ1_0, Format::kTQ2_0}) {
    const auto blocks = synth_tensors(*shape, all_linear(format), 3);
    ASSERT_EQ(blocks.size(), planar.size());
    for (const size_t i : {size_t{2}, size_t{11}}) {
      ASSERT_EQ(blocks[i].name, planar[i].name);
      const auto cols = static_cast<size_t>(planar[i].cols);
      std::vector<std::byte> a(row_bytes(Format::kI2_S, planar[i].cols)), b(row_bytes(format, planar[i].cols));
      make_rows(planar[i], 5, 1, a);
      make_rows(blocks[i], 5, 1, b);
      std::vector<float> codes(cols), values(cols);
      format_info(Format::kI2_S).decode(a, codes);
      format_info(format).decode(b, values);
      for (size_t j = 0; j < cols; ++j) {
        ASSERT_NEAR(values[j], codes[j] * planar[i].scale, 1e-3 * planar[i].scale) << planar[i].name << " " << j;
      }
    }
  }
}

TEST(Synth, MixturesHaveMoreBitsInSomeLayers) {
  const SynthModel file({.preset = "tiny-qwen3", .type = "Q4_K_M"});
  const auto model = open_model(file.str());
  ASSERT_TRUE(model) << model.error().message;
  std::string more;
  for (const Layer& layer : model->weights.layers) {
    EXPECT_EQ(layer.attn_q.format, Format::kQ4_K);
    EXPECT_EQ(layer.ffn_up.format, Format::kQ4_K);
    EXPECT_EQ(layer.attn_v.format, layer.ffn_down.format);
    more += layer.ffn_down.format == Format::kQ6_K ? 'M' : layer.ffn_down.format == Format::kQ4_K ? '.' : '?';
  }
  EXPECT_EQ(more, ".M");
  std::string of_28;
  for (int layer = 0; layer < 28; ++layer) of_28 += has_more_bits(layer, 28) ? 'M' : '.';
  EXPECT_EQ(of_28, "MMM..M..M..M..M..M..M..MMMMM");
  EXPECT_EQ(synth_to("x.gguf", {.preset = "tiny", .type = "q4_k_m"}).error().code, ErrorCode::kInvalidArgument);
}

TEST(Synth, RowsDoNotDependOnHowTheyAreSplit) {
  const auto tensors = synth_tensors(*find_synth_shape("tiny"), all_linear(Format::kI2_S, Format::kQ8_0), 9);
  for (const SynthTensor& tensor : tensors) {
    if (tensor.is_vector()) continue;
    const size_t one_row = row_bytes(tensor.format, tensor.cols);
    const auto n = static_cast<size_t>(tensor.rows);
    std::vector<std::byte> at_once(n * one_row), split(n * one_row);
    make_rows(tensor, 0, tensor.rows, at_once);
    for (size_t first = 0; first < n; first += 7) {
      const size_t some = std::min<size_t>(7, n - first);
      make_rows(tensor, static_cast<int>(first), static_cast<int>(some),
                MutableBytes(split).subspan(first * one_row, some * one_row));
    }
    EXPECT_EQ(at_once, split) << tensor.name;
  }
}

TEST(Synth, SameSeedSameWeightsOnEveryMachine) {
  const SynthModel file;
  const auto opened = GgufFile::open(file.str()).value();
  uint64_t hash = 0;
  for (const GgufTensor& tensor : opened.tensors()) hash = fnv1a(as_text(tensor.data)) + 31 * hash;
  // The bytes of the first version. A change to the random numbers or their use must update this hash.
  EXPECT_EQ(hash, 0x657C0921A1D4240Bu);
}

TEST(Synth, AnotherSeedIsAnotherFile) {
  const TemporaryPath a("-a.gguf"), b("-b.gguf");
  ASSERT_TRUE(synth_to(a.str(), {.preset = "tiny", .seed = 1}));
  ASSERT_TRUE(synth_to(b.str(), {.preset = "tiny", .seed = 2}));
  const auto model_a = open_model(a.str()), model_b = open_model(b.str());
  ASSERT_TRUE(model_a && model_b);
  const auto differs = [](const Tensor& x, const Tensor& y) { return !std::ranges::equal(x.data, y.data); };
  EXPECT_TRUE(differs(model_a->weights.token_embd, model_b->weights.token_embd));
  EXPECT_TRUE(differs(model_a->weights.layers[0].attn_q, model_b->weights.layers[0].attn_q));
  EXPECT_TRUE(differs(model_a->weights.layers[0].attn_q, model_a->weights.layers[1].attn_q));
  EXPECT_NE(model_a->weights.layers[0].attn_q.scale, model_a->weights.layers[1].attn_q.scale);
}

TEST(Synth, EveryHeadFormatRuns) {
  // Q6_K packs 256 values, so it needs a wider model than tiny.
  for (const auto& [head, preset] : {std::pair{"f16", "tiny"},
                                     {"f32", "tiny"},
                                     {"bf16", "tiny"},
                                     {"q8_0", "tiny"},
                                     {"q4_0", "tiny"},
                                     {"q6_k", "stories"}}) {
    const SynthModel file({.preset = preset, .head = head});
    const auto engine = Engine::load({.model_path = file.str(), .n_threads = 1});
    ASSERT_TRUE(engine.has_value()) << engine.error().message;
    EXPECT_FALSE(engine->has_tokenizer());
    auto session = engine->new_session({.n_ctx = 8}).value();
    const std::vector<TokenId> tokens = {1, 200, 3, 319, 77};
    size_t n_rows = 0;
    const auto run = session.logits(tokens, [&](size_t, std::span<const float> row) -> Result<void> {
      ++n_rows;
      double square = 0;
      for (const float logit : row) square += static_cast<double>(logit) * logit;
      const double rms = std::sqrt(square / static_cast<double>(row.size()));
      EXPECT_TRUE(rms > 0.05 && rms < 5) << head << " " << rms;  // stable activations, and no NaN
      return {};
    });
    EXPECT_TRUE(run.has_value());
    EXPECT_EQ(n_rows, tokens.size());
  }
}

// In this text, tokens repeat, but no three in a row. Then the start of an earlier part recurs: the most probable token
// is the one that followed there.
TEST(Synth, ACopierCopies) {
  for (const char* type : {"i2_s", "tq1_0"}) {
    const SynthModel file({.preset = "tiny-copier", .type = type});
    const auto engine = Engine::load({.model_path = file.str(), .n_threads = 1}).value();
    auto session = engine.new_session({.n_ctx = 512}).value();
    std::vector<TokenId> text;
    std::set<std::array<TokenId, 3>> seen;
    for (uint64_t i = 0; text.size() < 240; ++i) {
      const auto token = static_cast<TokenId>(mix64(i) % 40);
      const size_t n = text.size();
      if (n < 2 || seen.insert({text[n - 2], text[n - 1], token}).second) text.push_back(token);
    }
    for (const size_t first : {size_t{0}, size_t{17}, size_t{90}}) {
      std::vector<TokenId> prompt = text;
      prompt.push_back(300);
      const auto again = std::span(text).subspan(first, 12);
      prompt.insert(prompt.end(), again.begin(), again.end());
      const auto reply = session.generate(prompt, {.max_tokens = 100, .sample = {.temperature = 0}}).value();
      EXPECT_TRUE(std::ranges::equal(reply.tokens, std::span(text).subspan(first + 12, 100))) << type << " " << first;
    }
  }
}

// Every family opens in every kind of format and computes plausible logits, the same token by token as in batches.
TEST(Synth, EveryFamilyRuns) {
  for (const auto& [preset, type, head] : {std::tuple{"tiny-qwen3", "q1_0", "q1_0"},
                                           {"tiny-qwen3", "q2_0", "q2_0"},
                                           {"tiny-qwen3", "pq2_0", "pq2_0"},
                                           {"tiny-qwen3", "q6_k", "q6_k"},
                                           {"tiny-qwen3", "bf16", "f32"},
                                           {"tiny-phi3", "q4_0", "q4_0"},
                                           {"tiny-phi3", "q8_0", "f16"},
                                           {"tiny-llama", "i2_s", "f16"},
                                           {"tiny-odd", "i2_s", "f16"},
                                           {"tiny-llama", "tq1_0", "f16"},
                                           {"tiny-llama", "q4_0", "q6_k"},
                                           {"tiny-qwen3moe", "q4_k_m", "q6_k"},
                                           {"tiny-qwen3moe", "mxfp4", "f16"},
                                           {"tiny-gpt-oss", "", ""},
                                           {"tiny-gemma4", "", ""}}) {
    const SynthModel file({.preset = preset, .type = type, .head = head});
    const std::vector<TokenId> tokens = {1, 200, 3, 319, 77, 6, 5, 4, 3, 2, 1};
    std::vector<float> logits[2];
    for (const int max_batch : {1, 7}) {
      const auto engine = Engine::load({.model_path = file.str(), .n_threads = 1, .max_batch = max_batch});
      ASSERT_TRUE(engine.has_value()) << engine.error().message;
      auto session = engine->new_session({.n_ctx = 16}).value();
      const auto add = [&](size_t, std::span<const float> row) -> Result<void> {
        auto& all = logits[max_batch == 1 ? 0 : 1];
        all.insert(all.end(), row.begin(), row.end());
        return {};
      };
      ASSERT_TRUE(session.logits(tokens, add).has_value());
    }
    EXPECT_EQ(logits[0], logits[1]) << preset << " " << type;
    double square = 0;
    for (const float logit : logits[0]) square += static_cast<double>(logit) * logit;
    const double rms = std::sqrt(square / static_cast<double>(logits[0].size()));
    EXPECT_TRUE(rms > 0.05 && rms < 5) << preset << " " << type << " " << rms;
  }
}

TEST(Synth, ReportsProgressUpToTheEnd) {
  const TemporaryPath path(".gguf");
  uint64_t done = 0, total = 0;
  ASSERT_TRUE(synth_to(path.str(), {.preset = "tiny", .on_progress = [&](const Progress& p) {
                                      EXPECT_GE(p.done, done);
                                      done = p.done;
                                      total = p.total;
                                    }}));
  EXPECT_EQ(done, total);
  EXPECT_GT(total, 100'000u);
  EXPECT_LT(total, std::filesystem::file_size(path.str()));
}

TEST(Synth, RefusesWhatItCannotMake) {
  const TemporaryPath path(".gguf");
  const auto message = [&](const SynthOptions& options) {
    const auto made = synth_to(path.str(), options);
    EXPECT_FALSE(made.has_value());
    if (made) return std::string();
    EXPECT_EQ(made.error().code, ErrorCode::kInvalidArgument);
    EXPECT_FALSE(std::filesystem::exists(path.str()));
    return made.error().message;
  };
  EXPECT_EQ(message({.preset = "huge"}),
            "synth: no preset is named \"huge\"; choose one of bitnet-2b-4t, copier-2b, bitnet-large, bitnet-3b, "
            "bonsai-1.7b, "
            "bonsai-8b, qwen3-4b, llama-3.2-3b, llama-30m, qwen3.5-0.8b, qwen3.5-4b, bonsai-27b, phi-3-mini, "
            "falcon3-7b-1.58, "
            "stories, tiny, tiny-copier, tiny-odd, "
            "tiny-qwen3, tiny-qwen3.5, "
            "tiny-phi3, tiny-llama, qwen3-30b-a3b, qwen3.6-35b-a3b, gpt-oss-20b, olmoe-1b-7b, maple-20b-a1b, "
            "gemma-4-26b-a4b, "
            "tiny-qwen3moe, tiny-gpt-oss, tiny-gemma4");
  EXPECT_EQ(message({.preset = "tiny", .type = "q8_0"}),
            "synth: the type of the linear layers cannot be \"q8_0\"; choose one of i2_s, tq1_0, tq2_0");
  EXPECT_EQ(message({.preset = "tiny", .head = "i2_s"}),
            "synth: the type of the head cannot be \"i2_s\"; choose one of f32, f16, bf16, q8_0, q6_k, q5_k, "
            "q5_1, q5_0, q4_k, q4_1, q4_0, iq4_nl, iq4_xs, mxfp4, q3_k, q2_k, q2_0, pq2_0, ptq1_0, q1_0, stq1_0");
  EXPECT_EQ(message({.preset = "tiny-qwen3", .type = "i2_s"}),
            "synth: the type of the linear layers cannot be \"i2_s\"; choose one of f32, f16, bf16, q8_0, q6_k, q5_k, "
            "q5_1, q5_0, q4_k, q4_1, q4_0, iq4_nl, iq4_xs, mxfp4, q3_k, q2_k, q2_0, pq2_0, ptq1_0, q1_0, stq1_0, "
            "q4_k_m, q5_k_m");
  EXPECT_NE(message({.preset = "tiny", .type = "tq1_0"}).find("TQ1_0 packs 256 values"), std::string::npos);
  EXPECT_EQ(synth({.preset = "tiny"}).error().code, ErrorCode::kInvalidArgument);
}

TEST(Synth, PresetsAreWholeBlocksAndListed) {
  const auto presets = synth_presets();
  ASSERT_EQ(presets.size(), synth_shapes().size());
  for (const SynthShape& shape : synth_shapes()) {
    const bool is_narrow = shape.type == "i2_s" || shape.expert_type == "mxfp4" || shape.family == SynthFamily::kGemma4;
    const int unit = is_narrow ? 32 : 128;  // I2_S blocks span rows, those of MXFP4 and Q4_0 have 32 weights
    EXPECT_EQ(shape.experts.d_ff % unit, 0) << shape.name;
    EXPECT_EQ(shape.d_model % unit, 0) << shape.name;
    EXPECT_EQ(shape.d_ff % unit, 0) << shape.name;
    EXPECT_EQ(shape.q_width() % (unit == 32 ? 8 : 128), 0) << shape.name;
    EXPECT_EQ(shape.n_heads % shape.n_kv_heads, 0) << shape.name;
    EXPECT_TRUE(std::ranges::contains(presets, std::string(shape.name), &SynthPreset::name));
  }
}

// gpt-oss-20b has 11,536.18 MiB of tensors. Maple's published file has an embedding in F16.
TEST(Synth, PresetsOfMixturesHaveThePublishedSizes) {
  const auto bytes_of = [](const char* preset, const SynthFormats& formats) {
    uint64_t bytes = 0;
    for (const SynthTensor& tensor : synth_tensors(*find_synth_shape(preset), formats, 0)) {
      bytes += tensor.in_file().bytes();
    }
    return bytes;
  };
  EXPECT_EQ(bytes_of("gpt-oss-20b", {Format::kQ8_0, Format::kMXFP4, Format::kQ8_0}), 12'096'558'336u);
  EXPECT_EQ(bytes_of("qwen3-30b-a3b", all_linear(Format::kQ8_0, Format::kQ8_0)), 32'477'962'240u);
  const uint64_t embedding = uint64_t{151936} * 2048;
  EXPECT_EQ(
      bytes_of("maple-20b-a1b", all_linear(Format::kTQ2_0, Format::kQ4_K)) - embedding * 144 / 256 + 2 * embedding,
      5'895'831'552u);
}

// The published file has 521,017,920 B of ternary matrices and 656,670,720 B of embedding.
TEST(Synth, TheTwoBillionPresetHasThePublishedSize) {
  uint64_t ternary = 0, embedding = 0;
  for (const SynthTensor& tensor : synth_tensors(*find_synth_shape("bitnet-2b-4t"), all_linear(Format::kI2_S), 0)) {
    if (tensor.kind == SynthTensor::Kind::kLinear) ternary += tensor.in_file().bytes();
    if (tensor.kind == SynthTensor::Kind::kEmbedding) embedding += tensor.in_file().bytes();
  }
  EXPECT_EQ(ternary, 521'017'920u);
  EXPECT_EQ(embedding, 656'670'720u);
}

}  // namespace
}  // namespace tern
