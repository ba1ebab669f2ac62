#include "backend/gpu/kernels/megakernel/ternary_layers.h"

#include <optional>
#include <vector>

#include "backend/gpu/kernels/megakernel/layers_attention.h"
#include "backend/gpu/kernels/megakernel/layers_order.h"
#include "backend/gpu/kernels/ternary/norm_fused.h"

namespace tern::gpu {

using namespace wgsl;
using namespace layers;

namespace {

using Weights = In<"w", TernaryWeights>;
using Words = LayerWords;

class Layers {
 public:
  Layers(const TernaryLayersConfig& c, const Weights& w, const Vectors& vectors, const InOut<"x", F32>& x,
         const In<"angles", Vec2<F32>>& angles, const ParamsBuffer& params, const Cache& kv, const Words& words,
         const LayerBuiltins& b)
      : c_(c),
        w_(w),
        vectors_(vectors),
        x_(x),
        b_(b),
        mailbox_(c_, words, b.tid),
        staged_(shared<QuantizedWords>("staged", whole_blocks(c.widest_row()) / 16)),
        residual_(c_, mailbox_, b),
        last_tag_(let("last_tag", atomicLoad(words[LayersShape::kTag]))),
        attention_(c, angles, params, kv, mailbox_, b),
        qkv_(product(c.qkv_width(), c.d_model, c.qkv_lanes, {c.qkv_at}, c.x_words(), c.qkv_gain(), {0, 1, 2})),
        output_(
            product(c.d_model, c.q_width(), c.square_lanes, {c.output_at}, c.attention_words(), c.output_gain(), {3})),
        glu_(product(c.d_ff, c.d_model, c.glu_lanes, {c.gate_at, c.up_at}, c.middle_words(), c.glu_gain(), {4, 5})),
        down_(product(c.d_model, c.d_ff, c.wide_lanes, {c.down_at}, c.ffn_words(), c.down_gain(), {6})) {}

  void run(const Words& words) {
    auto first_tag = let("first_tag", (last_tag_ + 1u) & kTagMask);
    residual_.load(x_, first_tag);
    next_.emplace(*this);
    run_layers(*this, c_, last_tag_);
    residual_.store(x_);
    keep_last_tag(c_, words, b_, last_tag_);
  }

  // The operations of run_layers().
  struct At {
    Name<U32> layer, tag, next_tag;
  };
  At at_layer(const Name<U32>& layer, const Name<U32>& tag, const Name<U32>& next_tag) const {
    return {layer, tag, next_tag};
  }
  auto multiply_qkv(const At& at) const {
    const Prefetched for_qkv = next_->prefetched(at.layer);
    const ActivationScale x_of_qkv = quantize(qkv_, for_qkv, at.tag);
    auto newest = attention_.load_positions(at.layer);
    multiply(qkv_, at.layer, for_qkv, x_of_qkv, [&](const auto& row, const auto& dots, const auto& scale) {
      const uint32_t first_key = c_.q_width(), first_value = first_key + c_.kv_width();
      auto of_k_or_v = let("of_k_or_v", select(for_qkv.scales[2], for_qkv.scales[1], row < first_value));
      auto w_scale = let("w_scale", select(of_k_or_v, for_qkv.scales[0], row < first_key));
      put(c_.qkv_words(), row, let("value", dequantize(dots[0], scale, w_scale)), at.tag);
    });
    return newest;
  }
  void attend(const At& at, const auto& newest) const { attention_.attend(at.layer, newest, at.tag); }
  void merge(const At& at) const { attention_.merge(at.tag); }
  auto prefetch_output(const At& at) const { return prefetch(output_, at.layer); }
  auto prefetch_glu(const At& at) const { return prefetch(glu_, at.layer); }
  auto prefetch_down(const At& at) const { return prefetch(down_, at.layer); }
  void prefetch_qkv_of_next(const At& at) const {
    auto next_layer = let("next_layer", min(at.layer + 1u, c_.n_layers - 1));
    next_->prefetch(next_layer);
  }
  auto stage_output(const auto& prefetched, const At& at) const { return quantize(output_, prefetched, at.tag); }
  auto stage_glu(const auto& prefetched, const At& at) const { return quantize(glu_, prefetched, at.tag); }
  auto stage_down(const auto& prefetched, const At& at) const { return quantize(down_, prefetched, at.tag); }
  void multiply_output(const auto& prefetched, const ActivationScale& x, const At& at) const {
    multiply(output_, at.layer, prefetched, x, [&](const auto& row, const auto& dots, const auto& scale) {
      residual_.add(row, let("value", dequantize(dots[0], scale, prefetched.scales[0])), c_.middle_words(), at.tag);
    });
  }
  void multiply_glu(const auto& prefetched, const ActivationScale& x, const At& at) const {
    multiply(glu_, at.layer, prefetched, x, [&](const auto& row, const auto& dots, const auto& scale) {
      auto gate = let("gate", dequantize(dots[0], scale, prefetched.scales[0]));
      auto up = let("up", dequantize(dots[1], scale, prefetched.scales[1]));
      put(c_.ffn_words(), row, let("value", gated(c_.act, gate, up)), at.tag);
    });
  }
  void multiply_down(const auto& prefetched, const ActivationScale& x, const At& at) const {
    multiply(down_, at.layer, prefetched, x, [&](const auto& row, const auto& dots, const auto& scale) {
      residual_.add(row, let("value", dequantize(dots[0], scale, prefetched.scales[0])), c_.x_words(), at.next_tag);
    });
  }

 private:
  // The product of a layer's matrices, which have the same size, with the normed row of words at `region`.
  struct Product {
    TernaryConfig tiling;
    Share share;
    std::vector<uint32_t> matrices;  // offsets in layer 0
    uint32_t region, gain;
    std::vector<uint32_t> scales;
  };
  Product product(uint32_t rows, uint32_t cols, uint32_t lanes, std::vector<uint32_t> matrices, uint32_t region,
                  uint32_t gain, std::vector<uint32_t> scales) const {
    return {.tiling = {.rows = rows,
                       .cols = cols,
                       .caps = c_.caps,
                       .lanes = std::min(lanes, c_.caps.subgroup),
                       .rows_per_group = 1,
                       .workgroup = c_.workgroup,
                       .most_ahead = c_.most_ahead},
            .share = Share(b_, rows),
            .matrices = std::move(matrices),
            .region = region,
            .gain = gain,
            .scales = std::move(scales)};
  }

  // What a product reads of a layer besides activations. Of the weights, only those of the invocation's first row.
  struct Prefetched {
    TernaryDots dots;
    std::vector<Name<F32>> gains, scales;
  };
  std::vector<Name<U32>> starts_of(const Product& p, const Name<U32>& layer, const Name<U32>& row) const {
    auto safe = let("safe_row", min(row, p.share.end - 1u));
    std::vector<Name<U32>> starts;
    for (const uint32_t matrix : p.matrices) {
      starts.push_back(let("start", layer * c_.layer_vectors + matrix + safe * p.tiling.row_vectors()));
    }
    return starts;
  }
  uint32_t n_takes(const Product& p) const { return (p.tiling.cols + c_.workgroup - 1) / c_.workgroup; }
  bool is_whole(const Product& p, uint32_t k) const { return (k + 1) * c_.workgroup <= p.tiling.cols; }
  Name<U32> column(const Product& p, uint32_t k) const {
    return is_whole(p, k) ? let("column", b_.tid + k * c_.workgroup)
                          : let("column", min(b_.tid + k * c_.workgroup, p.tiling.cols - 1));
  }
  template <class Load>
  Prefetched prefetch_with(const Product& p, const Name<U32>& layer, const Load& load) const {
    Prefetched prefetched{TernaryDots(p.tiling, b_.tid), {}, {}};
    auto row = let("row", p.share.first + prefetched.dots.group());
    prefetched.dots.load_weights(starts_of(p, layer, row), load);
    return prefetched;
  }
  Prefetched prefetch(const Product& p, const Name<U32>& layer) const {
    Prefetched prefetched = prefetch_with(p, layer, [&](size_t, Temp<U32> i) { return w_[std::move(i)]; });
    auto at_layer = let("vectors_at", layer * c_.layer_values());
    for (uint32_t k = 0; k < n_takes(p); ++k) {
      auto i = column(p, k);
      prefetched.gains.push_back(let("gain", vectors_[at_layer + p.gain + i]));
    }
    for (const uint32_t scale : p.scales) {
      prefetched.scales.push_back(let("w_scale", vectors_[at_layer + (c_.scales() + scale)]));
    }
    return prefetched;
  }

  // What the first product of the next layer reads. Loaded before the current layer ends.
  class Next {
   public:
    explicit Next(const Layers& layers) : Next(layers, layers.prefetch(layers.qkv_, let("first_layer", 0u))) {}
    void prefetch(const Name<U32>& layer) const {
      const Prefetched prefetched = l_.prefetch(l_.qkv_, layer);
      weights_.keep(prefetched.dots);
      for (size_t i = 0; i < gains_.size(); ++i) gains_[i] = prefetched.gains[i];
      for (size_t i = 0; i < scales_.size(); ++i) scales_[i] = prefetched.scales[i];
    }
    Prefetched prefetched(const Name<U32>& layer) const {
      size_t n = 0;
      Prefetched prefetched = l_.prefetch_with(l_.qkv_, layer, weights_.load(n));
      for (const auto& gain : gains_) prefetched.gains.push_back(let("gain", gain));
      for (const auto& scale : scales_) prefetched.scales.push_back(let("w_scale", scale));
      return prefetched;
    }

   private:
    Next(const Layers& layers, const Prefetched& prefetched) : l_(layers), weights_(prefetched.dots) {
      for (const auto& gain : prefetched.gains) gains_.push_back(var("next_gain", gain));
      for (const auto& scale : prefetched.scales) scales_.push_back(var("next_scale", scale));
    }

    const Layers& l_;
    KeptWeights weights_;
    std::vector<Var<F32>> gains_, scales_;
  };

  void put(uint32_t region, const Name<U32>& row, const Name<F32>& value, const Name<U32>& tag) const {
    auto place = let("place", row + region);
    mailbox_.publish(place, value, tag);
  }
  // Norms and quantizes the row of n values at words[region] into staged_, like NormedRow. It only uses shuffles: on
  // NVIDIA GPUs (driver 580) subgroupAdd and subgroupMax of integers gave 0 in some variants of this kernel.
  ActivationScale quantize(const Product& p, const Prefetched& prefetched, const Name<U32>& tag) const {
    const uint32_t wg = c_.workgroup, n = p.tiling.cols;
    const auto& gains = prefetched.gains;
    std::vector<Name<U32>> places;
    for (uint32_t k = 0; k < n_takes(p); ++k) {
      auto i = column(p, k);
      places.push_back(let("place", i + p.region));
    }
    auto last = let("last_place", e(p.region + n - 1));  // all lanes poll the same word, which costs fewer loads
    const auto values = mailbox_.wait(places, tag, {.at = last});
    auto squares = var("squares", 0.0f);
    auto largest = var("largest", 0.0f);
    std::vector<Name<F32>> weighted;
    for (uint32_t k = 0; k < n_takes(p); ++k) {
      weighted.push_back(let("vg", values[k] * gains[k]));
      largest = max(largest, abs(weighted[k]));  // reading the last value again changes nothing
      if (is_whole(p, k)) {
        squares += values[k] * values[k];
      } else {
        when(b_.tid + k * wg < n, [&] { squares += values[k] * values[k]; });
      }
    }
    auto my_squares = let("my_squares", squares);
    auto my_largest = let("my_largest", largest);
    const uint32_t lanes = c_.caps.subgroup, parts = wg / lanes;
    CHECK(parts <= lanes);
    auto s = reduce_lanes(Reduce::kSum, c_.caps, my_squares, b_.tid, lanes, wg);
    auto l = reduce_lanes(Reduce::kMax, c_.caps, my_largest, b_.tid, lanes, wg);
    auto group_stats = shared<Vec2<F32>>("group_stats", parts);
    when((b_.tid & (lanes - 1)) == 0u, [&] { group_stats[b_.tid / lanes] = vec2f(s, l); });
    workgroupBarrier();
    auto of_group = let("of_group", group_stats[b_.tid & (parts - 1)]);
    auto all_squares = reduce_lanes(Reduce::kSum, c_.caps, at(of_group, 0), b_.tid, parts, wg);
    auto largest_of_group = let("largest_of_group", at(of_group, 1));
    auto all_largest = reduce_lanes(Reduce::kMax, c_.caps, largest_of_group, b_.tid, parts, wg);
    const auto [factor_and_scale, scale] = norm_scales(all_squares, e(all_largest), n, c_.eps);
    auto sum = var("q_sum", 0);  // each of four adjacent invocations has the sum of their four values
    auto ones = let("ones", packed<I8x4>(e(0x01010101u)));
    const uint32_t row_vectors = whole_blocks(n) / 64;
    for (uint32_t k = 0; k < n_takes(p); ++k) {
      auto q = rounded_by_adding(weighted[k] * factor_and_scale);
      auto byte = let("byte", bitcast<U32>(q) & 0xffu);
      auto next_byte = subgroupShuffleXor(byte, 1);
      auto two = let("two", byte | (next_byte << 8u));
      auto next_two = subgroupShuffleXor(two, 2);
      auto word = let("word", packed<I8x4>(two | (next_two << 16u)));
      const auto store = [&] {
        sum += dot4I8Packed(word, ones);
        when((b_.tid & 3u) == 0u, [&] {
          // Unit u of 16 values is half u % 2 of plane u/2 % 4 of block u/8.
          auto unit = let("unit", (b_.tid + k * wg) / 16u);
          auto vec = let("vec", ((unit >> 1u) & 3u) * row_vectors + (unit >> 3u) * 2u + (unit & 1u));
          auto part = let("part_of_unit", (b_.tid / 4u) % 4u);
          raw_statement(cat(staged_.text, "[", vec.text, "][", part.text, "] = ", word.text, ";"));
        });
      };
      if (is_whole(p, k)) {
        store();
      } else {
        when(b_.tid + k * wg < n, store);
      }
    }
    auto group_sum = let("my_sum", sum);
    for (uint32_t mask = 4; mask < lanes; mask *= 2) {
      auto other = subgroupShuffleXor(group_sum, mask);
      group_sum = let("group_sum", group_sum + other);
    }
    auto group_sums = shared<I32>("group_sums", parts);
    when((b_.tid & (lanes - 1)) == 0u, [&] { group_sums[b_.tid / lanes] = group_sum; });
    workgroupBarrier();
    auto sum_of_group = let("sum_of_group", group_sums[b_.tid & (parts - 1)]);
    return {scale, reduce_lanes(Reduce::kSum, c_.caps, sum_of_group, b_.tid, parts, wg)};
  }

  // Calls body(row, its dot product with each of the matrices, the scale of the activations) for the workgroup's share
  // of rows, on the first lane of each row's group.
  template <class Body>
  void multiply(const Product& p, const Name<U32>& layer, const Prefetched& prefetched, const ActivationScale& scale,
                const Body& body) const {
    const TernaryConfig& t = p.tiling;
    const uint32_t groups = t.workgroup / t.lanes;
    const auto load = [&](size_t, Temp<U32> i) { return w_[std::move(i)]; };
    const auto quads = [&]<class P>(const Name<U32>& i, const P& plane) {
      return staged_[plane * t.row_vectors() + i];
    };
    const KeptWeights kept(prefetched.dots);
    loop("first_of_groups", p.share.first, p.share.end, groups, [&](const Name<U32>& first) {
      TernaryDots dots(t, b_.tid);
      auto row = let("row", first + dots.group());
      const auto starts = starts_of(p, layer, row);
      size_t n = 0;
      dots.load_weights(starts, kept.load(n));
      const auto totals = dots.multiply(starts, load, quads);
      when(dots.lane() == 0u && row < p.share.end, [&] { body(row, totals, scale); });
      if (kept.empty()) return;
      when(first + groups < p.share.end, [&] {
        TernaryDots later(t, b_.tid);
        later.load_weights(starts_of(p, layer, let("later_row", row + groups)), load);
        kept.keep(later);
      });
    });
  }

  TernaryLayersConfig c_;
  Weights w_;
  Vectors vectors_;
  InOut<"x", F32> x_;
  LayerBuiltins b_;
  Mailbox mailbox_;
  Shared<QuantizedWords> staged_;
  Residual residual_;
  Name<U32> last_tag_;
  LayersAttention attention_;
  Product qkv_, output_, glu_, down_;
  std::optional<Next> next_;  // in run()
};

}  // namespace

uint32_t ternary_layers_workgroup_bytes(const TernaryLayersConfig& c) {
  const uint32_t subgroups = c.subgroups(),
                 of_products = (subgroups * 8 + 15) / 16 * 16 + (subgroups * 4 + 15) / 16 * 16;
  return layers_workgroup_bytes(c) + whole_blocks(c.widest_row()) + 4 * of_products;
}

TernaryLayersKernel ternary_layers(const TernaryLayersConfig& c) {
  CHECK(fits(c));
  return kernel("ternary_layers", c.workgroup,
                [&](Weights w, Vectors vectors, InOut<"x", F32> x, In<"angles", Vec2<F32>> angles, ParamsBuffer params,
                    Cache kv, Words words, WorkgroupId wg, NumWorkgroups n_wg, LocalIndex tid) {
                  writer->diagnostic_off("subgroup_uniformity");
                  Layers layers(c, w, vectors, x, angles, params, kv, words, {wg, n_wg, tid});
                  layers.run(words);
                });
}

}  // namespace tern::gpu
