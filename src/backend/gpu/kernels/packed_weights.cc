#include "backend/gpu/kernels/packed_weights.h"

namespace tern::gpu {

using namespace wgsl;

namespace {

constexpr uint32_t kBytesBlock = 256;  // values that share a d and a dmin

}  // namespace

uint32_t WeightCoding::bits() const {
  switch (words) {
    case WeightWords::kF32:
      return 32;
    case WeightWords::kF16:
    case WeightWords::kBF16:
      return 16;
    case WeightWords::kCodes8:
      return 8;
    case WeightWords::kCodes4:
      return 4;
    case WeightWords::kCodes2:
      return 2;
    case WeightWords::kSigns:
      return 1;
  }
  CHECK(false);
}

uint32_t WeightCoding::scales_of_row(uint32_t cols) const {
  if (group == 0) return 0;
  const uint32_t of_pair = has_mins() && f32_scales ? 2 : 1;  // words per scale and min
  return mins == WeightMins::kBytes ? cols / kBytesBlock * (of_pair + kBytesBlock / group / 2) : cols / group * of_pair;
}

uint32_t WeightCoding::words_of_scale() const {
  if (group == 0) return 0;
  return (has_mins() && f32_scales ? 2 : 1) + (mins == WeightMins::kBytes ? 1 : 0);
}

namespace {

// A scale and a min, and how many words they take, beginning at `first`.
struct Pair {
  UnitScale values;
  uint32_t words;
};

Pair pair_at(const WeightPlanes& w, const Name<U32>& first, const char* word_name, const char* name) {
  if (w.coding.f32_scales) {
    auto scale = let(name, bitcast<F32>(w.scale_word(e(first))));
    auto min = let("min_of_pair", bitcast<F32>(w.scale_word(first + 1u)));
    return {{scale, min}, 2};
  }
  auto word = let(word_name, packed<F16x2>(w.scale_word(e(first))));
  auto both = let(name, unpack2x16float(word));
  return {{at(both, 0), at(both, 1)}, 1};
}

// WeightMins::kBytes: two groups per word.
UnitScale scale_of_bytes(const WeightPlanes& w, const Name<U32>& unit_index) {
  const uint32_t units = kBytesBlock / w.coding.values(), per_group = w.coding.units_per_group();
  const uint32_t words = w.coding.scales_of_row(kBytesBlock);
  auto first = let("scales_at", unit_index / units * words);
  auto group = let("group_of_block", unit_index % units / per_group);
  const Pair factors = pair_at(w, first, "factors_word", "factors");
  auto pair = let("bytes_of_group", w.scale_word(first + factors.words + group / 2u) >> ((group & 1u) * 16u));
  auto scale = let("scale", factors.values.scale * f32(pair & 255u));
  auto min = let("min_of_group", factors.values.min * f32((pair >> 8u) & 255u));
  return {scale, min};
}

}  // namespace

UnitScale WeightPlanes::scale(const Name<U32>& unit_index) const {
  CHECK(coding.group > 0);
  if (coding.mins == WeightMins::kBytes) return scale_of_bytes(*this, unit_index);
  const uint32_t per_group = coding.units_per_group();
  auto block = per_group == 1 ? unit_index : let("block", unit_index / per_group);
  if (coding.mins == WeightMins::kF16) {
    return pair_at(*this, coding.f32_scales ? let("pair", block * 2u) : block, "halves", "scale").values;
  }
  if (coding.f32_scales) return {let("scale", bitcast<F32>(scale_word(e(block)))), {}};
  auto halves = let("halves", packed<F16x2>(scale_word(block / 2u) >> ((block & 1u) * 16u)));
  auto pair = let("scale", unpack2x16float(halves));
  return {at(pair, 0), {}};
}

std::vector<Name<U32>> WeightPlanes::scale_places(const Name<U32>& unit_index) const {
  CHECK(coding.group > 0);
  const bool is_pair = coding.has_mins() && coding.f32_scales;
  std::vector<Name<U32>> places;
  if (coding.mins == WeightMins::kBytes) {
    const uint32_t units = kBytesBlock / coding.values(), per_group = coding.units_per_group();
    auto first = let("scale_place", unit_index / units * coding.scales_of_row(kBytesBlock));
    places.push_back(first);
    if (is_pair) places.push_back(let("min_place", first + 1u));
    places.push_back(let("bytes_place", first + (is_pair ? 2u : 1u) + unit_index % units / per_group / 2u));
    return places;
  }
  auto block = let("scale_block", unit_index / coding.units_per_group());
  if (is_pair) return {let("scale_place", block * 2u), let("min_place", block * 2u + 1u)};
  if (coding.has_scale_words()) return {block};
  return {let("scale_place", block / 2u)};
}

UnitScale WeightPlanes::scale_of(const Name<U32>& unit_index, std::span<const Name<U32>> words) const {
  WeightPlanes loaded = *this;  // asks for its words in the order of scale_places()
  loaded.scale_word = [&, next = size_t{0}](const Temp<U32>&) mutable { return e(words[next++]); };
  return loaded.scale(unit_index);
}

Temp<Vec4<F32>> scaled(const WeightCoding& coding, Temp<Vec4<F32>> value, const UnitScale& scale) {
  if (!coding.has_mins()) return std::move(value) * scale.scale;
  return std::move(value) * scale.scale - splat<Vec4<F32>>(scale.min);
}

namespace {

// 2^23 with a code in its lowest bits is the float 2^23 + code. Subtracting a constant leaves the exact value. That is
// one operation less than a conversion, on GPUs that convert at a quarter of their speed.
constexpr uint32_t kTwoTo23 = 0x4B000000;
constexpr uint32_t kOne = 0x3F800000, kSignBit = 0x80000000;

Text define_codes(const WeightCoding& c) {
  const Text name = cat("codes", std::to_string(c.bits()), "_minus_", std::to_string(c.zero));
  const uint32_t mask = (1u << c.bits()) - 1;
  const float offset = 8388608.0f + static_cast<float>(c.zero);
  writer->declare_once(cat("fn ", name,
                           "(word: u32, shift: u32) -> vec4<f32> {\n  return bitcast<vec4<f32>>(((vec4<u32>(word) >> "
                           "(vec4<u32>(0u, 8u, 16u, 24u) + vec4<u32>(shift))) & vec4<u32>(",
                           std::to_string(mask), "u)) | vec4<u32>(", std::to_string(kTwoTo23), "u)) - vec4<f32>(",
                           e(offset).text, ");\n}"));
  return name;
}

Text define_signs() {
  writer->declare_once(
      cat("fn signs(word: u32, at: u32) -> vec4<f32> {\n  return bitcast<vec4<f32>>(((vec4<u32>(word) << "
          "(vec4<u32>(31u, 23u, 15u, 7u) - vec4<u32>(at))) & vec4<u32>(",
          std::to_string(kSignBit), "u)) | vec4<u32>(", std::to_string(kOne), "u));\n}"));
  return "signs";
}

// Words 2k and 2k + 1 of a unit, or those of quad `first`.
std::pair<Name<U32>, Name<U32>> words_of(const Name<WeightUnits>& unit, uint32_t k, const Name<U32>* first) {
  if (!first) return {at(unit, 2 * k), at(unit, 2 * k + 1)};
  auto low = let("low_word", select(at(unit, 0), at(unit, 2), *first == 1u));
  auto high = let("high_word", select(at(unit, 1), at(unit, 3), *first == 1u));
  return {low, high};
}

// Not bitcast<vec2<f16>>, which some compilers get wrong: Firefox's converts the number instead of keeping the bits.
Temp<Vec2<F32>> halves(const Name<U32>& word) { return unpack2x16float(packed<F16x2>(word)); }

}  // namespace

Unpack::Unpack(const WeightCoding& coding) : coding_(coding) {
  switch (coding.words) {
    case WeightWords::kF32:
    case WeightWords::kF16:
    case WeightWords::kBF16:
      return;
    case WeightWords::kCodes8:
    case WeightWords::kCodes4:
    case WeightWords::kCodes2:
      function_ = define_codes(coding);
      return;
    case WeightWords::kSigns:
      function_ = define_signs();
      return;
  }
}

Temp<Vec4<F32>> Unpack::operator()(const Name<WeightUnits>& unit, uint32_t k, const Name<U32>* first) const {
  switch (coding_.words) {
    case WeightWords::kF32:
      return bitcast<Vec4<F32>>(unit);
    case WeightWords::kF16: {
      const auto [a, b] = words_of(unit, k, first);
      auto low = halves(a);
      return vec4f(std::move(low), halves(b));
    }
    case WeightWords::kBF16: {
      const auto [a, b] = words_of(unit, k, first);
      return bitcast<Vec4<F32>>(vec4u(a << 16u, a & 0xFFFF0000u, b << 16u, b & 0xFFFF0000u));
    }
    default:
      break;
  }
  const uint32_t bits = coding_.bits(), per_word = 8 / bits;
  if (!first) return of_word(at(unit, k / per_word), k % per_word);
  auto quad = let("quad_of_unit", *first + k);
  if (per_word == 1) return call<Vec4<F32>>(function_, component(unit, quad), e(0u));
  auto word = let("word", component(unit, quad / per_word));
  return call<Vec4<F32>>(function_, word, quad % per_word * bits);
}

Temp<Vec4<F32>> Unpack::of_word(const Name<U32>& word, uint32_t k) const {
  return call<Vec4<F32>>(function_, word, e(k * coding_.bits()));
}

bool UnpackHalves::serves(const WeightCoding& coding) {
  return coding.has_codes() && coding.group > 0 && !coding.f32_scales && !coding.has_mins();
}

// The same method for two values at a time: 2^10 with a code in its lowest bits is the f16 2^10 + code.
UnpackHalves::UnpackHalves(const WeightCoding& coding) : coding_(coding) {
  CHECK(serves(coding));
  if (coding.words == WeightWords::kSigns) {
    function_ = "half_signs";
    writer->declare_once(
        "fn half_signs(word: u32, at: u32, scale: f16) -> vec4<f16> {\n  let scales = "
        "bitcast<u32>(vec2<f16>(scale));\n  "
        "let even = bitcast<vec2<f16>>(((word << (15u - at)) & 2147516416u) ^ scales);\n  let odd = "
        "bitcast<vec2<f16>>(((word << (7u - at)) & 2147516416u) ^ scales);\n  return vec4<f16>(even.x, odd.x, even.y, "
        "odd.y);\n}");
    return;
  }
  const uint32_t mask = (1u << coding.bits()) - 1;
  function_ = cat("half_codes", std::to_string(coding.bits()), "_minus_", std::to_string(coding.zero));
  const Text of_two = cat("& ", std::to_string(mask << 16 | mask), "u) | 1677747200u) - vec2<f16>(",
                          std::to_string(1024 + coding.zero), "h)) * scale;");
  writer->declare_once(cat("fn ", function_,
                           "(word: u32, shift: u32, scale: f16) -> vec4<f16> {\n  let even = "
                           "(bitcast<vec2<f16>>(((word >> shift) ",
                           of_two, "\n  let odd = (bitcast<vec2<f16>>(((word >> (shift + 8u)) ", of_two,
                           "\n  return vec4<f16>(even.x, odd.x, even.y, odd.y);\n}"));
}

Temp<Vec4<F16>> UnpackHalves::operator()(const Name<U32>& word, uint32_t k, const Name<F16>& scale) const {
  return call<Vec4<F16>>(function_, word, e(k * coding_.bits()), scale);
}

Temp<I32> UnpackBytes::add(const Var<I32>& sum, const Name<WeightUnits>& unit, uint32_t k, uint32_t step,
                           const Name<I8x4>& x) const {
  const uint32_t bits = coding_.bits(), ones = 0x01010101, mask = ((1u << bits) - 1) * ones;
  if (coding_.words == WeightWords::kCodes8) {  // code − 128 is the code with its highest bit flipped
    auto bytes = let("bytes", packed<I8x4>(at(unit, k) ^ (128 * ones)));
    return sum + (*dot4_)(bytes, x);
  }
  auto bytes = step == 0 ? let("bytes", packed<I8x4>(at(unit, k) & mask))
                         : let("bytes", packed<I8x4>((at(unit, k) >> (step * bits)) & mask));
  return sum + (*dot4_)(bytes, x);
}

Temp<F32> UnpackBytes::dot_of_values(const Var<I32>& dot_of_bytes, const Name<F32>& sum_of_x) const {
  auto dot = let("int8_dot", f32(dot_of_bytes));
  if (!needs_sum()) return e(dot);
  if (coding_.words == WeightWords::kSigns) return sum_of_x - 2.0f * dot;
  return dot - static_cast<float>(coding_.zero) * sum_of_x;
}

void for_quads(const WeightCoding& coding, const std::function<void(uint32_t k, const Name<U32>* first)>& body) {
  constexpr uint32_t kMostWritten = 8, kAtOnce = 4;
  if (coding.quads() <= kMostWritten) {
    for (uint32_t k = 0; k < coding.quads(); ++k) body(k, nullptr);
    return;
  }
  loop("quad", 0u, coding.quads(), kAtOnce, [&](const Name<U32>& quad) {
    for (uint32_t k = 0; k < kAtOnce; ++k) body(k, &quad);
  });
}

}  // namespace tern::gpu
