// The tensors of a random model, generated row by row.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "quant/format.h"
#include "tools/row_stream.h"
#include "tools/synth/synth_presets.h"

namespace tern {

// How one tensor is made. Row r depends only on `key` and r, so any thread can make rows in any order.
struct SynthTensor {
  // kTaps: of a convolution, [channels, taps]; kDecay, kStepBias: of a recurrent layer's heads; kBias: of a linear
  // layer, or attention's scores without a value; kDivisors: of RoPE's frequencies, a quarter of which rotate
  enum class Kind { kLinear, kEmbedding, kGain, kTaps, kDecay, kStepBias, kBias, kDivisors };
  // Its role in a model that copies (synth_copier.h); kNone: random.
  enum class CopierPart {
    kNone,
    kEmbedding,
    kGain,
    kQueryOfPosition,
    kKeyOfPosition,
    kValue,
    kOutputBefore,
    kQueryOfContext,
    kKeyOfContext,
    kOutputCopied,
  };

  std::string name;
  Kind kind = Kind::kGain;
  Format format = Format::kF32;
  int rows = 1;
  int cols = 0;
  int n_experts = 0;  // matrices in `rows`; 0: one, which is of no mixture
  float scale = 1;    // linear layers: of its ternary weights, or the deviation of its normal ones
  uint64_t key = 0;
  CopierPart part = CopierPart::kNone;  // kGain: `scale` is its value; kEmbedding: RoPE's theta

  bool is_vector() const { return rows == 1; }
  MatrixInFile in_file() const { return {format, rows, cols}; }
};

// Returns the tensors in file order; a separate head comes last. In formats of two bits and less, except Q1_0, weights
// are −1, 0 and +1 times a scale; in all others they are bell-shaped. The scales keep activations stable: every linear
// layer keeps the variance of its input, and all layers together add about 1 to that of the residual stream.
// Routers and their gates are F32, as in published files.
struct SynthFormats {
  Format linear, experts, embedding;
};
std::vector<SynthTensor> synth_tensors(const SynthShape& shape, const SynthFormats& formats, uint64_t seed);

// True if a mixture of formats uses more bits for some of this layer's matrices: in the first and last eighth of the
// layers, and in every third layer between.
constexpr bool has_more_bits(int layer, int n_layers) {
  const int eighth = n_layers / 8;
  return layer < eighth || layer >= 7 * n_layers / 8 || (layer - eighth) % 3 == 2;
}

// Makes rows [first, first + n), each with its own blocks. out.size() is n · row_bytes(format, cols).
void make_rows(const SynthTensor& tensor, int first, int n, MutableBytes out);

// Returns the bytes after the last row: I2_S's scale and padding; empty for other formats.
std::vector<std::byte> make_tail(const SynthTensor& tensor);

}  // namespace tern
