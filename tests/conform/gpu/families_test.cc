// Small random models of every family and format: the GPU compared with the reference, fused with unfused plans, few
// tokens with many, and device-sampled tokens with those of single runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cmath>
#include <deque>

#include "backend/gpu/memory/weights/pack.h"
#include "backend/gpu/run/executable.h"
#include "backend/gpu/run/webgpu_backend.h"
#include "backend/kv_cache.h"
#include "backend/ref/ref_backend.h"
#include "conform/gpu/small_tiles.h"
#include "conform/gpu/tiny_model.h"
#include "conform/values.h"
#include "model/families/family.h"
#include "plan/plan.h"

namespace tern {
namespace {

std::vector<TokenId> some_tokens(int n) {
  std::vector<TokenId> tokens;
  for (int i = 0; i < n; ++i) tokens.push_back((i * 97 + 13) % 300);
  return tokens;
}

// The last logits of `tokens`, run in batches of `batch`.
std::vector<float> logits_of(Executable& e, std::span<const TokenId> tokens, size_t batch, KvType type = KvType::kF32) {
  const auto cache = e.new_cache(64, type).value();
  std::vector<float> last;
  for (size_t at = 0; at < tokens.size(); at += batch) {
    const auto part = tokens.subspan(at, std::min(batch, tokens.size() - at));
    const auto logits = e.run(*cache, {.tokens = part, .first_pos = static_cast<int>(at)});
    EXPECT_TRUE(logits) << logits.error().message;
    if (logits) last.assign(logits->begin(), logits->end());
  }
  return last;
}

using conform::nmse;

class GpuFamilies : public testing::TestWithParam<TinyShape> {
 protected:
  void SetUp() override {
    if (const auto adapters = gpu::list_adapters(); !adapters) GTEST_SKIP() << adapters.error().message;
  }
};

std::vector<TinyShape> shapes() {
  std::vector<TinyShape> all;
#ifdef TERN_SANITIZED  // same host code for all formats: one with floats, one with codes, one with K blocks
  const auto formats = {Format::kF16, Format::kQ4_0, Format::kQ4_K};
#else
  const auto formats = float_row_formats();
#endif
  for (const Format f : formats) {
    all.push_back(
        {.name = "qwen3_" + std::string(format_info(f).name), .parts = {.head_norms = true}, .format = f, .head = f});
  }
  // Like Q4_K_M: in some layers, values and down projections have more bits.
  all.push_back({.name = "qwen3_mixed",
                 .parts = {.head_norms = true},
                 .format = Format::kQ4_K,
                 .others = {{.v = Format::kQ6_K, .down = Format::kQ6_K}},
                 .head = Format::kQ6_K});
  all.push_back({.name = "phi3_window", .windows = {7, 7}, .format = Format::kQ4_0, .head = Format::kQ6_K});
  all.push_back({.name = "llama", .pairs = RopePairs::kInterleaved, .format = Format::kQ8_0, .head = Format::kF16});
  all.push_back({.name = "llama_ternary", .int8_activations = true, .format = Format::kI2_S, .head = Format::kF16});
  all.push_back({.name = "bitnet_large",
                 .parts = {.sub_norms = true},
                 .int8_activations = true,
                 .format = Format::kI2_S,
                 .head = Format::kF16});
  all.push_back({.name = "biases", .biases = true, .format = Format::kQ4_0, .head = Format::kQ6_K});
  all.push_back({.name = "qwen2", .qkv_biases = true, .format = Format::kQ4_0, .head = Format::kQ6_K});
  all.push_back({.name = "gemma2",
                 .parts = {.post_norms = true},
                 .act = GluAct::kGeluTanh,
                 .windows = {7, 0},
                 .softcap = 2,
                 .format = Format::kQ8_0,
                 .head = Format::kQ8_0});
  all.push_back(
      {.name = "sinks", .parts = {.sinks = true}, .windows = {7, 0}, .format = Format::kQ8_0, .head = Format::kQ8_0});
  all.push_back({.name = "gemma3",
                 .parts = {.head_norms = true, .post_norms = true},
                 .act = GluAct::kGeluTanh,
                 .windows = {7, 0},
                 .format = Format::kF16,
                 .head = Format::kF16});
  all.push_back({.name = "bitnet_embeddings",
                 .parts = {.head_norms = true},
                 .input_norms = true,
                 .int8_activations = true,
                 .format = Format::kI2_S,
                 .head = Format::kF16});
  // Layers that differ: fewer heads, then as many heads but fewer KV heads, then as the first.
  const std::vector<LayerConfig> layers = {{.d_ff = 256},
                                           {.window = 7, .rope = 1, .n_heads = 2, .n_kv_heads = 2},
                                           {.n_heads = 4, .n_kv_heads = 1, .d_ff = 256},
                                           {.d_ff = 256}};
  all.push_back({.name = "llama_layers",
                 .layers = layers,
                 .pairs = RopePairs::kInterleaved,
                 .format = Format::kQ4_0,
                 .head = Format::kQ4_0});
  all.push_back({.name = "qwen3_layers",
                 .parts = {.head_norms = true},
                 .layers = layers,
                 .format = Format::kF16,
                 .head = Format::kF16});
  all.push_back({.name = "bitnet_layers",
                 .parts = {.sub_norms = true},
                 .int8_activations = true,
                 .layers = layers,
                 .format = Format::kI2_S,
                 .head = Format::kF16});
  return all;
}
std::vector<TinyShape> shapes_where(bool (*wanted)(const TinyShape&)) {
  auto some = shapes();
  std::erase_if(some, [&](const TinyShape& shape) { return !wanted(shape); });
  return some;
}
std::string name_of(const testing::TestParamInfo<TinyShape>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(, GpuFamilies, testing::ValuesIn(shapes()), name_of);

// Prompts on f16 matrices round every activation to f16, by at most 2^-11 of its value: an NMSE of 8e-8 per product. A
// token goes through about fifteen products in these models.
constexpr double kF16Matrices = 3e-6;

// Float sums in another order: a rounding of 2^-24 for each of a few hundred terms, which adds up to a few millionths
// over some twenty steps. int8 activations have steps of 1/254 of a run's largest value, an NMSE of 4e-5 per product.
// In ternary layers some round to the neighboring integer (docs/numerics.md).
constexpr double kFloats = 1e-10, kInt8 = 1e-3;

// A few keys and values are rounded the other way, by 2^-10 of their value.
constexpr double kF16Keys = 1e-7;
// A few codes are off by one, 1/127 of the largest value of their group.
constexpr double kCodes = 1e-4;

TEST_P(GpuFamilies, GiveTheLogitsOfTheReference) {
  const TinyModel model(GetParam());
  const auto tokens = some_tokens(20);
  const Plan plain = make_plan(model.config, model.weights, {.fuse = Fusions::none()});
  const auto expected = logits_of(*ref::compile(plain, {.max_batch = 32}).value(), tokens, 32);
  const std::vector<std::string> nothing = {"f16", "subgroups", "subgroup-matrix", "dot4", "timestamps", "limits"};
  const bool has_codes = !model.config.int8_activations && gpu::coding_of(model.weights.layers[0].ffn_up).has_codes();
  // `serial`: what a software driver uses by default; otherwise what GPUs use.
  const auto compare = [&](const Fusions& fuse, std::vector<std::string> without, bool serial = false) {
    const Plan plan = make_plan(model.config, model.weights, {.fuse = fuse});
    const bool int8 = has_codes && fuse.int8_on_read && without.empty() && !serial;
    if (!serial) without.emplace_back("serial");
    const double close = int8 || model.config.int8_activations ? kInt8 : kFloats;
    const auto gpu = gpu::compile(plan, {.max_batch = 32, .gpu = {.validation = true, .without = without}});
    ASSERT_TRUE(gpu) << gpu.error().message;
    const double few = nmse(logits_of(**gpu, tokens, 5), expected);
    EXPECT_LT(few, close) << "few tokens at once";
    if (int8) {
      EXPECT_GT(few, kFloats) << "was anything int8?";
    }
    // The largest batch that is not multiplied in tiles, one more token, and all tokens.
    const int before_tiles = gpu::Layouts{}.float_tiles_from - 1;
    for (const int at_once : {before_tiles, before_tiles + 1, 32}) {
      EXPECT_LT(nmse(logits_of(**gpu, tokens, at_once), expected), std::max(close, kF16Matrices)) << at_once;
    }
  };
  Fusions of_floats = Fusions::all();
  of_floats.int8_on_read = false;
  compare(Fusions::all(), {});
  if (gpu::list_adapters()->front().type == gpu::AdapterType::kSoftware) compare(Fusions::all(), {}, true);
  if (has_codes) compare(of_floats, {});
  if (!GetParam().parts.head_norms || GetParam().format == Format::kQ4_0) compare(Fusions::none(), {});
  if (GetParam().windows[0] > 0 || GetParam().name == "llama_ternary") compare(Fusions::all(), nothing);
}

// The shader text of attention on matrices grows with the width of the heads (small_tiles.h).
TinyShape with_small_heads(TinyShape shape) {
  shape.head_dim = 32;
  return shape;
}

// Logits of a prompt's first tokens with given layouts.
class GpuPrompts {
 public:
  explicit GpuPrompts(const TinyShape& shape) : model_(with_small_heads(shape)) {
    Fusions fuse = Fusions::all();
    fuse.int8_on_read = false;  // int8 would turn the smallest difference into a whole step
    plan_ = make_plan(model_.config, model_.weights, {.fuse = fuse});
    gpu_ = gpu::compile(plan_, {.max_batch = 64, .gpu = {.without = {"serial"}}}).value();
  }
  bool has_matrices() const { return !executable().device().features().matrices.empty(); }
  std::vector<float> logits_without(size_t n) {
    return logits({.attention_on_matrices_from = INT_MAX, .float_matrices = false}, n);
  }
  std::vector<float> logits_with(const gpu::Layouts& layouts, size_t n) {
    return logits(with_matrices(executable().device(), layouts), n);
  }

 private:
  gpu::GpuExecutable& executable() const { return static_cast<gpu::GpuExecutable&>(*gpu_); }
  std::vector<float> logits(const gpu::Layouts& layouts, size_t n) {
    executable().set_layouts(layouts);
    return logits_of(*gpu_, some_tokens(static_cast<int>(n)), n, KvType::kF16);
  }

  TinyModel model_;
  Plan plan_;
  std::unique_ptr<Executable> gpu_;
};

// A prompt with layers and attention on subgroup matrices, compared with one without; in big tiles and in few-token
// tiles.
class GpuFamiliesMatrices : public GpuFamilies {};
INSTANTIATE_TEST_SUITE_P(, GpuFamiliesMatrices, testing::ValuesIn(shapes_where([](const TinyShape& s) {
                           // A layer with a window, one without; with soft caps, or scores that have no value.
                           return s.name == "gemma2" || s.name == "sinks";
                         })),
                         name_of);
TEST_P(GpuFamiliesMatrices, PromptsAreThoseWithoutMatrices) {
  GpuPrompts prompts(GetParam());
  if (!prompts.has_matrices()) GTEST_SKIP() << "no subgroup matrices";
  const auto without = prompts.logits_without(50);
  std::vector<std::vector<float>> all;
  for (const gpu::Layouts& layouts : {gpu::Layouts{.most_in_few_tiles = 0, .big_tiles_from = 1}, gpu::Layouts{}}) {
    const auto with = prompts.logits_with(layouts, 50);
    ASSERT_EQ(with.size(), without.size());
    EXPECT_LT(nmse(with, without), 3 * kF16Matrices);
    EXPECT_NE(with, without) << "were there any?";
    all.push_back(with);
  }
  EXPECT_NE(all[0], all[1]) << "sums of shared columns have another order";
}

// Token counts around the limits between kernels: the capacity of each tile, one token more, and one token more than
// the few-token tiles take.
TEST_P(GpuFamiliesMatrices, FewTokensAreThoseWithoutMatrices) {
  GpuPrompts prompts(GetParam());
  if (!prompts.has_matrices()) GTEST_SKIP() << "no subgroup matrices";
  for (const size_t n : {8, 9, 16, 17, 24, 25}) {
    const auto with = prompts.logits_with({.most_in_few_tiles = 24}, n);
    EXPECT_LT(nmse(with, prompts.logits_without(n)), 3 * kF16Matrices) << n;
  }
}

// Batches of decode with weights of at most two bits, around the limits between kernels: compared with floats, and with
// the tiles that such weights had otherwise.
TEST(GpuFewTokens, AreThoseWithoutMatrices) {
  GpuPrompts prompts({.name = "few_bits",
                      .parts = {.head_norms = true},
                      .d_model = 512,
                      .format = Format::kPQ2_0,
                      .head = Format::kPQ2_0});
  if (!prompts.has_matrices()) GTEST_SKIP() << "no subgroup matrices";
  for (const size_t n : {8, 9, 16, 17, 32, 33}) {
    const auto with = prompts.logits_with({}, n);
    EXPECT_LT(nmse(with, prompts.logits_without(n)), 3 * kF16Matrices) << n;
    const auto tiles = prompts.logits_with({.few_tokens = {}}, n);
    EXPECT_EQ(with != tiles, n >= 9 && n <= 32) << n << " tokens: which kernel was used?";
  }
}

// A packed head with several rows of logits, in tiles of each size and around the limits between them, compared with
// the column kernel.
TEST_P(GpuFamiliesMatrices, HeadsOfSeveralRowsAreThoseInColumns) {
  const TinyModel model(with_small_heads(GetParam()));
  Fusions fuse = Fusions::all();
  fuse.int8_on_read = false;
  const Plan plan = make_plan(model.config, model.weights, {.fuse = fuse});
  const auto gpu = gpu::compile(plan, {.max_batch = 64, .max_logit_rows = 64, .gpu = {.without = {"serial"}}}).value();
  auto& executable = static_cast<gpu::GpuExecutable&>(*gpu);
  if (executable.device().features().matrices.empty()) GTEST_SKIP() << "no subgroup matrices";
  const auto all_tokens = some_tokens(50);
  const auto all_logits = [&](const gpu::Layouts& layouts, size_t n) {
    executable.set_layouts(layouts);
    const auto cache = gpu->new_cache(64, KvType::kF16).value();
    const auto rows =
        gpu->run(*cache, {.tokens = std::span(all_tokens).first(n), .first_pos = 0, .logits = WantLogits::kAll});
    EXPECT_TRUE(rows) << rows.error().message;
    return rows ? std::vector<float>(rows->begin(), rows->end()) : std::vector<float>();
  };
  const int from = gpu::Layouts{}.head_tiles_from;
  for (const int n : {from - 1, from, 16, 17, 32, 33, 50}) {
    const auto columns =
        all_logits(with_matrices(executable.device(), {.head_tiles_from = INT_MAX}), static_cast<size_t>(n));
    const auto tiles = all_logits(with_matrices(executable.device()), static_cast<size_t>(n));
    ASSERT_EQ(tiles.size(), columns.size());
    EXPECT_LT(nmse(tiles, columns), kF16Matrices) << n;
    EXPECT_EQ(tiles == columns, n < from) << n << " rows: were there any tiles?";
  }
}

// Attention that computes its heads itself, compared with a separate kernel for them: the logits of some tokens one by
// one, after a prompt that ends just before attention is split. They are bit-identical on a software driver. A GPU's
// compiler may fuse multiplications with additions in one kernel and not in the other; then a key may round to f16
// either way. On GPUs activations stay floats, because int8 would turn the smallest difference into a whole step.
class GpuFamiliesHeads : public GpuFamilies {};
INSTANTIATE_TEST_SUITE_P(, GpuFamiliesHeads,
                         testing::ValuesIn(shapes_where([](const TinyShape& s) {  // one of each family
#ifdef TERN_SANITIZED  // or two: one with KV codes and one with groups of heads
                           if (s.name != "llama" && s.name != "gemma2") return false;
#endif
                           return !s.int8_activations && (!s.parts.head_norms || s.format == Format::kQ4_0);
                         })),
                         name_of);
TEST_P(GpuFamiliesHeads, HeadsInAttentionChangeNothing) {
  TinyModel model(GetParam());
  model.config.n_ctx = 600;
  const auto tokens = some_tokens(516);
  const auto logits = [&](Fusions fuse, KvType type, const gpu::Layouts& layouts = {}) {
    const Plan plan = make_plan(model.config, model.weights, {.fuse = fuse});
    const auto gpu = gpu::compile(plan, {.max_batch = 128, .gpu = {.validation = true, .without = {"serial"}}}).value();
    static_cast<gpu::GpuExecutable&>(*gpu).set_layouts(layouts);
    const auto cache = gpu->new_cache(600, type).value();
    std::vector<float> all;
    for (size_t at = 0; at < tokens.size();) {
      const size_t n = at < 384 ? 128 : at < 508 ? 4 : 1;
      const auto row =
          gpu->run(*cache, {.tokens = std::span(tokens).subspan(at, n), .first_pos = static_cast<int>(at)});
      EXPECT_TRUE(row) << row.error().message;
      if (n == 1 && row) all.insert(all.end(), row->begin(), row->end());
      at += n;
    }
    return all;
  };
  const bool is_software = gpu::list_adapters()->front().type == gpu::AdapterType::kSoftware;
  Fusions after = Fusions::all();
  if (!is_software) after.int8_on_read = false;
  Fusions before = after;
  before.heads = false;
  for (const KvType type : {KvType::kF16, KvType::kQ8_0}) {
    if (type == KvType::kQ8_0 && GetParam().name != "llama") continue;  // only one family: each takes long
    const gpu::Layouts one_by_one{.group_heads = gpu::Layouts::Group::kNever};
    const auto with = logits(after, type, one_by_one), without = logits(before, type, one_by_one);
    if (is_software) {
      EXPECT_EQ(with, without) << static_cast<int>(type);
    } else {
      ASSERT_EQ(with.size(), without.size());
      EXPECT_LT(nmse(with, without), type == KvType::kF16 ? kF16Keys : kCodes);
    }
    if (type == KvType::kQ8_0 || (GetParam().name != "gemma2" && GetParam().name != "qwen3_Q4_0")) continue;
    const auto together =
        logits(after, type, {.group_heads = gpu::Layouts::Group::kAlways, .most_splits_of_groups = 40});
    EXPECT_LT(nmse(together, with), kInt8);
    // Heads are taken together from the middle of the last eight tokens on, and one by one before.
    const auto later = logits(after, type, {.made_heads_together_from = 514, .most_splits_of_groups = 40});
    const size_t n_vocab = with.size() / 8;
    EXPECT_TRUE(std::equal(with.begin(), with.begin() + static_cast<ptrdiff_t>(n_vocab), later.begin()));
    EXPECT_NE(later, with) << "were heads ever taken together?";
    EXPECT_LT(nmse(later, with), kInt8);
  }
}

void test_decoding(const TinyShape& shape, const std::vector<std::string>& without) {
  const TinyModel model(shape);
  const Plan plan = make_plan(model.config, model.weights, {.fuse = Fusions::all()});
  const auto gpu = gpu::compile(plan, {.max_batch = 32, .gpu = {.without = without}}).value();
  const auto prompt = some_tokens(10);
  std::vector<TokenId> stepped = {1}, streamed = {1};
  const auto a = gpu->new_cache(64, KvType::kF16).value(), b = gpu->new_cache(64, KvType::kF16).value();
  ASSERT_TRUE(gpu->run(*a, {.tokens = prompt}) && gpu->run(*b, {.tokens = prompt}));
  for (int i = 0; i < 8; ++i) {
    const auto logits = gpu->run(*a, {.tokens = std::span(&stepped.back(), 1), .first_pos = 10 + i}).value();
    stepped.push_back(static_cast<TokenId>(std::ranges::max_element(logits) - logits.begin()));
  }
  const auto stream = gpu->decode(*b, 1, 10, 8, {}).value();
  for (int i = 0; i < 8; ++i) streamed.push_back(stream->next().value()[0]);
  EXPECT_EQ(streamed, stepped);
}

class GpuFamiliesDecode : public GpuFamilies {};
INSTANTIATE_TEST_SUITE_P(, GpuFamiliesDecode,
                         testing::ValuesIn(shapes_where([](const TinyShape& s) {  // two formats suffice
                           return s.format == Format::kQ4_0 || s.format == Format::kQ1_0;
                         })),
                         name_of);
TEST_P(GpuFamiliesDecode, DecodeAsTheyRun) {
  test_decoding(GetParam(), {});
  test_decoding(GetParam(), {"serial"});
}

}  // namespace
}  // namespace tern
