#include "tools/synth/synth_copier.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"
#include "base/text/format_text.h"
#include "tools/random_values.h"

namespace tern {
namespace {

using CopierPart = SynthTensor::CopierPart;

constexpr int kHeadDim = 128, kPairs = kHeadDim / 2;  // RoPE rotates dimensions i and i + kPairs
constexpr int kCodeDims = kHeadDim;
// These RoPE pairs encode the position. The others turn by less than 0.1 in 1,000 positions and compare codes.
constexpr int kFastPairs = 22;
constexpr int kCompared = 2 * (kPairs - kFastPairs);
// The number of dimensions that compare the code of the last token, the one before it, …
constexpr std::array kDimsOf = {12, 10, 9, 8, 7, 6, 6, 6, 5, 5, 5, 5};
constexpr int kLooks = kDimsOf.size();  // heads that look back

// Layout of the residual stream. Value kUnread is never read. Both output layers write it, because a matrix that begins
// with thousands of zeros is rejected as damaged.
constexpr int kUnread = 0;
constexpr int kCode = kUnread + 1;
constexpr int kOne = kCode + kCodeDims;
constexpr int kAngles = kOne + 1;                         // for each head of layer 0: cosines and sines of angles
constexpr int kKeys = kAngles + 2 * kLooks * kFastPairs;  // codes of previous tokens, to compare with
constexpr int kQueries = kKeys + kCompared;               // codes of recent tokens except the current one
constexpr int kStreamDims = kQueries + kCompared - kDimsOf[0];

// Dimension u compares the code of the token this many positions before the last one.
constexpr int tokens_back(int u) {
  size_t back = 0;
  for (int end = kDimsOf[0]; u >= end; end += kDimsOf[back]) ++back;
  return static_cast<int>(back);
}
static_assert(tokens_back(kCompared - 1) == kLooks - 1 && tokens_back(kCompared - 6) == kLooks - 2);

constexpr float kUnit = 0.5f;       // size of a code's values in the stream
constexpr float kLookBack = 13;     // scale of queries and keys; adds 0.82 · 13² / √128 = 12 at the right position
constexpr float kCompare = 4.1f;    // the same; adds 5 · 4.1² / √128 = 7 or more per additional matching token
constexpr float kCopied = 4;        // weight of the copied code relative to the current token's
constexpr float kLogit = 27;        // of the copied token; others have at most 10
constexpr float kNothing = 1e-20f;  // negligible compared with the stream's values
// Sums of squares of the stream in units: codes, 1, angles; then also the previous codes, and the copied code.
constexpr double kNormOfInput = kCodeDims + 1 + kLooks * kFastPairs;
constexpr double kNormOfSecond = kNormOfInput + kStreamDims - kKeys;
constexpr double kNormOfLast = kNormOfSecond + kCopied * kCopied * kCodeDims;

// These functions return the input index that a row of a linear layer reads; −1: none.
int query_of_position(int row) {  // layer 0
  const int head = row / kHeadDim, dim = row % kHeadDim, pair = dim % kPairs;
  if (head >= kLooks || pair >= kFastPairs) return -1;
  return kAngles + (2 * head + dim / kPairs) * kFastPairs + pair;
}

// The same for the keys of all heads.
int key_of_position(int row) { return row % kHeadDim < kFastPairs ? kOne : -1; }

int value_of_code(int row) { return kCode + row % kHeadDim; }

// Head i looked i + 1 tokens back.
int output_before(int row) {
  if (row == kUnread) return 0;
  if (row < kKeys || row >= kStreamDims) return -1;
  const bool is_key = row < kQueries;
  const int u = is_key ? row - kKeys : row - kQueries + kDimsOf[0];
  const int head = is_key ? tokens_back(u) : tokens_back(u) - 1;
  return head * kHeadDim + u;
}

// The index of the compared dimension in this row; −1: none.
int compared_in(int row) {
  const int pair = row % kPairs;
  if (row >= kHeadDim || pair < kFastPairs) return -1;
  return row / kPairs * (kPairs - kFastPairs) + pair - kFastPairs;
}

int query_of_context(int row) {
  const int u = compared_in(row);
  if (u < kDimsOf[0]) return u < 0 ? -1 : kCode + u;
  return kQueries + u - kDimsOf[0];
}

int key_of_context(int row) {
  const int u = compared_in(row);
  return u < 0 ? -1 : kKeys + u;
}

int output_of_copied(int row) {
  if (row == kUnread) return 0;
  return row >= kCode && row < kCode + kCodeDims ? row - kCode : -1;
}

int source_of(CopierPart part, int row) {
  switch (part) {
    case CopierPart::kQueryOfPosition:
      return query_of_position(row);
    case CopierPart::kKeyOfPosition:
      return key_of_position(row);
    case CopierPart::kValue:
      return value_of_code(row);
    case CopierPart::kOutputBefore:
      return output_before(row);
    case CopierPart::kQueryOfContext:
      return query_of_context(row);
    case CopierPart::kKeyOfContext:
      return key_of_context(row);
    case CopierPart::kOutputCopied:
      return output_of_copied(row);
    case CopierPart::kNone:
    case CopierPart::kEmbedding:
    case CopierPart::kGain:
      break;
  }
  CHECK(false);
}

double angle(int pair, float theta) {
  return std::pow(static_cast<double>(theta), -static_cast<double>(pair) / kPairs);
}

void make_embedding(const SynthTensor& tensor, int row, std::span<float> values) {
  std::ranges::fill(values, 0.0f);
  const CounterRandom random(tensor.key + static_cast<uint64_t>(row));
  for (int i = 0; i < kCodeDims; ++i) {
    values[static_cast<size_t>(kCode + i)] = (random(static_cast<uint64_t>(i)) >> 63) != 0 ? kUnit : -kUnit;
  }
  values[kOne] = kUnit;
  for (int back = 1; back <= kLooks; ++back) {
    for (int i = 0; i < kFastPairs; ++i) {
      const auto at = static_cast<size_t>(kAngles + 2 * (back - 1) * kFastPairs + i);
      values[at] = static_cast<float>(kUnit * std::cos(back * angle(i, tensor.scale)));
      values[at + kFastPairs] = static_cast<float>(-kUnit * std::sin(back * angle(i, tensor.scale)));
    }
  }
}

}  // namespace

void make_copier(const SynthShape& shape, std::span<SynthTensor> tensors) {
  CHECK(shape.family == SynthFamily::kBitnet && shape.is_tied && shape.head_dim() == kHeadDim);
  CHECK(shape.d_model >= kStreamDims && shape.n_layers >= 2 && shape.n_heads >= kLooks);
  const auto rms = [&](double norm) { return static_cast<float>(std::sqrt(norm / shape.d_model)); };
  const auto rms_of_heads = [&](int n) {
    return static_cast<float>(std::sqrt(static_cast<double>(n * kCodeDims) / shape.q_width()));
  };
  const auto set = [&](const std::string& name, CopierPart part, float scale) {
    const auto found = std::ranges::find(tensors, name, &SynthTensor::name);
    CHECK(found != tensors.end());
    found->part = part;
    found->scale = scale;
  };
  for (SynthTensor& tensor : tensors) {
    if (tensor.kind == SynthTensor::Kind::kGain) tensor.part = CopierPart::kGain, tensor.scale = 1;
    if (tensor.name.ends_with("attn_output.weight") || tensor.name.ends_with("ffn_down.weight"))
      tensor.scale = kNothing;
  }
  set("token_embd.weight", CopierPart::kEmbedding, shape.rope_theta);
  set("output_norm.weight", CopierPart::kGain, kLogit / (kCopied * kCodeDims * kUnit) * rms(kNormOfLast));
  set("blk.0.attn_q.weight", CopierPart::kQueryOfPosition, kLookBack * rms(kNormOfInput));
  set("blk.0.attn_k.weight", CopierPart::kKeyOfPosition, kLookBack * rms(kNormOfInput));
  set("blk.0.attn_v.weight", CopierPart::kValue, 1);
  set("blk.0.attn_output.weight", CopierPart::kOutputBefore, kUnit * rms_of_heads(kLooks));
  set("blk.1.attn_q.weight", CopierPart::kQueryOfContext, kCompare * rms(kNormOfSecond));
  set("blk.1.attn_k.weight", CopierPart::kKeyOfContext, kCompare * rms(kNormOfSecond));
  set("blk.1.attn_v.weight", CopierPart::kValue, 1);
  set("blk.1.attn_output.weight", CopierPart::kOutputCopied, kCopied * kUnit * rms_of_heads(1));
}

void make_copier_row(const SynthTensor& tensor, int row, std::span<float> values) {
  if (tensor.part == CopierPart::kEmbedding) return make_embedding(tensor, row, values);
  std::ranges::fill(values, tensor.part == CopierPart::kGain ? tensor.scale : 0.0f);
  if (tensor.part == CopierPart::kGain) return;
  const int source = source_of(tensor.part, row);
  if (source >= 0) values[static_cast<size_t>(source)] = 1;
}

}  // namespace tern
