// What the parts of ternary_layers share: words between workgroups, and which rows a workgroup has.
#pragma once

#include <vector>

#include "backend/gpu/kernels/ternary_layers.h"

namespace tern::gpu {

using LayerWords = wgsl::InOut<"words", wgsl::Atomic<wgsl::U32>>;

inline constexpr uint32_t kTagMask = 3;

namespace layers {

using namespace wgsl;

struct LayerBuiltins {
  WorkgroupId wg;
  NumWorkgroups n_wg;
  LocalIndex tid;
};

// Words that other workgroups write, or read.
class Exchange {
 public:
  Exchange(const TernaryLayersConfig& c, const LayerWords& words)
      : c_(c), words_(words), patience_(var("patience", atomicLoad(words[TernaryLayersConfig::kPatience]))) {}

  void put(const Name<U32>& place, const Name<F32>& value, const Name<U32>& tag) const {
    auto value_bits = let("value_bits", bitcast<U32>(value));
    constexpr uint32_t kNotFinite = 0x7F800000;  // which rounding would make a number of
    auto half = let("half", select((kTagMask + 1) / 2, e(0u), (value_bits & kNotFinite) == kNotFinite));
    auto rounded = let("rounded", value_bits + half);
    atomicStore(words_[place], (rounded & ~kTagMask) | tag);
  }

  // The values at these places, once all of them are there.
  std::vector<Name<F32>> take(const std::vector<Name<U32>>& places, const Name<U32>& tag) const {
    if (c_.in_turns) workgroupBarrier();
    std::vector<Var<U32>> found;
    for (size_t i = 0; i < places.size(); ++i) found.push_back(var("found", 0u));
    auto waits = var("waits", 1u);
    // The last one alone, until it is there: looking costs those who write.
    loop("early", 0u, patience_, 1u, [&](const Name<U32>& tries) {
      found[0] = atomicLoad(words_[places.back()]);
      auto given_up = has_given_up(tries);
      when(((found[0] ^ tag) & kTagMask) == 0u || given_up, [&] { raw_statement("break;"); });
    });
    loop("tries", 0u, patience_, 1u, [&](const Name<U32>& tries) {
      for (size_t i = 0; i < places.size(); ++i) found[i] = atomicLoad(words_[places[i]]);
      auto odd = var("odd", 0u);
      for (size_t i = 0; i < places.size(); ++i) odd = odd | (found[i] ^ tag);
      when((odd & kTagMask) == 0u, [&] {
        waits = 0u;
        raw_statement("break;");
      });
      auto given_up = has_given_up(tries);
      when(given_up, [&] { raw_statement("break;"); });
    });
    // Who has waited in vain once does not wait again, and tells the others.
    when(waits != 0u, [&] {
      when(patience_ != 1u, [&] { atomicAdd(words_[TernaryLayersConfig::kFailed], 1u); });
      patience_ = 1u;
    });
    std::vector<Name<F32>> values;
    for (size_t i = 0; i < places.size(); ++i) values.push_back(let("value", bitcast<F32>(found[i] & ~kTagMask)));
    return values;
  }

 private:
  // Whether somebody has waited in vain: looked for now and then.
  Name<Bool> has_given_up(const Name<U32>& tries) const {
    auto n_failed = var("n_failed", 0u);
    when((tries & 255u) == 255u, [&] { n_failed = atomicLoad(words_[TernaryLayersConfig::kFailed]); });
    return let("given_up", n_failed != 0u);
  }

  const TernaryLayersConfig& c_;
  LayerWords words_;
  Var<U32> patience_;
};

// The rows [first, end) of n that a workgroup has.
struct Share {
  Share(const LayerBuiltins& b, uint32_t n)
      : first(let("first_row", b.wg.x * n / b.n_wg.x)), end(let("end_row", (b.wg.x + 1u) * n / b.n_wg.x)) {}
  Name<U32> first, end;
};

}  // namespace layers
}  // namespace tern::gpu
