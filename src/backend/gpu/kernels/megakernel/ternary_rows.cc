#include "backend/gpu/kernels/megakernel/ternary_rows.h"

#include <bit>
#include <optional>
#include <vector>

#include "backend/gpu/kernels/megakernel/layers_order.h"
#include "backend/gpu/kernels/megakernel/staged_rows.h"

namespace tern::gpu {

using namespace wgsl;
using namespace layers;

namespace {

class RowsLayers {
 public:
  using Dots = std::vector<Name<I32>>;
  using Prefetched = std::vector<std::optional<KeptWeights>>;

  RowsLayers(const TernaryRowsConfig& c, const In<"w", TernaryWeights>& w, const Vectors& vectors,
             const InOut<"x", F32>& x, const In<"angles", Vec2<F32>>& angles, const ParamsBuffer& params,
             const Cache& kv, const LayerWords& words, const LayerBuiltins& b)
      : c_(c),
        w_(w),
        vectors_(vectors),
        x_(x),
        b_(b),
        mailbox_(c_, words, b.tid),
        residual_(shared<F32>("residual", c.tokens * c.most_rows)),
        last_tag_(let("last_tag", atomicLoad(words[LayersShape::kTag]))),
        attention_(c_, angles, params, kv, mailbox_, b),
        rows_(c_, vectors, mailbox_, b, attention_.n_rows()),
        x_share_(b, c.d_model),
        of_layer_{.qkv = product(c.qkv_width(), c.d_model, {c.qkv_at}, kBeforeQkv, c.qkv_lanes, 1),
                  .output = product(c.d_model, c.q_width(), {c.output_at}, kBeforeOutput, c.square_lanes, c.rows_added),
                  .glu = product(c.d_ff, c.d_model, {c.gate_at, c.up_at}, kBeforeGlu, c.glu_lanes, 1),
                  .down = product(c.d_model, c.d_ff, {c.down_at}, kBeforeDown, c.wide_lanes, c.rows_added)} {
    const uint32_t n_unfinished = c.tokens * c.most_rows;
    if (std::max(of_layer_.output.pieces.size(), of_layer_.down.pieces.size()) == 1) return;
    const bool has_room = n_unfinished <= LayersAttention::idle_values(c);
    unfinished_ = has_room ? attention_.idle_memory() : shared<F32>("unfinished", n_unfinished);
  }

  void run(const LayerWords& words) {
    load_residual();
    run_layers(*this, c_, last_tag_);
    store_residual();
    keep_last_tag(c_, words, b_, last_tag_);
  }

  // The operations of run_layers(). Each product stages its own activations, a piece at a time.
  struct At {
    Name<U32> layer, tag, next_tag, vectors, next_vectors;
  };
  At at_layer(const Name<U32>& layer, const Name<U32>& tag, const Name<U32>& next_tag) const {
    auto vectors_at = let("vectors_at", layer * c_.layer_values());
    auto next_vectors = let("next_vectors", min(layer + 1u, c_.n_layers - 1) * c_.layer_values());
    return {layer, tag, next_tag, vectors_at, next_vectors};
  }
  Nothing multiply_qkv(const At& at) const {
    const Prefetched for_qkv = prefetch(of_layer_.qkv, at.layer);
    const auto q_scale = w_scale(at, 0), k_scale = w_scale(at, 1), v_scale = w_scale(at, 2);
    multiply(of_layer_.qkv, at.layer, for_qkv, at.tag,
             [&](const Name<U32>& row, const Dots& dots, const ActivationScale& scale) {
               const uint32_t first_key = c_.q_width(), first_value = first_key + c_.kv_width();
               auto of_k_or_v = let("of_k_or_v", select(v_scale, k_scale, row < first_value));
               auto of_row = let("w_scale_of_row", select(of_k_or_v, q_scale, row < first_key));
               auto place = let("place", row + rows_.my_words() + c_.qkv_words());
               mailbox_.publish(place, let("value", dequantize(dots[0], scale, of_row)), at.tag);
             });
    return {};
  }
  void attend(const At& at, Nothing /*newest*/) const { attention_.attend_rows(at.layer, at.tag); }
  // Combines attention's parts into its results. most_splits lanes of a subgroup have one part each.
  void merge(const At& at) const {
    const HeadShape& h = c_.heads;
    const uint32_t rows = c_.tokens, lanes = c_.most_splits, at_once = c_.workgroup / (rows * lanes);
    const Share share(b_, c_.q_width());
    auto n_splits = attention_.splits();
    auto lane = let("lane_of_value", b_.tid / rows % lanes);
    auto group = let("group_of_value", b_.tid / (rows * lanes));
    auto row = let("safe_my_row", min(rows_.my_row(), attention_.n_rows() - 1u) * c_.row_words());
    StagedRows::RowProducer producer(rows_, kBeforeOutput, at.vectors, at.tag);
    loop("from_value", share.first, share.end, at_once, [&](const Name<U32>& from) {
      auto out = let("out", min(from + group, share.end - 1u));
      auto head = let("head", out / h.head_dim);
      auto safe_lane = let("safe_lane", min(lane, n_splits - 1u));
      auto part = let("part_at", (head * c_.most_splits + safe_lane) * c_.part_stride() + row + c_.part_words());
      auto place = let("place", part + out % h.head_dim);
      auto top_place = let("place", part + h.head_dim);
      auto sum_place = let("place", part + (h.head_dim + 1));
      const auto found = mailbox_.wait({place, top_place, sum_place}, at.tag);
      auto most = rows_.over_lanes(Reduce::kMax, found[1], rows, rows * lanes);
      auto shrink = let("shrink", select(0.0f, exp(found[1] - most), lane < n_splits));
      auto my_value = let("my_value", found[0] * shrink);
      auto my_weight = let("my_weight", found[2] * shrink);
      auto value = rows_.over_lanes(Reduce::kSum, my_value, rows, rows * lanes);
      auto weight = rows_.over_lanes(Reduce::kSum, my_weight, rows, rows * lanes);
      when(lane == 0u && from + group < share.end && rows_.is_row(),
           [&] { producer.add(out, let("result", value / weight)); });
    });
    producer.publish_stats();
  }
  struct ForProduct {
    Prefetched weights;
    std::vector<Name<F32>> scales;  // of its matrices
  };
  ForProduct prefetch_output(const At& at) const { return {prefetch(of_layer_.output, at.layer), {w_scale(at, 3)}}; }
  ForProduct prefetch_glu(const At& at) const {
    return {prefetch(of_layer_.glu, at.layer), {w_scale(at, 4), w_scale(at, 5)}};
  }
  ForProduct prefetch_down(const At& at) const { return {prefetch(of_layer_.down, at.layer), {w_scale(at, 6)}}; }
  void prefetch_qkv_of_next(const At& /*at*/) const {}
  Nothing stage_output(const ForProduct& /*p*/, const At& /*at*/) const { return {}; }
  Nothing stage_glu(const ForProduct& /*p*/, const At& /*at*/) const { return {}; }
  Nothing stage_down(const ForProduct& /*p*/, const At& /*at*/) const { return {}; }
  void multiply_output(const ForProduct& p, Nothing /*x*/, const At& at) const {
    multiply_to_residual(of_layer_.output, p, at, StagedRows::RowProducer(rows_, kBeforeGlu, at.vectors, at.tag));
  }
  void multiply_glu(const ForProduct& p, Nothing /*x*/, const At& at) const {
    StagedRows::RowProducer producer(rows_, kBeforeDown, at.vectors, at.tag);
    multiply(of_layer_.glu, at.layer, p.weights, at.tag,
             [&](const Name<U32>& row, const Dots& dots, const ActivationScale& scale) {
               auto gate = let("gate", dequantize(dots[0], scale, p.scales[0]));
               auto up = let("up", dequantize(dots[1], scale, p.scales[1]));
               producer.add(row, let("value", gated(c_.act, gate, up)));
             });
    producer.publish_stats();
  }
  void multiply_down(const ForProduct& p, Nothing /*x*/, const At& at) const {
    multiply_to_residual(of_layer_.down, p, at,
                         StagedRows::RowProducer(rows_, kBeforeQkv, at.next_vectors, at.next_tag));
  }

 private:
  Name<F32> w_scale(const At& at, uint32_t which) const {
    return let("w_scale", vectors_[at.vectors + (c_.scales() + which)]);
  }

  // ---- The residual: a workgroup keeps the same columns of x in all layers.

  Name<U32> residual_at(const Name<U32>& col) const {
    return let("mine_at", rows_.my_row() * c_.most_rows + (col - x_share_.first));
  }
  template <class Body>
  void for_mine(const Body& body) const {
    loop("col", x_share_.first + b_.tid / c_.tokens, x_share_.end, c_.workgroup / c_.tokens,
         [&](const Name<U32>& col) { when(rows_.is_row(), [&] { body(col); }); });
  }
  void load_residual() const {
    auto first_tag = let("first_tag", (last_tag_ + 1u) & kTagMask);
    auto first_vectors = let("first_vectors", 0u);
    StagedRows::RowProducer producer(rows_, kBeforeQkv, first_vectors, first_tag);
    for_mine([&](const Name<U32>& col) {
      auto value = let("x_value", x_[rows_.my_row() * c_.d_model + col]);
      residual_[residual_at(col)] = value;
      producer.add(col, value);
    });
    producer.publish_stats();
  }
  Name<F32> add_to_residual(const Name<U32>& col, const Name<F32>& value) const {
    auto mine = residual_at(col);
    auto sum = let("x_new", residual_[mine] + value);
    residual_[mine] = sum;
    return sum;
  }
  void store_residual() const {
    workgroupBarrier();
    for_mine([&](const Name<U32>& col) {
      auto value = let("x_value", residual_[residual_at(col)]);
      x_[rows_.my_row() * c_.d_model + col] = value;
    });
  }

  // ---- Products

  // A product of a layer's matrices, which have the same size, with the normed rows. Wide rows are multiplied in pieces
  // of columns.
  struct Product {
    std::vector<TernaryConfig> pieces;
    Share share;
    std::vector<uint32_t> matrices;  // offsets in layer 0
    uint32_t cols;
    Stage stage;
    const TernaryConfig& tiling() const { return pieces.front(); }
    uint32_t groups() const { return tiling().workgroup / tiling().lanes; }
  };
  struct OfLayer {
    Product qkv, output, glu, down;
  };
  // rows_together: rows of each matrix that a group of lanes computes together.
  Product product(uint32_t rows, uint32_t cols, std::vector<uint32_t> matrices, Stage stage, uint32_t lanes,
                  uint32_t rows_together) const {
    Product p{.pieces = {}, .share = Share(b_, rows), .matrices = std::move(matrices), .cols = cols, .stage = stage};
    for (uint32_t first = 0; first < cols; first += c_.most_columns()) {
      p.pieces.push_back({.rows = rows,
                          .cols = std::min(cols - first, c_.most_columns()),
                          .caps = c_.caps,
                          .lanes = std::min(lanes, c_.caps.subgroup),
                          .rows_per_group = rows_together,
                          .workgroup = c_.workgroup,
                          .most_ahead = c_.most_ahead,
                          .loops_planes = true});
    }
    return p;
  }

  // The invocation's group's rows, counted from `from`, and where their weights begin in a piece of columns.
  struct RowsAtOnce {
    TernaryDots dots;
    std::vector<Name<U32>> rows, starts;  // starts: for each matrix of each row
  };
  RowsAtOnce rows_from(const Product& p, uint32_t piece, const Name<U32>& layer, const Name<U32>& from) const {
    RowsAtOnce r{TernaryDots(p.pieces[piece], b_.tid), {}, {}};
    r.rows.push_back(let("row", from + r.dots.group()));
    while (r.rows.size() < p.tiling().rows_per_group) r.rows.push_back(let("row", r.rows.back() + p.groups()));
    for (const Name<U32>& row : r.rows) {
      auto safe = let("safe_row", min(row, p.share.end - 1u));
      for (const uint32_t matrix : p.matrices) {
        r.starts.push_back(let("start", layer * c_.layer_vectors + safe * (whole_blocks(p.cols) / 64) +
                                            (matrix + piece * c_.most_columns() / 64)));
      }
    }
    return r;
  }
  auto load() const {
    return [this](size_t, Temp<U32> i) { return w_[std::move(i)]; };
  }

  // The weights of the invocation's first rows, for each piece, loaded before the activations arrive, if there are few
  // enough.
  Prefetched prefetch(const Product& p, const Name<U32>& layer) const {
    Prefetched prefetched(p.pieces.size());
    for (uint32_t i = 0; i < p.pieces.size(); ++i) {
      if (!TernaryDots(p.pieces[i], b_.tid).loads_ahead(p.matrices.size() * p.tiling().rows_per_group)) continue;
      RowsAtOnce first = rows_from(p, i, layer, p.share.first);
      first.dots.load_weights(first.starts, load());
      prefetched[i].emplace(first.dots);
    }
    return prefetched;
  }

  // Calls body(row, its dot products with rows_.my_row(), that row's scale), on the lanes that have a row of x.
  template <class Body>
  void multiply(const Product& p, const Name<U32>& layer, const Prefetched& prefetched, const Name<U32>& tag,
                const Body& body) const {
    const StagedRows::Prepared prepared = rows_.prepare(p.stage, p.tiling(), p.cols, tag);
    auto q_sum = var("q_sum", 0);
    const size_t last = p.pieces.size() - 1;
    CHECK(last == 0 || p.matrices.size() == 1);
    for (uint32_t i = 0; i <= last; ++i) {
      if (i > 0) workgroupBarrier();  // the previous piece has been read
      rows_.put(p.stage, p.pieces[i], i, prepared, q_sum, tag);
      if (i == last) rows_.put_sum(q_sum);
      workgroupBarrier();
      std::optional<ActivationScale> scale;
      if (i == last) scale = rows_.scale();
      loop("from_row", p.share.first, p.share.end, p.tiling().rows_per_workgroup(), [&](const Name<U32>& from) {
        RowsAtOnce rows = rows_from(p, i, layer, from);
        size_t n_loaded = 0;
        if (prefetched[i]) rows.dots.load_weights(rows.starts, prefetched[i]->load(n_loaded));
        multiply_rows(p, i, rows, scale, body);
        if (!prefetched[i]) return;
        auto next = let("next_rows", from + p.tiling().rows_per_workgroup());
        when(next < p.share.end, [&] {
          RowsAtOnce next_rows = rows_from(p, i, layer, next);
          next_rows.dots.load_weights(next_rows.starts, load());
          prefetched[i]->keep(next_rows.dots);
        });
      });
    }
  }
  void multiply_to_residual(const Product& product, const ForProduct& p, const At& at,
                            const StagedRows::RowProducer& producer) const {
    multiply(product, at.layer, p.weights, at.tag,
             [&](const Name<U32>& row, const Dots& dots, const ActivationScale& scale) {
               producer.add(row, add_to_residual(row, let("value", dequantize(dots[0], scale, p.scales[0]))));
             });
    producer.publish_stats();
  }
  template <class Body>
  void multiply_rows(const Product& p, uint32_t piece, const RowsAtOnce& r, const std::optional<ActivationScale>& scale,
                     const Body& body) const {
    const Dots all = r.dots.multiply_columns(r.starts, load(), c_.tokens, rows_.quads(p.pieces[piece]));
    auto of_matrices = all.begin();
    for (const Name<U32>& row : r.rows) {
      Dots totals(of_matrices, of_matrices + std::ssize(p.matrices));
      of_matrices += std::ssize(p.matrices);
      when(r.dots.lane() < c_.tokens && rows_.is_row() && row < p.share.end, [&] {
        if (p.pieces.size() > 1) {
          auto where = let("unfinished_at", (row - p.share.first) * c_.tokens + rows_.my_row());
          if (piece > 0) totals[0] = let("total_so_far", totals[0] + i32(unfinished_[where]));
          if (!scale) unfinished_[where] = f32(totals[0]);
        }
        if (scale) body(row, totals, *scale);
      });
    }
  }

  TernaryRowsConfig c_;
  In<"w", TernaryWeights> w_;
  Vectors vectors_;
  InOut<"x", F32> x_;
  LayerBuiltins b_;
  Mailbox mailbox_;
  Shared<F32> residual_;    // [rows, most_rows]
  Shared<F32> unfinished_;  // [most_rows, rows]: dot products over the pieces so far, exact
  Name<U32> last_tag_;
  LayersAttention attention_;
  StagedRows rows_;
  Share x_share_;
  OfLayer of_layer_;
};

}  // namespace

bool fits(const TernaryRowsConfig& c) {
  constexpr uint32_t kMostExact = (1u << 24) / 256;  // columns with dot products that floats hold: 2 · 128 each
  const uint32_t subgroup = c.caps.subgroup;
  if (!fits(static_cast<const LayersShape&>(c)) || !std::has_single_bit(c.tokens) || c.tokens < 2) return false;
  const uint32_t least_lanes = std::min({c.qkv_lanes, c.square_lanes, c.glu_lanes, c.wide_lanes, subgroup});
  return c.words_in_units && c.tokens <= least_lanes && c.workgroup / c.tokens % subgroup == 0 &&
         c.workgroup >= c.tokens && c.tokens * c.most_splits <= subgroup && c.subgroups() * c.tokens <= c.workgroup &&
         c.most_columns() % (64 * subgroup) == 0 && c.pieces(c.d_model) == 1 && c.widest_row() <= kMostExact;
}

TernaryRowsConfig rows_config(const TernaryLayersConfig& of_one, uint32_t rows) {
  TernaryRowsConfig c{of_one};
  c.tokens = rows;
  c.words_in_units = true;
  c.kv_heads_of_workgroup = 1;
  c.most_splits = std::bit_floor(std::min(c.most_splits, c.caps.subgroup / rows));
  c.square_lanes = c.wide_lanes = 32;
  c.most_ahead = rows < 8 ? 4 : 0;
  return c;
}

TernaryLayersKernel ternary_rows(const TernaryRowsConfig& c) {
  CHECK(fits(c));
  return kernel(
      "ternary_rows", c.workgroup,
      [&](In<"w", TernaryWeights> w, Vectors vectors, InOut<"x", F32> x, In<"angles", Vec2<F32>> angles,
          ParamsBuffer params, Cache kv, LayerWords words, WorkgroupId wg, NumWorkgroups n_wg, LocalIndex tid) {
        writer->diagnostic_off("subgroup_uniformity");
        RowsLayers layers(c, w, vectors, x, angles, params, kv, words, {wg, n_wg, tid});
        layers.run(words);
      });
}

}  // namespace tern::gpu
