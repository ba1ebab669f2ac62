// RoPE as one table: how often each pair of a head's dimensions turns, and one factor for all cosines and sines.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace tern {

// RoPE rotates pairs of dimensions: i with i + head_dim/2, or 2i with 2i + 1.
enum class RopePairs { kHalves, kInterleaved };

// How frequencies are stretched for contexts longer than the model was first trained for.
enum class RopeScaling {
  kNone,
  kLinear,    // all by one factor
  kYarn,      // slow pairs by the factor, fast ones not at all, and a ramp between
  kLongrope,  // each pair by a divisor of its own; there is a second list for long contexts
};

struct RopeParams {
  float theta = 10000;
  RopePairs pairs = RopePairs::kHalves;
  RopeScaling scaling = RopeScaling::kNone;
  float factor = 1;       // of kLinear and kYarn
  int original_ctx = 0;   // kYarn and kLongrope: positions of the first training
  float attn_factor = 1;  // multiplies the cosines and sines, beside what kYarn does to them
  float beta_fast = 32;   // kYarn: pairs that turn more often than this in original_ctx keep their frequency …
  float beta_slow = 1;    // … and those that turn less often are stretched by the whole factor
  // [head_dim / 2] divisors of the frequencies: Llama 3's rope_freqs.weight, or kLongrope's for short contexts. Empty:
  // all 1.
  std::vector<float> divisors = {};
  std::vector<float> long_divisors = {};  // kLongrope, for contexts of more than original_ctx

  bool operator==(const RopeParams&) const = default;
  // Whether a session with room for n_ctx tokens uses the divisors for long contexts. As in llama.cpp, that is decided
  // by the room, not by the length of the text: keys in the cache were turned once and stay so.
  bool is_long(int n_ctx) const { return scaling == RopeScaling::kLongrope && n_ctx > original_ctx; }
};

// cos and sin of pair i at position p are magnitude · cos(p · frequencies[i]) and magnitude · sin(p · frequencies[i]).
struct RopeFrequencies {
  std::vector<double> frequencies;  // [head_dim / 2], radians per position
  double magnitude = 1;
};

// For a session with room for n_ctx tokens. Sources: Su et al. 2021 (theta), Chen et al. 2023 (linear), Peng et al.
// 2023 (YaRN), Ding et al. 2024 (longrope); where programs differ, as llama.cpp (docs/formats.md).
RopeFrequencies rope_frequencies(const RopeParams& rope, int head_dim, int n_ctx);

// Llama 3's divisors, from the parameters of a Hugging Face configuration.
struct Llama3Rope {
  double factor = 8;
  double low_freq_factor = 1;
  double high_freq_factor = 4;
  double original_ctx = 8192;
};
std::vector<float> llama3_divisors(const Llama3Rope& rope, double theta, int head_dim);

std::string_view rope_scaling_name(RopeScaling scaling);  // as GGUF calls it: "yarn"
std::optional<RopeScaling> find_rope_scaling(std::string_view name);

}  // namespace tern
