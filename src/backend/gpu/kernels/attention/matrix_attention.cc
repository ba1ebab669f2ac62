#include "backend/gpu/kernels/attention/matrix_attention.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "backend/gpu/kernels/attention/matrix_attention_memory.h"
#include "backend/gpu/kernels/f16_shapes.h"

namespace tern::gpu {

using namespace wgsl;

namespace {

// Online softmax as in attention.cc, for a tile of tokens and a chunk of positions at a time:
//   scores    each subgroup has M tokens: M × chunk scores go through workgroup memory to the lanes that share a token
//   weights   e^(s − m). m is not the largest score, but may be up to kSlack powers of two below it. So the sums, which
//             only matrices can access, are seldom scaled down; if they are, they go through workgroup memory, too
//   values    M × chunk weights times chunk × head_dim values, added up in matrices
// The tokens of a tile may belong to several sequences. The sequences are processed one after the other; tokens of the
// other sequences get weight 0 meanwhile.
template <class KvWord, uint32_t M, uint32_t N, uint32_t K>
class MatrixAttentionBody {
 public:
  MatrixAttentionBody(const MatrixAttentionConfig& c, const In<"q", Vec4<F32>>& q,
                      const In<"kv", MatrixKvQuad<KvWord>>& kv, const ParamsBuffer& params, const WorkgroupId& wg,
                      const NumWorkgroups& n_wg, const LocalIndex& tid)
      : c_(c),
        kv_(kv),
        params_(params),
        tid_(tid),
        memory_{shared<F16>("staged", staged_halves(c)), shared<F32>("scores", c.tokens() * score_stride()),
                shared<F16>("weights", c.tokens() * weight_stride()), shared<Atomic<U32>>("shrinks", kFlags)},
        chunk_(c.heads, c.chunk, c.workgroup(), tid),
        tile_(c, params, wg, n_wg),
        mine_(c, params, tid, tile_),
        softmax_{var("weights_from", kLowestScore), var("shrink", 1.0f), var("total", 0.0f)} {
    stage_queries(q);
    for (uint32_t n = 0; n < c.heads.head_dim / N; ++n) sums_.push_back(var<ResultMatrix<F32, M, N>>("sum"));
  }

  void attend() {
    auto first_table = let("first_table", row_word(params_, tile_.first_token, kRowTable));
    auto last_table = let("last_table", row_word(params_, tile_.last_token, kRowTable));
    auto is_one = let("is_one", first_table == last_table);
    auto end = let("end_of_starts", select(tile_.last_token + 1u, tile_.first_token + 1u, is_one));
    loop("token", tile_.first_token, end, 1u, [&](const Name<U32>& token) {
      auto table = let("table", row_word(params_, token, kRowTable));
      auto before = let("before", row_word(params_, max(token, 1u) - 1u, kRowTable));
      when(token == tile_.first_token || table != before, [&] {
        auto last = var("last_of_sequence", tile_.last_token);
        when(table != last_table, [&] {
          last = token;
          loop("next", token + 1u, tile_.last_token, 1u,
               [&](const Name<U32>& next) { when(row_word(params_, next, kRowTable) == table, [&] { last = next; }); });
        });
        attend_to(table, token, let("last_of_these", last));
      });
    });
  }

  // Stores the result, and each head's statistics as a part of the token's.
  void store(const Out<"y", F32>& y, const NextGain& gain, const NextParts& parts) {
    auto my_total = let("my_total", softmax_.total);
    auto factor = let("factor", 1.0f / of_row(Reduce::kSum, my_total));
    auto squares = var("squares", 0.0f), largest = var("largest", 0.0f);
    store_rows(y, factor, [&](const Name<F32>& result, uint32_t first_dim, const Name<U32>& column) {
      squares += result * result;
      auto g = let("g", gain[tile_.head * c_.heads.head_dim + first_dim + column]);
      largest = max(largest, abs(result * g));
    });
    auto my_squares = let("my_squares", squares), my_largest = let("my_largest", largest);
    auto all_squares = of_row(Reduce::kSum, my_squares);
    auto all_largest = of_row(Reduce::kMax, my_largest);
    when(mine_.part == 0u && mine_.token < tile_.n_tokens,
         [&] { parts[mine_.token * c_.heads.n_heads + tile_.head] = vec2f(all_squares, all_largest); });
  }

  // Stores the result with one more score for each head, which has no value.
  void store(const Out<"y", F32>& y, const In<"sinks", F32>& sinks) {
    auto my_total = let("my_total", softmax_.total);
    auto sink = let("sink", sinks[tile_.head] * std::numbers::log2e_v<float>);
    auto total = let("with_sink", of_row(Reduce::kSum, my_total) + exp2(sink - softmax_.from));
    auto factor = let("factor", 1.0f / total);
    store_rows(y, factor, [](const auto&...) {});
  }

 private:
  struct Memory {
    Shared<F16> staged;   // the chunk's keys, then its values
    Shared<F32> scores;   // [tokens, chunk]
    Shared<F16> weights;  // [tokens, chunk]
    Shared<Atomic<U32>> shrinks;
  };
  // The workgroup's head and tokens.
  struct Tile {
    Tile(const MatrixAttentionConfig& c, const ParamsBuffer& params, const WorkgroupId& wg, const NumWorkgroups& n_wg)
        : head(let("head", wg.x)),
          kv_head(let("kv_head", head / (c.heads.n_heads / c.heads.n_kv_heads))),
          n_tokens(let("n_tokens", params[kNTokens])),
          // The last tokens first, because they see the most positions.
          first_token(let("first_token", (n_wg.y - 1u - wg.y) * c.tokens())),
          last_token(let("last_token", min(first_token + (c.tokens() - 1), n_tokens - 1u))) {}
    Name<U32> head, kv_head, n_tokens, first_token, last_token;
  };
  // The invocation's lane, and the row of the tile and the token that it has a part of.
  struct Mine {
    Mine(const MatrixAttentionConfig& c, const ParamsBuffer& params, const LocalIndex& tid, const Tile& tile)
        : subgroup(let("subgroup", tid / c.subgroup)),
          lane(let("lane", tid % c.subgroup)),
          part(let("part", lane % (c.subgroup / M))),
          row(let("my_row", subgroup * M + lane / (c.subgroup / M))),
          token(let("my_token", tile.first_token + row)),
          pos(let("my_pos", row_word(params, min(token, tile.last_token), kRowPos))) {}
    Name<U32> subgroup, lane, part, row, token, pos;
  };
  // Each lane has those of its token, and a total of its own part only.
  struct Softmax {
    Var<F32> from, shrink, total;
  };
  uint32_t quads() const { return c_.heads.head_dim / 4; }
  uint32_t stride() const { return stride_of_halves(c_.heads.head_dim); }
  uint32_t score_stride() const { return stride_of_floats(c_.chunk); }
  uint32_t weight_stride() const { return stride_of_halves(c_.chunk); }
  uint32_t lanes() const { return c_.subgroup / M; }  // lanes that share a token

  // Reduces over the lanes that share a token.
  Name<F32> of_row(Reduce how, const Name<F32>& mine) const {
    Name<F32> reduced = mine;
    for (uint32_t mask = lanes() / 2; mask > 0; mask /= 2) {
      auto other = subgroupShuffleXor(reduced, mask);
      reduced = let("of_row", detail::combine(how, reduced, other));
    }
    return reduced;
  }

  // Queries are staged in the memory of keys and values, and then kept in matrices. Without a softcap they include the
  // factor log2(e), so that weights are powers of two.
  void stage_queries(const In<"q", Vec4<F32>>& q) {
    const float to_powers = c_.softcap > 0 ? 1.0f : std::numbers::log2e_v<float>;
    const float scale = to_powers / std::sqrt(static_cast<float>(c_.heads.head_dim));
    loop("i", tid_, c_.tokens() * quads(), c_.workgroup(), [&](const Name<U32>& i) {
      auto token = let("token", min(tile_.first_token + i / quads(), tile_.last_token));
      auto v = let("v", q[(token * c_.heads.n_heads + tile_.head) * quads() + i % quads()] * scale);
      auto to = let("to", i / quads() * stride() + i % quads() * 4u);
      put_halves(memory_.staged, to, v);
    });
    workgroupBarrier();
    for (uint32_t k = 0; k < c_.heads.head_dim; k += K) {
      auto from = let("from_query", mine_.subgroup * (M * stride()) + k);
      queries_.push_back(
          subgroupMatrixLoad<LeftMatrix<F16, M, K>>(memory_.staged, from, MatrixLayout::kRowMajor, stride()));
    }
    workgroupBarrier();
  }

  // Attends to the positions of one sequence that are visible to its tokens `token` … `last`.
  void attend_to(const Name<U32>& table, const Name<U32>& token, const Name<U32>& last) {
    auto first_pos = let("first_pos", row_word(params_, token, kRowPos));
    auto last_pos = let("last_pos", row_word(params_, last, kRowPos));
    auto is_mine = let("is_mine", mine_.token >= token && mine_.token <= last);
    auto start = c_.window > 0 ? let("start", (max(first_pos + 1u, c_.window) - c_.window) / c_.chunk * c_.chunk)
                               : let("start", 0u);
    loop("first", start, last_pos + 1u, c_.chunk, [&](const Name<U32>& first) {
      stage(table, first, last_pos);
      when(tid_ == 0u, [&] { atomicStore(memory_.shrinks[0u], 0u); });
      workgroupBarrier();
      score();
      workgroupBarrier();
      weigh(first, is_mine);
      auto is_shrinking = workgroupUniformLoad(memory_.shrinks);
      // Before the first chunk there are no sums.
      when(is_shrinking != 0u && first != start, [&] { shrink(); });
      add_values();
      workgroupBarrier();
    });
  }

  // Stages the keys and values of a chunk.
  void stage(const Name<U32>& table, const Name<U32>& first, const Name<U32>& last_pos) {
    auto block = kv_block(params_, table, first);
    for (const uint32_t side : {0u, 1u}) {  // keys, values
      auto row = let("row_of_side", tile_.kv_head + side * c_.heads.n_kv_heads);
      chunk_.stage(kv_, block, first, last_pos, row, memory_.staged, side * c_.chunk * stride());
    }
  }

  void score() const {
    auto to = let("to_scores", mine_.subgroup * (M * score_stride()));
    for (uint32_t n = 0; n < c_.chunk; n += N) {
      auto sum = var<ResultMatrix<F32, M, N>>("score");
      for (uint32_t k = 0; k < c_.heads.head_dim; k += K) {
        auto keys = subgroupMatrixLoad<RightMatrix<F16, K, N>>(memory_.staged, e(n * stride() + k),
                                                               MatrixLayout::kColumnMajor, stride());
        subgroupMatrixMultiplyAccumulate(queries_[k / K], keys, sum);
      }
      subgroupMatrixStore(memory_.scores, to + n, sum, score_stride());
    }
  }

  void weigh(const Name<U32>& first, const Name<Bool>& is_mine) const {
    auto from_score = let("from_score", mine_.row * score_stride() + mine_.part);
    auto first_pos = let("my_first_pos", first + mine_.part);
    std::vector<Name<F32>> seen;
    auto top = var("top", kLowestScore);
    for (uint32_t i = 0; i < c_.chunk; i += lanes()) {
      auto pos = let("pos", first_pos + i);
      auto s = let("s", memory_.scores[from_score + i]);
      auto capped = c_.softcap > 0 ? let("power", softcapped(s, c_.softcap) * std::numbers::log2e_v<float>) : s;
      auto is_seen = c_.window > 0 ? let("is_seen", is_mine && pos <= mine_.pos && pos + c_.window > mine_.pos)
                                   : let("is_seen", is_mine && pos <= mine_.pos);
      seen.push_back(let("seen", select(kLowestScore, capped, is_seen)));
      top = max(top, seen.back());
    }
    auto my_top = let("my_top", top);
    auto row_top = of_row(Reduce::kMax, my_top);
    auto passes = let("passes", row_top > softmax_.from + kSlack);
    auto from = let("new_from", select(softmax_.from, row_top, passes));
    softmax_.shrink = exp2(softmax_.from - from);
    auto sum = var("sum_of_weights", softmax_.total * softmax_.shrink);
    auto to = let("to_weight", mine_.row * weight_stride() + mine_.part);
    for (uint32_t i = 0; i < c_.chunk; i += lanes()) {
      auto weight = let("weight", select(0.0f, exp2(seen[i / lanes()] - from), seen[i / lanes()] > kLowestScore));
      memory_.weights[to + i] = f16(weight);
      sum += weight;
    }
    softmax_.total = sum;
    softmax_.from = from;
    when(passes, [&] { atomicMax(memory_.shrinks[0u], 1u); });
  }

  // Copies the sums of several dimensions at a time to the memory of the scores and calls body(first dimension, number
  // of dimensions). Ends with a barrier.
  template <class Body>
  void for_pieces(const Body& body) const {
    auto at_scores = let("at_scores", mine_.subgroup * (M * score_stride()));
    const uint32_t together = std::max(c_.chunk / N, 1u);
    for (uint32_t n = 0; n < sums_.size(); n += together) {
      const uint32_t end = std::min<uint32_t>(n + together, static_cast<uint32_t>(sums_.size()));
      for (uint32_t i = n; i < end; ++i)
        subgroupMatrixStore(memory_.scores, at_scores + (i - n) * N, sums_[i], score_stride());
      workgroupBarrier();
      body(n * N, (end - n) * N);
      workgroupBarrier();
    }
  }
  // Stores the sums times `factor`, and calls each(result, first dimension, dimension after it).
  template <class Each>
  void store_rows(const Out<"y", F32>& y, const Name<F32>& factor, const Each& each) const {
    auto first_row = let("first_row", mine_.subgroup * M);
    for_pieces([&](uint32_t first_dim, uint32_t width) {
      for_my_piece(width, [&](const Name<U32>& at, const Name<U32>& column) {
        auto result = let("result", memory_.scores[at] * factor);
        memory_.scores[at] = result;
        each(result, first_dim, column);
      });
      workgroupBarrier();
      loop("i", mine_.lane, M * width, c_.subgroup, [&](const Name<U32>& i) {
        auto row = let("row", first_row + i / width);
        auto token = let("token", tile_.first_token + row);
        when(token < tile_.n_tokens, [&] {
          y[(token * c_.heads.n_heads + tile_.head) * c_.heads.head_dim + first_dim + i % width] =
              memory_.scores[row * score_stride() + i % width];
        });
      });
    });
  }
  // Calls body(index in the memory of the scores, column) for this lane's part of its token's row.
  template <class Body>
  void for_my_piece(uint32_t width, const Body& body) const {
    loop("column", mine_.part, e(width), lanes(), [&](const Name<U32>& column) {
      auto at = let("at", mine_.row * score_stride() + column);
      body(at, column);
    });
  }

  void shrink() const {
    auto at_scores = let("shrink_at", mine_.subgroup * (M * score_stride()));
    for_pieces([&](uint32_t first_dim, uint32_t width) {
      for_my_piece(width, [&](const Name<U32>& at, const Name<U32>&) {
        memory_.scores[at] = memory_.scores[at] * softmax_.shrink;
      });
      workgroupBarrier();
      for (uint32_t n = 0; n < width; n += N) {
        sums_[(first_dim + n) / N] = subgroupMatrixLoad<ResultMatrix<F32, M, N>>(
            memory_.scores, at_scores + n, MatrixLayout::kRowMajor, score_stride());
      }
    });
  }

  void add_values() const {
    auto from = let("from_weights", mine_.subgroup * (M * weight_stride()));
    for (uint32_t k = 0; k < c_.chunk; k += K) {
      auto weights = subgroupMatrixLoad<LeftMatrix<F16, M, K>>(memory_.weights, from + k, MatrixLayout::kRowMajor,
                                                               weight_stride());
      for (uint32_t n = 0; n < c_.heads.head_dim; n += N) {
        auto values = subgroupMatrixLoad<RightMatrix<F16, K, N>>(memory_.staged, e((c_.chunk + k) * stride() + n),
                                                                 MatrixLayout::kRowMajor, stride());
        subgroupMatrixMultiplyAccumulate(weights, values, sums_[n / N]);
      }
    }
  }

  const MatrixAttentionConfig& c_;
  const In<"kv", MatrixKvQuad<KvWord>>& kv_;
  const ParamsBuffer& params_;
  const LocalIndex& tid_;
  Memory memory_;
  ChunkOfCache<KvWord> chunk_;
  Tile tile_;
  Mine mine_;
  Softmax softmax_;
  std::vector<Name<LeftMatrix<F16, M, K>>> queries_;
  std::vector<Var<ResultMatrix<F32, M, N>>> sums_;
};

}  // namespace

template <class KvWord>
MatrixAttentionKernel<KvWord> matrix_attention(const MatrixAttentionConfig& c) {
  return kernel("attention_on_matrices", c.workgroup(),
                [&](In<"q", Vec4<F32>> q, In<"kv", MatrixKvQuad<KvWord>> kv, ParamsBuffer params, Out<"y", F32> y,
                    NextGain next_gain, NextParts next_parts, WorkgroupId wg, NumWorkgroups n_wg, LocalIndex tid) {
                  const auto use = [&]<uint32_t M, uint32_t N, uint32_t K>() {
                    MatrixAttentionBody<KvWord, M, N, K> body(c, q, kv, params, wg, n_wg, tid);
                    body.attend();
                    body.store(y, next_gain, next_parts);
                  };
                  CHECK(with_f16_shape(c.shape, use));
                });
}

template <class KvWord>
SinkMatrixKernel<KvWord> matrix_attention_sinks(const MatrixAttentionConfig& c) {
  return kernel("attention_on_matrices_sinks", c.workgroup(),
                [&](In<"q", Vec4<F32>> q, In<"kv", MatrixKvQuad<KvWord>> kv, ParamsBuffer params,
                    In<"sinks", F32> sinks, Out<"y", F32> y, WorkgroupId wg, NumWorkgroups n_wg, LocalIndex tid) {
                  const auto use = [&]<uint32_t M, uint32_t N, uint32_t K>() {
                    MatrixAttentionBody<KvWord, M, N, K> body(c, q, kv, params, wg, n_wg, tid);
                    body.attend();
                    body.store(y, sinks);
                  };
                  CHECK(with_f16_shape(c.shape, use));
                });
}

template SinkMatrixKernel<F16x2> matrix_attention_sinks<F16x2>(const MatrixAttentionConfig&);
template SinkMatrixKernel<I8x4> matrix_attention_sinks<I8x4>(const MatrixAttentionConfig&);
template MatrixAttentionKernel<F16x2> matrix_attention<F16x2>(const MatrixAttentionConfig&);
template MatrixAttentionKernel<I8x4> matrix_attention<I8x4>(const MatrixAttentionConfig&);

}  // namespace tern::gpu
