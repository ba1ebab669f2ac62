// Float matrices as the kernels read them: words that hold values or codes, and scales beside them. The format is data
// of a Config; one body serves all (pack.h makes these planes from a model's tensors).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backend/gpu/kernels/common.h"

namespace tern::gpu {

// What one vec4 of words holds, 16 bytes. Codes of b bits: a word holds 32/b neighbouring values, four of them (a quad)
// at bits b·j of its four bytes, so that one shift and one mask bring a quad to where a dot product of bytes takes it.
enum class WeightWords {
  kF32,     // 4 values
  kF16,     // 8 values in their order
  kBF16,    // 8 values in their order
  kCodes8,  // 16 values: code − zero, zero always 128
  kCodes4,  // 32
  kCodes2,  // 64
  kSigns,   // 128 values: +1, or −1 where the bit is set
};

// How a group's min lies beside its scale. A value is scale · (code − zero) − min.
enum class WeightMins {
  kNone,
  kF16,    // a word for each group: its scale and its min as f16
  kBytes,  // for every 256 values a word with d and dmin as f16, and then two bytes a group: scale / d and min / dmin
};  // with f32_scales two words instead of one, each an f32: a matrix with a scale of its own, which no f16 takes

struct WeightCoding {
  WeightWords words = WeightWords::kF32;
  uint32_t zero = 0;
  uint32_t group = 0;       // neighbouring values of a row that share a scale, whole units; 0: no scales
  bool f32_scales = false;  // else f16, two to a word
  WeightMins mins = WeightMins::kNone;
  bool operator==(const WeightCoding&) const = default;

  uint32_t bits() const;
  uint32_t values() const { return 128 / bits(); }  // of a unit: one vec4 of words
  uint32_t quads() const { return values() / 4; }   // of activations that a unit meets
  uint32_t units_per_group() const { return group / values(); }
  bool has_codes() const { return bits() <= 8; }
  bool has_mins() const { return mins != WeightMins::kNone; }
  // In the plane of scales: f16 numbers or words that a row has.
  uint32_t scales_of_row(uint32_t cols) const;
  bool has_scale_words() const { return f32_scales || has_mins(); }
  // Words of it that so many rows have, one behind the other.
  uint64_t scale_words(uint64_t rows, uint32_t cols) const {
    const uint64_t numbers = rows * scales_of_row(cols);
    return has_scale_words() ? numbers : (numbers + 1) / 2;
  }
};

using WeightUnits = wgsl::Vec4<wgsl::U32>;

// What a unit's values are made of beside their codes.
struct UnitScale {
  wgsl::Name<wgsl::F32> scale;
  wgsl::Name<wgsl::F32> min;  // where the coding has mins
};

// One matrix of a kernel, whatever its bindings are called.
struct WeightPlanes {
  template <class W, class S>
  WeightPlanes(const WeightCoding& how, const W& w, const S& s)
      : coding(how),
        unit([w](wgsl::Temp<wgsl::U32> i) { return w[std::move(i)]; }),
        scale_word([s](wgsl::Temp<wgsl::U32> i) { return s[std::move(i)]; }) {}

  // Those of the unit with this number.
  UnitScale scale(const wgsl::Name<wgsl::U32>& unit_index) const;

  WeightCoding coding;
  std::function<wgsl::Temp<WeightUnits>(wgsl::Temp<wgsl::U32>)> unit;
  std::function<wgsl::Temp<wgsl::U32>(wgsl::Temp<wgsl::U32>)> scale_word;
};

// value · scale − min
wgsl::Temp<wgsl::Vec4<wgsl::F32>> scaled(const WeightCoding& coding, wgsl::Temp<wgsl::Vec4<wgsl::F32>> value,
                                         const UnitScale& scale);

// The values in a unit, without their scale: exact.
class Unpack {
 public:
  // Writes the WGSL function that it needs, once per coding.
  explicit Unpack(const WeightCoding& coding);
  // Values 4k … 4k + 3, or 4(first + k) …; formats of 16 bits take k = 0 there.
  wgsl::Temp<wgsl::Vec4<wgsl::F32>> operator()(const wgsl::Name<WeightUnits>& unit, uint32_t k,
                                               const wgsl::Name<wgsl::U32>* first = nullptr) const;
  // Quad `k` of a word of codes.
  wgsl::Temp<wgsl::Vec4<wgsl::F32>> of_word(const wgsl::Name<wgsl::U32>& word, uint32_t k) const;

 private:
  WeightCoding coding_;
  wgsl::Text function_;
};

// Codes times their scale as f16: the same, rounded once. For kernels on subgroup matrices alone: elsewhere no halves
// are taken from words.
class UnpackHalves {
 public:
  // Whether scales are f16, and all there is.
  static bool serves(const WeightCoding& coding);
  explicit UnpackHalves(const WeightCoding& coding);
  // Quad `k` of a word.
  wgsl::Temp<wgsl::Vec4<wgsl::F16>> operator()(const wgsl::Name<wgsl::U32>& word, uint32_t k,
                                               const wgsl::Name<wgsl::F16>& scale) const;

 private:
  WeightCoding coding_;
  wgsl::Text function_;
};

// The same values as integers, for dot products with int8 activations: a code or a set sign bit in each byte of a word,
// and the dot product of a whole unit's worth of them made into that of its values.
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

// body(k, first) for the quads of a unit: written out one by one, or where they are many in a loop of four at a time,
// in which `first` is what is to be added to k.
void for_quads(const WeightCoding& coding,
               const std::function<void(uint32_t k, const wgsl::Name<wgsl::U32>* first)>& body);

}  // namespace tern::gpu
