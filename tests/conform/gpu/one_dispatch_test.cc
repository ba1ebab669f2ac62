// All layers of a token in one dispatch: against the same layers step by step. The first layers of the default model,
// and small models of other families; a driver on a CPU runs as many workgroups at the same time as it has threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <regex>
#include <utility>

#include "backend/gpu/device/mutant_test_support.h"
#include "backend/gpu/run/executable.h"
#include "backend/gpu/webgpu_backend.h"
#include "backend/kv_cache.h"
#include "conform/gpu/story_rows.h"
#include "conform/gpu/tiny_model.h"
#include "model/model.h"

namespace tern {
namespace {

constexpr int kContext = 640;

// Words between workgroups lose two bits, which now and then turn some activation to the next int8 value.
constexpr double kClose = 1e-3;

class GpuOneDispatch : public testing::Test {
 protected:
  static void SetUpTestSuite() { setenv("LP_NUM_THREADS", "4", 0); }  // lavapipe's: two parts of a history
  void SetUp() override {
    if (const auto adapters = gpu::list_adapters(); !adapters) GTEST_SKIP() << adapters.error().message;
  }

  struct Made {
    std::unique_ptr<Plan> plan;
    std::unique_ptr<Executable> executable;
    gpu::GpuExecutable& gpu() const { return static_cast<gpu::GpuExecutable&>(*executable); }
  };
  // `find` in the kernel's text becomes `replace`.
  Made make(OneDispatchUse use, size_t n_layers = 2, const std::string& find = "", const std::string& replace = "",
            const Fusions& fuse = Fusions::all(), const std::string& kernel = "ternary_layers",
            const std::function<void(Model&)>& change = {}) {
    Model& model = models_.emplace_back(open_model(TERN_SOURCE_DIR "/models/tern-stories.gguf").value());
    model.config.n_ctx = kContext;
    model.weights.layers.resize(n_layers);
    model.config.n_layers = static_cast<int>(n_layers);
    if (change) change(model);
    return compile(make_plan(model.config, model.weights, {.fuse = fuse}), use, kernel, find, replace);
  }
  static Made compile(Plan plan, OneDispatchUse use, const std::string& kernel, const std::string& find,
                      const std::string& replace) {
    Made made{.plan = std::make_unique<Plan>(std::move(plan)), .executable = nullptr};
    const CompileOptions options{
        .max_batch = 128, .max_logit_rows = 8, .gpu = {.without = {"serial"}, .one_dispatch = use}};
    auto compiled = gpu::compile(*made.plan, options, [=](const gpu::DeviceOptions& wanted) {
      return gpu::open_device(wanted).transform([&](std::unique_ptr<gpu::Device> device) {
        const auto rewrite = [=](const wgsl::Module& module) {
          wgsl::Module other = gpu::mutated(module);
          if (module.name == kernel && !find.empty()) {
            const std::string text =
                std::exchange(other.text, std::regex_replace(other.text, std::regex(find), replace));
            EXPECT_NE(other.text, text) << find;
          }
          return other;
        };
        return std::unique_ptr<gpu::Device>(std::make_unique<gpu::RewritingDevice>(std::move(device), rewrite));
      });
    });
    EXPECT_TRUE(compiled) << compiled.error().message;
    made.executable = std::move(*compiled);
    return made;
  }

  static Rows feed(Executable& e, KvCache& cache, std::span<const TokenId> tokens, size_t batch, int first_pos) {
    Rows last;
    for (size_t at = 0; at < tokens.size(); at += batch) {
      const auto part = tokens.subspan(at, std::min(batch, tokens.size() - at));
      const auto logits = e.run(cache, {.tokens = part, .first_pos = first_pos + static_cast<int>(at)});
      EXPECT_TRUE(logits) << logits.error().message;
      if (logits) last.assign(logits->begin(), logits->end());
    }
    return last;
  }
  // The logits of the last tokens, one by one after a prompt of `n_prompt`.
  static std::vector<Rows> one_by_one(Executable& e, KvCache& cache, size_t n_prompt, size_t n) {
    const auto tokens = story(n_prompt + n);
    if (n_prompt > 0) feed(e, cache, std::span(tokens).first(n_prompt), 128, 0);
    std::vector<Rows> rows;
    for (size_t i = n_prompt; i < tokens.size(); ++i) {
      rows.push_back(feed(e, cache, std::span(tokens).subspan(i, 1), 1, static_cast<int>(i)));
    }
    return rows;
  }
  static std::vector<Rows> one_by_one(Executable& e, size_t n_prompt, size_t n, KvType type = KvType::kF16) {
    const auto cache = e.new_cache(kContext, type).value();
    return one_by_one(e, *cache, n_prompt, n);
  }
  static void expect_close(const std::vector<Rows>& actual, const std::vector<Rows>& expected) {
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < actual.size(); ++i) EXPECT_LT(nmse(actual[i], expected[i]), kClose) << "token " << i;
  }
  static int dispatches(const Made& made) { return made.executable->gpu_stats()->dispatches_per_token; }
  static std::vector<TokenId> greedy(Executable& e, KvCache& cache, int first_pos, int n) {
    const auto stream = e.decode(cache, 5, first_pos, n, {}).value();
    std::vector<TokenId> tokens;
    for (int i = 0; i < n; ++i) {
      const auto next = stream->next();
      EXPECT_TRUE(next) << next.error().message;
      tokens.push_back(next ? (*next)[0] : -1);
    }
    return tokens;
  }

  std::deque<Model> models_;  // plans point into them
};

TEST_F(GpuOneDispatch, LogitsAreThoseOfTheSteps) {
  const Made one = make(OneDispatchUse::kOn), steps = make(OneDispatchUse::kOff);
  ASSERT_EQ(one.gpu().why_in_steps(), "");
  for (const auto& [n_prompt, n] : {std::pair(0u, 6u), {60u, 8u}, {300u, 3u}}) {  // over the end of a block; in rounds
    SCOPED_TRACE(n_prompt);
    expect_close(one_by_one(*one.executable, n_prompt, n), one_by_one(*steps.executable, n_prompt, n));
  }
  EXPECT_LT(dispatches(one), 8);
  EXPECT_GT(dispatches(steps), 10);
}

// The tags of words go round, and start anew with each token.
TEST_F(GpuOneDispatch, AnyNumberOfLayers) {
  for (const size_t n_layers : {1u, 4u}) {
    SCOPED_TRACE(n_layers);
    const Made one = make(OneDispatchUse::kOn, n_layers), steps = make(OneDispatchUse::kOff, n_layers);
    ASSERT_EQ(one.gpu().why_in_steps(), "");
    expect_close(one_by_one(*one.executable, 20, 6), one_by_one(*steps.executable, 20, 6));
  }
}

TEST_F(GpuOneDispatch, TheSameTwiceAndInAStream) {
  const Made one = make(OneDispatchUse::kOn);
  const auto first = one_by_one(*one.executable, 30, 5);
  EXPECT_EQ(one_by_one(*one.executable, 30, 5), first);
  // A stream's tokens are those that the host would choose.
  const auto tokens = story(30);
  const auto cache = one.executable->new_cache(kContext, KvType::kF16).value();
  const auto other = one.executable->new_cache(kContext, KvType::kF16).value();
  feed(*one.executable, *cache, tokens, 128, 0);
  feed(*one.executable, *other, tokens, 128, 0);
  const auto stream = greedy(*one.executable, *cache, 30, 12);
  TokenId last = 5;
  for (int i = 0; i < 12; ++i) {
    const Rows logits = feed(*one.executable, *other, {&last, 1}, 1, 30 + i);
    last = static_cast<TokenId>(std::ranges::max_element(logits) - logits.begin());
    EXPECT_EQ(stream[static_cast<size_t>(i)], last) << i;
  }
}

// Two heads of keys and values, each for one workgroup: the others have none.
TEST_F(GpuOneDispatch, MoreWorkgroupsThanParts) {
  const auto expected = one_by_one(*make(OneDispatchUse::kOff).executable, 40, 8);
  const Made one = make(OneDispatchUse::kOn, 2, R"(let splits(_\d+)? = .*;)", "let splits$1 = 1u;");
  ASSERT_EQ(one.gpu().why_in_steps(), "");
  expect_close(one_by_one(*one.executable, 40, 8), expected);
}

// The cache of all layers is one buffer, which grows; conversations of other kinds have their own.
TEST_F(GpuOneDispatch, KeysAndValuesStayWhereTheCacheGrows) {
  const Made one = make(OneDispatchUse::kOn), steps = make(OneDispatchUse::kOff);
  const auto tokens = story(530);
  std::vector<Rows> last;
  for (const Made* made : {&one, &steps}) {
    Executable& e = *made->executable;
    const auto store = e.new_kv_store(e.kv_block_tokens(kContext), KvType::kF16).value();
    std::vector<KvBlockId> blocks;
    Rows logits;
    for (size_t at = 0; at < tokens.size();) {
      const size_t n = at < 500 ? 100 : 1;  // token by token over the first growth, at 512
      while (blocks.size() * 64 < at + n) {
        blocks.push_back(static_cast<KvBlockId>(blocks.size()));
        ASSERT_TRUE(store->allocate(blocks.back()));
      }
      const Slice slice{.tokens = std::span(tokens).subspan(at, n),
                        .first_pos = static_cast<int>(at),
                        .blocks = blocks,
                        .n_ctx = kContext};
      const auto row = e.run(*store, {&slice, 1});
      ASSERT_TRUE(row) << row.error().message;
      logits.assign(row->begin(), row->end());
      at += n;
    }
    last.push_back(logits);
  }
  EXPECT_LT(nmse(last[0], last[1]), kClose);
  expect_close(one_by_one(*one.executable, 20, 3, KvType::kQ8_0), one_by_one(*steps.executable, 20, 3, KvType::kQ8_0));
}

// From position 40 on, which the trial leaves out, nobody waits, as if workgroups did not run at the same time.
const char* const kPatience = R"(var patience: u32 = now(_\d+)?;)";
const char* const kNoPatience = "var patience: u32 = select(now$1, 0u, params[3u] >= 40u && params[3u] < 60u);";

TEST_F(GpuOneDispatch, WhereWorkgroupsWaitInVainTheStepsGoOn) {
  const Made steps = make(OneDispatchUse::kOff);
  const auto tokens = story(30);
  std::vector<std::vector<TokenId>> replies;
  {
    const Made one = make(OneDispatchUse::kOn, 2, kPatience, kNoPatience);
    ASSERT_EQ(one.gpu().why_in_steps(), "");
    for (const Made* made : {&one, &steps}) {
      const auto cache = made->executable->new_cache(kContext, KvType::kF16).value();
      feed(*made->executable, *cache, tokens, 128, 0);
      replies.push_back(greedy(*made->executable, *cache, 30, 25));
    }
    EXPECT_EQ(replies[0], replies[1]);
    EXPECT_TRUE(one.gpu().why_in_steps().contains("in vain")) << one.gpu().why_in_steps();
    EXPECT_GT(dispatches(one), 10);
  }
  const Made one = make(OneDispatchUse::kOn, 2, kPatience, kNoPatience);  // the host chooses
  expect_close(one_by_one(*one.executable, 36, 8), one_by_one(*steps.executable, 36, 8));
  EXPECT_TRUE(one.gpu().why_in_steps().contains("in vain")) << one.gpu().why_in_steps();
}

TEST_F(GpuOneDispatch, IsNotUsedWhereTheTrialFails) {
  struct Case {
    const char *find, *replace, *why;
  };
  for (const auto& [find, replace, why] : {
           Case{kPatience, "var patience: u32 = 0u;", "does not run enough workgroups"},
           Case{R"(let q_factor(_\d+)? = .*;)", "let q_factor$1 = 9.0;", "computes wrongly (a relative error"},
           Case{R"(let x_value = x\[row\];)", "let x_value = x[row] * f32(last_tag + 1u);", "not alike"},
           // Some positions are left out, but only far from the first.
           Case{R"(from_pos(_\d+)? < end_pos)", "from_pos$1 < min(100u, end_pos)",
                "computes wrongly (a relative error"},
       }) {
    const Made one = make(OneDispatchUse::kOn, 2, find, replace);
    EXPECT_TRUE(one.gpu().why_in_steps().contains(why)) << one.gpu().why_in_steps();
    const auto rows = one_by_one(*one.executable, 20, 2);
    expect_close(rows, one_by_one(*make(OneDispatchUse::kOff).executable, 20, 2));
    EXPECT_GT(dispatches(one), 10);
  }
}

TEST_F(GpuOneDispatch, IsNotThereForOtherPlans) {
  const Made one = make(OneDispatchUse::kOn, 2, "", "", Fusions::none());
  EXPECT_TRUE(one.gpu().why_in_steps().contains("its steps are not fused")) << one.gpu().why_in_steps();
  EXPECT_FALSE(one_by_one(*one.executable, 10, 2).empty());
}

// ---- A token of each of several sequences

class GpuOneDispatchOfRows : public GpuOneDispatch {
 protected:
  static void SetUpTestSuite() { setenv("LP_NUM_THREADS", "2", 0); }  // which wait less for each other

  // Sequences of their own lengths, in one store.
  struct Sequence {
    std::vector<KvBlockId> blocks;
    std::vector<TokenId> tokens;
  };
  // That begin `apart` tokens into the story from each other, and are `lengths` long.
  static std::vector<Sequence> begin(Executable& e, KvStore& store, const std::vector<size_t>& lengths) {
    std::vector<Sequence> sequences(lengths.size());
    KvBlockId next = 0;
    for (size_t s = 0; s < lengths.size(); ++s) {
      Sequence& sequence = sequences[s];
      const auto all = story(lengths[s] + 11 * s);
      sequence.tokens.assign(all.begin() + static_cast<ptrdiff_t>(11 * s), all.end());
      for (int i = 0; i < kv_blocks_for(static_cast<int>(lengths[s]) + 80); ++i) {
        EXPECT_TRUE(store.allocate(next));
        sequence.blocks.push_back(next++);
      }
      for (size_t at = 0; at + 1 < lengths[s]; at += 100) {
        const Slice part{.tokens = std::span(sequence.tokens).subspan(at, std::min<size_t>(100, lengths[s] - 1 - at)),
                         .first_pos = static_cast<int>(at),
                         .logits = WantLogits::kNone,
                         .blocks = sequence.blocks,
                         .n_ctx = kContext};
        EXPECT_TRUE(e.run(store, {&part, 1}));
      }
    }
    return sequences;
  }
  // Each sequence's last token, which has not been run.
  static std::vector<Slice> starts(const std::vector<Sequence>& sequences) {
    std::vector<Slice> slices;
    for (const Sequence& s : sequences) {
      slices.push_back({.tokens = std::span(s.tokens).last(1),
                        .first_pos = static_cast<int>(s.tokens.size()) - 1,
                        .blocks = s.blocks,
                        .n_ctx = kContext});
    }
    return slices;
  }
  // The logits of `n` steps of all sequences together, which are given the same tokens whatever comes out. Calls
  // `meanwhile` after the first.
  static std::vector<Rows> together(Executable& e, const std::vector<size_t>& lengths, int n,
                                    const std::function<void()>& meanwhile = {}) {
    const auto store = e.new_kv_store(e.kv_block_tokens(kContext), KvType::kF16).value();
    auto sequences = begin(e, *store, lengths);
    std::vector<Rows> steps;
    for (int i = 0; i < n; ++i) {
      if (i == 1 && meanwhile) meanwhile();
      const auto logits = e.run(*store, starts(sequences));
      EXPECT_TRUE(logits) << logits.error().message;
      if (!logits) break;
      steps.emplace_back(logits->begin(), logits->end());
      for (size_t s = 0; s < sequences.size(); ++s) {
        sequences[s].tokens.push_back(static_cast<TokenId>((i * 131 + static_cast<int>(s) * 17 + 5) % 500));
      }
    }
    return steps;
  }
  // The tokens that the device chooses, [steps, sequences].
  static std::vector<std::vector<TokenId>> streamed(const Made& made, const std::vector<size_t>& lengths, int n) {
    Executable& e = *made.executable;
    const auto store = e.new_kv_store(e.kv_block_tokens(kContext), KvType::kF16).value();
    const auto sequences = begin(e, *store, lengths);
    const std::vector<DeviceSampling> greedy(lengths.size());
    const auto stream = e.decode(*store, starts(sequences), n, greedy).value();
    std::vector<std::vector<TokenId>> steps;
    for (int i = 0; i < n; ++i) {
      const auto next = stream->next();
      EXPECT_TRUE(next) << next.error().message;
      if (next) steps.emplace_back(next->begin(), next->end());
    }
    return steps;
  }
  // Layers with random matrices of so many rows between gate and down.
  void widen(Model& model, int d_ff) {
    uint32_t state = 1;
    const auto random = [&] { return (state = state * 1664525 + 1013904223) >> 16; };
    const auto matrix = [&](Tensor& tensor, int rows, int cols) {
      std::vector<std::byte>& bytes = bytes_.emplace_back(tensor_bytes(Format::kI2_S, rows, cols));
      for (std::byte& b : bytes)
        b = static_cast<std::byte>(random() % 3 | random() % 3 << 2 | random() % 3 << 4 | random() % 3 << 6);
      tensor.rows = rows, tensor.cols = cols, tensor.data = bytes;
    };
    model.config.d_ff = d_ff;
    for (Layer& layer : model.weights.layers) {
      matrix(layer.ffn_gate, d_ff, model.config.d_model);
      matrix(layer.ffn_up, d_ff, model.config.d_model);
      matrix(layer.ffn_down, model.config.d_model, d_ff);
      std::vector<std::byte>& gains = bytes_.emplace_back(static_cast<size_t>(d_ff) * sizeof(float));
      for (int i = 0; i < d_ff; ++i) {
        const float gain = 0.5f + static_cast<float>(random() % 100) / 100;
        std::memcpy(gains.data() + static_cast<size_t>(i) * sizeof(float), &gain, sizeof(float));
      }
      layer.ffn_sub_norm.format = Format::kF32, layer.ffn_sub_norm.cols = d_ff, layer.ffn_sub_norm.data = gains;
    }
  }
  // Each row alone; `actual` has them one behind the other.
  static void expect_rows_close(const std::vector<Rows>& actual, const std::vector<Rows>& expected, size_t n_rows,
                                double most = kClose) {
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < actual.size(); ++i) {
      const size_t n = expected[i].size() / n_rows;
      ASSERT_EQ(actual[i].size(), expected[i].size());
      for (size_t row = 0; row < n_rows; ++row) {
        const auto part = [&](const Rows& rows) {
          const auto first = rows.begin() + static_cast<ptrdiff_t>(row * n);
          return Rows(first, first + static_cast<ptrdiff_t>(n));
        };
        EXPECT_LT(nmse(part(actual[i]), part(expected[i])), most) << "step " << i << ", row " << row;
      }
    }
  }

  std::deque<std::vector<std::byte>> bytes_;  // of matrices that the models have no file for
};

TEST_F(GpuOneDispatchOfRows, LogitsAreThoseOfTheSteps) {
  const Made one = make(OneDispatchUse::kOn), steps = make(OneDispatchUse::kOff);
  ASSERT_TRUE(one.executable->expect(8));
  ASSERT_EQ(one.gpu().why_rows_in_steps(), "");
  for (const int n : {2, 4, 5, 8}) EXPECT_GT(one.gpu().workgroups_in_one(n), 0u) << n;
  EXPECT_EQ(one.gpu().workgroups_in_one(9), 0u);
  for (const std::vector<size_t>& lengths : std::vector<std::vector<size_t>>{
           {40, 9}, {2, 100, 33, 65}, {5, 64, 31, 128, 12}, {20, 21, 22, 23, 24, 25, 26, 300}}) {
    SCOPED_TRACE(lengths.size());
    const auto expected = together(*steps.executable, lengths, 3), actual = together(*one.executable, lengths, 3);
    expect_rows_close(actual, expected, lengths.size());
    EXPECT_NE(actual, expected);  // or it was not used
  }
  EXPECT_EQ(together(*one.executable, {30, 63, 20}, 3), together(*one.executable, {30, 63, 20}, 3));
  EXPECT_EQ(streamed(one, {30, 63, 20}, 12), streamed(steps, {30, 63, 20}, 12));
}

// As on a GPU that runs more workgroups at the same time, but with heads one after the other.
TEST_F(GpuOneDispatchOfRows, HistoriesInParts) {
  const Made steps = make(OneDispatchUse::kOff, 1);
  const Made one =
      make(OneDispatchUse::kOn, 1, R"(let splits(_\d+)? = .*;)", "let splits$1 = 2u;", Fusions::all(), "ternary_rows");
  // What was begun before has it from then on.
  const auto actual = together(*one.executable, {40, 9, 300}, 3, [&] { ASSERT_TRUE(one.executable->expect(4)); });
  EXPECT_EQ(one.gpu().why_rows_in_steps(), "");
  const auto expected = together(*steps.executable, {40, 9, 300}, 3);
  expect_rows_close(actual, expected, 3);
  EXPECT_EQ(actual[0], expected[0]);
  EXPECT_NE(actual[1], expected[1]);
}

// Rows wider than there is room for as int8 values go through workgroup memory in pieces.
TEST_F(GpuOneDispatchOfRows, RowsInPieces) {
  constexpr int kWide = 4608;
  std::vector<std::vector<Rows>> rows;
  for (const auto use : {OneDispatchUse::kOn, OneDispatchUse::kOff}) {
    const Made made = make(use, 1, "", "", Fusions::all(), "", [&](Model& model) { widen(model, kWide); });
    ASSERT_TRUE(made.executable->expect(8));
    EXPECT_EQ(made.gpu().why_rows_in_steps(), "");
    EXPECT_EQ(made.gpu().workgroups_in_one(8) > 0, use == OneDispatchUse::kOn);
    rows.push_back(together(*made.executable, {5, 6, 7, 8, 9, 10}, 3));
  }
  EXPECT_NE(rows[0], rows[1]);
  expect_rows_close(rows[0], rows[1], 6, 3 * kClose);  // random matrices make more of a rounding
}

TEST_F(GpuOneDispatchOfRows, WhereWorkgroupsWaitInVainTheStepsGoOn) {
  const Made steps = make(OneDispatchUse::kOff, 1);
  const auto spoilt = [&] {
    Made one = make(OneDispatchUse::kOn, 1, kPatience, kNoPatience, Fusions::all(), "ternary_rows");
    EXPECT_TRUE(one.executable->expect(4));
    EXPECT_EQ(one.gpu().why_rows_in_steps(), "");
    EXPECT_GT(one.gpu().workgroups_in_one(3), 0u);
    return one;
  };
  const auto expect_left = [](const Made& one) {
    EXPECT_TRUE(one.gpu().why_rows_in_steps().contains("in vain")) << one.gpu().why_rows_in_steps();
    EXPECT_EQ(one.gpu().workgroups_in_one(3), 0u);
    EXPECT_GT(one.gpu().workgroups_in_one(1), 0u);  // which has another kernel
  };
  const Made stream = spoilt(), host = spoilt();
  EXPECT_EQ(streamed(stream, {36, 63, 20}, 12), streamed(steps, {36, 63, 20}, 12));
  expect_left(stream);
  expect_rows_close(together(*host.executable, {36, 63, 20}, 8), together(*steps.executable, {36, 63, 20}, 8), 3);
  expect_left(host);
}

TEST_F(GpuOneDispatchOfRows, AreNotUsedWhereTheTrialFails) {
  struct Case {
    const char *find, *replace, *why;
  };
  for (const auto& [find, replace, why] : {
           Case{kPatience, "var patience: u32 = 0u;", "does not run enough workgroups"},
           // The last row alone.
           Case{R"(let q_factor(_\d+)? = (.*);)", "let q_factor$1 = select($2, 9.0, row_of_head == 3u);",
                "computes wrongly (a relative error"},
           Case{R"(let x_value = x\[(.*)\];)", "let x_value = x[$1] * f32(last_tag + 1u);", "not alike"},
           Case{R"(from_pos(_\d+)? < end_pos)", "from_pos$1 < min(100u, end_pos)",
                "computes wrongly (a relative error"},
       }) {
    const Made one = make(OneDispatchUse::kOn, 1, find, replace, Fusions::all(), "ternary_rows");
    ASSERT_TRUE(one.executable->expect(4));
    EXPECT_EQ(one.gpu().workgroups_in_one(5), 0u);  // nobody has asked for so many
    EXPECT_TRUE(one.gpu().why_rows_in_steps().contains(why)) << one.gpu().why_rows_in_steps();
    EXPECT_EQ(one.gpu().workgroups_in_one(2), 0u);
    EXPECT_FALSE(together(*one.executable, {10, 20}, 1).empty());
  }
}

// ---- Layers with float activations

class GpuOneDispatchOfFloats : public GpuOneDispatch {
 protected:
  Made make(const TinyShape& shape, OneDispatchUse use, int n_ctx = kContext) {
    TinyModel& model = tiny_models_.emplace_back(shape);
    model.config.n_ctx = n_ctx;
    return compile(make_plan(model.config, model.weights, {.fuse = Fusions::all()}), use, "float_layers", "", "");
  }
  // The logits of tokens one by one, after as many as `n_prompt` at once.
  static std::vector<Rows> rows(Executable& e, size_t n_prompt, size_t n, int n_ctx = kContext) {
    const auto cache = e.new_cache(n_ctx, KvType::kF16).value();
    std::vector<TokenId> tokens;
    for (size_t i = 0; i < n_prompt + n; ++i) tokens.push_back(static_cast<TokenId>((i * 97 + 13) % 300));
    if (n_prompt > 0) feed(e, *cache, std::span(tokens).first(n_prompt), 128, 0);
    std::vector<Rows> rows;
    for (size_t i = n_prompt; i < tokens.size(); ++i) {
      rows.push_back(feed(e, *cache, std::span(tokens).subspan(i, 1), 1, static_cast<int>(i)));
    }
    return rows;
  }

  static TinyShape bonsai(Format format = Format::kQ8_0) {
    return {.name = "bonsai", .parts = {.head_norms = true}, .format = format};
  }

  std::deque<TinyModel> tiny_models_;
};

TEST_F(GpuOneDispatchOfFloats, LogitsAreThoseOfTheSteps) {
  TinyShape gelu{.name = "gelu", .act = GluAct::kGeluTanh, .pairs = RopePairs::kInterleaved, .format = Format::kQ8_0};
  TinyShape phi3{.name = "phi3",
                 .layers = {{.window = 9}, {.window = 9}},
                 .n_kv_heads = 4,
                 .head_dim = 96,
                 .format = Format::kQ4_0};
  // More heads share keys and values than workgroup memory has room for.
  TinyShape shared_heads{.name = "shared", .n_heads = 8, .n_kv_heads = 1, .head_dim = 128, .format = Format::kQ8_0};
  shared_heads.parts.head_norms = true;
  for (const TinyShape& shape :
       {bonsai(), bonsai(Format::kQ1_0), bonsai(Format::kQ4_K), bonsai(Format::kQ6_K), gelu, phi3, shared_heads}) {
    SCOPED_TRACE(shape.name + " " + std::string(format_info(shape.format).name));
    const Made one = make(shape, OneDispatchUse::kOn), steps = make(shape, OneDispatchUse::kOff);
    ASSERT_EQ(one.gpu().why_in_steps(), "");
    expect_close(rows(*one.executable, 0, 4), rows(*steps.executable, 0, 4));
    expect_close(rows(*one.executable, 62, 4), rows(*steps.executable, 62, 4));  // over the end of a block
    EXPECT_LT(dispatches(one), 8);
    if (HasFailure()) break;
  }
}

// As in files in K formats: some layers' values and down projections have more bits than the others'.
TEST_F(GpuOneDispatchOfFloats, LayersInDifferentFormats) {
  constexpr auto k4 = Format::kQ4_K, k5 = Format::kQ5_K, k6 = Format::kQ6_K;
  TinyShape four = bonsai(k4), bytes = bonsai(), down = bonsai(), others = bonsai(k4);
  four.name = "four kinds", bytes.name = "values behind keys with scales of 16 bits";
  down.name = "other down projections alone", others.name = "others but values and down projections";
  four.layers = std::vector<LayerConfig>(5);
  four.others = {{.v = k5, .down = k5}, {.v = k5}, {}, {.v = k6, .down = k5}};
  bytes.others = {{.v = Format::kQ4_0}};
  down.others = {{.down = Format::kQ4_0}};
  others.others = {{}, {.qk = k6, .v = k6, .output = Format::kQ8_0, .gate_up = k5}};
  for (const TinyShape& shape : {four, bytes, down, others}) {
    SCOPED_TRACE(shape.name);
    const Made one = make(shape, OneDispatchUse::kOn), steps = make(shape, OneDispatchUse::kOff);
    ASSERT_EQ(one.gpu().why_in_steps(), "");
    expect_close(rows(*one.executable, 30, 3), rows(*steps.executable, 30, 3));
    EXPECT_LT(dispatches(one), 8);
    if (HasFailure()) break;
  }
}

TEST_F(GpuOneDispatchOfFloats, LongHistoriesAndTheSameTwice) {
  const Made one = make(bonsai(), OneDispatchUse::kOn), steps = make(bonsai(), OneDispatchUse::kOff);
  const auto first = rows(*one.executable, 300, 3);
  expect_close(first, rows(*steps.executable, 300, 3));
  EXPECT_EQ(rows(*one.executable, 300, 3), first);
}

// The trial goes as far as there is room, and no token of it is compared with what a later one has left.
TEST_F(GpuOneDispatchOfFloats, ContextsOfAnySize) {
  for (const int n_ctx : {8, 129}) {
    SCOPED_TRACE(n_ctx);
    const Made one = make(bonsai(), OneDispatchUse::kOn, n_ctx), steps = make(bonsai(), OneDispatchUse::kOff, n_ctx);
    ASSERT_EQ(one.gpu().why_in_steps(), "");
    expect_close(rows(*one.executable, 0, 3, n_ctx), rows(*steps.executable, 0, 3, n_ctx));
  }
}

TEST_F(GpuOneDispatchOfFloats, IsNotThereForOtherLayers) {
  struct Case {
    TinyShape shape;
    const char* why;
  };
  TinyShape restless = bonsai(Format::kQ4_K);
  restless.layers = std::vector<LayerConfig>(5);
  restless.others = {{.v = Format::kQ5_K}, {.v = Format::kQ6_K}, {.down = Format::kQ5_K}, {.down = Format::kQ6_K}};
  const Case cases[] = {
      {restless, "formats that differ from layer to layer"},
      {{.name = "f16", .format = Format::kF16}, "the format of its weights"},
      {{.name = "biases", .biases = true, .format = Format::kQ8_0}, "its steps are not fused"},
      {{.name = "softcap", .softcap = 30, .format = Format::kQ8_0}, "a bound of its scores"},
      {{.name = "windows", .windows = {9, 0}, .format = Format::kQ8_0}, "layers that differ"},
  };
  for (const auto& [shape, why] : cases) {
    const Made one = make(shape, OneDispatchUse::kOn);
    EXPECT_TRUE(one.gpu().why_in_steps().contains(why)) << shape.name << ": " << one.gpu().why_in_steps();
    EXPECT_FALSE(rows(*one.executable, 10, 2).empty());
  }
}

}  // namespace
}  // namespace tern
