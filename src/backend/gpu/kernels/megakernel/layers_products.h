// The products of float_layers: their matrices and formats, and the loads that are issued before the activations
// arrive. Included only by that kernel's file.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "backend/gpu/kernels/float/int8_activations.h"
#include "backend/gpu/kernels/megakernel/input_quads.h"
#include "backend/gpu/kernels/megakernel/layer_kinds.h"
#include "backend/gpu/kernels/megakernel/layers_attention.h"
#include "base/bytes.h"

namespace tern::gpu::layers {

using namespace float_matvec;

using LayerUnits = In<"w", WeightUnits>;
using LayerScales = In<"scales", U32>;
using Kind = FloatLayersConfig::Kind;

// A buffer, indexed from `first` on.
template <class Buffer>
struct From {
  Buffer buffer;
  Name<U32> first;
  auto operator[](Temp<U32> i) const { return buffer[first + std::move(i)]; }
};

class LayersProducts {
 public:
  struct Buffers {
    LayerUnits units;
    LayerScales scales;
    Vectors vectors;
  };
  LayersProducts(const FloatLayersConfig& c, const Buffers& buffers, const LayerBuiltins& b, const Dot4& dot4)
      : c_(c), buffers_(buffers), b_(b), dot4_(dot4), kinds_(c) {}
  const LayerKinds& kinds() const { return kinds_; }

  // A row of activations in workgroup memory. There are two, used alternately, so that a row is not overwritten while
  // some invocations still multiply with it.
  struct Memory {
    Shared<Vec4<U32>> staged;
    Shared<Vec2<F32>> runs;
  };
  static Memory memory(const char* name, const char* runs, uint32_t cols) {
    return {shared<Vec4<U32>>(name, cols / Int8Row::kPiece), shared<Vec2<F32>>(runs, cols / kRun)};
  }
  // A product's matrices in one of their codings.
  struct Form {
    size_t kind;  // the first kind that has it
    std::vector<WeightCoding> codings;
    uint32_t cols, lanes;
    StagedInt8Row x;
    uint32_t units() const { return cols / codings.front().values(); }
    uint32_t rounds() const { return ceil_div(units(), lanes); }
  };
  // The product of matrices of the same size with the row of words at `region`, which is normed if there is a gain.
  struct Product {
    std::vector<FloatLayersConfig::Matrix Kind::*> matrices;
    uint32_t cols, region;
    Share share;
    std::optional<uint32_t> gain;
    std::vector<Form> forms;
    uint32_t first_out = 0;  // index of its first result
  };
  static auto codings_of(const Product& p) {
    return [&p](const Kind& kind) {
      std::vector<WeightCoding> codings;
      for (const auto matrix : p.matrices) codings.push_back((kind.*matrix).coding);
      return codings;
    };
  }
  Product product(std::vector<FloatLayersConfig::Matrix Kind::*> matrices, uint32_t rows, uint32_t cols,
                  uint32_t region, const Memory& memory, std::optional<uint32_t> gain) const {
    Product p{.matrices = std::move(matrices),
              .cols = cols,
              .region = region,
              .share = Share(b_, rows),
              .gain = gain,
              .forms = {}};
    for (const size_t kind : kinds_.forms(codings_of(p))) {
      const auto codings = codings_of(p)(kinds_.kind(kind));
      uint32_t lanes = std::min(c_.lanes, c_.caps.subgroup);
      while (lanes > 1 && lanes / 2 * codings.front().values() >= cols) lanes /= 2;
      p.forms.push_back(
          {kind, codings, cols, lanes, StagedInt8Row(codings.front(), cols, dot4_, memory.staged, memory.runs)});
    }
    return p;
  }
  // Calls body(form) for the layer's form.
  template <class Body>
  void in_form(const Product& p, const LayerAt& at, const Body& body) const {
    if (p.forms.size() == 1) return body(p.forms.front());
    for (const Form& form : p.forms) {
      auto is = kinds_.is_form(at, form.kind, codings_of(p));
      when(is, [&] { body(form); });
    }
  }

  // Weights requested ahead of time: the first ones of the invocation's first row.
  struct Prefetched {
    Name<U32> row, lane;
    std::vector<WeightPlanes> planes;
    std::vector<std::vector<Loaded>> prefetch;  // [round][matrix]
  };
  uint32_t prefetch_rounds(const Form& form) const {
    const auto n = static_cast<uint32_t>(form.codings.size());
    return std::min(form.rounds(), std::max(1u, c_.most_ahead / n));
  }
  Prefetched start(const Product& p, const Form& form, const LayerAt& at) const {
    Prefetched prefetched;
    prefetched.lane = let("lane_of_row", b_.tid & (form.lanes - 1));
    prefetched.row = let("row", p.share.first + b_.tid / form.lanes);
    for (size_t m = 0; m < p.matrices.size(); ++m) {
      const auto matrix = p.matrices[m];
      auto units_at =
          kinds_.add("units_at", at, at.units, [matrix](const Kind& kind) { return (kind.*matrix).units_at; });
      auto scales_at =
          kinds_.add("scales_at", at, at.scales, [matrix](const Kind& kind) { return (kind.*matrix).scales_at; });
      prefetched.planes.emplace_back(form.codings[m], From<LayerUnits>{buffers_.units, units_at},
                                     From<LayerScales>{buffers_.scales, scales_at});
    }
    return prefetched;
  }
  std::vector<Rows> starts_of(const Product& p, const Form& form, const Prefetched& prefetched,
                              const Name<U32>& row) const {
    auto start = let("start", min(row, p.share.end - 1u) * form.units());
    std::vector<Rows> rows;
    for (const WeightPlanes& planes : prefetched.planes) rows.push_back({&planes, {start}});
    return rows;
  }
  static bool is_whole_round(const Form& form, uint32_t k) { return (k + 1) * form.lanes <= form.units(); }
  // Past the row's end the last unit is loaded again, and left out of the sum.
  std::vector<std::vector<Loaded>> load(const Form& form, const Prefetched& prefetched, const std::vector<Rows>& rows,
                                        uint32_t from, uint32_t n) const {
    std::vector<std::vector<Loaded>> loaded;
    for (uint32_t k = from; k < from + n; ++k) {
      auto i = is_whole_round(form, k) ? let("i", prefetched.lane + k * form.lanes)
                                       : let("i", min(prefetched.lane + k * form.lanes, form.units() - 1));
      loaded.emplace_back();
      for (const Rows& m : rows) {
        auto at = let("at", m.starts.front() + i);
        auto unit = let("unit", m.w->unit(e(at)));
        loaded.back().push_back({unit, m.w->scale(at)});
      }
    }
    return loaded;
  }

  // What a product reads of a layer besides activations, requested before the activations arrive. It is kept in
  // variables if the layer may have one of several forms, or if it is requested in the layer before.
  class Prefetch {
   public:
    Prefetch(const LayersProducts& products, const Product& p, bool is_kept)
        : l_(products), p_(p), is_kept_(is_kept), has_variables_(is_kept || p.forms.size() > 1) {
      if (is_kept && p.gain) {
        for (uint32_t k = 0; k < l_.quads(p).takes(); ++k) kept_gains_.push_back(var<Vec4<F32>>("next_gain"));
      }
      if (!has_variables_) return;
      size_t n_units = 0, n_parts = 0;
      for (const Form& form : p.forms) {
        size_t parts_of_round = 0;
        for (const WeightCoding& coding : form.codings) parts_of_round += coding.has_mins() ? 2 : 1;
        n_units = std::max(n_units, l_.prefetch_rounds(form) * form.codings.size());
        n_parts = std::max(n_parts, l_.prefetch_rounds(form) * parts_of_round);
      }
      for (size_t i = 0; i < n_units; ++i) units_.push_back(var<WeightUnits>("next_unit"));
      for (size_t i = 0; i < n_parts; ++i) parts_.push_back(var<F32>("next_scale"));
    }

    void prefetch(const LayerAt& at, const Name<U32>& layer) {
      l_.in_form(p_, at, [&](const Form& form) {
        Prefetched prefetched = l_.start(p_, form, at);
        prefetched.prefetch =
            l_.load(form, prefetched, l_.starts_of(p_, form, prefetched, prefetched.row), 0, l_.prefetch_rounds(form));
        if (has_variables_) {
          keep(prefetched);
        } else {
          prefetched_ = std::move(prefetched);
        }
      });
      if (!p_.gain) return;
      auto at_layer = let("vectors_at", layer * l_.c_.layer_values() + *p_.gain);
      gains_ = l_.quads(p_).load(l_.buffers_.vectors, at_layer, l_.b_.tid);
      for (size_t i = 0; i < kept_gains_.size(); ++i) kept_gains_[i] = gains_[i];
    }
    Prefetched prefetched(const Form& form, const LayerAt& at) const {
      if (!has_variables_) return prefetched_;
      Prefetched prefetched = l_.start(p_, form, at);
      size_t unit = 0, part = 0;
      for (uint32_t k = 0; k < l_.prefetch_rounds(form); ++k) {
        prefetched.prefetch.emplace_back();
        for (const WeightCoding& coding : form.codings) {
          auto of_unit = let("unit", units_[unit++]);
          UnitScale scale{let("scale", parts_[part++]), {}};
          if (coding.has_mins()) scale.min = let("min_of_group", parts_[part++]);
          prefetched.prefetch.back().push_back({of_unit, scale});
        }
      }
      return prefetched;
    }
    std::vector<Name<Vec4<F32>>> gains() const {
      if (!is_kept_) return gains_;
      std::vector<Name<Vec4<F32>>> gains;
      for (const auto& gain : kept_gains_) gains.push_back(let("gain", gain));
      return gains;
    }
    const Product& product() const { return p_; }

   private:
    void keep(const Prefetched& prefetched) {
      size_t unit = 0, part = 0;
      for (const auto& round : prefetched.prefetch) {
        for (const Loaded& loaded : round) {
          units_[unit++] = loaded.unit;
          parts_[part++] = loaded.scale.scale;
          if (!loaded.scale.min.text.empty()) parts_[part++] = loaded.scale.min;
        }
      }
    }
    const LayersProducts& l_;
    const Product& p_;
    bool is_kept_, has_variables_;
    Prefetched prefetched_;
    std::vector<Name<Vec4<F32>>> gains_;
    std::vector<Var<WeightUnits>> units_;
    std::vector<Var<F32>> parts_;
    std::vector<Var<Vec4<F32>>> kept_gains_;
  };
  Prefetch prefetch(const Product& p, const LayerAt& at, const Name<U32>& layer) const {
    Prefetch prefetch(*this, p, false);
    prefetch.prefetch(at, layer);
    return prefetch;
  }

  InputQuads quads(const Product& p) const { return {c_.workgroup, p.cols}; }

 private:
  const FloatLayersConfig& c_;
  Buffers buffers_;
  LayerBuiltins b_;
  Dot4 dot4_;
  LayerKinds kinds_;
};

}  // namespace tern::gpu::layers
