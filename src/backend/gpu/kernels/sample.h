// The next token by chance, found and fed back on the device: what Sampler (sample/sampler.h) computes, top-k, top-p,
// min-p and temperature, without the repetition penalty.
//
// What a filter keeps is always the best so many tokens, best meaning the greater logit and then the lower id. So top-k
// and top-p each come down to one threshold: a logit, and how many of those that are equal to it stay. A threshold is
// found eight bits at a time. Each level counts the logits that agree with the bits found up to now by their next
// eight, and adds up their probabilities; the level after it looks up in which bin the k-th token lies, or the one with
// which the sum reaches its share. Probabilities are added as integers, so the order of threads does not matter.
//
//   greatest │ count level × 4 (top-k) │ share level × 4 (top-p) │ weigh │ next
//
// The draw takes two steps: the sum of each part of the vocabulary, then a walk through the part it falls into.
//
// Each row of logits [rows, n] has its own options and numbers, and a token is chosen for each: y of every grid is the
// rows. Where rows are filtered in different ways, those without top-k have a top_k of n, and those without top-p one
// above 1, which no sum reaches; a greedy one has a top_k of 1.
#pragma once

#include "backend/gpu/kernels/common.h"

namespace tern::gpu {

// Sums are exact integers of 2^-26 as long as there are no more tokens than this.
inline constexpr uint32_t kMaxSampleVocab = 1u << 18;

struct SampleConfig {
  uint32_t n;            // logits, at most kMaxSampleVocab
  uint32_t parts = 128;  // of the vocabulary, a workgroup each; at most kSampleWorkgroup
  uint32_t ring = 64;    // steps whose tokens `ids` holds, and numbers `draws`
  Caps caps;
};
inline constexpr uint32_t kSampleWorkgroup = 256;

// What a threshold is found by.
enum class Measure { kCount, kShare };
inline constexpr uint32_t kSampleLevels = 4;  // of eight bits
inline constexpr uint32_t kSampleBins = 256;
// Levels have numbers: those of the count first, then those of the share.
constexpr uint32_t sample_level_index(Measure measure, uint32_t level) {
  return (measure == Measure::kShare ? kSampleLevels : 0) + level;
}

// Bytes of the buffers that the kernels share, for each row.
//   hist   [2 · levels][bins][3]: how many, and the sum of their probabilities in units of 2^-13 and of 2^-26
//   state  [2 · levels + 1][8]: the search before each level; the last entry is the threshold of the draw
//   parts  [parts][4]: greatest logit (as a key), ties at the threshold, sum of the weights above it
inline constexpr uint64_t kSampleHistBytes = uint64_t{4} * 2 * kSampleLevels * kSampleBins * 3;
inline constexpr uint64_t kSampleStateBytes = uint64_t{4} * (2 * kSampleLevels + 1) * 8;
constexpr uint64_t sample_parts_bytes(const SampleConfig& c) { return uint64_t{16} * c.parts; }

// Logits are taken as bits: what a device makes of NaN and infinity is its own affair.
using SampleLogits = wgsl::In<"logits", wgsl::U32>;
using SampleHist = wgsl::InOut<"hist", wgsl::Atomic<wgsl::U32>>;
using SampleState = wgsl::InOut<"state", wgsl::U32>;
// Of each row: temperature, top_k, top_p, min_p. top_k as a float: it is compared with counts. Only read where the
// filter is on.
using SampleOptions = wgsl::In<"options", wgsl::Vec4<wgsl::F32>>;
// index: sample_level_index; shift: of the level's eight bits in a key, 24 to 0.
using SampleLevelUniform = wgsl::Uniform<"level", wgsl::Field<"index", wgsl::U32>, wgsl::Field<"shift", wgsl::U32>,
                                         wgsl::Field<"unused_a", wgsl::U32>, wgsl::Field<"unused_b", wgsl::U32>>;

// The greatest logit of each part, and empty histograms. The run begins a step: step + 1. Grid: [parts, rows].
using SampleGreatestKernel = wgsl::Kernel<SampleLogits, wgsl::Out<"parts", wgsl::U32>, SampleHist,
                                          wgsl::InOut<"params", wgsl::U32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
SampleGreatestKernel sample_greatest(const SampleConfig& c);

// One level of the search for a threshold: first finishes the level before it, then fills its own histogram.
enum class LevelBegin {
  kStart,       // the first level of all
  kNext,        // after a level of the same measure
  kAfterCount,  // the first level of the share, after the last one of the count
};
using SampleLevelKernel = wgsl::Kernel<SampleLogits, wgsl::In<"parts", wgsl::U32>, SampleHist, SampleState,
                                       SampleOptions, SampleLevelUniform, wgsl::WorkgroupId, wgsl::LocalIndex>;
// Grid: [parts, rows].
SampleLevelKernel sample_level(const SampleConfig& c, Measure measure, LevelBegin begin);

// Finishes the search, whose last levels were of `measure` (none: every token stays), and adds up each part's weights.
// Grid: [parts, rows].
enum class Threshold { kNone, kCount, kShare };
using SampleWeighKernel = wgsl::Kernel<SampleLogits, wgsl::InOut<"parts", wgsl::U32>, SampleHist, SampleState,
                                       SampleOptions, wgsl::WorkgroupId, wgsl::LocalIndex>;
SampleWeighKernel sample_weigh(const SampleConfig& c, Threshold threshold);

// Draws with draws[(step − 1) % ring, row], in [0, 1). The token becomes tokens[row] and ids at the same place, and the
// row moves on: pos + 1. Rows of logits are the rows of the batch here. Grid: [1, rows].
using SampleNextKernel =
    wgsl::Kernel<SampleLogits, wgsl::In<"parts", wgsl::U32>, wgsl::In<"state", wgsl::U32>, wgsl::In<"draws", wgsl::F32>,
                 SampleOptions, wgsl::Out<"tokens", wgsl::U32>, wgsl::Out<"ids", wgsl::U32>,
                 wgsl::InOut<"params", wgsl::U32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
SampleNextKernel sample_next(const SampleConfig& c);

}  // namespace tern::gpu
