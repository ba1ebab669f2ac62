// Finds a layer's matrices in a kernel for all layers, if the formats differ between layers.
#pragma once

#include <optional>
#include <vector>

#include "backend/gpu/kernels/megakernel/float_layers.h"
#include "backend/gpu/kernels/megakernel/mailbox.h"
#include "base/check.h"

namespace tern::gpu::layers {

// A layer's offsets and kind, as values of a kernel.
struct LayerAt {
  Name<U32> units, scales;           // where its parts of both buffers begin
  std::vector<Name<Bool>> is_other;  // whether its kind is kinds[1], kinds[2], …
};

class LayerKinds {
 public:
  using Kind = FloatLayersConfig::Kind;
  explicit LayerKinds(const FloatLayersConfig& c) : kinds_(c.kinds), n_layers_(c.n_layers) {}

  LayerAt at(const Name<U32>& layer) const {
    LayerAt at;
    if (kinds_.size() == 1) {
      at.units = let("units_of_layer", layer * kinds_.front().units);
      at.scales = let("scales_of_layer", layer * kinds_.front().scales);
      return at;
    }
    auto word = let("layer_word", layer / 32u);
    auto bit = let("layer_bit", layer & 31u);
    auto below = let("below", (e(1u) << bit) - 1u);  // mask of earlier layers in the same word
    auto n_first = var("n_first", layer);            // earlier layers of kinds[0]
    auto units = var("units_before", 0u), scales = var("scales_before", 0u);
    for (size_t kind = 1; kind < kinds_.size(); ++kind) {
      const Kind& k = kinds_[kind];
      auto n = var("n_before", 0u), bits = var("bits_of_kind", 0u);
      for (uint32_t w = 0; w * 32 < n_layers_; ++w) {
        auto seen = let("seen_layers", select(select(0u, e(UINT32_MAX), word > w), below, word == w));
        n += call<U32>("countOneBits", seen & k.layers[w]);
        bits = select(bits, e(k.layers[w]), word == w);
      }
      n_first = n_first - n;
      units += n * k.units;
      scales += n * k.scales;
      at.is_other.push_back(let("is_other", ((bits >> bit) & 1u) == 1u));
    }
    at.units = let("units_of_layer", units + n_first * kinds_.front().units);
    at.scales = let("scales_of_layer", scales + n_first * kinds_.front().scales);
    return at;
  }

  // first + number(kind of the layer)
  template <class Number>
  Name<U32> add(const char* name, const LayerAt& at, const Name<U32>& first, const Number& number) const {
    bool differ = false;
    for (const Kind& kind : kinds_) differ = differ || number(kind) != number(kinds_.front());
    if (!differ) return let(name, first + number(kinds_.front()));
    auto found = var("of_kind", number(kinds_.front()));
    for (size_t kind = 1; kind < kinds_.size(); ++kind) {
      found = select(found, e(number(kinds_[kind])), at.is_other[kind - 1]);
    }
    return let(name, first + found);
  }

  // The distinct values of value(kind): for each, the first kind that has it.
  template <class Value>
  std::vector<size_t> forms(const Value& value) const {
    std::vector<size_t> firsts;
    for (size_t kind = 0; kind < kinds_.size(); ++kind) {
      bool is_new = true;
      for (const size_t first : firsts) is_new = is_new && value(kinds_[first]) != value(kinds_[kind]);
      if (is_new) firsts.push_back(kind);
    }
    return firsts;
  }
  // True if value(kind of the layer) equals that of kinds[form]. Only if there are several forms.
  template <class Value>
  Name<Bool> is_form(const LayerAt& at, size_t form, const Value& value) const {
    const auto has_form = [&](size_t kind) { return value(kinds_[kind]) == value(kinds_[form]); };
    // True for one of the other kinds that share the form; or, if kinds[0] shares it, for none of the kinds that do
    // not.
    const bool has_first = has_form(0);
    std::optional<Name<Bool>> any;
    for (size_t kind = 1; kind < kinds_.size(); ++kind) {
      const Name<Bool>& is = at.is_other[kind - 1];
      if (has_form(kind) != has_first) any = any ? let("is_one_of", *any || is) : is;
    }
    CHECK(any);
    return has_first ? let("has_form", !*any) : *any;
  }
  const Kind& kind(size_t i) const { return kinds_[i]; }

 private:
  std::vector<Kind> kinds_;
  uint32_t n_layers_;
};

}  // namespace tern::gpu::layers
