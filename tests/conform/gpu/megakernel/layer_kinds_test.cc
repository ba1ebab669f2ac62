// Where the megakernel reads a layer's matrices, and which kind of layer it takes it for.
#include "backend/gpu/kernels/megakernel/layer_kinds.h"

#include "conform/gpu/gpu_bench.h"

namespace tern::conform {
namespace {

using namespace wgsl;
using Config = gpu::FloatLayersConfig;
using GpuLayerKinds = GpuConform;
TERN_FOR_EVERY_VARIANT(GpuLayerKinds);

constexpr uint32_t kWords = 4;  // per layer: its units, its scales, and the place and form of its down projection

auto down_of(const Config::Kind& kind) { return kind.down.coding; }

auto places(const Config& c) {
  return kernel("layer_places", 1, [&](Out<"y", U32> y, WorkgroupId wg) {
    const gpu::layers::LayerKinds kinds(c);
    auto layer = let("layer", wg.x);
    const auto at = kinds.at(layer);
    y[layer * kWords] = at.units;
    y[layer * kWords + 1u] = at.scales;
    y[layer * kWords + 2u] = kinds.add("down_at", at, at.units, [](const auto& kind) { return kind.down.units_at; });
    const auto forms = kinds.forms(down_of);
    for (const size_t form : forms) {
      const auto store = [&] { y[layer * kWords + 3u] = let("form", e(static_cast<uint32_t>(form))); };
      if (forms.size() == 1) {
        store();
      } else {
        when(kinds.is_form(at, form, down_of), store);
      }
    }
  });
}

// Layers of the kinds that `kind_of` returns. Odd kinds have another form of down projection.
Config config(uint32_t n_layers, size_t n_kinds, uint32_t (*kind_of)(uint32_t layer)) {
  Config c{{.n_layers = n_layers}};
  for (uint32_t k = 0; k < n_kinds; ++k) {
    Config::Kind kind{.units = 1000 + 7 * k, .scales = 100 + 3 * k * k};
    kind.down = {.coding = {.zero = k % 2}, .units_at = 500 + k};
    c.kinds.push_back(kind);
  }
  for (uint32_t layer = 0; layer < n_layers; ++layer) {
    if (n_kinds > 1) c.kinds[kind_of(layer)].layers[layer / 32] |= 1u << layer % 32;
  }
  return c;
}

TEST_P(GpuLayerKinds, EveryLayersPlaceAndForm) {
  const Config all[] = {
      config(150, 1, nullptr),
      config(36, 2, [](uint32_t layer) { return uint32_t{layer < 4 || layer >= 31 || layer % 3 == 0}; }),
      config(32, 2, [](uint32_t layer) { return layer % 2; }),
      config(128, 4, [](uint32_t layer) { return layer * layer / 5 % 4; }),
      config(65, 3, [](uint32_t layer) { return layer == 64  ? 2u
                                                : layer > 60 ? 1u
                                                             : 0u; }),
  };
  for (const Config& c : all) {
    std::vector<uint32_t> expected;
    uint32_t units = 0, scales = 0;
    for (uint32_t layer = 0; layer < c.n_layers; ++layer) {
      const Config::Kind& kind = c.kind_of(layer);
      expected.insert(expected.end(), {units, scales, units + kind.down.units_at, kind.down.coding.zero});
      units += kind.units, scales += kind.scales;
    }
    EXPECT_EQ(units, c.of_all_layers(&Config::Kind::units));
    EXPECT_EQ(scales, c.of_all_layers(&Config::Kind::scales));
    auto found = std::vector<uint32_t>(expected.size(), 99);
    bench().run(places(c), {.x = c.n_layers}, out<U32>(found));
    EXPECT_EQ(found, expected) << c.n_layers << " layers";
  }
}

}  // namespace
}  // namespace tern::conform
