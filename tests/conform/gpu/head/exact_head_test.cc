// The head's best logits via its int8 copy in whole models: in batches, streams and texts; also on devices that compute
// them wrongly.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <regex>

#include "backend/gpu/device/mutant_test_support.h"
#include "backend/gpu/run/webgpu_backend.h"
#include "backend/kv_layout.h"
#include "conform/gpu/tiny_model.h"
#include "conform/matrix.h"
#include "plan/plan.h"
#include "support/checkout.h"
#include "tern/engine.h"
#include "tern/scheduler.h"

namespace tern {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
constexpr int kMaxRows = 16;

using Rewrite = std::function<wgsl::Module(const wgsl::Module&)>;

struct Setup {
  ExactHead head = ExactHead::kYes;
  Rewrite rewrite = {};
  uint64_t memory_bytes = 0;
  bool serial = false;
};

Result<std::unique_ptr<Executable>> compile(const Plan& plan, const Setup& setup) {
  CompileOptions options{.max_batch = 64, .max_logit_rows = kMaxRows, .exact_head = setup.head, .gpu = {}};
  options.gpu.validation = true;
  if (!setup.serial) options.gpu.without = {"serial"};
  return gpu::compile(plan, options, [&](gpu::DeviceOptions of_device) {
    of_device.without.memory_bytes = setup.memory_bytes;
    return gpu::open_device(of_device).transform([&](std::unique_ptr<gpu::Device> device) {
      if (!setup.rewrite) return device;
      return std::unique_ptr<gpu::Device>(std::make_unique<gpu::RewritingDevice>(std::move(device), setup.rewrite));
    });
  });
}

// Replaces what `find` matches in the kernel named `kernel`, if its text contains `meant`.
Rewrite replacing(const std::string& kernel, const std::string& meant, const std::string& find,
                  const std::string& replace) {
  return [=](const wgsl::Module& module) {
    wgsl::Module wrong = module;
    if (module.name == kernel && module.text.contains(meant)) {
      wrong.text = std::regex_replace(module.text, std::regex(find), replace);
      EXPECT_NE(wrong.text, module.text) << find;
    }
    return wrong;
  };
}

class GpuExactHead : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto adapters = gpu::list_adapters(); !adapters) GTEST_SKIP() << adapters.error().message;
  }

  static TinyShape shape(int n_vocab, bool ternary = false) {
    TinyShape s{.name = "tiny", .format = Format::kQ8_0, .head = Format::kF16};
    s.n_vocab = n_vocab;
    if (ternary) {
      s.parts.sub_norms = true;
      s.int8_activations = true;
      s.act = GluAct::kRelu2;
      s.format = Format::kI2_S;
      s.head = Format::kI2_S;  // tied: the embedding is F16
    }
    return s;
  }
  static Plan plan_of(const TinyModel& model) {
    return make_plan(model.config, model.weights, {.fuse = Fusions::all()});
  }

  // Slices of n sequences, each of `length` tokens from position 0 on.
  struct Sequences {
    Sequences(Executable& executable, int n, int length)
        : store(executable.new_kv_store(kKvBlock, KvType::kF16).value()), blocks(static_cast<size_t>(n)) {
      std::iota(blocks.begin(), blocks.end(), 0);
      EXPECT_TRUE(store->reserve(n));
      for (int i = 0; i < n; ++i) {
        EXPECT_TRUE(store->allocate(i));
        for (int at = 0; at < length; ++at) tokens.push_back(10 + 7 * i + at);
      }
      for (size_t i = 0; i < blocks.size(); ++i) {
        slices.push_back(
            {.tokens = std::span(tokens).subspan(i * static_cast<size_t>(length), static_cast<size_t>(length)),
             .blocks = {&blocks[i], 1},
             .n_ctx = 64});
      }
    }
    std::vector<float> run(Executable& executable, const std::vector<int>& n_best) {
      for (size_t i = 0; i < slices.size(); ++i) slices[i].n_best = n_best[i % n_best.size()];
      const auto logits = executable.run(*store, slices);
      EXPECT_TRUE(logits) << logits.error().message;
      return logits ? std::vector<float>(logits->begin(), logits->end()) : std::vector<float>();
    }
    std::unique_ptr<KvStore> store;
    std::vector<KvBlockId> blocks;
    std::vector<TokenId> tokens;
    std::vector<Slice> slices;
  };

  static int64_t n_left_out(const std::vector<float>& logits) { return std::ranges::count(logits, kMinusInfinity); }
};

// In each row, logits that are not left out are close to those in `all`, and no logit among the n_best largest is left
// out.
void expect_best(const std::vector<float>& got, const std::vector<float>& all, size_t width, size_t n_best) {
  ASSERT_EQ(got.size(), all.size());
  for (size_t first = 0; first < all.size(); first += width) {
    const float least = conform::least_of_best(std::span(all).subspan(first, width), n_best);
    for (size_t i = first; i < first + width; ++i) {
      if (got[i] == kMinusInfinity) {
        ASSERT_LT(all[i], least + 1e-4f) << "row " << first / width << ", token " << i - first;
      } else {
        ASSERT_NEAR(got[i], all[i], 1e-4f) << "row " << first / width << ", token " << i - first;
      }
    }
  }
}

TEST_F(GpuExactHead, BatchesHaveTheBestOfEachRow) {
  constexpr int kVocab = 5000;
  for (const bool ternary : {false, true}) {
    const TinyModel model(shape(kVocab, ternary));
    const Plan plan = plan_of(model);
    const auto made = compile(plan, {});
    ASSERT_TRUE(made) << made.error().message;
    Executable& executable = **made;
    EXPECT_EQ(executable.own_head(), "exact (int8 + F16)");
    EXPECT_EQ(executable.bytes_beyond_plan(), kVocab * (256 + 16) - kVocab * 256 * 2);
    for (const int n : {1, 2, 3, 5, 8, 9}) {
      for (const int length : {1, 3}) {
        Sequences sequences(executable, n, length);
        const auto all = sequences.run(executable, {0});
        EXPECT_EQ(n_left_out(all), 0);
        for (const int n_best : {1, 30, 128}) {
          const auto best = sequences.run(executable, {n_best});
          expect_best(best, all, kVocab, static_cast<size_t>(n_best));
          EXPECT_EQ(n_left_out(best) > 0, n <= 8) << n << " rows, best " << n_best;
        }
        const auto mixed = sequences.run(executable, {1, 20});
        expect_best(mixed, all, kVocab, n == 1 ? 1 : 20);
        EXPECT_EQ(n_left_out(sequences.run(executable, {129})), 0) << "more than are looked for";
        EXPECT_EQ(n_left_out(sequences.run(executable, {1, 0})) > 0, n == 1) << "all of one row are wanted";
      }
    }
    // With an observer, all logits are computed.
    executable.observe([](const StepOutput&) {});
    Sequences observed(executable, 1, 1);
    EXPECT_EQ(n_left_out(observed.run(executable, {1})), 0);
  }
}

TEST_F(GpuExactHead, OnlyRowsWithoutLogitsSayNothing) {
  const TinyModel model(shape(1000));
  const Plan plan = plan_of(model);
  const auto made = compile(plan, {.serial = true});
  ASSERT_TRUE(made) << made.error().message;
  Sequences sequences(**made, 2, 1);
  sequences.slices[1].logits = WantLogits::kNone;
  const auto all = sequences.run(**made, {0});
  const auto best = sequences.run(**made, {1, 0});  // the second slice has no logits
  expect_best(best, all, 1000, 1);
  EXPECT_GT(n_left_out(best), 0);
}

TEST_F(GpuExactHead, StreamsChooseTheSameTokens) {
  const TinyModel model(shape(2000));
  const Plan plan = plan_of(model);
  const auto exact = compile(plan, {}), full = compile(plan, {.head = ExactHead::kNo});
  ASSERT_TRUE(exact && full);
  EXPECT_FALSE((*full)->own_head());
  for (const int n : {1, 2, 3, 8, 9}) {
    for (const auto& [temperature, top_k] : {std::pair{0.0f, 0}, {0.9f, 40}, {0.9f, 300}, {0.9f, 0}}) {
      const auto tokens_of = [&](Executable& executable) {
        Sequences sequences(executable, n, 1);
        uint32_t state = 5;
        const auto uniform = [&] {
          state = state * 1664525 + 1013904223;
          return static_cast<float>(state >> 8) * 0x1p-24f;
        };
        const std::vector<DeviceSampling> sampling(static_cast<size_t>(n),
                                                   {.temperature = temperature, .top_k = top_k, .uniform = uniform});
        const auto stream = executable.decode(*sequences.store, sequences.slices, 12, sampling);
        EXPECT_TRUE(stream && *stream);
        std::vector<TokenId> tokens;
        for (int i = 0; i < 12; ++i) {
          const auto next = (*stream)->next().value();
          tokens.insert(tokens.end(), next.begin(), next.end());
        }
        return tokens;
      };
      EXPECT_EQ(tokens_of(**exact), tokens_of(**full)) << n << " rows, top_k " << top_k;
    }
  }
}

const Rewrite kWrongEstimates = replacing("estimate_logits", "", R"(\* 128f)", "* -128f");
const Rewrite kWrongOfSeveral = replacing("estimate_logits", "bounds[1u]", R"(\* 128f)", "* -128f");
const Rewrite kWrongCopy = replacing("head_copy", "", R"(= four;)", "= four.yxzw;");

TEST_F(GpuExactHead, WrongOnesAreLeftOutOrRefused) {
  const TinyModel small(shape(3000)), large(shape(33000));  // 17 MB: large enough that a copy pays off
  const Plan of_small = plan_of(small), of_large = plan_of(large);
  for (const Rewrite& wrong : {kWrongEstimates, kWrongCopy}) {
    const auto refused = compile(of_small, {.rewrite = wrong});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kNotSupported);
    EXPECT_TRUE(refused.error().message.contains("use another head")) << refused.error().message;
  }

  EXPECT_FALSE(compile(of_small, {.head = ExactHead::kWherePays}).value()->own_head());
  EXPECT_TRUE(compile(of_large, {.head = ExactHead::kWherePays}).value()->own_head());
  const auto left_out = compile(of_large, {.head = ExactHead::kWherePays, .rewrite = kWrongEstimates});
  ASSERT_TRUE(left_out) << left_out.error().message;
  EXPECT_FALSE((*left_out)->own_head());
  const auto found = (*left_out)->gpu_adapter()->failed_tests;
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].starts_with("the head's int8 copy: ")) << found[0];
  Sequences sequences(**left_out, 1, 1);
  EXPECT_EQ(n_left_out(sequences.run(**left_out, {1})), 0);
}

// Kernels for several rows are checked before the first run with several rows.
TEST_F(GpuExactHead, WrongOfSeveralRowsAlone) {
  const TinyModel large(shape(33000));
  const Plan plan = plan_of(large);
  const auto made = compile(plan, {.head = ExactHead::kWherePays, .rewrite = kWrongOfSeveral});
  ASSERT_TRUE(made) << made.error().message;
  Sequences one(**made, 1, 1), two(**made, 2, 1);
  EXPECT_GT(n_left_out(one.run(**made, {1})), 0);
  EXPECT_TRUE((*made)->own_head());
  EXPECT_EQ(n_left_out(two.run(**made, {1})), 0);
  EXPECT_FALSE((*made)->own_head());
  EXPECT_EQ((*made)->gpu_adapter()->failed_tests.size(), 1u);
  EXPECT_EQ(n_left_out(one.run(**made, {1})), 0);

  // An explicitly requested copy is also kept until a run with several rows shows that it is wrong.
  const auto named = compile(plan, {.rewrite = kWrongOfSeveral});
  ASSERT_TRUE(named) << named.error().message;
  Sequences of_named(**named, 2, 1);
  EXPECT_EQ(n_left_out(of_named.run(**named, {1})), 0);
}

// A stream continues with all logits after another run finds that the copy is wrong.
TEST_F(GpuExactHead, IsGivenUpWhileAStreamLives) {
  const TinyModel large(shape(33000));
  const Plan plan = plan_of(large);
  const auto made = compile(plan, {.head = ExactHead::kWherePays, .rewrite = kWrongOfSeveral});
  const auto full = compile(plan, {.head = ExactHead::kNo});
  ASSERT_TRUE(made && full);
  const auto tokens_of = [](Executable& executable, bool is_disturbed) {
    Sequences one(executable, 1, 1), two(executable, 2, 1);
    const auto stream = executable.decode(*one.store, one.slices, 12, std::vector<DeviceSampling>(1)).value();
    std::vector<TokenId> tokens;
    for (int i = 0; i < 12; ++i) {
      tokens.push_back(stream->next().value()[0]);
      if (i == 5 && is_disturbed) two.run(executable, {1});
    }
    return tokens;
  };
  const auto expected = tokens_of(**full, false);
  EXPECT_EQ(tokens_of(**made, true), expected);
  EXPECT_FALSE((*made)->own_head());
  EXPECT_EQ(tokens_of(**made, true), expected);
}

// Limits of logits rows that are not a power of two, and a limit of one.
TEST_F(GpuExactHead, AnyNumberOfRows) {
  const TinyModel model(shape(5000));
  const Plan plan = plan_of(model);
  for (const int most : {1, 3, 5}) {
    CompileOptions options{.max_batch = 16, .max_logit_rows = most, .exact_head = ExactHead::kYes, .gpu = {}};
    options.gpu.validation = true;
    options.gpu.without = {"serial"};
    const auto made = gpu::compile(plan, options);
    ASSERT_TRUE(made) << made.error().message;
    for (int n = 1; n <= most; ++n) {
      Sequences sequences(**made, n, 1);
      const auto all = sequences.run(**made, {0}), best = sequences.run(**made, {1});
      expect_best(best, all, 5000, 1);
      EXPECT_GT(n_left_out(best), 0) << n << " of " << most;
    }
  }
}

TEST_F(GpuExactHead, IsLeftOutWhereThereIsNoMemoryForIt) {
  const TinyModel large(shape(33000));
  const Plan plan = plan_of(large);
  const CompileOptions options{.max_batch = 64, .max_logit_rows = kMaxRows};
  const uint64_t without = gpu::memory_need(plan, options, 0, KvType::kF16).total();
  const auto made = compile(plan, {.head = ExactHead::kWherePays, .memory_bytes = without + 1'000'000});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_FALSE((*made)->own_head());
  const auto named = compile(plan, {.memory_bytes = without + 1'000'000});
  ASSERT_FALSE(named);
  EXPECT_EQ(named.error().code, ErrorCode::kOutOfMemory);
  EXPECT_TRUE(compile(plan, {.head = ExactHead::kWherePays, .memory_bytes = without + 20'000'000}).value()->own_head());
}

TEST_F(GpuExactHead, PackedHeadsHaveNone) {
  TinyShape packed = shape(3000);
  packed.head = Format::kQ6_K;
  const TinyModel model(packed);
  const Plan plan = plan_of(model);
  const auto named = compile(plan, {});
  ASSERT_FALSE(named);
  EXPECT_EQ(named.error().code, ErrorCode::kNotSupported);
  EXPECT_TRUE(named.error().message.contains("use the file's head")) << named.error().message;
  EXPECT_TRUE(compile(plan, {.head = ExactHead::kWherePays}));
}

TEST_F(GpuExactHead, TextsAreTheSame) {
  const auto load = [](HeadKind head) {
    auto loaded = Engine::load({.model_path = source_path("tests/golden/bitnet/a_v2_tokenizer.gguf"),
                                .backend = BackendKind::kWebGpu,
                                .n_threads = 1,
                                .head = head,
                                .gpu = {.without = {"serial"}}});
    EXPECT_TRUE(loaded) << loaded.error().message;
    return std::move(*loaded);
  };
  const Engine exact = load(HeadKind::kExact), file = load(HeadKind::kFile);
  EXPECT_TRUE(exact.info().head.starts_with("exact (int8 + ")) << exact.info().head;
  const auto prompt = exact.tokenizer().encode("Once upon a time");
  const std::vector<SampleOptions> ways = {
      {.temperature = 0},
      {.temperature = 0, .repeat_penalty = 1.2f},
      {.temperature = 0.9f, .top_k = 20, .seed = 3},
      {.temperature = 0.9f, .top_k = 0, .seed = 4},
      {.temperature = 0.9f, .top_k = 20, .min_p = 0.01f, .repeat_penalty = 1.3f, .seed = 5}};
  for (const SampleOptions& way : ways) {
    const GenerateOptions options{.max_tokens = 12, .sample = way, .stop = {}, .ignore_eos = true};
    const auto tokens_of = [&](const Engine& engine) {
      return engine.new_session().value().generate(prompt, options).value().tokens;
    };
    EXPECT_EQ(tokens_of(exact), tokens_of(file)) << "top_k " << way.top_k.value_or(-1);
    // Without a filter, no logit may be left out.
    const auto kernels = exact.gpu_kernels().value();
    const bool is_used = std::ranges::any_of(kernels, [](const auto& k) { return k.name == "estimate_logits"; });
    EXPECT_EQ(is_used, way.top_k != 0) << "top_k " << way.top_k.value_or(-1);
  }
}

}  // namespace
}  // namespace tern
