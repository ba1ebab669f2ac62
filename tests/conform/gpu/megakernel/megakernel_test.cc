// The megakernel, which computes all layers of a token, compared with the same layers step by step: for the first
// layers of the default model and for small models of other families. A CPU driver runs as many workgroups at the same
// time as it has threads.
#include "conform/gpu/megakernel/megakernel_test_support.h"
#include "conform/gpu/tiny_model.h"

namespace tern {
namespace {

TEST_F(GpuMegakernel, LogitsAreThoseOfTheSteps) {
  const Made one = make(MegakernelUse::kOn), steps = make(MegakernelUse::kOff);
  ASSERT_EQ(one.gpu().layer_path().refusal(), "");
  for (const auto& [n_prompt, n] : {std::pair(0u, 6u), {60u, 8u}, {300u, 3u}}) {  // past a block's end; in rounds
    SCOPED_TRACE(n_prompt);
    expect_close(one_by_one(*one.executable, n_prompt, n), one_by_one(*steps.executable, n_prompt, n));
  }
  EXPECT_LT(dispatches(one), 8);
  EXPECT_GT(dispatches(steps), 10);
}

// The tags of words wrap around, and restart with each token.
TEST_F(GpuMegakernel, AnyNumberOfLayers) {
  for (const size_t n_layers : {1u, 4u}) {
    SCOPED_TRACE(n_layers);
    const Made one = make(MegakernelUse::kOn, n_layers), steps = make(MegakernelUse::kOff, n_layers);
    ASSERT_EQ(one.gpu().layer_path().refusal(), "");
    expect_close(one_by_one(*one.executable, 20, 6), one_by_one(*steps.executable, 20, 6));
  }
}

TEST_F(GpuMegakernel, TheSameTwiceAndInAStream) {
  const Made one = make(MegakernelUse::kOn);
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

// A step also embeds the token that it chooses, for the next step. Other work in between must not change that.
TEST_F(GpuMegakernel, StreamsInTurns) {
  const Made one = make(MegakernelUse::kOn);
  Executable& e = *one.executable;
  constexpr int kTokens = 12;
  const auto cache_of = [&](int n_prompt) {
    auto cache = e.new_cache(kContext, KvType::kF16).value();
    feed(e, *cache, story(static_cast<size_t>(n_prompt)), 128, 0);
    return cache;
  };
  std::vector<std::vector<TokenId>> alone;
  for (const int n_prompt : {30, 506}) alone.push_back(greedy(e, *cache_of(n_prompt), n_prompt, kTokens));
  const auto a = cache_of(30), b = cache_of(506);  // its store grows
  const auto of_a = e.decode(*a, 5, 30, kTokens, {}).value(), of_b = e.decode(*b, 5, 506, kTokens, {}).value();
  const auto other = e.new_cache(kContext, KvType::kF16).value();
  for (size_t i = 0; i < kTokens; ++i) {
    EXPECT_EQ((*of_a->next().value().data()), alone[0][i]) << i;
    if (i % 3 == 1) feed(e, *other, story(20), 128, 0);
    if (i % 3 != 2) continue;
    for (size_t k = i - 2; k <= i; ++k) EXPECT_EQ((*of_b->next().value().data()), alone[1][k]) << k;
  }
}

// Two KV heads with one workgroup each: the other workgroups have no part.
TEST_F(GpuMegakernel, MoreWorkgroupsThanParts) {
  const auto expected = one_by_one(*make(MegakernelUse::kOff).executable, 40, 8);
  const Made one = make(MegakernelUse::kOn, 2, R"(let splits(_\d+)? = .*;)", "let splits$1 = 1u;");
  ASSERT_EQ(one.gpu().layer_path().refusal(), "");
  expect_close(one_by_one(*one.executable, 40, 8), expected);
}

// The KV cache of all layers is one buffer, which grows. Each KV type has its own.
TEST_F(GpuMegakernel, KeysAndValuesStayWhereTheCacheGrows) {
  const Made one = make(MegakernelUse::kOn), steps = make(MegakernelUse::kOff);
  const auto tokens = story(530);
  std::vector<Rows> last;
  for (const Made* made : {&one, &steps}) {
    Executable& e = *made->executable;
    const auto store = e.new_kv_store(e.kv_block_tokens(kContext), KvType::kF16).value();
    std::vector<KvBlockId> blocks;
    Rows logits;
    for (size_t at = 0; at < tokens.size();) {
      const size_t n = at < 500 ? 100 : 1;  // token by token past the first growth, at 512
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

TEST_F(GpuMegakernel, WhereWorkgroupsWaitInVainTheStepsGoOn) {
  const Made steps = make(MegakernelUse::kOff);
  const auto tokens = story(30);
  std::vector<std::vector<TokenId>> replies;
  {
    const Made one = make(MegakernelUse::kOn, 2, kPatience, kNoPatience);
    ASSERT_EQ(one.gpu().layer_path().refusal(), "");
    for (const Made* made : {&one, &steps}) {
      const auto cache = made->executable->new_cache(kContext, KvType::kF16).value();
      feed(*made->executable, *cache, tokens, 128, 0);
      replies.push_back(greedy(*made->executable, *cache, 30, 25));
    }
    EXPECT_EQ(replies[0], replies[1]);
    EXPECT_TRUE(one.gpu().layer_path().refusal().contains("too long for each other"))
        << one.gpu().layer_path().refusal();
    EXPECT_GT(dispatches(one), 10);
  }
  const Made one = make(MegakernelUse::kOn, 2, kPatience, kNoPatience);  // the host chooses the tokens
  expect_close(one_by_one(*one.executable, 36, 8), one_by_one(*steps.executable, 36, 8));
  EXPECT_TRUE(one.gpu().layer_path().refusal().contains("too long for each other")) << one.gpu().layer_path().refusal();
}

TEST_F(GpuMegakernel, IsNotUsedWhereTheTrialFails) {
  struct Case {
    const char *find, *replace, *why;
  };
  for (const auto& [find, replace, why] : {
           Case{kPatience, "var patience: u32 = 0u;", "does not run enough workgroups"},
           Case{R"(let q_factor(_\d+)? = .*;)", "let q_factor$1 = 9.0;", "computes wrongly (a relative error"},
           Case{R"(let x_value = x\[row\];)", "let x_value = x[row] * f32(last_tag + 1u);", "not alike"},
           // Some positions are left out, but only from position 100 on.
           Case{R"(from_pos(_\d+)? < end_pos)", "from_pos$1 < min(100u, end_pos)",
                "computes wrongly (a relative error"},
       }) {
    const Made one = make(MegakernelUse::kOn, 2, find, replace);
    EXPECT_TRUE(one.gpu().layer_path().refusal().contains(why)) << one.gpu().layer_path().refusal();
    const auto rows = one_by_one(*one.executable, 20, 2);
    expect_close(rows, one_by_one(*make(MegakernelUse::kOff).executable, 20, 2));
    EXPECT_GT(dispatches(one), 10);
  }
}

TEST_F(GpuMegakernel, IsNotThereForOtherPlans) {
  const Made one = make(MegakernelUse::kOn, 2, "", "", Fusions::none());
  EXPECT_TRUE(one.gpu().layer_path().refusal().contains("its steps are not fused")) << one.gpu().layer_path().refusal();
  EXPECT_FALSE(one_by_one(*one.executable, 10, 2).empty());
}

// ---- Layers with float activations

class GpuMegakernelFloats : public GpuMegakernel {
 protected:
  Made make(const TinyShape& shape, MegakernelUse use, int n_ctx = kContext, const std::string& find = "",
            const std::string& replace = "") {
    TinyModel& model = tiny_models_.emplace_back(shape);
    model.config.n_ctx = n_ctx;
    return compile(make_plan(model.config, model.weights, {.fuse = Fusions::all()}), use, "float_layers", find,
                   replace);
  }
  // The logits of n tokens one by one, after `n_prompt` tokens in batches.
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

  static TinyShape two_heads() {
    TinyShape shape = bonsai();
    shape.n_heads = 2, shape.n_kv_heads = 1;
    return shape;
  }

  std::deque<TinyModel> tiny_models_;
};

TEST_F(GpuMegakernelFloats, LogitsAreThoseOfTheSteps) {
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
    const Made one = make(shape, MegakernelUse::kOn), steps = make(shape, MegakernelUse::kOff);
    ASSERT_EQ(one.gpu().layer_path().refusal(), "");
    expect_close(rows(*one.executable, 0, 4), rows(*steps.executable, 0, 4));
    expect_close(rows(*one.executable, 62, 4), rows(*steps.executable, 62, 4));  // past a block's end
    EXPECT_LT(dispatches(one), 8);
    if (HasFailure()) break;
  }
}

// Like files in K formats: values and down projections of some layers have more bits.
TEST_F(GpuMegakernelFloats, LayersInDifferentFormats) {
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
    const Made one = make(shape, MegakernelUse::kOn), steps = make(shape, MegakernelUse::kOff);
    ASSERT_EQ(one.gpu().layer_path().refusal(), "");
    expect_close(rows(*one.executable, 30, 3), rows(*steps.executable, 30, 3));
    EXPECT_LT(dispatches(one), 8);
    if (HasFailure()) break;
  }
}

TEST_F(GpuMegakernelFloats, LongHistoriesAndTheSameTwice) {
  const Made one = make(bonsai(), MegakernelUse::kOn), steps = make(bonsai(), MegakernelUse::kOff);
  const auto first = rows(*one.executable, 300, 3);
  expect_close(first, rows(*steps.executable, 300, 3));
  EXPECT_EQ(rows(*one.executable, 300, 3), first);
}

// Two query heads share keys and values. Up to 48 positions, each head has its own workgroups, which take half of the
// positions in up to three rounds. For longer histories a workgroup computes both heads, and each of four has a part.
TEST_F(GpuMegakernelFloats, ShortHistoriesInParts) {
  const Made one = make(two_heads(), MegakernelUse::kOn), steps = make(two_heads(), MegakernelUse::kOff);
  ASSERT_EQ(one.gpu().layer_path().refusal(), "");
  for (const auto& [n_prompt, n] : {std::pair(0u, 4u), {20u, 3u}, {45u, 6u}, {300u, 3u}}) {
    SCOPED_TRACE(n_prompt);
    expect_close(rows(*one.executable, n_prompt, n), rows(*steps.executable, n_prompt, n));
  }
}

// Parts that short histories do not use still contain a long history's data, and after some tokens their tags look new.
// Every other workgroup is delayed here; otherwise such parts would rarely be read.
TEST_F(GpuMegakernelFloats, LongHistoriesAfterShortOnes) {
  const Made steps = make(two_heads(), MegakernelUse::kOff);
  const Made one = make(two_heads(), MegakernelUse::kOn, kContext, R"(for \(var out_value)",
                        "for (var late = 0u; late < 3000u * (wg.x % 2u); late += 1u) {\n"
                        "  if (atomicLoad(&words[1u]) == 0u) { break; }\n}\n$&");
  ASSERT_EQ(one.gpu().layer_path().refusal(), "");
  const auto expected = rows(*steps.executable, 300, 1);
  for (size_t n_short = 1; n_short <= 4; ++n_short) {
    SCOPED_TRACE(n_short);
    EXPECT_EQ(rows(*one.executable, 20, n_short).size(), n_short);
    expect_close(rows(*one.executable, 300, 1), expected);
  }
  EXPECT_EQ(one.gpu().layer_path().refusal(), "");
}

// The trial uses as many positions as the context has, and compares no token with data that a later one wrote.
TEST_F(GpuMegakernelFloats, ContextsOfAnySize) {
  for (const int n_ctx : {8, 129}) {
    SCOPED_TRACE(n_ctx);
    const Made one = make(bonsai(), MegakernelUse::kOn, n_ctx), steps = make(bonsai(), MegakernelUse::kOff, n_ctx);
    ASSERT_EQ(one.gpu().layer_path().refusal(), "");
    expect_close(rows(*one.executable, 0, 3, n_ctx), rows(*steps.executable, 0, 3, n_ctx));
  }
}

TEST_F(GpuMegakernelFloats, IsNotThereForOtherLayers) {
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
      {{.name = "biases", .biases = true, .format = Format::kQ8_0}, "layers of another kind"},
      {{.name = "qkv biases", .qkv_biases = true, .format = Format::kQ8_0}, "biases"},
      {{.name = "softcap", .softcap = 30, .format = Format::kQ8_0}, "a bound of its scores"},
      {{.name = "windows", .windows = {9, 0}, .format = Format::kQ8_0}, "layers that differ"},
  };
  for (const auto& [shape, why] : cases) {
    const Made one = make(shape, MegakernelUse::kOn);
    EXPECT_TRUE(one.gpu().layer_path().refusal().contains(why))
        << shape.name << ": " << one.gpu().layer_path().refusal();
    EXPECT_FALSE(rows(*one.executable, 10, 2).empty());
  }
}

}  // namespace
}  // namespace tern
