// Top-n-sigma: the least logit that is kept.
#include "backend/gpu/kernels/head/sample.h"
#include "backend/gpu/kernels/head/sample_search.h"

namespace tern::gpu {

using namespace wgsl;
using namespace sampling;

SampleMomentsKernel sample_moments(const SampleConfig& c) {
  CHECK(c.n <= kMaxSampleVocab && c.parts <= kSize);
  return kernel(
      "sample_moments", kSize,
      [&](SampleLogits logits, In<"parts", U32> parts, Out<"moments", F32> moments, WorkgroupId wg, LocalIndex tid) {
        const Keys keys;
        auto greatest = greatest_key(c, parts, parts_of_row(c, wg), tid);
        auto most = let("greatest_value", keys.value(greatest));
        auto n = var<F32>("n_finite");
        auto sum = var<F32>("sum");
        auto squares = var<F32>("squares");
        auto end = let("end", min(wg.x * part_size(c) + part_size(c), c.n));
        loop("i", wg.x * part_size(c) + tid, end, kSize, [&](const Name<U32>& i) {
          auto key = let("key", keys.key(logits[wg.y * c.n + i]));
          when(key > kKeyMinusInfinity && key < kKeyPlusInfinity, [&] {
            auto below = let("below", most - keys.value(key));
            n += 1.0f;
            sum += below;
            squares += below * below;
          });
        });
        auto at = let("moments_at", (wg.y * c.parts + wg.x) * kMomentWords);
        auto all_n = reduce_workgroup(Reduce::kSum, c.caps, let("my_n", n), tid, kSize);
        auto all_sum = reduce_workgroup(Reduce::kSum, c.caps, let("my_sum", sum), tid, kSize);
        auto all_squares = reduce_workgroup(Reduce::kSum, c.caps, let("my_squares", squares), tid, kSize);
        when(tid == 0u, [&] {
          moments[at] = all_n;
          moments[at + 1u] = all_sum;
          moments[at + 2u] = all_squares;
        });
      });
}

SampleFloorKernel sample_floor(const SampleConfig& c) {
  return kernel("sample_floor", kSize,
                [&](In<"parts", U32> parts, In<"moments", F32> moments, In<"deviations", F32> deviations,
                    SampleState state, WorkgroupId wg, LocalIndex tid) {
                  const Keys keys;
                  auto greatest = greatest_key(c, parts, parts_of_row(c, wg), tid);
                  auto my_n = var<F32>("part_n");
                  auto my_sum = var<F32>("part_sum");
                  auto my_squares = var<F32>("part_squares");
                  when(tid < c.parts, [&] {
                    auto at = let("moments_at", (wg.y * c.parts + tid) * kMomentWords);
                    my_n = moments[at];
                    my_sum = moments[at + 1u];
                    my_squares = moments[at + 2u];
                  });
                  auto n = reduce_workgroup(Reduce::kSum, c.caps, let("some_n", my_n), tid, kSize);
                  auto sum = reduce_workgroup(Reduce::kSum, c.caps, let("some_sum", my_sum), tid, kSize);
                  auto squares = reduce_workgroup(Reduce::kSum, c.caps, let("some_squares", my_squares), tid, kSize);
                  when(tid == 0u, [&] {
                    auto width = let("width", deviations[wg.y]);
                    auto mean = let("mean", sum / max(n, 1.0f));
                    auto variance = let("variance", max(squares / max(n, 1.0f) - mean * mean, 0.0f));
                    auto least = let("least", keys.value(greatest) - width * sqrt(variance));
                    auto is_off = let("is_off", width <= 0.0f || n == 0.0f || greatest == kKeyPlusInfinity);
                    state[state_of_row(wg) + kFloorWord] =
                        select(max(min(keys.key(bitcast<U32>(least)), greatest), 1u), 1u, is_off);
                  });
                });
}

}  // namespace tern::gpu
