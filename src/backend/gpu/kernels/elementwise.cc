#include "backend/gpu/kernels/elementwise.h"

namespace tern::gpu {

using namespace wgsl;

RopeKernel rope(const RopeConfig& c) {
  const uint32_t half = c.rotated() / 2;
  const bool halves = !c.interleaved;
  return kernel(
      "rope", kElementwiseWorkgroup,
      [&](InOut<"x", F32> x, In<"angles", Vec2<F32>> table, ParamsBuffer params, WorkgroupId wg, LocalIndex tid) {
        for_column(c.n_heads * half, wg, tid, [&](const Name<U32>& i) {
          auto pair = let("pair", i % half);
          auto head = let("head", (wg.y * c.n_heads + i / half) * c.head_dim);
          auto at_a = let("at_a", head + (halves ? e(pair) : pair * 2u));
          auto at_b = let("at_b", at_a + (halves ? half : 1u));
          auto turns = let("turns", (row_word(params, wg.y, kRowAngles) + row_word(params, wg.y, kRowPos)) * half);
          auto angle = let("angle", table[turns + pair]);
          auto a = let("a", x[at_a]);
          auto b = let("b", x[at_b]);
          x[at_a] = a * at(angle, 0) - b * at(angle, 1);
          x[at_b] = b * at(angle, 0) + a * at(angle, 1);
        });
      });
}

namespace {

const char* name_of_mul(Activation act) {
  return act == Activation::kSilu        ? "silu_mul"
         : act == Activation::kGeluTanh  ? "gelu_mul"
         : act == Activation::kSwigluOai ? "swiglu_oai_mul"
                                         : "relu2_mul";
}

}  // namespace

GluMulKernel glu_mul(const GluMulConfig& c, Activation act) {
  return kernel(name_of_mul(act), kElementwiseWorkgroup,
                [&](In<"gate", F32> gate, In<"up", F32> up, Out<"y", F32> y, WorkgroupId wg, LocalIndex tid) {
                  for_column(c.width, wg, tid, [&](const Name<U32>& column) {
                    auto i = let("i", wg.y * c.width + column);
                    auto g = let("g", gate[i]);
                    auto u = let("u", c.up_width == 0 ? up[i] : up[wg.y * c.up_width + c.first + column]);
                    y[i] = gated(act, g, u);
                  });
                });
}

AddKernel add(const RowsConfig& c, float scale) {
  return kernel(scale == 1 ? "add" : "add_scaled", kElementwiseWorkgroup,
                [&](In<"y", F32> y, InOut<"x", F32> x, WorkgroupId wg, LocalIndex tid) {
                  for_column(c.width, wg, tid, [&](const Name<U32>& column) {
                    auto i = let("i", wg.y * c.width + column);
                    if (scale == 1) {
                      x[i] += y[i];
                    } else {
                      x[i] = (x[i] + y[i]) * scale;
                    }
                  });
                });
}

AddBiasKernel add_bias(const AddBiasConfig& c) {
  return kernel("add_bias", kElementwiseWorkgroup,
                [&](In<"bias", F32> bias, InOut<"x", F32> x, WorkgroupId wg, LocalIndex tid) {
                  for_column(c.count, wg, tid, [&](const Name<U32>& of_range) {
                    auto at = c.first == 0 ? of_range : let("at", of_range + c.first);
                    x[wg.y * c.width + at] += bias[at];
                  });
                });
}

SoftcapKernel softcap(const RowsConfig& c, float cap) {
  return kernel("softcap", kElementwiseWorkgroup, [&](InOut<"x", F32> x, WorkgroupId wg, LocalIndex tid) {
    for_column(c.width, wg, tid, [&](const Name<U32>& column) {
      auto i = let("i", wg.y * c.width + column);
      auto v = let("v", x[i]);
      x[i] = softcapped(v, cap);
    });
  });
}

SelectRowsKernel select_rows(const RowsConfig& c) {
  return kernel("select_rows", kElementwiseWorkgroup,
                [&](In<"x", F32> x, ParamsBuffer params, Out<"y", F32> y, WorkgroupId wg, LocalIndex tid) {
                  auto list = let("list", params[kLogitRows]);
                  auto row = let("row", params[list + wg.y]);
                  for_column(c.width, wg, tid,
                             [&](const Name<U32>& column) { y[wg.y * c.width + column] = x[row * c.width + column]; });
                });
}

}  // namespace tern::gpu
