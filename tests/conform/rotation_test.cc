// Rotated matrices: the transform against its definition, and a model whose matrices were rotated against itself.
#include <numeric>

#include "backend/cpu/cpu_backend.h"
#include "backend/cpu/ops/ops.h"
#include "backend/kv_cache.h"
#include "backend/ref/ops.h"
#include "backend/ref/ref_backend.h"
#include "conform/rotated_model.h"

namespace tern::conform {
namespace {

TEST(Conform, RotationsFollowTheDefinition) {
  struct Shape {
    int width, block, n_groups, head_dim;
  };
  for (const Shape& s : {Shape{128, 128, 0, 0}, Shape{96, 4, 0, 0}, Shape{2048, 1024, 0, 0}, Shape{192, 64, 2, 16}}) {
    constexpr int kRows = 3;
    const auto width = static_cast<size_t>(s.width);
    const auto x = random(kRows * width, 1);
    auto signs = random(width, 2);
    for (float& sign : signs) sign = sign < 0 ? -1.0f : 1.0f;
    for (const bool is_inverse : {false, true}) {
      std::vector<float> expected(x.size());
      ref::rotate(
          {x.data(), signs.data(), kRows, s.width, s.block, is_inverse, s.n_groups, s.head_dim, expected.data()});
      on_every_target([&] {
        Guarded<float> actual(x.size(), 1);
        run_on(2, cpu::rotate,
               {x.data(), signs.data(), kRows, s.width, s.block, is_inverse, s.n_groups, s.head_dim, actual.data()});
        EXPECT_LT(nmse(actual.values(), expected), 1e-12) << s.width;
        EXPECT_TRUE(actual.intact());
      });
    }
  }
}

TEST(Conform, RotationsUndoThemselves) {
  constexpr int kWidth = 256, kBlock = 64;
  const auto x = random(kWidth, 1), signs = std::vector<float>(kWidth, -1.0f);
  std::vector<float> rotated(x.size()), back(x.size());
  ref::rotate({x.data(), signs.data(), 1, kWidth, kBlock, false, 0, 0, rotated.data()});
  ref::rotate({rotated.data(), signs.data(), 1, kWidth, kBlock, true, 0, 0, back.data()});
  EXPECT_LT(nmse(back, x), 1e-13);
}

TEST(Conform, HeadsAreTakenInTheOtherOrder) {
  constexpr int kGroups = 2, kHeads = 6, kDim = 2;
  const ops::Rotate op{.in = nullptr,
                       .signs = nullptr,
                       .n = 1,
                       .width = kHeads * kDim,
                       .block = 4,
                       .is_inverse = false,
                       .n_groups = kGroups,
                       .head_dim = kDim,
                       .out = nullptr};
  std::vector<int> sources;
  for (int i = 0; i < kHeads * kDim; ++i) sources.push_back(op.source(i));
  EXPECT_EQ(sources, (std::vector{0, 1, 4, 5, 8, 9, 2, 3, 6, 7, 10, 11}));
}

TEST(Conform, ARotatedModelComputesTheSame) {
  DeltaModel model(Format::kF32);
  const std::vector<TokenId> tokens = {5, 80, 3, 411, 7, 7, 90, 1};
  ThreadPool pool(2);
  const auto logits_of = [&](const DeltaModel& of, bool on_cpu) {
    const Plan plan = make_plan(of.config, of.weights, {.fuse = on_cpu ? Fusions::host() : Fusions::none()});
    const CompileOptions options{.max_batch = 8, .max_logit_rows = 8};
    const auto executable = (on_cpu ? cpu::compile(plan, options, pool) : ref::compile(plan, options)).value();
    const auto cache = executable->new_cache(16, KvType::kF32).value();
    const auto logits = executable->run(*cache, {.tokens = tokens, .first_pos = 0, .logits = WantLogits::kAll});
    return std::vector<float>(logits->begin(), logits->end());
  };
  const auto expected = logits_of(model, false);
  rotate(model);
  EXPECT_LT(nmse(logits_of(model, false), expected), 1e-11);
  EXPECT_LT(nmse(logits_of(model, true), expected), 1e-10);
  // The rotation is needed, and so is the order of the heads.
  model.config.delta.rotates_grouped = false;
  EXPECT_GT(nmse(logits_of(model, false), expected), 1e-3);
}

}  // namespace
}  // namespace tern::conform
