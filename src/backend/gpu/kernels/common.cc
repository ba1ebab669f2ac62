#include "backend/gpu/kernels/common.h"

namespace tern::gpu {

using namespace wgsl;

Dot4::Dot4(const Caps& caps) : native_(caps.packed_dot) {
  if (native_) return;
  emulated_ = function("dot4", [](Name<I8x4> a, Name<I8x4> b) {
    // Byte i as an int: shifted to the top, then back with its sign.
    auto x = let("x", bitcast<I32>(bits(a)));
    auto y = let("y", bitcast<I32>(bits(b)));
    auto top = let("top", (x >> 24u) * (y >> 24u));
    auto high = let("high", ((x << 8u) >> 24u) * ((y << 8u) >> 24u));
    auto middle = let("middle", ((x << 16u) >> 24u) * ((y << 16u) >> 24u));
    auto low = let("low", ((x << 24u) >> 24u) * ((y << 24u) >> 24u));
    return top + high + middle + low;
  });
}

Name<I8x4> pack_int8(const Caps& caps, const Name<Vec4<I32>>& v) {
  if (caps.packed_dot) return let("packed", pack4xI8(v));
  const auto byte = [&](uint32_t i) { return bitcast<U32>(at(v, i)) & 0xFFu; };
  return let("packed", packed<I8x4>(byte(0) | (byte(1) << 8u) | (byte(2) << 16u) | (byte(3) << 24u)));
}

Name<F32> hyperbolic_tangent(const Name<F32>& x) {
  auto grown = let("grown", exp(clamp(x * 2.0f, -20.0f, 20.0f)) + 1.0f);
  return let("tangent", 1.0f - 2.0f / grown);
}

Name<F32> softcapped(const Name<F32>& s, float cap) {
  if (cap == 0) return s;
  auto part = let("part", s * (1.0f / cap));
  return let("capped", hyperbolic_tangent(part) * cap);
}

Temp<F32> gated(Activation act, const Name<F32>& gate, const Name<F32>& up) {
  if (act == Activation::kRelu2) {
    auto positive = let("positive", max(gate, 0.0f));
    return positive * positive * up;
  }
  if (act == Activation::kGeluTanh) {
    constexpr float kRoot = 0.7978845608f;  // √(2/π)
    auto cube = let("cube", gate * gate * gate);
    auto inner = let("inner", (gate + cube * 0.044715f) * kRoot);
    return gate * 0.5f * (hyperbolic_tangent(inner) + 1.0f) * up;
  }
  if (act == Activation::kSwigluOai) {
    auto below = let("below", 1.0f + exp(min(gate * -1.702f, 80.0f)));
    return gate / below * (up + 1.0f);
  }
  // e^80 is finite, and the quotient is negligible long before.
  auto below = let("below", 1.0f + exp(min(-gate, 80.0f)));
  return gate / below * up;
}

}  // namespace tern::gpu
