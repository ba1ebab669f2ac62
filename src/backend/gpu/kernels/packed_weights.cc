#include "backend/gpu/kernels/packed_weights.h"

namespace tern::gpu {

using namespace wgsl;

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

Name<F32> WeightPlanes::scale(const Name<U32>& unit_index) const {
  CHECK(coding.group > 0);
  const uint32_t per_group = coding.units_per_group();
  auto block = per_group == 1 ? unit_index : let("block", unit_index / per_group);
  if (coding.f32_scales) return let("scale", bitcast<F32>(scale_word(e(block))));
  auto halves = let("halves", packed<F16x2>(scale_word(block / 2u) >> ((block & 1u) * 16u)));
  auto pair = let("scale", unpack2x16float(halves));
  return at(pair, 0);
}

namespace {

// 2^23 with a code in its lowest bits is the float 2^23 + code; what is taken off leaves the value, exactly, for one
// operation less than a conversion on GPUs that convert at a quarter of their speed.
constexpr uint32_t kTwoTo23 = 0x4B000000;
constexpr uint32_t kOne = 0x3F800000, kSignBit = 0x80000000;

std::string define_codes(const WeightCoding& c) {
  const std::string name = cat("codes", std::to_string(c.bits()), "_minus_", std::to_string(c.zero));
  const uint32_t mask = (1u << c.bits()) - 1;
  const float offset = 8388608.0f + static_cast<float>(c.zero);
  writer->declare_once(cat("fn ", name,
                           "(unit: vec4<u32>, shift: u32) -> vec4<f32> {\n  return bitcast<vec4<f32>>(((unit >> "
                           "vec4<u32>(shift)) & vec4<u32>(",
                           std::to_string(mask), "u)) | vec4<u32>(", std::to_string(kTwoTo23), "u)) - vec4<f32>(",
                           e(offset).text, ");\n}"));
  return name;
}

std::string define_signs() {
  writer->declare_once(
      cat("fn signs(unit: vec4<u32>, at: u32) -> vec4<f32> {\n  return bitcast<vec4<f32>>(((unit << vec4<u32>(31u - "
          "at)) & vec4<u32>(",
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

Temp<Vec2<F32>> halves(const Caps& caps, const Name<U32>& word) {
  if (caps.f16) return vec2f(bitcast_f16(packed<F16x2>(word)));
  return unpack2x16float(packed<F16x2>(word));
}

}  // namespace

Unpack::Unpack(const Caps& caps, const WeightCoding& coding) : caps_(caps), coding_(coding) {
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
      auto low = halves(caps_, a);
      return vec4f(std::move(low), halves(caps_, b));
    }
    case WeightWords::kBF16: {
      const auto [a, b] = words_of(unit, k, first);
      return bitcast<Vec4<F32>>(vec4u(a << 16u, a & 0xFFFF0000u, b << 16u, b & 0xFFFF0000u));
    }
    default:
      break;
  }
  const uint32_t bits = coding_.bits();
  return call<Vec4<F32>>(function_, unit, first ? *first * bits + k * bits : e(k * bits));
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
