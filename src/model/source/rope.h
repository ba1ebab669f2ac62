// RoPE as one table: the rotation frequency of each pair of a head's dimensions, and a factor for all cosines and
// sines.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace tern {

// RoPE rotates pairs of dimensions: i with i + head_dim/2, or 2i with 2i + 1.
enum class RopePairs { kHalves, kInterleaved };

// How frequencies are scaled for contexts longer than that of the first training.
enum class RopeScaling {
  kNone,
  kLinear,    // all by one factor
  kYarn,      // slow pairs by the factor, fast pairs not at all, with a ramp between
  kLongrope,  // each pair by its own divisor; a second list is for long contexts
};

struct RopeParams {
  float theta = 10000;
  int n_dims = 0;  // of a head; only the first ones rotate. 0: all
  RopePairs pairs = RopePairs::kHalves;
  RopeScaling scaling = RopeScaling::kNone;
  float factor = 1;         // for kLinear and kYarn
  int original_ctx = 0;     // kYarn and kLongrope: context length of the first training
  float attn_factor = 1;    // multiplies cosines and sines, in addition to kYarn's own factor
  float beta_fast = 32;     // kYarn: pairs with more turns than this in original_ctx keep their frequency …
  float beta_slow = 1;      // … and those with fewer turns than this are scaled by the whole factor
  bool rounds_ramp = true;  // the ramp between them begins and ends at whole pairs
  // [head_dim / 2] divisors of the frequencies: Llama 3's rope_freqs.weight, or kLongrope's for short contexts. Empty:
  // all 1.
  std::vector<float> divisors = {};
  std::vector<float> long_divisors = {};  // kLongrope: for contexts longer than original_ctx

  bool operator==(const RopeParams&) const = default;
  // The dimensions of a head that rotate.
  int rotated(int head_dim) const { return n_dims > 0 ? n_dims : head_dim; }
  // True if a session with room for n_ctx tokens uses the divisors for long contexts. As in llama.cpp, the room decides
  // and not the length of the text, because keys in the cache are rotated once and not again.
  bool is_long(int n_ctx) const { return scaling == RopeScaling::kLongrope && n_ctx > original_ctx; }
};

// cos and sin of pair i at position p are magnitude · cos(p · frequencies[i]) and magnitude · sin(p · frequencies[i]).
struct RopeFrequencies {
  std::vector<double> frequencies;  // [head_dim / 2], radians per position
  double magnitude = 1;
};

// The frequencies for a session with room for n_ctx tokens. Sources: Su et al. 2021 (theta), Chen et al. 2023 (linear),
// Peng et al. 2023 (YaRN), Ding et al. 2024 (longrope). Where programs differ, it follows llama.cpp (docs/formats.md).
RopeFrequencies rope_frequencies(const RopeParams& rope, int head_dim, int n_ctx);

// Parameters of Llama 3's divisors in a Hugging Face configuration.
struct Llama3Rope {
  double factor = 8;
  double low_freq_factor = 1;
  double high_freq_factor = 4;
  double original_ctx = 8192;
};
std::vector<float> llama3_divisors(const Llama3Rope& rope, double theta, int head_dim);

std::string_view rope_scaling_name(RopeScaling scaling);  // GGUF's name: "yarn"
std::optional<RopeScaling> find_rope_scaling(std::string_view name);

}  // namespace tern
