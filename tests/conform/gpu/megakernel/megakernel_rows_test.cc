// The megakernel for one token of each of several sequences, compared with the same layers step by step.
#include <cstring>

#include "conform/gpu/megakernel/megakernel_test_support.h"

namespace tern {
namespace {

class GpuMegakernelRows : public GpuMegakernel {
 protected:
  static void SetUpTestSuite() { setenv("LP_NUM_THREADS", "2", 0); }  // fewer threads wait less for each other

  // A sequence with its blocks in a shared store.
  struct Sequence {
    std::vector<KvBlockId> blocks;
    std::vector<TokenId> tokens;
  };
  // Runs all but the last token of sequences with these lengths. Each begins 11 tokens later in the story.
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
  // The logits of `n` steps of all sequences together. The tokens are fixed, independent of the logits. Calls
  // `meanwhile` after the first step.
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
  // The tokens that the device chooses. [steps, sequences]. With changes, no token comes twice in a row.
  static std::vector<std::vector<TokenId>> streamed(const Made& made, const std::vector<size_t>& lengths, int n,
                                                    bool changes = false) {
    Executable& e = *made.executable;
    const auto store = e.new_kv_store(e.kv_block_tokens(kContext), KvType::kF16).value();
    const auto sequences = begin(e, *store, lengths);
    std::vector<DeviceSampling> greedy(lengths.size());
    std::vector<std::vector<TokenId>> steps;
    for (size_t s = 0; changes && s < greedy.size(); ++s) {
      greedy[s].changes = [&steps, s](std::vector<LogitChange>& list) {
        list.clear();
        if (!steps.empty()) list.push_back({.token = steps.back()[s], .bias = -std::numeric_limits<float>::infinity()});
      };
      greedy[s].n_best = [] { return 3; };
    }
    const auto stream = e.decode(*store, starts(sequences), n, greedy).value();
    for (int i = 0; i < n; ++i) {
      const auto next = stream->next();
      EXPECT_TRUE(next) << next.error().message;
      if (next) steps.emplace_back(next->begin(), next->end());
    }
    for (size_t i = 1; changes && i < steps.size(); ++i) {
      for (size_t s = 0; s < lengths.size(); ++s) EXPECT_NE(steps[i][s], steps[i - 1][s]);
    }
    return steps;
  }
  // The tokens that the host chooses, none twice in a row.
  static std::vector<std::vector<TokenId>> chosen(const Made& made, const std::vector<size_t>& lengths, int n) {
    Executable& e = *made.executable;
    const auto store = e.new_kv_store(e.kv_block_tokens(kContext), KvType::kF16).value();
    auto sequences = begin(e, *store, lengths);
    std::vector<std::vector<TokenId>> steps;
    for (int i = 0; i < n; ++i) {
      const auto logits = e.run(*store, starts(sequences)).value();
      const size_t width = logits.size() / lengths.size();
      std::vector<TokenId> tokens;
      for (size_t s = 0; s < lengths.size(); ++s) {
        Rows row(logits.begin() + static_cast<ptrdiff_t>(s * width),
                 logits.begin() + static_cast<ptrdiff_t>((s + 1) * width));
        if (i > 0) row[static_cast<size_t>(steps.back()[s])] = -std::numeric_limits<float>::infinity();
        tokens.push_back(static_cast<TokenId>(std::ranges::max_element(row) - row.begin()));
        sequences[s].tokens.push_back(tokens.back());
      }
      steps.push_back(tokens);
    }
    return steps;
  }
  // Gives all layers random FFN matrices with a width of `d_ff`.
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
  // Compares each row separately. The logits of a step are n_rows rows.
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

  std::deque<std::vector<std::byte>> bytes_;  // matrices that are in no model file
};

TEST_F(GpuMegakernelRows, LogitsAreThoseOfTheSteps) {
  const Made one = make(MegakernelUse::kOn), steps = make(MegakernelUse::kOff);
  ASSERT_TRUE(one.executable->expect(8));
  ASSERT_EQ(one.gpu().layer_path().row_refusal(), "");
  for (const int n : {2, 4, 5, 8}) EXPECT_GT(one.gpu().layer_path().workgroups(n), 0u) << n;
  EXPECT_EQ(one.gpu().layer_path().workgroups(9), 0u);
  for (const std::vector<size_t>& lengths : std::vector<std::vector<size_t>>{
           {40, 9}, {2, 100, 33, 65}, {5, 64, 31, 128, 12}, {20, 21, 22, 23, 24, 25, 26, 300}}) {
    SCOPED_TRACE(lengths.size());
    const auto expected = together(*steps.executable, lengths, 3), actual = together(*one.executable, lengths, 3);
    expect_rows_close(actual, expected, lengths.size());
    EXPECT_NE(actual, expected);  // otherwise it was not used
  }
  EXPECT_EQ(together(*one.executable, {30, 63, 20}, 3), together(*one.executable, {30, 63, 20}, 3));
  EXPECT_EQ(streamed(one, {30, 63, 20}, 12), streamed(steps, {30, 63, 20}, 12));
  EXPECT_EQ(streamed(one, {30, 63, 20}, 12, /*changes=*/true), chosen(one, {30, 63, 20}, 12));
}

// Like on a GPU that runs more workgroups at the same time, but with heads one after another.
TEST_F(GpuMegakernelRows, HistoriesInParts) {
  const Made steps = make(MegakernelUse::kOff, 1);
  const Made one =
      make(MegakernelUse::kOn, 1, R"(let splits(_\d+)? = .*;)", "let splits$1 = 2u;", Fusions::all(), "ternary_rows");
  // Sequences that have already begun use the megakernel from then on.
  const auto actual = together(*one.executable, {40, 9, 300}, 3, [&] { ASSERT_TRUE(one.executable->expect(4)); });
  EXPECT_EQ(one.gpu().layer_path().row_refusal(), "");
  const auto expected = together(*steps.executable, {40, 9, 300}, 3);
  expect_rows_close(actual, expected, 3);
  EXPECT_EQ(actual[0], expected[0]);
  EXPECT_NE(actual[1], expected[1]);
}

// Rows too wide to be in workgroup memory as int8 values go through it in pieces.
TEST_F(GpuMegakernelRows, RowsInPieces) {
  constexpr int kWide = 4608;
  std::vector<std::vector<Rows>> rows;
  for (const auto use : {MegakernelUse::kOn, MegakernelUse::kOff}) {
    const Made made = make(use, 1, "", "", Fusions::all(), "", [&](Model& model) { widen(model, kWide); });
    ASSERT_TRUE(made.executable->expect(8));
    EXPECT_EQ(made.gpu().layer_path().row_refusal(), "");
    EXPECT_EQ(made.gpu().layer_path().workgroups(8) > 0, use == MegakernelUse::kOn);
    rows.push_back(together(*made.executable, {5, 6, 7, 8, 9, 10}, 3));
  }
  EXPECT_NE(rows[0], rows[1]);
  expect_rows_close(rows[0], rows[1], 6, 3 * kClose);  // random matrices amplify rounding errors
}

TEST_F(GpuMegakernelRows, WhereWorkgroupsWaitInVainTheStepsGoOn) {
  const Made steps = make(MegakernelUse::kOff, 1);
  const auto spoilt = [&] {
    Made one = make(MegakernelUse::kOn, 1, kPatience, kNoPatience, Fusions::all(), "ternary_rows");
    EXPECT_TRUE(one.executable->expect(4));
    EXPECT_EQ(one.gpu().layer_path().row_refusal(), "");
    EXPECT_GT(one.gpu().layer_path().workgroups(3), 0u);
    return one;
  };
  const auto expect_left = [](const Made& one) {
    EXPECT_TRUE(one.gpu().layer_path().row_refusal().contains("too long for each other"))
        << one.gpu().layer_path().row_refusal();
    EXPECT_EQ(one.gpu().layer_path().workgroups(3), 0u);
    EXPECT_GT(one.gpu().layer_path().workgroups(1), 0u);  // a single row has its own kernel
  };
  for (const bool changes : {false, true}) {
    const Made stream = spoilt();
    EXPECT_EQ(streamed(stream, {36, 63, 20}, 12, changes), streamed(steps, {36, 63, 20}, 12, changes));
    expect_left(stream);
  }
  const Made host = spoilt();
  expect_rows_close(together(*host.executable, {36, 63, 20}, 8), together(*steps.executable, {36, 63, 20}, 8), 3);
  expect_left(host);
}

TEST_F(GpuMegakernelRows, AreNotUsedWhereTheTrialFails) {
  struct Case {
    const char *find, *replace, *why;
  };
  for (const auto& [find, replace, why] : {
           Case{kPatience, "var patience: u32 = 0u;", "does not run enough workgroups"},
           // Only the last row is wrong.
           Case{R"(let q_factor(_\d+)? = (.*);)", "let q_factor$1 = select($2, 9.0, row_of_head == 3u);",
                "computes wrongly (a relative error"},
           Case{R"(let x_value = x\[(.*)\];)", "let x_value = x[$1] * f32(last_tag + 1u);", "not alike"},
           Case{R"(from_pos(_\d+)? < end_pos)", "from_pos$1 < min(100u, end_pos)",
                "computes wrongly (a relative error"},
       }) {
    const Made one = make(MegakernelUse::kOn, 1, find, replace, Fusions::all(), "ternary_rows");
    ASSERT_TRUE(one.executable->expect(4));
    EXPECT_EQ(one.gpu().layer_path().workgroups(5), 0u);  // five rows were not requested
    EXPECT_TRUE(one.gpu().layer_path().row_refusal().contains(why)) << one.gpu().layer_path().row_refusal();
    EXPECT_EQ(one.gpu().layer_path().workgroups(4), 0u);
    EXPECT_FALSE(together(*one.executable, {10, 20}, 1).empty());
  }
}

TEST_F(GpuMegakernelRows, OneThatCannotBeCompiledLeavesTheOthers) {
  const Made one = make(MegakernelUse::kOn, 1, R"(let my_row = tid & (?:7u|(\d)u);)", "let my_row = (1u * tid) & $1u;",
                        Fusions::all(), "ternary_rows");
  ASSERT_TRUE(one.executable->expect(8));
  EXPECT_EQ(one.gpu().layer_path().workgroups(8), 0u);
  EXPECT_GT(one.gpu().layer_path().workgroups(4), 0u);
  EXPECT_GT(one.gpu().layer_path().workgroups(2), 0u);
  EXPECT_FALSE(together(*one.executable, {10, 20}, 1).empty());
}

}  // namespace
}  // namespace tern
