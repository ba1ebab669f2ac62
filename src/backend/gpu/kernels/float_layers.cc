#include "backend/gpu/kernels/float_layers.h"

#include <cstdint>
#include <vector>

#include "backend/gpu/kernels/float_activations.h"
#include "backend/gpu/kernels/input_quads.h"
#include "backend/gpu/kernels/layers_attention.h"
#include "base/bytes.h"

namespace tern::gpu {

using namespace wgsl;
using namespace layers;
using namespace float_matvec;

bool FloatLayersConfig::place_matrices(uint32_t bytes) {
  uint64_t units = 0, words = 0;
  const auto next = [&](Matrix& m, uint64_t rows, uint32_t cols) {
    m.units_at = static_cast<uint32_t>(units), m.scales_at = static_cast<uint32_t>(words);
    const uint64_t numbers = rows * m.coding.scales_of_row(cols);
    units = round_up(units + rows * (cols / m.coding.values()), uint64_t{std::max(bytes / 16, 1u)});
    words = round_up(words + (m.coding.has_scale_words() ? numbers : ceil_div(numbers, uint64_t{2})),
                     uint64_t{std::max(bytes / 4, 1u)});
  };
  next(qkv, qkv_width(), d_model);
  next(output, d_model, q_width());
  next(gate, d_ff, d_model);
  next(up, d_ff, d_model);
  next(down, d_model, d_ff);
  layer_units = static_cast<uint32_t>(units), layer_scales = static_cast<uint32_t>(words);
  return std::max(units, words) * n_layers <= UINT32_MAX;
}

namespace {

using LayerUnits = In<"w", WeightUnits>;
using LayerScales = In<"scales", U32>;

// A buffer from somewhere on.
template <class Buffer>
struct From {
  Buffer buffer;
  Name<U32> first;
  auto operator[](Temp<U32> i) const { return buffer[first + std::move(i)]; }
};

class FloatLayers {
 public:
  FloatLayers(const FloatLayersConfig& c, const LayerUnits& w, const LayerScales& scales, const Vectors& vectors,
              const InOut<"x", F32>& x, const In<"angles", Vec2<F32>>& angles, const ParamsBuffer& params,
              const Cache& kv, const LayerWords& words, const LayerBuiltins& b)
      : c_(c),
        w_(w),
        scales_(scales),
        vectors_(vectors),
        x_(x),
        words_(words),
        b_(b),
        dot4_(c.caps),
        exchange_(c_, words),
        residual_(c_, exchange_, b),
        last_tag_(let("last_tag", atomicLoad(words[LayersShape::kTag]))),
        attention_(c_, angles, params, kv, exchange_, b, head_norms()),
        narrow_(memory("narrow", "narrow_runs", c.d_model)),
        wide_(memory("wide", "wide_runs", std::max(c.d_ff, c.q_width()))),
        squares_(shared<F32>("squares_of_group", c.subgroups())),
        qkv_(product({&c_.qkv}, c.qkv_width(), c.d_model, c.x_words(), narrow_, c.qkv_gain())),
        output_(product({&c_.output}, c.d_model, c.q_width(), c.attention_words(), wide_, std::nullopt)),
        glu_(product({&c_.gate, &c_.up}, c.d_ff, c.d_model, c.middle_words(), narrow_, c.glu_gain())),
        down_(product({&c_.down}, c.d_model, c.d_ff, c.ffn_words(), wide_, std::nullopt)) {}

  void run() {
    auto first_tag = let("first_tag", (last_tag_ + 1u) & kTagMask);
    residual_.load(x_, first_tag);
    // What a product reads is asked for while the one before is computed, so that it is there when the activations are.
    const Next next(*this);
    loop("layer", 0u, c_.n_layers, 1u, [&](const Name<U32>& layer) {
      auto tag = let("tag", (last_tag_ + 1u + layer) & kTagMask);
      auto next_tag = let("next_tag", (tag + 1u) & kTagMask);
      const Asked for_qkv = next.asked(layer);
      const Name<F32> of_qkv = stage(qkv_, for_qkv, tag);
      const auto newest = attention_.load_positions(layer);
      multiply(qkv_, for_qkv, [&](const auto& row, const auto& dots) {
        auto place = let("place", row + c_.qkv_words());
        auto value = let("value", dots[0] * of_qkv);
        exchange_.put(place, value, tag);
      });
      attention_.attend(layer, newest, tag);
      const Asked for_output = ask(output_, layer);
      attention_.merge(tag);
      stage(output_, for_output, tag);
      const Asked for_glu = ask(glu_, layer);
      multiply(output_, for_output,
               [&](const auto& row, const auto& dots) { residual_.add(row, dots[0], c_.middle_words(), tag); });
      const Name<F32> of_glu = stage(glu_, for_glu, tag);
      const Asked for_down = ask(down_, layer);
      multiply(glu_, for_glu, [&](const auto& row, const auto& dots) {
        auto gate = let("gate", dots[0] * of_glu);
        auto up = let("up", dots[1] * of_glu);
        auto value = let("value", gated(c_.act, gate, up));
        exchange_.put(exchange_.place(c_.ffn_words(), row), value, tag);
      });
      stage(down_, for_down, tag);
      next.ask(let("next_layer", min(layer + 1u, c_.n_layers - 1)));
      multiply(down_, for_down,
               [&](const auto& row, const auto& dots) { residual_.add(row, dots[0], c_.x_words(), next_tag); });
    });
    residual_.store(x_);
    when(b_.wg.x == 0u && b_.tid == 0u,
         [&] { atomicStore(words_[LayersShape::kTag], (last_tag_ + 1u + c_.n_layers) & kTagMask); });
  }

 private:
  // A row of activations in workgroup memory. Two take turns: who is still multiplying with one finds it as it was.
  struct Memory {
    Shared<Vec4<U32>> staged;
    Shared<Vec2<F32>> runs;
  };
  static Memory memory(const char* name, const char* runs, uint32_t cols) {
    return {shared<Vec4<U32>>(name, cols / Int8Row::kPiece), shared<Vec2<F32>>(runs, cols / kRun)};
  }
  std::optional<HeadNorms> head_norms() const {
    if (!c_.heads_normed) return std::nullopt;
    return HeadNorms{vectors_, c_.layer_values(), c_.q_gain(), c_.k_gain(), c_.head_eps};
  }

  // The product of matrices of as many rows each with the row of words from `region` on, normed where there is a gain.
  struct Product {
    std::vector<const FloatLayersConfig::Matrix*> matrices;
    uint32_t cols, region, lanes;
    Share share;
    Int8Row x;
    std::optional<uint32_t> gain;
    const WeightCoding& coding() const { return matrices.front()->coding; }
    uint32_t units() const { return cols / coding().values(); }
    uint32_t rounds() const { return ceil_div(units(), lanes); }
  };
  Product product(std::vector<const FloatLayersConfig::Matrix*> matrices, uint32_t rows, uint32_t cols, uint32_t region,
                  const Memory& memory, std::optional<uint32_t> gain) const {
    const WeightCoding& coding = matrices.front()->coding;
    uint32_t lanes = std::min(c_.lanes, c_.caps.subgroup);
    while (lanes > 1 && lanes / 2 * coding.values() >= cols) lanes /= 2;
    return {.matrices = std::move(matrices),
            .cols = cols,
            .region = region,
            .lanes = lanes,
            .share = Share(b_, rows),
            .x = Int8Row(coding, cols, dot4_, memory.staged, memory.runs),
            .gain = gain};
  }

  // What a product reads of a layer beside activations: of weights, the first of the invocation's first row.
  struct Asked {
    Name<U32> row, lane;
    std::vector<WeightPlanes> planes;
    std::vector<std::vector<Loaded>> ahead;  // of a round, of each matrix
    std::vector<Name<Vec4<F32>>> gains;
  };
  uint32_t rounds_ahead(const Product& p) const {
    const auto n = static_cast<uint32_t>(p.matrices.size());
    return std::min(p.rounds(), std::max(1u, c_.most_ahead / n));
  }
  Asked start(const Product& p, const Name<U32>& layer) const {
    Asked asked;
    asked.lane = let("lane_of_row", b_.tid & (p.lanes - 1));
    asked.row = let("row", p.share.first + b_.tid / p.lanes);
    for (const FloatLayersConfig::Matrix* m : p.matrices) {
      auto units_at = let("units_at", layer * c_.layer_units + m->units_at);
      auto scales_at = let("scales_at", layer * c_.layer_scales + m->scales_at);
      asked.planes.emplace_back(m->coding, From<LayerUnits>{w_, units_at}, From<LayerScales>{scales_, scales_at});
    }
    return asked;
  }
  Asked ask(const Product& p, const Name<U32>& layer) const {
    Asked asked = start(p, layer);
    asked.ahead = load(p, asked, starts_of(p, asked, asked.row), 0, rounds_ahead(p));
    if (p.gain) {
      auto at_layer = let("vectors_at", layer * c_.layer_values() + *p.gain);
      asked.gains = quads(p).load(vectors_, at_layer, b_.tid);
    }
    return asked;
  }
  std::vector<Rows> starts_of(const Product& p, const Asked& asked, const Name<U32>& row) const {
    auto start = let("start", min(row, p.share.end - 1u) * p.units());
    std::vector<Rows> rows;
    for (const WeightPlanes& planes : asked.planes) rows.push_back({&planes, {start}});
    return rows;
  }
  bool is_whole_round(const Product& p, uint32_t k) const { return (k + 1) * p.lanes <= p.units(); }
  // Past the row's end the last unit is loaded again, and left out of the sum.
  std::vector<std::vector<Loaded>> load(const Product& p, const Asked& asked, const std::vector<Rows>& rows,
                                        uint32_t from, uint32_t n) const {
    std::vector<std::vector<Loaded>> loaded;
    for (uint32_t k = from; k < from + n; ++k) {
      auto i = is_whole_round(p, k) ? let("i", asked.lane + k * p.lanes)
                                    : let("i", min(asked.lane + k * p.lanes, p.units() - 1));
      loaded.emplace_back();
      for (const Rows& m : rows) {
        auto at = let("at", m.starts.front() + i);
        auto unit = let("unit", m.w->unit(e(at)));
        loaded.back().push_back({unit, m.w->scale(at)});
      }
    }
    return loaded;
  }

  // What the first product of the next layer reads, kept over the end of a layer.
  class Next {
   public:
    explicit Next(const FloatLayers& layers) : l_(layers) {
      auto first = let("first_layer", 0u);
      const Asked asked = l_.ask(l_.qkv_, first);
      for (const auto& round : asked.ahead) {
        for (const Loaded& loaded : round) {
          units_.push_back(var("next_unit", loaded.unit));
          for_parts(loaded, [&](const Name<F32>& part) { parts_.push_back(var("next_scale", part)); });
        }
      }
      for (const auto& gain : asked.gains) gains_.push_back(var("next_gain", gain));
    }
    void ask(const Name<U32>& layer) const {
      const Asked asked = l_.ask(l_.qkv_, layer);
      size_t unit = 0, scale = 0;
      for (const auto& round : asked.ahead) {
        for (const Loaded& loaded : round) {
          units_[unit++] = loaded.unit;
          for_parts(loaded, [&](const Name<F32>& part) { parts_[scale++] = part; });
        }
      }
      for (size_t i = 0; i < gains_.size(); ++i) gains_[i] = asked.gains[i];
    }
    Asked asked(const Name<U32>& layer) const {
      Asked asked = l_.start(l_.qkv_, layer);
      size_t part = 0;
      const bool has_mins = l_.qkv_.coding().has_mins();
      for (const auto& unit : units_) {
        auto of_unit = let("unit", unit);
        UnitScale scale{let("scale", parts_[part++]), {}};
        if (has_mins) scale.min = let("min_of_group", parts_[part++]);
        asked.ahead.push_back({Loaded{of_unit, scale}});
      }
      for (const auto& gain : gains_) asked.gains.push_back(let("gain", gain));
      return asked;
    }

   private:
    template <class Body>
    static void for_parts(const Loaded& loaded, const Body& body) {
      body(loaded.scale.scale);
      if (!loaded.scale.min.text.empty()) body(loaded.scale.min);
    }
    const FloatLayers& l_;
    std::vector<Var<WeightUnits>> units_;
    std::vector<Var<F32>> parts_;
    std::vector<Var<Vec4<F32>>> gains_;
  };

  InputQuads quads(const Product& p) const { return {c_.workgroup, p.cols}; }

  // The product's activations into workgroup memory. What results are multiplied with: the norm's factor.
  Name<F32> stage(const Product& p, const Asked& asked, const Name<U32>& tag) const {
    const InputQuads in = quads(p);
    const auto values = in.take(exchange_, p.region, b_.tid, tag);
    std::optional<Var<F32>> squares;
    if (p.gain) squares = var("squares", 0.0f);
    for (uint32_t k = 0; k < in.takes(); ++k) {
      const auto& v = values[k];
      auto value = p.gain ? let("weighted", v * asked.gains[k]) : v;
      auto most = greatest_of(value);
      // By shuffles: an NVIDIA driver lost the results of subgroupMax of integers in some of these kernels.
      auto of_run = reduce_lanes(Reduce::kMax, c_.caps, most, b_.tid, kRun / 4, c_.workgroup);
      auto word = pack_int8(c_.caps, let("q4", call<Vec4<I32>>("vec4<i32>", round(value * to_int8(of_run)))));
      Name<F32> sum = most;  // nobody reads it but where sums are needed
      if (p.x.needs_sums()) {
        auto ones = let("ones", packed<I8x4>(e(0x01010101u)));
        auto of_quad = let("sum_of_quad", f32(dot4_(word, ones)));
        sum = reduce_lanes(Reduce::kSum, c_.caps, of_quad, b_.tid, kRun / 4, c_.workgroup);
      }
      // A piece is stored by one of the four that have its words: parts of a vector are not stored by several.
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
          p.x.store_piece(piece, piece_words);
        });
        when((b_.tid & (kRun / 4 - 1)) == 0u, [&] {
          auto run = let("run_of_row", i / (kRun / 4));
          auto scale = let("run_scale", of_run / 127.0f);
          p.x.store_run(run, scale, sum);
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
    when((b_.tid & (lanes - 1)) == 0u, [&] { squares_[b_.tid / lanes] = of_group; });
    workgroupBarrier();
    auto part = let("squares_part", squares_[b_.tid & (parts - 1)]);
    auto all = reduce_lanes(Reduce::kSum, c_.caps, part, b_.tid, parts, c_.workgroup);
    return let("norm_factor", 1.0f / sqrt(all / static_cast<float>(p.cols) + c_.eps));
  }

  // body(row, its dot product with each of the matrices), on the first lane of the row's group, for the workgroup's
  // share of rows.
  template <class Body>
  void multiply(const Product& p, const Asked& asked, const Body& body) const {
    const uint32_t groups = c_.workgroup / p.lanes;
    const auto one = [&](const Name<U32>& row, const std::vector<Rows>& rows,
                         const std::vector<std::vector<Loaded>>& ahead) {
      std::vector<Var<F32>> sums;
      for (size_t m = 0; m < p.matrices.size(); ++m) sums.push_back(var("acc", 0.0f));
      const auto add = [&](const std::vector<std::vector<Loaded>>& loaded, uint32_t from) {
        for (uint32_t k = 0; k < loaded.size(); ++k) {
          auto i = let("i", asked.lane + (from + k) * p.lanes);
          if (is_whole_round(p, from + k)) {
            p.x.add(rows, loaded[k], i, sums);
          } else {
            when(i < p.units(), [&] { p.x.add(rows, loaded[k], i, sums); });
          }
        }
      };
      add(ahead, 0);
      for (uint32_t from = rounds_ahead(p); from < p.rounds(); from += rounds_ahead(p)) {
        add(load(p, asked, rows, from, std::min(rounds_ahead(p), p.rounds() - from)), from);
      }
      std::vector<Name<F32>> totals;
      for (const Var<F32>& sum : sums) {
        auto mine = let("mine", sum);
        totals.push_back(reduce_lanes(Reduce::kSum, c_.caps, mine, b_.tid, p.lanes, c_.workgroup));
      }
      when(asked.lane == 0u && row < p.share.end, [&] { body(row, totals); });
    };
    one(asked.row, starts_of(p, asked, asked.row), asked.ahead);
    loop("more", p.share.first + groups, p.share.end, groups, [&](const Name<U32>& more) {
      auto row = let("row", more + b_.tid / p.lanes);
      const auto rows = starts_of(p, asked, row);
      one(row, rows, load(p, asked, rows, 0, rounds_ahead(p)));
    });
  }

  FloatLayersConfig c_;
  LayerUnits w_;
  LayerScales scales_;
  Vectors vectors_;
  InOut<"x", F32> x_;
  LayerWords words_;
  LayerBuiltins b_;
  Dot4 dot4_;
  Exchange exchange_;
  Residual residual_;
  Name<U32> last_tag_;
  LayersAttention attention_;
  Memory narrow_, wide_;
  Shared<F32> squares_;
  Product qkv_, output_, glu_, down_;
};

}  // namespace

bool fits(const FloatLayersConfig& c) {
  const auto is_coded = [](const FloatLayersConfig::Matrix& m, uint32_t cols) {
    return m.coding.has_codes() && m.coding.group > 0 && cols % m.coding.values() == 0 && cols % kRun == 0;
  };
  return fits(static_cast<const LayersShape&>(c)) && c.words_in_quads && is_coded(c.qkv, c.d_model) &&
         is_coded(c.output, c.q_width()) && is_coded(c.gate, c.d_model) && is_coded(c.up, c.d_model) &&
         is_coded(c.down, c.d_ff) && c.gate.coding.words == c.up.coding.words &&
         (!c.heads_normed || layers::can_norm_heads(c));
}

uint32_t float_layers_workgroup_bytes(const FloatLayersConfig& c) {
  const auto in_16s = [](uint32_t bytes) { return ceil_div(bytes, 16u) * 16; };
  const auto staged = [&](uint32_t cols) { return in_16s(cols) + in_16s(cols / kRun * 8); };
  return layers_workgroup_bytes(c) + staged(c.d_model) + staged(std::max(c.d_ff, c.q_width())) +
         in_16s(4 * c.subgroups()) + (c.heads_normed ? in_16s(layers::head_norms_bytes(c)) : 0);
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
