// The golden kernels that compute logits and choose among them.
#include "backend/gpu/kernels/golden/golden_cases_test_support.h"
#include "backend/gpu/kernels/head/best_logits.h"
#include "backend/gpu/kernels/head/sample.h"

namespace tern::gpu {
namespace {

class Kernels {
 public:
  Kernels(uint32_t width, uint32_t n_vocab, const Caps& caps) : width_(width), n_vocab_(n_vocab), caps_(caps) {}

  void add_best_logits() {
    const WeightCoding f16{.words = WeightWords::kF16};
    add("head_copy", head_copy({.rows = n_vocab_, .cols = width_, .coding = f16, .caps = caps_}));
    for (const bool normed : {false, true}) {
      add(normed ? "estimated_input_normed" : "estimated_input",
          estimated_input(
              {.cols = width_, .normed = normed, .caps = caps_, .workgroup = caps_.subgroup > 0 ? 1024u : 256u}));
    }
    const EstimateConfig one{.rows = n_vocab_, .cols = width_, .caps = caps_};
    EstimateConfig several = one;
    several.rows_per_group = several.columns = 4;
    add("estimate_logits", estimate_logits(one));
    add("estimate_logits_columns", estimate_logits(several));
    for (const uint32_t n_best : {1u, 128u}) {
      FloatLinearConfig linear{.rows = n_vocab_, .cols = width_, .coding = f16, .caps = caps_};
      linear.normed = n_best == 1;
      linear.eps = 1e-5f;
      linear.rows_per_group = 1;
      add(n_best == 1 ? "best_logit_normed" : "best_logits", best_logits({.linear = linear, .n_best = n_best}));
      if (n_best == 1) add("greatest_logit_normed", greatest_logit({.linear = linear, .n_best = 1}));
    }
  }

  void add_sampling() {
    const SampleConfig c{.n = n_vocab_, .caps = caps_};
    add("sample_change", sample_change());
    add("sample_greatest", sample_greatest(c));
    add("sample_level_count_start", sample_level(c, Measure::kCount, LevelBegin::kStart));
    add("sample_level_count_next", sample_level(c, Measure::kCount, LevelBegin::kNext));
    add("sample_level_share_start", sample_level(c, Measure::kShare, LevelBegin::kStart));
    add("sample_level_share_after_count", sample_level(c, Measure::kShare, LevelBegin::kAfterCount));
    add("sample_weigh_none", sample_weigh(c, Threshold::kNone));
    add("sample_weigh_count", sample_weigh(c, Threshold::kCount));
    add("sample_weigh_share", sample_weigh(c, Threshold::kShare));
    add("sample_next", sample_next(c));
    add("sample_moments", sample_moments(c));
    add("sample_floor", sample_floor(c));
    add("sample_level_share_after_floor", sample_level(c, Measure::kShare, LevelBegin::kAfterFloor));
    add("sample_weigh_floor", sample_weigh(c, Threshold::kFloor));
    add("sample_again", sample_again(c));
    add("sample_surprise", sample_surprise(c));
    add("sample_typical_start", sample_typical(c, LevelBegin::kStart));
    add("sample_typical_next", sample_typical(c, LevelBegin::kNext));
    add("sample_typical_cut", sample_typical_cut(c));
    add("sample_drop", sample_drop(c, /*by_min_p=*/false));
    add("sample_drop_min_p", sample_drop(c, /*by_min_p=*/true));
    add("sample_drop_untypical", sample_drop_untypical(c));
    add("sample_xtc", sample_xtc(c));
    add("sample_drop_top", sample_drop_top(c));
  }

  std::vector<std::pair<std::string, wgsl::Module>> take() { return std::move(all_); }

 private:
  template <class... P>
  void add(const std::string& name, wgsl::Kernel<P...> kernel) {
    all_.emplace_back(name, std::move(kernel.module));
  }

  uint32_t width_, n_vocab_;
  Caps caps_;
  std::vector<std::pair<std::string, wgsl::Module>> all_;
};

}  // namespace

std::vector<std::pair<std::string, wgsl::Module>> head_kernels(uint32_t width, uint32_t n_vocab, const Caps& caps) {
  Kernels kernels(width, n_vocab, caps);
  kernels.add_best_logits();
  kernels.add_sampling();
  return kernels.take();
}

}  // namespace tern::gpu
