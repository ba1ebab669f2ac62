#include "backend/gpu/kernels/megakernel/float_layers.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "backend/gpu/kernels/megakernel/layers_attention.h"
#include "backend/gpu/kernels/megakernel/layers_order.h"
#include "backend/gpu/kernels/megakernel/layers_products.h"
#include "base/bytes.h"

namespace tern::gpu {

using namespace wgsl;
using namespace layers;
using namespace float_matvec;

bool FloatLayersConfig::place_matrices(uint32_t bytes) {
  const uint64_t units_of_place = std::max(bytes / 16, 1u), words_of_place = std::max(bytes / 4, 1u);
  for (Kind& kind : kinds) {
    uint64_t units = 0, words = 0;
    const auto align = [&] { units = round_up(units, units_of_place), words = round_up(words, words_of_place); };
    const auto add = [&](Matrix& m, uint64_t rows, uint32_t cols) {
      m.units_at = static_cast<uint32_t>(units), m.scales_at = static_cast<uint32_t>(words);
      units += rows * (cols / m.coding.values());
      words += m.coding.scale_words(rows, cols);  // whole words: a head has a multiple of eight rows
    };
    add(kind.qk, q_width() + kv_width(), d_model);
    if (kind.v.coding != kind.qk.coding) align();
    add(kind.v, kv_width(), d_model);
    align();
    add(kind.output, d_model, q_width());
    align();
    add(kind.gate, d_ff, d_model);
    align();
    add(kind.up, d_ff, d_model);
    align();
    add(kind.down, d_model, d_ff);
    align();
    kind.units = static_cast<uint32_t>(units), kind.scales = static_cast<uint32_t>(words);
    if (std::max(units, words) > UINT32_MAX) return false;
  }
  return std::max(of_all_layers(&Kind::units), of_all_layers(&Kind::scales)) <= UINT32_MAX;
}

const FloatLayersConfig::Kind& FloatLayersConfig::kind_of(uint32_t layer) const {
  for (size_t kind = 1; kind < kinds.size(); ++kind) {
    if (kinds[kind].has(layer)) return kinds[kind];
  }
  return kinds.front();
}
bool FloatLayersConfig::has_v_alone() const {
  return std::ranges::any_of(kinds, [](const Kind& kind) { return kind.v.coding != kind.qk.coding; });
}
uint64_t FloatLayersConfig::of_all_layers(uint32_t Kind::* number) const {
  uint64_t sum = 0;
  for (uint32_t layer = 0; layer < n_layers; ++layer) sum += kind_of(layer).*number;
  return sum;
}

namespace {

class FloatLayers {
  using Product = LayersProducts::Product;
  using Form = LayersProducts::Form;
  using Prefetched = LayersProducts::Prefetched;
  using Prefetch = LayersProducts::Prefetch;
  using Memory = LayersProducts::Memory;

 public:
  FloatLayers(const FloatLayersConfig& c, const LayerUnits& w, const LayerScales& scales, const Vectors& vectors,
              const InOut<"x", F32>& x, const In<"angles", Vec2<F32>>& angles, const ParamsBuffer& params,
              const Cache& kv, const LayerWords& words, const LayerBuiltins& b)
      : c_(c),
        vectors_(vectors),
        x_(x),
        words_(words),
        b_(b),
        dot4_(c.caps),
        products_(c_, {w, scales, vectors}, b, dot4_),
        mailbox_(c_, words, b.tid),
        residual_(c_, mailbox_, b),
        last_tag_(let("last_tag", atomicLoad(words[LayersShape::kTag]))),
        attention_(c_, angles, params, kv, mailbox_, b, head_norms()),
        staged_{.narrow = LayersProducts::memory("narrow", "narrow_runs", c.d_model),
                .wide = LayersProducts::memory("wide", "wide_runs", std::max(c.d_ff, c.q_width())),
                .squares = shared<F32>("squares_of_group", c.subgroups())},
        of_layer_{
            .output = products_.product({&Kind::output}, c.d_model, c.q_width(), c.attention_words(), staged_.wide,
                                        std::nullopt),
            .glu = products_.product({&Kind::gate, &Kind::up}, c.d_ff, c.d_model, c.middle_words(), staged_.narrow,
                                     c.glu_gain()),
            .down = products_.product({&Kind::down}, c.d_model, c.d_ff, c.ffn_words(), staged_.wide, std::nullopt),
            .qkv = {}} {
    const uint32_t qk_rows = c.has_v_alone() ? c.q_width() + c.kv_width() : c.qkv_width();
    of_layer_.qkv.push_back(
        products_.product({&Kind::qk}, qk_rows, c.d_model, c.x_words(), staged_.narrow, c.qkv_gain()));
    if (!c.has_v_alone()) return;
    of_layer_.qkv.push_back(products_.product({&Kind::v}, c.kv_width(), c.d_model, c.x_words(),
                                              LayersProducts::memory("narrow_v", "narrow_v_runs", c.d_model),
                                              std::nullopt));
    of_layer_.qkv.back().first_out = qk_rows;
  }

  void run() {
    auto first_tag = let("first_tag", (last_tag_ + 1u) & kTagMask);
    residual_.load(x_, first_tag);
    for (const Product& p : of_layer_.qkv) next_.emplace_back(products_, p, true);
    prefetch_qkv(let("first_layer", 0u));
    run_layers(*this, c_, last_tag_);
    residual_.store(x_);
    keep_last_tag(c_, words_, b_, last_tag_);
  }

  // The operations of run_layers().
  struct At {
    Name<U32> layer, tag, next_tag;
    LayerAt kinds;
  };
  At at_layer(const Name<U32>& layer, const Name<U32>& tag, const Name<U32>& next_tag) const {
    return {layer, tag, next_tag, products_.kinds().at(layer)};
  }
  auto multiply_qkv(const At& at) const {
    const Name<F32> of_qkv = stage(of_layer_.qkv, next_.front().gains(), at.kinds, at.tag);
    auto newest = attention_.load_positions(at.layer);
    for (const Prefetch& prefetch : next_) {
      multiply(prefetch, at.kinds, [&](const auto& row, const auto& dots) {
        auto place = let("place", row + (c_.qkv_words() + prefetch.product().first_out));
        auto value = let("value", dots[0] * of_qkv);
        mailbox_.publish(place, value, at.tag);
      });
    }
    return newest;
  }
  void attend(const At& at, const auto& newest) const { attention_.attend(at.layer, newest, at.tag); }
  void merge(const At& at) const { attention_.merge(at.tag); }
  Prefetch prefetch_output(const At& at) const { return products_.prefetch(of_layer_.output, at.kinds, at.layer); }
  Prefetch prefetch_glu(const At& at) const { return products_.prefetch(of_layer_.glu, at.kinds, at.layer); }
  Prefetch prefetch_down(const At& at) const { return products_.prefetch(of_layer_.down, at.kinds, at.layer); }
  void prefetch_qkv_of_next(const At& at) { prefetch_qkv(let("next_layer", min(at.layer + 1u, c_.n_layers - 1))); }
  auto stage_output(const Prefetch& p, const At& at) const {
    return stage({&of_layer_.output, 1}, p.gains(), at.kinds, at.tag);
  }
  auto stage_glu(const Prefetch& p, const At& at) const {
    return stage({&of_layer_.glu, 1}, p.gains(), at.kinds, at.tag);
  }
  auto stage_down(const Prefetch& p, const At& at) const {
    return stage({&of_layer_.down, 1}, p.gains(), at.kinds, at.tag);
  }
  void multiply_output(const Prefetch& p, const Name<F32>& /*factor*/, const At& at) const {
    multiply(p, at.kinds,
             [&](const auto& row, const auto& dots) { residual_.add(row, dots[0], c_.middle_words(), at.tag); });
  }
  void multiply_glu(const Prefetch& p, const Name<F32>& factor, const At& at) const {
    multiply(p, at.kinds, [&](const auto& row, const auto& dots) {
      auto gate = let("gate", dots[0] * factor);
      auto up = let("up", dots[1] * factor);
      auto value = let("value", gated(c_.act, gate, up));
      mailbox_.publish(mailbox_.place(c_.ffn_words(), row), value, at.tag);
    });
  }
  void multiply_down(const Prefetch& p, const Name<F32>& /*factor*/, const At& at) const {
    multiply(p, at.kinds,
             [&](const auto& row, const auto& dots) { residual_.add(row, dots[0], c_.x_words(), at.next_tag); });
  }

 private:
  struct Staged {
    Memory narrow, wide;
    Shared<F32> squares;
  };
  struct OfLayer {
    Product output, glu, down;
    std::vector<Product> qkv;  // one for all, or one for queries and keys and one for values
  };

  void prefetch_qkv(const Name<U32>& layer) {
    const LayerAt at = products_.kinds().at(layer);
    for (Prefetch& prefetch : next_) prefetch.prefetch(at, layer);
  }
  std::optional<HeadNorms> head_norms() const {
    if (!c_.heads_normed) return std::nullopt;
    return HeadNorms{vectors_, c_.layer_values(), c_.q_gain(), c_.k_gain(), c_.head_eps};
  }

  // Stages activations in workgroup memory for the products that use them. Returns the factor for their results: the
  // norm's factor.
  Name<F32> stage(std::span<const Product> products, const std::vector<Name<Vec4<F32>>>& gains, const LayerAt& at,
                  const Name<U32>& tag) const {
    const Product& p = products.front();
    const InputQuads in = products_.quads(p);
    const auto values = in.take(mailbox_, p.region, b_.tid, tag);
    std::optional<Var<F32>> squares;
    if (p.gain) squares = var("squares", 0.0f);
    const auto needs_sums = [](const Form& form) { return form.x.needs_sums(); };
    const bool has_sums = std::ranges::any_of(
        products, [&](const Product& product) { return std::ranges::any_of(product.forms, needs_sums); });
    for (uint32_t k = 0; k < in.takes(); ++k) {
      const auto& v = values[k];
      auto value = p.gain ? let("weighted", v * gains[k]) : v;
      auto most = greatest_of(value);
      // By shuffles: an NVIDIA driver lost the results of integer subgroupMax in some of these kernels.
      auto of_run = reduce_lanes(Reduce::kMax, c_.caps, most, b_.tid, kRun / 4, c_.workgroup);
      auto word = packed_by_adding(c_.caps, value * to_int8(of_run));
      Name<F32> sum = most;  // only read if sums are needed
      if (has_sums) {
        auto ones = let("ones", packed<I8x4>(e(0x01010101u)));
        auto of_quad = let("sum_of_quad", f32(dot4_(word, ones)));
        sum = reduce_lanes(Reduce::kSum, c_.caps, of_quad, b_.tid, kRun / 4, c_.workgroup);
      }
      // One of the four invocations that have a piece's words stores it, because a vector is only stored whole.
      std::vector<Name<I8x4>> piece_words{word};
      const Name<U32> bits(word.text);
      for (uint32_t mask = 1; mask < 4; ++mask) {
        auto other = subgroupShuffleXor(bits, mask);
        piece_words.push_back(let("other_word", packed<I8x4>(e(other))));
      }
      in.where_there(b_.tid, k, [&] {
        auto i = let("quad", b_.tid + k * c_.workgroup);
        when((b_.tid & 3u) == 0u, [&] {
          auto piece = let("piece", i / 4u);
          for (const Product& product : products) {
            products_.in_form(product, at, [&](const Form& form) { form.x.store_piece(piece, piece_words); });
          }
        });
        when((b_.tid & (kRun / 4 - 1)) == 0u, [&] {
          auto run = let("run_of_row", i / (kRun / 4));
          auto scale = let("run_scale", of_run / 127.0f);
          for (const Product& product : products) {
            products_.in_form(product, at, [&](const Form& form) { form.x.store_run(run, scale, sum); });
          }
        });
        if (squares) *squares += dot(v, v);
      });
    }
    if (!squares) {
      workgroupBarrier();
      return {};
    }
    const uint32_t lanes = c_.caps.subgroup, parts = c_.subgroups();
    auto mine = let("my_squares", *squares);
    auto of_group = reduce_lanes(Reduce::kSum, c_.caps, mine, b_.tid, lanes, c_.workgroup);
    when((b_.tid & (lanes - 1)) == 0u, [&] { staged_.squares[b_.tid / lanes] = of_group; });
    workgroupBarrier();
    auto part = let("squares_part", staged_.squares[b_.tid & (parts - 1)]);
    auto all = reduce_lanes(Reduce::kSum, c_.caps, part, b_.tid, parts, c_.workgroup);
    return let("norm_factor", 1.0f / sqrt(all / static_cast<float>(p.cols) + c_.eps));
  }

  // Calls body(row, its dot product with each of the matrices) for the workgroup's share of rows, on the first lane of
  // each row's group.
  template <class Body>
  void multiply(const Prefetch& prefetch, const LayerAt& at, const Body& body) const {
    const Product& p = prefetch.product();
    products_.in_form(p, at, [&](const Form& form) { multiply(p, form, prefetch.prefetched(form, at), body); });
  }
  template <class Body>
  void multiply(const Product& p, const Form& form, const Prefetched& prefetched, const Body& body) const {
    const uint32_t groups = c_.workgroup / form.lanes;
    const auto one = [&](const Name<U32>& row, const std::vector<Rows>& rows,
                         const std::vector<std::vector<Loaded>>& prefetch) {
      std::vector<Var<F32>> sums;
      for (size_t m = 0; m < p.matrices.size(); ++m) sums.push_back(var("acc", 0.0f));
      const auto add = [&](const std::vector<std::vector<Loaded>>& loaded, uint32_t from) {
        for (uint32_t k = 0; k < loaded.size(); ++k) {
          auto i = let("i", prefetched.lane + (from + k) * form.lanes);
          if (LayersProducts::is_whole_round(form, from + k)) {
            form.x.add(rows, loaded[k], i, sums);
          } else {
            when(i < form.units(), [&] { form.x.add(rows, loaded[k], i, sums); });
          }
        }
      };
      add(prefetch, 0);
      for (uint32_t from = products_.prefetch_rounds(form); from < form.rounds();
           from += products_.prefetch_rounds(form)) {
        add(products_.load(form, prefetched, rows, from,
                           std::min(products_.prefetch_rounds(form), form.rounds() - from)),
            from);
      }
      std::vector<Name<F32>> totals;
      for (const Var<F32>& sum : sums) {
        auto mine = let("mine", sum);
        totals.push_back(reduce_lanes(Reduce::kSum, c_.caps, mine, b_.tid, form.lanes, c_.workgroup));
      }
      when(prefetched.lane == 0u && row < p.share.end, [&] { body(row, totals); });
    };
    one(prefetched.row, products_.starts_of(p, form, prefetched, prefetched.row), prefetched.prefetch);
    loop("more", p.share.first + groups, p.share.end, groups, [&](const Name<U32>& more) {
      auto row = let("row", more + b_.tid / form.lanes);
      const auto rows = products_.starts_of(p, form, prefetched, row);
      one(row, rows, products_.load(form, prefetched, rows, 0, products_.prefetch_rounds(form)));
    });
  }

  FloatLayersConfig c_;
  Vectors vectors_;
  InOut<"x", F32> x_;
  LayerWords words_;
  LayerBuiltins b_;
  Dot4 dot4_;
  LayersProducts products_;
  Mailbox mailbox_;
  Residual residual_;
  Name<U32> last_tag_;
  LayersAttention attention_;
  Staged staged_;
  OfLayer of_layer_;
  std::vector<Prefetch> next_;  // of qkv, for the next layer
};

}  // namespace

bool fits(const FloatLayersConfig& c) {
  const auto is_coded = [](const FloatLayersConfig::Matrix& m, uint32_t cols) {
    return m.coding.has_codes() && m.coding.group > 0 && cols % m.coding.values() == 0 && cols % kRun == 0;
  };
  const auto is_usable = [&](const FloatLayersConfig::Kind& kind) {
    return is_coded(kind.qk, c.d_model) && is_coded(kind.v, c.d_model) && is_coded(kind.output, c.q_width()) &&
           is_coded(kind.gate, c.d_model) && is_coded(kind.up, c.d_model) && is_coded(kind.down, c.d_ff) &&
           kind.gate.coding.words == kind.up.coding.words;
  };
  return fits(static_cast<const LayersShape&>(c)) && c.words_in_quads && !c.kinds.empty() &&
         c.kinds.size() <= c.kMostKinds && (c.kinds.size() == 1 || c.n_layers <= c.kMostLayersOfKinds) &&
         std::ranges::all_of(c.kinds, is_usable) && (!c.heads_normed || layers::can_norm_heads(c));
}

uint32_t float_layers_workgroup_bytes(const FloatLayersConfig& c) {
  const auto in_16s = [](uint32_t bytes) { return ceil_div(bytes, 16u) * 16; };
  const auto staged = [&](uint32_t cols) { return in_16s(cols) + in_16s(cols / kRun * 8); };
  return layers_workgroup_bytes(c) + staged(c.d_model) * (c.has_v_alone() ? 2 : 1) +
         staged(std::max(c.d_ff, c.q_width())) + in_16s(4 * c.subgroups()) +
         (c.heads_normed ? in_16s(layers::head_norms_bytes(c)) : 0);
}

FloatLayersKernel float_layers(const FloatLayersConfig& c) {
  CHECK(fits(c));
  return kernel(
      "float_layers", c.workgroup,
      [&](LayerUnits w, LayerScales scales, Vectors vectors, InOut<"x", F32> x, In<"angles", Vec2<F32>> angles,
          ParamsBuffer params, Cache kv, LayerWords words, WorkgroupId wg, NumWorkgroups n_wg, LocalIndex tid) {
        writer->diagnostic_off("subgroup_uniformity");
        FloatLayers(c, w, scales, vectors, x, angles, params, kv, words, {wg, n_wg, tid}).run();
      });
}

}  // namespace tern::gpu
