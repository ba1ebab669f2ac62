// The KV cache of one layer on the device: [2 (keys, values)][n_kv_heads][n_ctx][head_dim], as f32, or as f16 two to a
// word. And the kernel that fills it.
#pragma once

#include "backend/gpu/kernels/common.h"

namespace tern::gpu {

struct HeadShape {
  uint32_t n_heads, n_kv_heads, head_dim;
  uint32_t n_ctx;
};

// What attention's softmax begins with. Lower than any score, and finite: e^(kLowestScore − m) is 0 without an infinity
// in sight.
inline constexpr float kLowestScore = -3.0e38f;

// A KvWord is what a kernel writes at once: one f32, or two f16.
template <class KvWord>
constexpr uint32_t kv_word_values() {
  return std::same_as<KvWord, wgsl::F16x2> ? 2 : 1;
}
// What a kernel reads at once: four values.
template <class KvWord>
using KvQuad = std::conditional_t<std::same_as<KvWord, wgsl::F16x2>, wgsl::Vec2<wgsl::F16x2>, wgsl::Vec4<wgsl::F32>>;

template <class KvWord>
wgsl::Temp<wgsl::Vec4<wgsl::F32>> kv_values(const wgsl::Name<KvQuad<KvWord>>& quad) {
  using namespace wgsl;
  if constexpr (std::same_as<KvWord, F16x2>) {
    return vec4f(unpack2x16float(at(quad, 0)), unpack2x16float(at(quad, 1)));
  } else {
    return e(quad);
  }
}

// The four values as the cache holds them.
template <class KvWord>
wgsl::Temp<KvQuad<KvWord>> kv_quad(const wgsl::Name<wgsl::Vec4<wgsl::F32>>& v) {
  using namespace wgsl;
  if constexpr (std::same_as<KvWord, F16x2>) {
    auto low = let("low", pack2x16float(vec2f(at(v, 0), at(v, 1))));
    auto high = let("high", pack2x16float(vec2f(at(v, 2), at(v, 3))));
    return vec2_of(low, high);
  } else {
    return e(v);
  }
}

// The index, in values, of position `pos` of a row of the cache. side: 0 keys, 1 values.
template <wgsl::ValueOf<wgsl::U32> Side, wgsl::ValueOf<wgsl::U32> Head, wgsl::ValueOf<wgsl::U32> Pos>
wgsl::Temp<wgsl::U32> kv_index(const HeadShape& s, Side&& side, Head&& head, Pos&& pos) {
  using namespace wgsl;
  return ((std::forward<Side>(side) * s.n_kv_heads + std::forward<Head>(head)) * s.n_ctx + std::forward<Pos>(pos)) *
         s.head_dim;
}

// One word of the cache from the values that it holds.
template <class KvWord, class Values>
wgsl::Temp<KvWord> kv_word(const Values& values, const wgsl::Name<wgsl::U32>& first) {
  using namespace wgsl;
  if constexpr (std::same_as<KvWord, F16x2>) {
    auto a = let("v0", values[first]);
    auto b = let("v1", values[first + 1u]);
    return pack2x16float(vec2f(a, b));
  } else {
    return e(let("v0", values[first]));
  }
}

template <class KvWord>
using KvAppendKernel = wgsl::Kernel<wgsl::In<"k", wgsl::F32>, wgsl::In<"v", wgsl::F32>, ParamsBuffer,
                                    wgsl::Out<"kv", KvWord>, wgsl::WorkgroupId, wgsl::LocalIndex>;
struct KvAppendConfig {
  HeadShape heads;
  uint32_t workgroup = 64;
};
// The batch's keys and values to positions params.pos …. Grid: [2 · n_kv_heads, n_tokens].
template <class KvWord>
KvAppendKernel<KvWord> kv_append(const KvAppendConfig& c);

}  // namespace tern::gpu
