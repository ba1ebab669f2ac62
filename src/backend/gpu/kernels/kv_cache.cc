#include "backend/gpu/kernels/kv_cache.h"

namespace tern::gpu {

using namespace wgsl;

// 2^23 with a byte in its lowest bits is the float 2^23 + byte (packed_weights.cc). Flipping a code's sign bit adds
// 128.
Temp<Vec4<F32>> int8_values(const Name<I8x4>& codes) {
  writer->declare_once(
      "fn int8_values(word: u32) -> vec4<f32> {\n  return bitcast<vec4<f32>>(((vec4<u32>(word ^ 2155905152u) >> "
      "vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(255u)) | vec4<u32>(1258291200u)) - vec4<f32>(8388736f);\n}");
  return call<Vec4<F32>>("int8_values", codes);
}

// Rounds the scale to f16 by hand, because pack2x16float may round either way. Values below f16's normal range are
// rounded by an addition, to multiples of 2^-24.
KvScale kv_scale(const Name<F32>& most) {
  auto exact = let("exact_scale", most / 127.0f);
  auto raw = let("raw", bitcast<U32>(exact));
  auto normal = let("normal", ((raw + 4095u + ((raw >> 13u) & 1u)) >> 13u) - (112u << 10));
  auto subnormal = let("subnormal", bitcast<U32>(exact + 0.5f) - 0x3F000000u);
  auto rounded = let("scale_bits", min(select(normal, subnormal, exact < 0x1p-14f), 0x7C00u));  // at most infinity
  auto pair = let("as_pair", unpack2x16float(packed<F16x2>(e(rounded))));
  auto scale = at(pair, 0);
  return {rounded, scale, let("inverse", select(0.0f, 1.0f / scale, scale > 0.0f))};
}

Name<I8x4> kv_codes(const Name<Vec4<F32>>& v, const KvScale& by) {
  auto limited = let("limited", clamp(round(v * by.inverse), splat<Vec4<F32>>(-127.0f), splat<Vec4<F32>>(127.0f)));
  auto q = let("q", call<Vec4<I32>>("vec4<i32>", limited));
  return pack_int8({}, q);
}

template <class KvWord>
KvAppendKernel<KvWord> kv_append(const KvAppendConfig& c) {
  constexpr uint32_t kValues = kv_word_values<KvWord>();
  const HeadShape& s = c.heads;
  CHECK(s.head_dim % 4 == 0);
  return kernel(
      "kv_append", c.workgroup,
      [&](In<"k", F32> k, In<"v", F32> v, ParamsBuffer params, Out<"kv", KvWord> kv, WorkgroupId wg, LocalIndex tid) {
        auto side = let("side", wg.x / s.n_kv_heads);
        auto head = let("head", wg.x % s.n_kv_heads);
        auto from_row = let("from_row", (wg.y * s.n_kv_heads + head) * s.head_dim);
        auto pos = let("pos", row_word(params, wg.y, kRowPos));
        auto table = let("table", row_word(params, wg.y, kRowTable));
        auto block = kv_block(params, table, pos);
        auto to_row = let("to_row", kv_place(s, block, wg.x, pos) * kv_row_words<KvWord>(s.head_dim));
        if constexpr (kHasKvScales<KvWord>) {
          const auto value = [&](Temp<U32> i) {
            auto at = let("value_at", from_row + std::move(i));
            return select(v[at], k[at], side == 0u);
          };
          store_code_row(value, s.head_dim, tid, c.workgroup, kv, to_row);
        } else {
          loop("i", tid, s.head_dim / kValues, c.workgroup, [&](const Name<U32>& i) {
            auto first = let("first", from_row + i * kValues);
            when(
                side == 0u, [&] { kv[to_row + i] = kv_word<KvWord>(k, first); },
                [&] { kv[to_row + i] = kv_word<KvWord>(v, first); });
          });
        }
      });
}

template KvAppendKernel<F32> kv_append<F32>(const KvAppendConfig&);
template KvAppendKernel<F16x2> kv_append<F16x2>(const KvAppendConfig&);
template KvAppendKernel<I8x4> kv_append<I8x4>(const KvAppendConfig&);

}  // namespace tern::gpu
