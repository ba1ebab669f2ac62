#include "backend/gpu/kernels/embed.h"

namespace tern::gpu {

using namespace wgsl;

void embed_row(const EmbedConfig& c, const In<"table", WeightUnits>& table, const In<"scales", U32>& scales,
               const Name<U32>& row, const Out<"y", Vec4<F32>>& y, const Name<U32>& first_quad, const LocalIndex& tid,
               uint32_t workgroup) {
  CHECK(c.width % c.coding.values() == 0);
  const uint32_t quads = c.coding.quads();
  const WeightPlanes planes(c.coding, table, scales);
  const Unpack unpack(c.coding);
  const auto store = [&](const Name<U32>& at, const Name<U32>& i, const Name<WeightUnits>& unit, uint32_t k,
                         const Name<U32>* first) {
    auto value = let("value", unpack(unit, k, first));
    const auto put = [&](auto&& values) {
      if (c.scale == 1) {
        y[first_quad + i + k] = std::forward<decltype(values)>(values);
      } else {
        auto factor = let("factor", c.scale);
        y[first_quad + i + k] = std::forward<decltype(values)>(values) * factor;
      }
    };
    if (c.coding.group == 0) return put(value);
    const UnitScale scale = planes.scale(at);
    put(scaled(c.coding, e(value), scale));
  };
  // An invocation takes one quad of a unit if the coding can be shifted to any quad, otherwise the whole unit.
  const uint32_t step = c.coding.bits() < 16 ? 1 : quads;
  loop("i", tid * step, c.width / 4, workgroup * step, [&](const Name<U32>& i) {
    auto at = let("at", row * (c.width / c.coding.values()) + i / quads);
    auto unit = let("unit", planes.unit(e(at)));
    if (c.coding.bits() < 16) {
      auto quad = let("quad", i % quads);
      store(at, i, unit, 0, &quad);
      return;
    }
    for (uint32_t k = 0; k < quads; ++k) store(at, i, unit, k, nullptr);
  });
}

EmbedKernel embed(const EmbedConfig& c) {
  constexpr uint32_t kWorkgroup = 256;
  return kernel("embed", kWorkgroup,
                [&](In<"tokens", U32> tokens, In<"table", WeightUnits> table, In<"scales", U32> scales, RowRange range,
                    Out<"y", Vec4<F32>> y, WorkgroupId wg, LocalIndex tid) {
                  // Tokens below the range wrap around to values beyond any count.
                  auto row = let("row", tokens[wg.y] - range.get<"first">());
                  when(row < range.get<"count">(), [&] {
                    auto first = let("first_quad", wg.y * (c.width / 4));
                    embed_row(c, table, scales, row, y, first, tid, kWorkgroup);
                  });
                });
}

}  // namespace tern::gpu
