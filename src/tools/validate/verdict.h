// How `tern validate` tells rounding from errors.
//
// A backend sums in another order, and in f32 where the reference sums in double. A difference of 1e-7 sometimes rounds
// an activation to the next int8 value, a step of 1/127 of its row's largest value. Every further quantization turns
// small differences into more of these steps. So two correct computations of a deep model drift apart until they differ
// by about the quantization noise: an NMSE of 1e-6 in a narrow model of ten layers, 4e-3 in a random one of 2 billion
// parameters. No fixed bound fits both. Therefore the reference also runs with an f32 KV cache in place of f16, a
// change of 1e-4 that is known to be harmless, and a backend may differ a few times as much. Where a GPU's kernels may
// make int8 blocks of what they read, which grows to 1e-3 in 32 layers, the harmless change makes them, too. A wrong
// kernel differs by 1e-2 and more from the first layer on, where harmless changes have not grown yet. If an f32 cache
// is requested, f16 is the harmless change.
//
// Where experts have nearly the same score, two correct computations may choose different ones, and the row changes as
// a whole. So over a long text a mixture of experts may choose a few other tokens, whatever their leads are.
#pragma once

#include <cstddef>
#include <string>

#include "tern/tools.h"

namespace tern {

// The largest NMSE that rounding explains if the harmless change causes `rounding_nmse`. The minimum allows for single
// int8 steps in narrow models, where one is a large part of a row.
double allowed_nmse(double rounding_nmse);

// The smallest cosine for the same case.
double allowed_cosine(double rounding_nmse);

// The margin (see top1_margin) by which the reference may prefer another token than the other side does. With this
// NMSE, the difference of two logits has a deviation of √(2·NMSE), and among thousands of pairs some are four
// deviations off.
double near_tie(double nmse);

struct WhatWasRun {
  std::string backend;  // "cpu (avx512vnni, 2 threads)"
  size_t n_reference = 0;
  size_t n_decode = 0;
  bool has_experts = false;
};

// Sets `passed` and `verdict` from the measures. A NaN in any of them fails.
void judge(ValidateResult& result, const WhatWasRun& run);

}  // namespace tern
