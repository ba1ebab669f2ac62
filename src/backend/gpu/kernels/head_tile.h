// Stores heads of several tokens from workgroup memory where attention reads them.
#pragma once

#include "backend/gpu/kernels/kv_cache.h"

namespace tern::gpu {

// A tile of results of one head [n_tokens, 2 n_pairs], a run of the pairs that RoPE rotates together. It has the first
// half of each pair and then the second halves; interleaved pairs are in the order of the dimensions.
struct HeadTile {
  HeadShape shape;
  bool interleaved = false;
  uint32_t n_pairs, n_tokens;
};
struct HeadTilePlace {
  wgsl::Name<wgsl::U32> head, first_pair, first_token;  // heads of queries, then keys, then values
};

// Stores the tile's existing tokens: queries as floats, keys and values as words of the cache. All invocations must
// call it, after a barrier.
template <class KvWord>
void store_head_tile(const HeadTile& t, const HeadTilePlace& place, const wgsl::Shared<wgsl::F32>& tile,
                     const ParamsBuffer& params, const wgsl::Out<"q", wgsl::F32>& q, const wgsl::Out<"kv", KvWord>& kv,
                     const wgsl::LocalIndex& tid, uint32_t workgroup) {
  using namespace wgsl;
  constexpr uint32_t kValues = kv_word_values<KvWord>();
  const HeadShape& s = t.shape;
  const uint32_t half = s.head_dim / 2, n_pairs = t.n_pairs;
  const bool halves = !t.interleaved;
  auto n_tokens = let("n_tokens", params[kNTokens]);
  // The dimension of the head that value i of a token's tile belongs to.
  const auto dim_of = [&](const Name<U32>& i) {
    return halves ? let("dim", place.first_pair + i / n_pairs * half + i % n_pairs)
                  : let("dim", place.first_pair * 2u + i);
  };
  // Calls body(i, token, dim) for this invocation's share: value i of the tile has dimension `dim` of the token's head.
  const auto for_tile = [&](uint32_t step, const auto& body) {
    loop("i", tid * step, t.n_tokens * 2 * n_pairs, workgroup * step, [&](const Name<U32>& i) {
      auto to_token = let("to_token", place.first_token + i / (2 * n_pairs));
      auto in_token = let("t", i % (2 * n_pairs));
      auto dim = dim_of(in_token);
      when(to_token < n_tokens, [&] { body(i, to_token, dim); });
    });
  };
  // Where the token's key or value row is in the cache.
  const auto row_of = [&](const Name<U32>& kv_row, const Name<U32>& to_token, uint32_t row_words) {
    auto pos = let("pos", row_word(params, to_token, kRowPos));
    auto table = let("table", row_word(params, to_token, kRowTable));
    auto block = kv_block(params, table, pos);
    return let("to_row", kv_place(s, block, kv_row, pos) * row_words);
  };
  const auto store_queries = [&] {
    for_tile(1, [&](const Name<U32>& i, const Name<U32>& to_token, const Name<U32>& dim) {
      q[(to_token * s.n_heads + place.head) * s.head_dim + dim] = tile[i];
    });
  };
  const auto store_keys_or_values = [&] {
    auto kv_row = let("kv_row", place.head - s.n_heads);  // keys, then values
    if constexpr (kHasKvScales<KvWord>) {
      CHECK(n_pairs == half || (halves && n_pairs % kScaleGroup == 0));
      loop("k", 0u, t.n_tokens, 1u, [&](const Name<U32>& k) {
        auto to_token = let("to_token", place.first_token + k);
        when(to_token < n_tokens, [&] {
          auto to_row = row_of(kv_row, to_token, kv_row_words<KvWord>(s.head_dim));
          const auto code_at = [&](const Name<U32>& i) {
            auto in_token = let("t", i * kValues);
            auto dim = dim_of(in_token);
            return to_row + dim / kValues;
          };
          const auto scale_at = [&](const Name<U32>& j) {
            return to_row + (s.head_dim / kValues) + place.first_pair / kScaleGroup + j;
          };
          const auto value = [&](Temp<U32> i) { return e(tile[k * (2 * n_pairs) + std::move(i)]); };
          store_codes(value, 2 * n_pairs, tid, workgroup, kv, code_at, scale_at);
        });
      });
    } else {
      for_tile(kValues, [&](const Name<U32>& i, const Name<U32>& to_token, const Name<U32>& dim) {
        auto to_row = row_of(kv_row, to_token, s.head_dim);
        auto word = let("word", kv_word<KvWord>(tile, i));
        kv[(to_row + dim) / kValues] = word;
      });
    }
  };
  auto is_query = let("is_query", place.head < s.n_heads);
  when(is_query, store_queries, store_keys_or_values);
}

}  // namespace tern::gpu
