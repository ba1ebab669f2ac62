// What `tern validate` takes for rounding, and what it takes for an error.
//
// A backend sums in another order, and in f32 where the reference sums in double. Such a difference of 1e-7 makes an
// activation round to the other int8 value now and then, which is a step of 1/127 of its row's largest, and every
// further quantisation turns small differences into more such steps. So two right computations of a deep model drift
// apart until they differ by about the noise that quantisation itself adds: by an NMSE of 1e-6 in a narrow model of ten
// layers, of 4e-3 in a random one of 2 billion parameters. No fixed bound fits both. Therefore the reference also runs
// with an f32 KV cache in place of f16, a change of 1e-4 that is known to be harmless, and a backend may differ a few
// times as much. A wrong kernel differs by 1e-2 and more from the first layer on, where harmless changes have not grown
// yet. Where an f32 cache is what is asked for, f16 is the harmless change.
#pragma once

#include <cstddef>
#include <string>

#include "tern/tools.h"

namespace tern {

// The greatest NMSE that rounding explains, where the harmless change makes `rounding_nmse`. The least bound leaves
// room for single int8 steps in narrow models, where one is much of a row.
double allowed_nmse(double rounding_nmse);

// The least cosine of the same.
double allowed_cosine(double rounding_nmse);

// The margin (see top1_margin) by which one token may lead in the reference although the other side prefers another:
// with this NMSE the difference of two logits has a deviation of √(2·NMSE), and among thousands of pairs some are four
// deviations off.
double near_tie(double nmse);

struct WhatWasRun {
  std::string backend;  // "cpu (avx512vnni, 2 threads)"
  size_t n_reference = 0;
  size_t n_decode = 0;
};

// Sets `passed` and `verdict` from the measures. A NaN in any of them fails.
void judge(ValidateResult& result, const WhatWasRun& run);

}  // namespace tern
