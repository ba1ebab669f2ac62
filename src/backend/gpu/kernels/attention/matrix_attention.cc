#include "backend/gpu/kernels/attention/matrix_attention.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "backend/gpu/kernels/f16_shapes.h"
#include "backend/gpu/kernels/staged_vectors.h"

namespace tern::gpu {

using namespace wgsl;

namespace {

// Distance between rows in workgroup memory: 16 bytes of padding make rows start in different banks.
uint32_t stride_of_halves(uint32_t n) { return n + 8; }
uint32_t stride_of_floats(uint32_t n) { return n + 4; }

// How far, in powers of two, a score may exceed the reference score m of the weights before the earlier sums are scaled
// down. Weights stay below 2^8, which an f16 holds as precisely as weights below 1.
constexpr float kSlack = 8;

// Only the first is used. Matrices must begin at multiples of 16 bytes in workgroup memory, which holds if all arrays
// there are multiples of 16 bytes.
constexpr uint32_t kFlags = 4;

// Staged at the same place: queries; or keys [chunk, head_dim] and values [head_dim, chunk].
uint32_t staged_halves(const MatrixAttentionConfig& c) {
  const uint32_t dim = c.heads.head_dim;
  return std::max(c.tokens() * stride_of_halves(dim),
                  c.chunk * stride_of_halves(dim) + dim * stride_of_halves(c.chunk));
}

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
        quads_(c.heads.head_dim / 4),
        stride_(stride_of_halves(c.heads.head_dim)),
        score_stride_(stride_of_floats(c.chunk)),
        weight_stride_(stride_of_halves(c.chunk)),
        lanes_(c.subgroup / M),
        kv_(kv),
        params_(params),
        tid_(tid),
        staged_(shared<F16>("staged", staged_halves(c))),
        scores_(shared<F32>("scores", c.tokens() * score_stride_)),
        weights_(shared<F16>("weights", c.tokens() * weight_stride_)),
        shrinks_(shared<Atomic<U32>>("shrinks", kFlags)),
        head_(let("head", wg.x)),
        kv_head_(let("kv_head", head_ / (c.heads.n_heads / c.heads.n_kv_heads))),
        n_tokens_(let("n_tokens", params[kNTokens])),
        // The last tokens first, because they see the most positions.
        first_token_(let("first_token", (n_wg.y - 1u - wg.y) * c.tokens())),
        last_token_(let("last_token", min(first_token_ + (c.tokens() - 1), n_tokens_ - 1u))),
        subgroup_(let("subgroup", tid / c.subgroup)),
        lane_(let("lane", tid % c.subgroup)),
        part_(let("part", lane_ % lanes_)),
        my_row_(let("my_row", subgroup_ * M + lane_ / lanes_)),
        my_token_(let("my_token", first_token_ + my_row_)),
        my_pos_(let("my_pos", row_word(params, min(my_token_, last_token_), kRowPos))),
        from_(var("weights_from", kLowestScore)),
        shrink_(var("shrink", 1.0f)),
        total_(var("total", 0.0f)) {
    stage_queries(q);
    for (uint32_t n = 0; n < c.heads.head_dim / N; ++n) sums_.push_back(var<ResultMatrix<F32, M, N>>("sum"));
  }

  void attend() {
    auto first_table = let("first_table", row_word(params_, first_token_, kRowTable));
    auto last_table = let("last_table", row_word(params_, last_token_, kRowTable));
    auto is_one = let("is_one", first_table == last_table);
    auto end = let("end_of_starts", select(last_token_ + 1u, first_token_ + 1u, is_one));
    loop("token", first_token_, end, 1u, [&](const Name<U32>& token) {
      auto table = let("table", row_word(params_, token, kRowTable));
      auto before = let("before", row_word(params_, max(token, 1u) - 1u, kRowTable));
      when(token == first_token_ || table != before, [&] {
        auto last = var("last_of_sequence", last_token_);
        when(table != last_table, [&] {
          last = token;
          loop("next", token + 1u, last_token_, 1u,
               [&](const Name<U32>& next) { when(row_word(params_, next, kRowTable) == table, [&] { last = next; }); });
        });
        attend_to(table, token, let("last_of_these", last));
      });
    });
  }

  // Stores the result, and each head's statistics as a part of the token's.
  void store(const Out<"y", F32>& y, const NextGain& gain, const NextParts& parts) {
    auto my_total = let("my_total", total_);
    auto factor = let("factor", 1.0f / of_row(Reduce::kSum, my_total));
    auto squares = var("squares", 0.0f), largest = var("largest", 0.0f);
    auto first_row = let("first_row", subgroup_ * M);
    for_pieces([&](uint32_t first_dim, uint32_t width) {
      for_my_piece(width, [&](const Name<U32>& at, const Name<U32>& column) {
        auto result = let("result", scores_[at] * factor);
        scores_[at] = result;
        squares += result * result;
        auto g = let("g", gain[head_ * c_.heads.head_dim + first_dim + column]);
        largest = max(largest, abs(result * g));
      });
      workgroupBarrier();
      loop("i", lane_, M * width, c_.subgroup, [&](const Name<U32>& i) {
        auto row = let("row", first_row + i / width);
        auto token = let("token", first_token_ + row);
        when(token < n_tokens_, [&] {
          y[(token * c_.heads.n_heads + head_) * c_.heads.head_dim + first_dim + i % width] =
              scores_[row * score_stride_ + i % width];
        });
      });
    });
    auto my_squares = let("my_squares", squares), my_largest = let("my_largest", largest);
    auto all_squares = of_row(Reduce::kSum, my_squares);
    auto all_largest = of_row(Reduce::kMax, my_largest);
    when(part_ == 0u && my_token_ < n_tokens_,
         [&] { parts[my_token_ * c_.heads.n_heads + head_] = vec2f(all_squares, all_largest); });
  }

 private:
  using Quad = Name<MatrixKvQuad<KvWord>>;

  // Reduces over the lanes that share a token.
  Name<F32> of_row(Reduce how, const Name<F32>& mine) const {
    Name<F32> reduced = mine;
    for (uint32_t mask = lanes_ / 2; mask > 0; mask /= 2) {
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
    loop("i", tid_, c_.tokens() * quads_, c_.workgroup(), [&](const Name<U32>& i) {
      auto token = let("token", min(first_token_ + i / quads_, last_token_));
      auto v = let("v", q[(token * c_.heads.n_heads + head_) * quads_ + i % quads_] * scale);
      auto to = let("to", i / quads_ * stride_ + i % quads_ * 4u);
      put_halves(staged_, to, v);
    });
    workgroupBarrier();
    for (uint32_t k = 0; k < c_.heads.head_dim; k += K) {
      auto from = let("from_query", subgroup_ * (M * stride_) + k);
      queries_.push_back(subgroupMatrixLoad<LeftMatrix<F16, M, K>>(staged_, from, MatrixLayout::kRowMajor, stride_));
    }
    workgroupBarrier();
  }

  // Attends to the positions of one sequence that are visible to its tokens `token` … `last`.
  void attend_to(const Name<U32>& table, const Name<U32>& token, const Name<U32>& last) {
    auto first_pos = let("first_pos", row_word(params_, token, kRowPos));
    auto last_pos = let("last_pos", row_word(params_, last, kRowPos));
    auto is_mine = let("is_mine", my_token_ >= token && my_token_ <= last);
    auto start = c_.window > 0 ? let("start", (max(first_pos + 1u, c_.window) - c_.window) / c_.chunk * c_.chunk)
                               : let("start", 0u);
    loop("first", start, last_pos + 1u, c_.chunk, [&](const Name<U32>& first) {
      stage(table, first, last_pos);
      when(tid_ == 0u, [&] { atomicStore(shrinks_[0u], 0u); });
      workgroupBarrier();
      score();
      workgroupBarrier();
      weigh(first, is_mine);
      auto is_shrinking = workgroupUniformLoad(shrinks_);
      // Before the first chunk there are no sums.
      when(is_shrinking != 0u && first != start, [&] { shrink(); });
      add_values();
      workgroupBarrier();
    });
  }

  // Stages the keys and values of a chunk; positions after the last one repeat it. Values are transposed, so that the
  // matrices of both are loaded column by column, as in all other kernels. Adjacent invocations have adjacent quads of
  // a key, and adjacent positions of values, so that they store to adjacent banks.
  void stage(const Name<U32>& table, const Name<U32>& first, const Name<U32>& last_pos) {
    auto block = kv_block(params_, table, first);
    stage_side(
        block, first, last_pos, 0, [&](const Name<U32>& i) { return std::pair{i / quads_, i % quads_}; },
        [&](const Name<U32>& position, const Name<U32>& quad, uint32_t k) {
          return position * stride_ + quad * 4u + k;
        });
    stage_side(
        block, first, last_pos, 1, [&](const Name<U32>& i) { return std::pair{i % c_.chunk, i / c_.chunk}; },
        [&](const Name<U32>& position, const Name<U32>& quad, uint32_t k) {
          return quad * (4 * weight_stride_) + position + (c_.chunk * stride_ + k * weight_stride_);
        });
  }

  // side: 0 for keys, 1 for values. share(i): the position in the chunk, and the quad, of share i. place: where value k
  // of a quad goes.
  template <class Share, class Place>
  void stage_side(const Name<U32>& block, const Name<U32>& first, const Name<U32>& last_pos, uint32_t side,
                  const Share& share, const Place& place) const {
    struct Part {
      Name<U32> position, quad, row;
    };
    const uint32_t n = c_.chunk * quads_, row_quads = kv_row_quads<KvWord>(c_.heads.head_dim);
    CHECK(n % c_.workgroup() == 0);
    std::vector<Part> parts;
    std::vector<Quad> loaded;
    for (uint32_t i0 = 0; i0 < n; i0 += c_.workgroup()) {
      auto i = let("i", tid_ + i0);
      auto [in_chunk, of_row] = share(i);
      auto position = let("position", std::move(in_chunk));
      auto quad = let("kv_quad", std::move(of_row));
      auto pos = let("pos", min(first + position, last_pos));
      auto row = let("kv_row", kv_place(c_.heads, block, side * c_.heads.n_kv_heads + kv_head_, pos) * row_quads);
      parts.push_back({position, quad, row});
      loaded.push_back(let("kv4", kv_[row + quad]));
    }
    for (size_t i = 0; i < parts.size(); ++i) {
      const auto store = [&](const auto& value) {
        for (uint32_t k = 0; k < 4; ++k) staged_[place(parts[i].position, parts[i].quad, k)] = value(k);
      };
      if constexpr (kHasKvScales<KvWord>) {
        auto group = let("group", parts[i].quad / (kScaleGroup / 4));
        auto scale = kv_scale_at(kv_, parts[i].row, group, c_.heads.head_dim);
        auto values = let("values", int8_values(loaded[i]) * scale);
        store([&](uint32_t k) { return f16(at(values, k)); });
      } else {
        store([&](uint32_t k) { return e(at(loaded[i], k)); });
      }
    }
  }

  void score() const {
    auto to = let("to_scores", subgroup_ * (M * score_stride_));
    for (uint32_t n = 0; n < c_.chunk; n += N) {
      auto sum = var<ResultMatrix<F32, M, N>>("score");
      for (uint32_t k = 0; k < c_.heads.head_dim; k += K) {
        auto keys = subgroupMatrixLoad<RightMatrix<F16, K, N>>(staged_, e(n * stride_ + k), MatrixLayout::kColumnMajor,
                                                               stride_);
        subgroupMatrixMultiplyAccumulate(queries_[k / K], keys, sum);
      }
      subgroupMatrixStore(scores_, to + n, sum, score_stride_);
    }
  }

  void weigh(const Name<U32>& first, const Name<Bool>& is_mine) const {
    auto from_score = let("from_score", my_row_ * score_stride_ + part_);
    auto first_pos = let("my_first_pos", first + part_);
    std::vector<Name<F32>> seen;
    auto top = var("top", kLowestScore);
    for (uint32_t i = 0; i < c_.chunk; i += lanes_) {
      auto pos = let("pos", first_pos + i);
      auto s = let("s", scores_[from_score + i]);
      auto capped = c_.softcap > 0 ? let("power", softcapped(s, c_.softcap) * std::numbers::log2e_v<float>) : s;
      auto is_seen = c_.window > 0 ? let("is_seen", is_mine && pos <= my_pos_ && pos + c_.window > my_pos_)
                                   : let("is_seen", is_mine && pos <= my_pos_);
      seen.push_back(let("seen", select(kLowestScore, capped, is_seen)));
      top = max(top, seen.back());
    }
    auto my_top = let("my_top", top);
    auto row_top = of_row(Reduce::kMax, my_top);
    auto passes = let("passes", row_top > from_ + kSlack);
    auto from = let("new_from", select(from_, row_top, passes));
    shrink_ = exp2(from_ - from);
    auto sum = var("sum_of_weights", total_ * shrink_);
    auto to = let("to_weight", my_row_ * weight_stride_ + part_);
    for (uint32_t i = 0; i < c_.chunk; i += lanes_) {
      auto weight = let("weight", select(0.0f, exp2(seen[i / lanes_] - from), seen[i / lanes_] > kLowestScore));
      weights_[to + i] = f16(weight);
      sum += weight;
    }
    total_ = sum;
    from_ = from;
    when(passes, [&] { atomicMax(shrinks_[0u], 1u); });
  }

  // Copies the sums of several dimensions at a time to the memory of the scores and calls body(first dimension, number
  // of dimensions). Ends with a barrier.
  template <class Body>
  void for_pieces(const Body& body) const {
    auto at_scores = let("at_scores", subgroup_ * (M * score_stride_));
    const uint32_t together = std::max(c_.chunk / N, 1u);
    for (uint32_t n = 0; n < sums_.size(); n += together) {
      const uint32_t end = std::min<uint32_t>(n + together, static_cast<uint32_t>(sums_.size()));
      for (uint32_t i = n; i < end; ++i) subgroupMatrixStore(scores_, at_scores + (i - n) * N, sums_[i], score_stride_);
      workgroupBarrier();
      body(n * N, (end - n) * N);
      workgroupBarrier();
    }
  }
  // Calls body(index in the memory of the scores, column) for this lane's part of its token's row.
  template <class Body>
  void for_my_piece(uint32_t width, const Body& body) const {
    loop("column", part_, e(width), lanes_, [&](const Name<U32>& column) {
      auto at = let("at", my_row_ * score_stride_ + column);
      body(at, column);
    });
  }

  void shrink() const {
    auto at_scores = let("shrink_at", subgroup_ * (M * score_stride_));
    for_pieces([&](uint32_t first_dim, uint32_t width) {
      for_my_piece(width, [&](const Name<U32>& at, const Name<U32>&) { scores_[at] = scores_[at] * shrink_; });
      workgroupBarrier();
      for (uint32_t n = 0; n < width; n += N) {
        sums_[(first_dim + n) / N] =
            subgroupMatrixLoad<ResultMatrix<F32, M, N>>(scores_, at_scores + n, MatrixLayout::kRowMajor, score_stride_);
      }
    });
  }

  void add_values() const {
    auto from = let("from_weights", subgroup_ * (M * weight_stride_));
    for (uint32_t k = 0; k < c_.chunk; k += K) {
      auto weights =
          subgroupMatrixLoad<LeftMatrix<F16, M, K>>(weights_, from + k, MatrixLayout::kRowMajor, weight_stride_);
      for (uint32_t n = 0; n < c_.heads.head_dim; n += N) {
        auto values = subgroupMatrixLoad<RightMatrix<F16, K, N>>(
            staged_, e(c_.chunk * stride_ + n * weight_stride_ + k), MatrixLayout::kColumnMajor, weight_stride_);
        subgroupMatrixMultiplyAccumulate(weights, values, sums_[n / N]);
      }
    }
  }

  const MatrixAttentionConfig& c_;
  uint32_t quads_, stride_, score_stride_;
  uint32_t weight_stride_;  // also for values
  uint32_t lanes_;          // lanes that share a token
  const In<"kv", MatrixKvQuad<KvWord>>& kv_;
  const ParamsBuffer& params_;
  const LocalIndex& tid_;
  Shared<F16> staged_;   // the chunk's keys, then its values
  Shared<F32> scores_;   // [tokens, chunk]
  Shared<F16> weights_;  // [tokens, chunk]
  Shared<Atomic<U32>> shrinks_;
  Name<U32> head_, kv_head_, n_tokens_, first_token_, last_token_, subgroup_, lane_, part_, my_row_, my_token_, my_pos_;
  Var<F32> from_, shrink_, total_;  // of this lane's token; total_ only covers the lane's own part
  std::vector<Name<LeftMatrix<F16, M, K>>> queries_;
  std::vector<Var<ResultMatrix<F32, M, N>>> sums_;
};

}  // namespace

uint32_t MatrixAttentionConfig::workgroup_bytes() const {
  return 2 * staged_halves(*this) + 4 * tokens() * stride_of_floats(chunk) + 2 * tokens() * stride_of_halves(chunk) +
         16;
}

bool has_matrix_attention(const MatrixAttentionConfig& c, uint32_t invocations, uint32_t workgroup_bytes) {
  const uint32_t dim = c.heads.head_dim;
  return dim % 16 == 0 && dim <= 128 && kBlockPositions % c.chunk == 0 && c.subgroup % c.shape.m == 0 &&
         c.chunk % c.shape.n == 0 && c.chunk % c.shape.k == 0 && c.chunk * dim / 4 % c.workgroup() == 0 &&
         c.workgroup() <= invocations && c.workgroup_bytes() <= workgroup_bytes &&
         with_f16_shape(c.shape, []<uint32_t, uint32_t, uint32_t>() {});
}

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

template MatrixAttentionKernel<F16x2> matrix_attention<F16x2>(const MatrixAttentionConfig&);
template MatrixAttentionKernel<I8x4> matrix_attention<I8x4>(const MatrixAttentionConfig&);

}  // namespace tern::gpu
