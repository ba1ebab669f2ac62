// The fastest way to read memory once, to compare with the kernels' bytes per second.
#ifndef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/ops/sum_words.cc"
#endif
// clang-format off: this order
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "backend/cpu/ops/sum_words.h"

#include "backend/cpu/ops/fetch_ahead.h"

HWY_BEFORE_NAMESPACE();
namespace tern::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

uint64_t SumWords(std::span<const uint64_t> words) {
  const hn::ScalableTag<uint64_t> d;
  const size_t lanes = hn::Lanes(d);
  auto a = hn::Zero(d), b = hn::Zero(d), c = hn::Zero(d), e = hn::Zero(d);
  constexpr size_t kLineWords = kCacheLine / sizeof(uint64_t);
  const FetchAhead ahead = reading_ahead();
  size_t i = 0;
  for (; i + 4 * lanes <= words.size(); i += 4 * lanes) {
    const uint64_t* at = words.data() + i;
    for (size_t line = 0; line < 4 * lanes; line += kLineWords) fetch_ahead(at + line, ahead);
    a = hn::Add(a, hn::LoadU(d, at));
    b = hn::Add(b, hn::LoadU(d, at + lanes));
    c = hn::Add(c, hn::LoadU(d, at + 2 * lanes));
    e = hn::Add(e, hn::LoadU(d, at + 3 * lanes));
  }
  uint64_t sum = hn::ReduceSum(d, hn::Add(hn::Add(a, b), hn::Add(c, e)));
  for (; i < words.size(); ++i) sum += words[i];
  return sum;
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tern::cpu {

HWY_EXPORT(SumWords);
uint64_t sum_words(std::span<const uint64_t> words) { return HWY_DYNAMIC_DISPATCH(SumWords)(words); }

}  // namespace tern::cpu
#endif
