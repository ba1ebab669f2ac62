// Float matrices in the format that kernels read: words that hold values or codes, and a separate plane of scales. The
// format is data in a Config; one kernel body serves all formats (pack.h makes these planes from a model's tensors).
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "backend/gpu/kernels/common.h"

namespace tern::gpu {

// The contents of one vec4 of words, 16 bytes. A word of b-bit codes holds 32/b adjacent values. Four of them (a quad)
// are at bits b·j of its four bytes, so that one shift and one mask prepare a quad for a dot product of bytes.
enum class WeightWords {
  kF32,     // 4 values
  kF16,     // 8 values in order
  kBF16,    // 8 values in order
  kCodes8,  // 16 values: code − zero, zero always 128
  kCodes4,  // 32
  kCodes2,  // 64
  kSigns,   // 128 values: +1, or −1 where the bit is set
};

// How a group's min is stored beside its scale. A value is scale · (code − zero) − min.
enum class WeightMins {
  kNone,
  kF16,    // one word per group: its scale and its min as f16
  kBytes,  // per 256 values one word with d and dmin as f16, then two bytes per group: scale / d and min / dmin
};  // with f32_scales, two f32 words instead of one: for matrices with an overall scale that f16 cannot hold

struct WeightCoding {
  WeightWords words = WeightWords::kF32;
  uint32_t zero = 0;
  uint32_t group = 0;       // adjacent values of a row that share a scale, whole units; 0: no scales
  bool f32_scales = false;  // otherwise f16, two per word
  WeightMins mins = WeightMins::kNone;
  bool operator==(const WeightCoding&) const = default;

  uint32_t bits() const;
  uint32_t values() const { return 128 / bits(); }  // per unit: one vec4 of words
  uint32_t quads() const { return values() / 4; }   // of activations that a unit is multiplied with
  uint32_t units_per_group() const { return group / values(); }
  bool has_codes() const { return bits() <= 8; }
  bool has_mins() const { return mins != WeightMins::kNone; }
  // Scales per row in the plane of scales, counted in f16 numbers or in words (has_scale_words()).
  uint32_t scales_of_row(uint32_t cols) const;
  bool has_scale_words() const { return f32_scales || has_mins(); }
  // Words of that plane that a unit's scale and min are made of.
  uint32_t words_of_scale() const;
  // Words of that plane for this many consecutive rows.
  uint64_t scale_words(uint64_t rows, uint32_t cols) const {
    const uint64_t numbers = rows * scales_of_row(cols);
    return has_scale_words() ? numbers : (numbers + 1) / 2;
  }
};

using WeightUnits = wgsl::Vec4<wgsl::U32>;

// What a unit's values need besides their codes.
struct UnitScale {
  wgsl::Name<wgsl::F32> scale;
  wgsl::Name<wgsl::F32> min;  // if the coding has mins
};

// One matrix of a kernel, independent of the names of its bindings.
struct WeightPlanes {
  template <class W, class S>
  WeightPlanes(const WeightCoding& how, const W& w, const S& s)
      : coding(how),
        unit([w](wgsl::Temp<wgsl::U32> i) { return w[std::move(i)]; }),
        scale_word([s](wgsl::Temp<wgsl::U32> i) { return s[std::move(i)]; }) {}

  // Scale and min of the unit with this index.
  UnitScale scale(const wgsl::Name<wgsl::U32>& unit_index) const;
  // The same in two steps, for kernels that load long before they multiply: the indices of the words of scales to load,
  // and what these words say.
  std::vector<wgsl::Name<wgsl::U32>> scale_places(const wgsl::Name<wgsl::U32>& unit_index) const;
  UnitScale scale_of(const wgsl::Name<wgsl::U32>& unit_index, std::span<const wgsl::Name<wgsl::U32>> words) const;

  WeightCoding coding;
  std::function<wgsl::Temp<WeightUnits>(wgsl::Temp<wgsl::U32>)> unit;
  std::function<wgsl::Temp<wgsl::U32>(wgsl::Temp<wgsl::U32>)> scale_word;
};

// value · scale − min
wgsl::Temp<wgsl::Vec4<wgsl::F32>> scaled(const WeightCoding& coding, wgsl::Temp<wgsl::Vec4<wgsl::F32>> value,
                                         const UnitScale& scale);

// The values of a unit without their scale, exact.
class Unpack {
 public:
  // Writes the WGSL function that it needs, once per coding.
  explicit Unpack(const WeightCoding& coding);
  // Values 4k … 4k + 3, or 4(first + k) …; 16-bit formats allow only k = 0 in the latter case.
  wgsl::Temp<wgsl::Vec4<wgsl::F32>> operator()(const wgsl::Name<WeightUnits>& unit, uint32_t k,
                                               const wgsl::Name<wgsl::U32>* first = nullptr) const;
  // Quad `k` of a word of codes.
  wgsl::Temp<wgsl::Vec4<wgsl::F32>> of_word(const wgsl::Name<wgsl::U32>& word, uint32_t k) const;

 private:
  WeightCoding coding_;
  wgsl::Text function_;
};

// Codes times their scale as f16: the same values, rounded once. Only for kernels on subgroup matrices; other kernels
// do not unpack f16 values from words.
class UnpackHalves {
 public:
  // True if the coding has f16 scales, and neither mins nor f32 scales.
  static bool serves(const WeightCoding& coding);
  explicit UnpackHalves(const WeightCoding& coding);
  // Quad `k` of a word.
  wgsl::Temp<wgsl::Vec4<wgsl::F16>> operator()(const wgsl::Name<wgsl::U32>& word, uint32_t k,
                                               const wgsl::Name<wgsl::F16>& scale) const;

 private:
  WeightCoding coding_;
  wgsl::Text function_;
};

// The same values as integers, for dot products with int8 activations: each byte of a word holds a code or a set sign
// bit. The dot product of a whole unit of bytes is then converted to that of its values.
class UnpackBytes {
 public:
  UnpackBytes(const Dot4& dot4, const WeightCoding& coding) : dot4_(&dot4), coding_(coding) {}
  uint32_t quads_per_word() const { return 8 / coding_.bits(); }
  // sum + Σ over the quad of word `k` at `step`; step < quads_per_word().
  wgsl::Temp<wgsl::I32> add(const wgsl::Var<wgsl::I32>& sum, const wgsl::Name<WeightUnits>& unit, uint32_t k,
                            uint32_t step, const wgsl::Name<wgsl::I8x4>& x) const;
  // Σ value · x, from Σ byte · x and Σ x.
  bool needs_sum() const { return coding_.words != WeightWords::kCodes8; }
  wgsl::Temp<wgsl::F32> dot_of_values(const wgsl::Var<wgsl::I32>& dot_of_bytes,
                                      const wgsl::Name<wgsl::F32>& sum_of_x) const;

 private:
  const Dot4* dot4_;
  WeightCoding coding_;
};

// Calls body(k, first) for the quads of a unit: unrolled, or in a loop over four at a time if there are many. In the
// loop, `first` must be added to k.
void for_quads(const WeightCoding& coding,
               const std::function<void(uint32_t k, const wgsl::Name<wgsl::U32>* first)>& body);

}  // namespace tern::gpu
