// Samples the next token and feeds it back, on the device. Computes what Sampler (sample/sampler.h) does: changes of
// single logits, top-n-sigma, top-k, top-p, min-p and temperature.
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
// Locally typical sampling and XTC drop the best tokens, too. Then what a filter drops becomes NaN in the logits, and
// the rest is sampled as if there were no more.
//
// Changes of logits (biases, penalties, DRY) come before all of this, from a list of the host's: it knows the text.
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
inline constexpr uint32_t kNoLogit = 0x7FC00000;  // NaN: the token cannot be chosen

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

// Changes logits in place, as base/logit_change.h says. `changes`: their number, then 8 words for each: the logit's
// index, the bits of bias, first, factor, second and third, and two unused ones; the first record has only the number.
// Logits that are not finite stay what they are, or become what the host would make of them. Grid: one invocation per
// change.
inline constexpr uint32_t kChangeWords = 8;
inline constexpr uint32_t kMostChanges = 4096;  // of one dispatch
using SampleChangeKernel =
    wgsl::Kernel<wgsl::InOut<"logits", wgsl::U32>, wgsl::In<"changes", wgsl::U32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
SampleChangeKernel sample_change();

// Writes the largest logit of each part and clears the histograms. Also starts a step: step + 1. Grid: [parts, rows].
using SampleGreatestKernel = wgsl::Kernel<SampleLogits, wgsl::Out<"parts", wgsl::U32>, SampleHist,
                                          wgsl::InOut<"params", wgsl::U32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
SampleGreatestKernel sample_greatest(const SampleConfig& c);

// The same after logits were dropped, inside a step. Grid: [parts, rows].
using SampleAgainKernel =
    wgsl::Kernel<SampleLogits, wgsl::Out<"parts", wgsl::U32>, SampleHist, wgsl::WorkgroupId, wgsl::LocalIndex>;
SampleAgainKernel sample_again(const SampleConfig& c);

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

// Locally typical tokens. The kernels of the search by logit and the threshold before it must have been run:
// sample_drop makes what is behind that threshold NaN, so that the sums and the search see only what is left. Here the
// third of the options is typical_p; its levels are those of the share, which must be empty.
//
//   drop │ surprise │ typical level × 4 │ typical cut │ drop untypical │ again
//
// Sums of each part: the probabilities, and those times the distances of logits from the greatest. Grid: [parts, rows].
using SampleSurpriseKernel = wgsl::Kernel<SampleLogits, wgsl::In<"parts", wgsl::U32>, wgsl::Out<"moments", wgsl::F32>,
                                          wgsl::WorkgroupId, wgsl::LocalIndex>;
SampleSurpriseKernel sample_surprise(const SampleConfig& c);

// begin: kStart or kNext. Grid: [parts, rows].
using SampleTypicalKernel =
    wgsl::Kernel<SampleLogits, wgsl::In<"parts", wgsl::U32>, wgsl::In<"moments", wgsl::F32>, SampleHist, SampleState,
                 SampleOptions, SampleLevelUniform, wgsl::WorkgroupId, wgsl::LocalIndex>;
SampleTypicalKernel sample_typical(const SampleConfig& c, LevelBegin begin);

// Finishes the search. Grid: [parts, rows].
using SampleTypicalCutKernel =
    wgsl::Kernel<SampleLogits, wgsl::InOut<"parts", wgsl::U32>, wgsl::In<"moments", wgsl::F32>, SampleHist, SampleState,
                 SampleOptions, wgsl::WorkgroupId, wgsl::LocalIndex>;
SampleTypicalCutKernel sample_typical_cut(const SampleConfig& c);

// Makes logits behind the threshold of sample_weigh NaN, and those below min_p if by_min_p. Grid: [parts, rows].
using SampleDropKernel = wgsl::Kernel<wgsl::InOut<"logits", wgsl::U32>, wgsl::In<"parts", wgsl::U32>,
                                      wgsl::In<"state", wgsl::U32>, SampleOptions, wgsl::WorkgroupId, wgsl::LocalIndex>;
SampleDropKernel sample_drop(const SampleConfig& c, bool by_min_p);

// The same behind the threshold of sample_typical_cut. Grid: [parts, rows].
using SampleDropUntypicalKernel =
    wgsl::Kernel<wgsl::InOut<"logits", wgsl::U32>, wgsl::In<"parts", wgsl::U32>, wgsl::In<"moments", wgsl::F32>,
                 wgsl::In<"state", wgsl::U32>, SampleOptions, wgsl::WorkgroupId, wgsl::LocalIndex>;
SampleDropUntypicalKernel sample_drop_untypical(const SampleConfig& c);

// XTC, after sample_drop and sample_surprise: finds the last top choice of each part, by thresholds[(step − 1) % ring,
// row]; a threshold above 1 has none. Then all before the last one of the row become NaN. `choices`: for each row
// [parts][2]. Grid: [parts, rows].
constexpr uint64_t sample_choices_bytes(const SampleConfig& c) { return uint64_t{8} * c.parts; }
using SampleXtcKernel = wgsl::Kernel<SampleLogits, wgsl::In<"parts", wgsl::U32>, wgsl::In<"moments", wgsl::F32>,
                                     wgsl::In<"thresholds", wgsl::F32>, wgsl::InOut<"params", wgsl::U32>,
                                     wgsl::Out<"choices", wgsl::U32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
SampleXtcKernel sample_xtc(const SampleConfig& c);
using SampleDropTopKernel =
    wgsl::Kernel<wgsl::InOut<"logits", wgsl::U32>, wgsl::In<"choices", wgsl::U32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
SampleDropTopKernel sample_drop_top(const SampleConfig& c);

// Draws with draws[(step − 1) % ring, row], in [0, 1). The token becomes tokens[row] and ids[(step − 1) % ring, row],
// and the row advances: pos + 1. Rows of logits are the rows of the batch. Grid: [1, rows].
using SampleNextKernel =
    wgsl::Kernel<SampleLogits, wgsl::In<"parts", wgsl::U32>, wgsl::In<"state", wgsl::U32>, wgsl::In<"draws", wgsl::F32>,
                 SampleOptions, wgsl::Out<"tokens", wgsl::U32>, wgsl::Out<"ids", wgsl::U32>,
                 wgsl::InOut<"params", wgsl::U32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
SampleNextKernel sample_next(const SampleConfig& c);

}  // namespace tern::gpu
