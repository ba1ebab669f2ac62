// Samples the next token and feeds it back, on the device. Computes what Sampler (sample/sampler.h) does: top-n-sigma,
// top-k, top-p, min-p and temperature, but without the repetition penalty.
//
// A filter always keeps some number of best tokens, ordered by larger logit and then by lower id. So top-k and top-p
// each come down to one threshold: a logit, and the number of tokens with exactly this logit that are kept. A threshold
// is found eight bits at a time. Each level takes the logits that agree with the bits found so far, counts them by
// their next eight bits, and adds up their probabilities. The next level finds the bin that contains the k-th token, or
// the token at which the sum reaches its share. Probabilities are added as integers, so the order of threads does not
// matter.
//
//   greatest │ moments │ floor (top-n-sigma) │ count level × 4 (top-k) │ share level × 4 (top-p) │ weigh │ next
//
// Top-n-sigma is a threshold that needs no search: the floor, below which no other filter sees a logit.
//
// The draw takes two steps: first the sum of each part of the vocabulary, then a walk through the part that it falls
// into.
//
// Each row of logits [rows, n] has its own options and random numbers, and a token is chosen for each; y of every grid
// counts the rows. If rows have different filters, rows without top-k use a top_k of n, and rows without top-p use a
// value above 1, which no sum reaches. A greedy row uses a top_k of 1.
#pragma once

#include "backend/gpu/kernels/common.h"

namespace tern::gpu {

// Sums are exact integers, in units of 2^-26, up to this number of tokens.
inline constexpr uint32_t kMaxSampleVocab = 1u << 18;

struct SampleConfig {
  uint32_t n;            // logits, at most kMaxSampleVocab
  uint32_t parts = 128;  // of the vocabulary, one workgroup each; at most kSampleWorkgroup
  uint32_t ring = 64;    // steps that `ids` (tokens) and `draws` (random numbers) hold
  Caps caps;
};
inline constexpr uint32_t kSampleWorkgroup = 256;

// What a threshold limits: a number of tokens, or a share of the probability.
enum class Measure { kCount, kShare };
inline constexpr uint32_t kSampleLevels = 4;  // of eight bits
inline constexpr uint32_t kSampleBins = 256;
// Index of a level: first the levels of the count, then those of the share.
constexpr uint32_t sample_level_index(Measure measure, uint32_t level) {
  return (measure == Measure::kShare ? kSampleLevels : 0) + level;
}

// Bytes of the buffers that the kernels share, for each row.
//   hist   [2 · levels][bins][3]: the count, and the sum of probabilities in units of 2^-13 and of 2^-26
//   state  [2 · levels + 1][8]: the search before each level; the last entry is the threshold of the draw
//   parts  [parts][4]: largest logit (as a key), ties at the threshold, sum of the weights above it
//   moments [parts][3]: of the finite logits, how many there are, and the sums of their distances from the largest one
//          and of the squares
inline constexpr uint64_t kSampleHistBytes = uint64_t{4} * 2 * kSampleLevels * kSampleBins * 3;
inline constexpr uint64_t kSampleStateBytes = uint64_t{4} * (2 * kSampleLevels + 1) * 8;
constexpr uint64_t sample_parts_bytes(const SampleConfig& c) { return uint64_t{16} * c.parts; }
constexpr uint64_t sample_moments_bytes(const SampleConfig& c) { return uint64_t{12} * c.parts; }

// Logits are read as bits, because devices treat NaN and infinity differently.
using SampleLogits = wgsl::In<"logits", wgsl::U32>;
using SampleHist = wgsl::InOut<"hist", wgsl::Atomic<wgsl::U32>>;
using SampleState = wgsl::InOut<"state", wgsl::U32>;
// For each row: temperature, top_k, top_p, min_p. top_k is a float because it is compared with counts. Each is read
// only if its filter is on.
using SampleOptions = wgsl::In<"options", wgsl::Vec4<wgsl::F32>>;
// index: sample_level_index. shift: the position of the level's eight bits in a key, 24 to 0.
using SampleLevelUniform = wgsl::Uniform<"level", wgsl::Field<"index", wgsl::U32>, wgsl::Field<"shift", wgsl::U32>,
                                         wgsl::Field<"unused_a", wgsl::U32>, wgsl::Field<"unused_b", wgsl::U32>>;

// Writes the largest logit of each part and clears the histograms. Also starts a step: step + 1. Grid: [parts, rows].
using SampleGreatestKernel = wgsl::Kernel<SampleLogits, wgsl::Out<"parts", wgsl::U32>, SampleHist,
                                          wgsl::InOut<"params", wgsl::U32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
SampleGreatestKernel sample_greatest(const SampleConfig& c);

// Adds up the moments of each part. Grid: [parts, rows].
using SampleMomentsKernel = wgsl::Kernel<SampleLogits, wgsl::In<"parts", wgsl::U32>, wgsl::Out<"moments", wgsl::F32>,
                                         wgsl::WorkgroupId, wgsl::LocalIndex>;
SampleMomentsKernel sample_moments(const SampleConfig& c);

// Makes the floor of each row, for its number of standard deviations; none if that is 0. Grid: [1, rows].
using SampleFloorKernel =
    wgsl::Kernel<wgsl::In<"parts", wgsl::U32>, wgsl::In<"moments", wgsl::F32>, wgsl::In<"deviations", wgsl::F32>,
                 SampleState, wgsl::WorkgroupId, wgsl::LocalIndex>;
SampleFloorKernel sample_floor(const SampleConfig& c);

// One level of the search for a threshold: finishes the level before it, then fills its own histogram.
enum class LevelBegin {
  kStart,       // the very first level
  kAfterFloor,  // the very first level, where there is a floor
  kNext,        // after a level of the same measure
  kAfterCount,  // the first level of the share, after the last level of the count
};
using SampleLevelKernel = wgsl::Kernel<SampleLogits, wgsl::In<"parts", wgsl::U32>, SampleHist, SampleState,
                                       SampleOptions, SampleLevelUniform, wgsl::WorkgroupId, wgsl::LocalIndex>;
// Grid: [parts, rows].
SampleLevelKernel sample_level(const SampleConfig& c, Measure measure, LevelBegin begin);

// Finishes the search, whose last levels were of `threshold` (kNone: all tokens are kept; kFloor: those that the floor
// leaves), and adds up each part's weights.
// Grid: [parts, rows].
enum class Threshold { kNone, kFloor, kCount, kShare };
using SampleWeighKernel = wgsl::Kernel<SampleLogits, wgsl::InOut<"parts", wgsl::U32>, SampleHist, SampleState,
                                       SampleOptions, wgsl::WorkgroupId, wgsl::LocalIndex>;
SampleWeighKernel sample_weigh(const SampleConfig& c, Threshold threshold);

// Draws with draws[(step − 1) % ring, row], in [0, 1). The token becomes tokens[row] and ids[(step − 1) % ring, row],
// and the row advances: pos + 1. Rows of logits are the rows of the batch. Grid: [1, rows].
using SampleNextKernel =
    wgsl::Kernel<SampleLogits, wgsl::In<"parts", wgsl::U32>, wgsl::In<"state", wgsl::U32>, wgsl::In<"draws", wgsl::F32>,
                 SampleOptions, wgsl::Out<"tokens", wgsl::U32>, wgsl::Out<"ids", wgsl::U32>,
                 wgsl::InOut<"params", wgsl::U32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
SampleNextKernel sample_next(const SampleConfig& c);

}  // namespace tern::gpu
