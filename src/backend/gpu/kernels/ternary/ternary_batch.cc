#include "backend/gpu/kernels/ternary/ternary_batch.h"

#include <bit>
#include <optional>

#include "backend/gpu/kernels/head_tile.h"
#include "backend/gpu/kernels/int8_shapes.h"
#include "base/bytes.h"

namespace tern::gpu {

using namespace wgsl;

namespace {

constexpr uint32_t kBlock = 128;            // columns staged at a time
constexpr uint32_t kVectors = kBlock / 64;  // vec4s of a row's codes, with 64 codes each
constexpr uint32_t kUnits = kBlock / 16;    // vec4s of a row of int8 words
// Bytes between rows in workgroup memory: a block, and 16 more so that rows start in different banks.
constexpr uint32_t kStride = kBlock + 16;
// Bytes of a staged block of weights and activations. 16 more bytes make consecutive blocks start in different banks.
constexpr uint32_t block_bytes(const TernaryBatchConfig& c) { return (c.tile_rows() + c.tokens) * kStride + 16; }
constexpr uint32_t kTripsAhead = 3;  // trips whose weights are loaded before the first is used

// Computes the dot products of a tile's tokens and rows.
class BatchTile {
 public:
  BatchTile(const TernaryBatchConfig& c, const StoredRows& x, const WorkgroupId& wg, const LocalIndex& tid)
      : c_(c),
        x_(x),
        tid_(tid),
        first_token_(let("first_token", wg.y * c.tokens)),
        split_(let("split", tid / c.subgroup / 2u)),
        side_(let("side", tid / c.subgroup % 2u)),
        staged_(shared<MatrixI8x4>("staged", words())) {
    CHECK(has_ternary_batch(c));
  }

  // load(side, row, i): vec4 i of row `row` of the side's weights.
  template <class Load>
  void multiply(const Load& load) {
    const auto use = [&]<uint32_t M, uint32_t N, uint32_t K>() { multiply_as<M, N, K>(load); };
    CHECK(with_int8_shape(c_.shape, use));
  }

  const Name<U32>& first_token() const { return first_token_; }
  // The dot product of a token of the tile and a row of a side.
  Name<I32> dot(const Name<U32>& token, uint32_t side, const Name<U32>& row) const {
    auto at = let("at", token * c_.tile_rows() + row + side * c_.side_rows());
    auto sum = let("part", sums()[at]);
    for (uint32_t i = 1; i < c_.splits(); ++i) {
      sum = let("part", sum + sums()[at + i * c_.tokens * c_.tile_rows()]);
    }
    return sum;
  }
  ActivationScale scale(const Name<U32>& token) const {
    auto of_batch = let("token", first_token_ + token);
    auto row_meta = let("row_meta", x_[grouped_meta(c_.cols, of_batch)]);
    auto scale = let("x_scale", bitcast<F32>(bits(at(row_meta, 0))));
    auto sum = let("x_sum", bitcast<I32>(bits(at(row_meta, 1))));
    return {scale, sum};
  }

 private:
  Shared<I32> sums() const { return as_i32(staged_); }
  uint32_t words() const { return c_.splits() * std::max(block_bytes(c_) / 4, c_.tokens * c_.tile_rows()); }
  uint32_t n_blocks() const { return whole_blocks(c_.cols) / kBlock; }
  uint32_t trips() const { return ceil_div(n_blocks(), c_.splits()); }

  // The vec4s that an invocation loads and stages in each trip. `to`: where they are staged.
  struct WeightShare {
    Name<U32> row, vector, to;  // in the tile; in the trip's part of the row
  };
  struct ActivationShare {
    Name<U32> in_block, first, to;  // which of the trip's blocks; where the vec4 of the first block is
  };
  // A trip's blocks are adjacent, so adjacent invocations load adjacent vec4s of a row, regardless of which subgroup
  // multiplies them.
  std::vector<WeightShare> my_weights() const {
    const uint32_t of_row = kVectors * c_.splits();
    std::vector<WeightShare> shares;
    for (uint32_t first = 0; first < c_.tile_rows() * of_row; first += c_.workgroup()) {
      auto v = let("v", tid_ + first);
      auto row = let("row", v / of_row);
      auto vector = let("vector", v % of_row);
      auto half = let("half", vector % kVectors);
      auto to = let("to", vector / kVectors * (block_bytes(c_) / 4) + row * (kStride / 4) + half * 4u);
      shares.push_back({row, vector, to});
    }
    return shares;
  }
  // In storage order (grouped_unit): pairs of units of a group's rows.
  std::vector<ActivationShare> my_activations() const {
    const uint32_t rows = std::min(c_.tokens, kRowsOfGroup);
    std::vector<ActivationShare> shares;
    for (uint32_t first = 0; first < c_.splits() * c_.tokens * kUnits; first += c_.workgroup()) {
      auto v = let("x_v", tid_ + first);
      auto in_block = let("in_block", v / (c_.tokens * kUnits));
      auto unit = let("unit", v / (2 * rows) % (kUnits / 2) * 2u + (v & 1u));
      auto token = let("x_token", v / (rows * kUnits) % (c_.tokens / rows) * rows + (v >> 1u) % rows);
      auto of_batch = let("x_row", first_token_ + token);
      auto first_at = let("x_at", grouped_unit(c_.cols, of_batch, unit));
      auto to = let("x_to", in_block * (block_bytes(c_) / 4) + (token + c_.tile_rows()) * (kStride / 4) + unit * 4u);
      shares.push_back({in_block, first_at, to});
    }
    return shares;
  }

  // Word k, plane p of half h of a row's block has the codes of columns 32p + 16h + 4k ….
  void stage(const WeightShare& share, const Name<TernaryWeights>& w4, const std::optional<Name<Bool>>& exists) const {
    for (uint32_t p = 0; p < 4; ++p) {
      for (uint32_t k = 0; k < 4; ++k) {
        auto of_planes = let("of_planes", at(w4, k));
        auto word = let("word", codes(of_planes, p));
        staged_[share.to + (8 * p + k)] =
            exists ? matrix_word(packed<I8x4>(select(0u, bits(word), *exists))) : matrix_word(word);
      }
    }
  }
  void stage(const ActivationShare& share, const Name<QuantizedWords>& x4) const {
    for (uint32_t k = 0; k < 4; ++k) {
      auto word = let("x_word", at(x4, k));
      staged_[share.to + k] = matrix_word(word);
    }
  }

  template <uint32_t M, uint32_t N, uint32_t K, class Load>
  void multiply_as(const Load& load) {
    const uint32_t n_m = c_.tokens / M;
    std::vector<Var<ResultMatrix<I32, M, N>>> results;
    for (uint32_t i = 0; i < n_m; ++i) results.push_back(var<ResultMatrix<I32, M, N>>("sums"));
    const auto weights = my_weights();
    const auto activations = my_activations();
    // Past the last block its end is loaded again.
    const auto load_weights = [&](const WeightShare& share, const Name<U32>& first_block) {
      auto vector = let("some_vector", min(first_block * kVectors + share.vector, kVectors * n_blocks() - 1));
      auto words = var<TernaryWeights>("words");
      auto row = let("of_side", share.row % c_.side_rows());
      when(
          share.row < c_.side_rows(), [&] { words = load(0, row, vector + 0u); },
          [&] { words = load(1, row, vector + 0u); });
      return let("loaded", words);
    };
    const auto load_activations = [&](const ActivationShare& share, const Name<U32>& first_block) {
      auto block = let("x_block", min(first_block + share.in_block, n_blocks() - 1));
      return x_[share.first + block * (kUnits * kRowsOfGroup)];
    };
    const uint32_t ahead = std::min(kTripsAhead, trips());
    std::vector<std::vector<Var<TernaryWeights>>> coming;  // [trip][share]
    for (uint32_t i = 0; i < ahead; ++i) {
      coming.emplace_back();
      auto block = let("block", i * c_.splits());
      for (const WeightShare& share : weights) coming.back().push_back(var("coming", load_weights(share, block)));
    }
    std::vector<Var<QuantizedWords>> next_x;
    auto first = let("first", 0u);
    for (const ActivationShare& share : activations) next_x.push_back(var("next_x", load_activations(share, first)));
    // A loop, because every workgroup would have to fetch unrolled code, only to run it once.
    loop("trip", 0u, trips(), 1u, [&](const Name<U32>& trip) {
      auto first_block = let("first_block", trip * c_.splits());
      auto next_block = let("next_block", first_block + c_.splits());
      auto later = let("later", first_block + ahead * c_.splits());
      std::vector<Name<TernaryWeights>> w4s;
      for (size_t i = 0; i < weights.size(); ++i) {
        w4s.push_back(let("w4", coming[0][i]));
        for (uint32_t r = 0; r + 1 < ahead; ++r) coming[r][i] = coming[r + 1][i];
        coming[ahead - 1][i] = load_weights(weights[i], later);
      }
      std::vector<Name<QuantizedWords>> x4s;
      for (size_t i = 0; i < activations.size(); ++i) {
        x4s.push_back(let("x4", next_x[i]));
        next_x[i] = load_activations(activations[i], next_block);
      }
      for (size_t i = 0; i < weights.size(); ++i) {
        std::optional<Name<Bool>> exists;
        if (n_blocks() % c_.splits() != 0) {
          exists = let("exists", first_block * kVectors + weights[i].vector < kVectors * n_blocks());
        }
        stage(weights[i], w4s[i], exists);
      }
      for (size_t i = 0; i < activations.size(); ++i) stage(activations[i], x4s[i]);
      workgroupBarrier();
      auto start = let("start", split_ * block_bytes(c_));
      const auto multiply_column = [&](const Name<U32>& k) {
        auto w = subgroupMatrixLoad<RightMatrix<I8, K, N>>(staged_, start + k + side_ * (c_.side_rows() * kStride),
                                                           MatrixLayout::kColumnMajor, kStride);
        for (uint32_t m = 0; m < n_m; ++m) {
          auto x = subgroupMatrixLoad<LeftMatrix<I8, M, K>>(staged_, start + k + (c_.tile_rows() + m * M) * kStride,
                                                            MatrixLayout::kRowMajor, kStride);
          subgroupMatrixMultiplyAccumulate(x, w, results[m]);
        }
      };
      constexpr bool kWrittenOut = kBlock / K <= 4;
      for (uint32_t k = 0; kWrittenOut && k < kBlock; k += K) multiply_column(let("k", k));
      if (!kWrittenOut) loop("k", 0u, kBlock, K, multiply_column);
      workgroupBarrier();
    });
    for (uint32_t m = 0; m < n_m; ++m) {
      subgroupMatrixStore(sums(),
                          split_ * (c_.tokens * c_.tile_rows()) + side_ * c_.side_rows() + m * M * c_.tile_rows(),
                          results[m], c_.tile_rows());
    }
    workgroupBarrier();
  }

  TernaryBatchConfig c_;
  StoredRows x_;
  LocalIndex tid_;
  Name<U32> first_token_, split_, side_;  // the latter two are the subgroup's
  Shared<MatrixI8x4> staged_;             // [splits, rows and tokens], then the sums [splits, tokens, rows]
};

// Calls body(token, row) for the tokens of a tile times `n` rows each, divided among the workgroup in rounds in which
// all invocations take part. Adjacent lanes have adjacent rows.
template <class Body>
void for_tile(const TernaryBatchConfig& c, uint32_t n, const LocalIndex& tid, const Body& body) {
  CHECK(c.tokens * n % c.workgroup() == 0);
  for (uint32_t first = 0; first < c.tokens * n; first += c.workgroup()) {
    auto i = let("i", tid + first);
    auto token = let("tile_token", i / n);
    auto row = let("tile_row", i % n);
    body(token, row);
  }
}

// An invocation's result in a tile of `rows_of_tile` rows of a matrix of n_rows.
struct TileResult {
  Name<U32> token, row;
  uint32_t n_rows, rows_of_tile;
};

// Stores a result if it exists, and writes the statistics of the token's results in this tile. They are added up in the
// order of the kernels for one row. store(var) stores the value and sets the var to it.
template <class Store>
void store_with_stats(const TernaryBatchConfig& c, const TileResult& t, const Name<U32>& n_tokens,
                      const NextGain& next_gain, const NextParts& parts, const WorkgroupId& wg, const LocalIndex& tid,
                      const Store& store) {
  auto stored = var("stored", 0.0f);
  auto gain = var("gain", 0.0f);
  auto exists = let("token_exists", t.token < n_tokens);
  when(exists && t.row < t.n_rows, [&] {
    store(stored);
    gain = next_gain[t.row];
  });
  auto value = let("value", stored);
  auto g = let("next_g", gain);
  auto to = let("to_part", t.token * ceil_div(t.n_rows, t.rows_of_tile) + wg.x);
  auto square = let("square", value * value);
  auto magnitude = let("magnitude", abs(value * g));
  auto squares = reduce_lanes(Reduce::kSum, c.caps, square, tid, t.rows_of_tile, c.workgroup());
  auto largest = reduce_lanes(Reduce::kMax, c.caps, magnitude, tid, t.rows_of_tile, c.workgroup());
  when(exists && (tid & (t.rows_of_tile - 1)) == 0u, [&] { parts[to] = vec2f(squares, largest); });
}

}  // namespace

uint32_t TernaryBatchConfig::workgroup_bytes() const {
  const uint32_t reductions = tile_rows() > subgroup ? 8 * tokens * tile_rows() : 0;
  return splits() * std::max(block_bytes(*this), tokens * tile_rows() * 4) + reductions;
}

bool has_ternary_batch(const TernaryBatchConfig& c) {
  if (!with_int8_shape(c.shape, []<uint32_t, uint32_t, uint32_t>() {})) return false;
  const auto is_power = [](uint32_t x) { return std::has_single_bit(x); };
  return c.cols % 16 == 0 && is_power(c.subgroup) && is_power(c.subgroups) && c.subgroups > 1 &&
         c.tile_rows() % c.subgroup == 0 && c.tokens % c.shape.m == 0 &&
         c.tokens % std::min(c.tokens, kRowsOfGroup) == 0 && c.tokens * kUnits % (2 * c.subgroup) == 0 &&
         c.tokens <= kMostBatchTokens && c.workgroup() % c.tile_rows() == 0 &&
         c.tokens * c.side_rows() % c.workgroup() == 0;
}

BatchMatvecAddKernel batch_matvec_add(const TernaryBatchConfig& c, uint32_t rows) {
  return kernel("batch_matvec_add", c.workgroup(),
                [&](In<"w", TernaryWeights> w, StoredRows x, WeightScales scales, ParamsBuffer params,
                    InOut<"y", F32> y, NextGain next_gain, NextParts next_parts, WorkgroupId wg, LocalIndex tid) {
                  BatchTile tile(c, x, wg, tid);
                  auto first_row = let("first_row", wg.x * c.tile_rows());
                  const uint32_t row_vectors = whole_blocks(c.cols) / 64;
                  tile.multiply([&](uint32_t side, const Name<U32>& row, Temp<U32> i) {
                    auto of_matrix = let("row", min(first_row + side * c.side_rows() + row, rows - 1));
                    return w[of_matrix * row_vectors + std::move(i)];
                  });
                  auto n_tokens = let("n_tokens", params[kNTokens]);
                  for_tile(c, c.tile_rows(), tid, [&](const Name<U32>& tile_token, const Name<U32>& tile_row) {
                    auto token = let("token", tile.first_token() + tile_token);
                    auto row = let("row", first_row + tile_row);
                    auto dot = tile.dot(tile_token, 0, tile_row);
                    auto value = let("value", dequantize(dot, tile.scale(tile_token), scales.get<"a">()));
                    auto index = let("index", token * rows + row);
                    store_with_stats(c, {token, row, rows, c.tile_rows()}, n_tokens, next_gain, next_parts, wg, tid,
                                     [&](const Var<F32>& sum) {
                                       sum = y[index] + value;
                                       y[index] = sum;
                                     });
                  });
                });
}

BatchGluKernel batch_glu(const TernaryBatchConfig& c, uint32_t rows) {
  return kernel("batch_glu", c.workgroup(),
                [&](In<"w_gate", TernaryWeights> w_gate, In<"w_up", TernaryWeights> w_up, StoredRows x,
                    WeightScales scales, ParamsBuffer params, Out<"y", F32> y, NextGain next_gain, NextParts next_parts,
                    WorkgroupId wg, LocalIndex tid) {
                  BatchTile tile(c, x, wg, tid);
                  auto first_row = let("first_row", wg.x * c.side_rows());
                  const uint32_t row_vectors = whole_blocks(c.cols) / 64;
                  tile.multiply([&](uint32_t side, const Name<U32>& row, Temp<U32> i) {
                    auto of_matrix = let("row", min(first_row + row, rows - 1));
                    auto at = let("at", of_matrix * row_vectors + std::move(i));
                    return side == 0 ? w_gate[at] : w_up[at];
                  });
                  auto n_tokens = let("n_tokens", params[kNTokens]);
                  for_tile(c, c.side_rows(), tid, [&](const Name<U32>& tile_token, const Name<U32>& tile_row) {
                    auto token = let("token", tile.first_token() + tile_token);
                    auto row = let("row", first_row + tile_row);
                    auto gate_dot = tile.dot(tile_token, 0, tile_row);
                    auto up_dot = tile.dot(tile_token, 1, tile_row);
                    auto result = let("value", glu_of_dots(c.act, gate_dot, up_dot, tile.scale(tile_token), scales));
                    store_with_stats(c, {token, row, rows, c.side_rows()}, n_tokens, next_gain, next_parts, wg, tid,
                                     [&](const Var<F32>& value) {
                                       value = result;
                                       y[token * rows + row] = value;
                                     });
                  });
                });
}

bool fits_batch_qkv(const TernaryBatchConfig& c, const HeadShape& heads, bool has_kv_scales) {
  const uint32_t half = heads.head_dim / 2;
  return heads.head_dim % 2 == 0 && half % c.side_rows() == 0 &&
         (!has_kv_scales || half == c.side_rows() || c.side_rows() % kScaleGroup == 0);
}

template <class KvWord>
BatchQkvKernel<KvWord> batch_qkv(const TernaryBatchConfig& c, const HeadShape& s, bool interleaved) {
  CHECK(fits_batch_qkv(c, s, kHasKvScales<KvWord>));
  const uint32_t half = s.head_dim / 2, n_pairs = c.side_rows();
  return kernel(
      "batch_qkv", c.workgroup(),
      [&](In<"w", TernaryWeights> w, StoredRows x, WeightScales scales, In<"angles", Vec2<F32>> rope,
          ParamsBuffer params, Out<"q", F32> q, Out<"kv", KvWord> kv, WorkgroupId wg, LocalIndex tid) {
        BatchTile tile(c, x, wg, tid);
        auto head = let("head", wg.x / (half / n_pairs));
        auto first_pair = let("first_pair", wg.x % (half / n_pairs) * n_pairs);
        const uint32_t row_vectors = whole_blocks(c.cols) / 64;
        tile.multiply([&](uint32_t side, const Name<U32>& row, Temp<U32> i) {
          auto pair = let("pair", first_pair + row);
          auto of_matrix = let("row", head * s.head_dim + (interleaved ? pair * 2u + side : pair + side * half));
          return w[of_matrix * row_vectors + std::move(i)];
        });
        auto is_query = let("is_query", head < s.n_heads);
        auto is_key = let("is_key", head < s.n_heads + s.n_kv_heads);
        auto key_or_value = let("key_or_value", select(scales.get<"c">(), scales.get<"b">(), is_key));
        auto scale = let("scale", select(key_or_value, scales.get<"a">(), is_query));
        auto heads = shared<F32>("heads", c.tokens * c.tile_rows());
        auto n_tokens = let("n_tokens", params[kNTokens]);
        for_tile(c, n_pairs, tid, [&](const Name<U32>& tile_token, const Name<U32>& in_tile) {
          const ActivationScale x_scale = tile.scale(tile_token);
          auto a_dot = tile.dot(tile_token, 0, in_tile);
          auto b_dot = tile.dot(tile_token, 1, in_tile);
          auto a = let("a", dequantize(a_dot, x_scale, scale));
          auto b = let("b", dequantize(b_dot, x_scale, scale));
          auto token = let("token", min(tile.first_token() + tile_token, n_tokens - 1u));
          auto turns = let("turns", row_word(params, token, kRowAngles) + row_word(params, token, kRowPos));
          auto turn = let("turn", rope[turns * half + first_pair + in_tile]);
          auto angle = let("angle", select(vec2f(1.0f, 0.0f), turn, is_key));  // values are not rotated
          auto to = let("to", tile_token * (2 * n_pairs) + (interleaved ? in_tile * 2u : e(in_tile)));
          heads[to] = a * at(angle, 0) - b * at(angle, 1);
          heads[to + (interleaved ? 1u : n_pairs)] = b * at(angle, 0) + a * at(angle, 1);
        });
        workgroupBarrier();
        store_head_tile<KvWord>({.shape = s, .interleaved = interleaved, .n_pairs = n_pairs, .n_tokens = c.tokens},
                                {head, first_pair, tile.first_token()}, heads, params, q, kv, tid, c.workgroup());
      });
}

template BatchQkvKernel<F32> batch_qkv<F32>(const TernaryBatchConfig&, const HeadShape&, bool);
template BatchQkvKernel<I8x4> batch_qkv<I8x4>(const TernaryBatchConfig&, const HeadShape&, bool);
template BatchQkvKernel<F16x2> batch_qkv<F16x2>(const TernaryBatchConfig&, const HeadShape&, bool);

}  // namespace tern::gpu
