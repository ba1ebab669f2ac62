#include "backend/gpu/kernels/rms_norm.h"

namespace tern::gpu {

using namespace wgsl;

namespace {

// Each invocation holds its vec4s of the row in registers: the row is read once.
uint32_t vectors_per_invocation(const RmsNormConfig& c) {
  CHECK(c.width % 16 == 0);
  return (c.width / 4 + c.workgroup - 1) / c.workgroup;
}

// Runs body(k, i) for this invocation's vec4s, unrolled, with a guard only where the row does not fill the last round.
template <class Body>
void for_my_vectors(const RmsNormConfig& c, const LocalIndex& tid, Body&& body) {
  const uint32_t n_vec = c.width / 4;
  for (uint32_t k = 0; k < vectors_per_invocation(c); ++k) {
    auto i = let("i", tid + k * c.workgroup);
    if ((k + 1) * c.workgroup <= n_vec) {
      body(k, i);
    } else {
      when(i < n_vec, [&] { body(k, i); });
    }
  }
}

Name<F32> inverse_rms(const RmsNormConfig& c, const Name<F32>& squares, const LocalIndex& tid) {
  auto total = reduce_workgroup(Reduce::kSum, c.caps, squares, tid, c.workgroup);
  return let("factor", 1.0f / sqrt(total / static_cast<float>(c.width) + c.eps));
}

// Quantises the vec4s that `values` holds and writes them with the row's scale and sum.
void write_quantized(const RmsNormConfig& c, const std::vector<Var<Vec4<F32>>>& values, const Out<"y", I8x4>& y,
                     const WorkgroupId& wg, const LocalIndex& tid) {
  auto largest = var("largest", 0.0f);
  for (const auto& v : values) {
    auto a = let("a", abs(v));
    auto b = let("b", max(at(a, 0), at(a, 1)));
    auto d = let("d", max(at(a, 2), at(a, 3)));
    largest = max(largest, max(b, d));
  }
  auto mine = let("mine", largest);
  auto top = reduce_workgroup(Reduce::kMax, c.caps, mine, tid, c.workgroup);
  auto scale = let("scale", 127.0f / max(top, 1e-5f));
  auto base = let("base", wg.y * (4 * quantized_stride(c.width)));
  auto sum = var("sum", 0);
  for_my_vectors(c, tid, [&](uint32_t k, const Name<U32>& i) {
    auto limited = let("limited", clamp(round(values[k] * scale), splat<Vec4<F32>>(-128.0f), splat<Vec4<F32>>(127.0f)));
    auto q = let("q", call<Vec4<I32>>("vec4<i32>", limited));
    y[base + i] = pack_int8(c.caps, q);
    sum += at(q, 0) + at(q, 1) + at(q, 2) + at(q, 3);
  });
  auto my_sum = let("my_sum", sum);
  auto total = reduce_workgroup(Reduce::kSum, c.caps, my_sum, tid, c.workgroup);
  when(tid == 0u, [&] {
    y[base + c.width / 4] = packed<I8x4>(bitcast<U32>(scale));
    y[base + (c.width / 4 + 1)] = packed<I8x4>(bitcast<U32>(total));
  });
}

// The row's vec4s, zero beyond its end.
template <class X>
std::vector<Var<Vec4<F32>>> load_row(const RmsNormConfig& c, const X& x, const WorkgroupId& wg, const LocalIndex& tid) {
  std::vector<Var<Vec4<F32>>> values;
  for (uint32_t k = 0; k < vectors_per_invocation(c); ++k) values.push_back(var<Vec4<F32>>("v"));
  auto first = let("first", wg.y * (c.width / 4));
  for_my_vectors(c, tid, [&](uint32_t k, const Name<U32>& i) { values[k] = x[first + i]; });
  return values;
}

}  // namespace

RmsNormKernel rms_norm(const RmsNormConfig& c) {
  return kernel("rms_norm", c.workgroup,
                [&](In<"x", F32> x, In<"gain", F32> gain, Out<"y", F32> y, WorkgroupId wg, LocalIndex tid) {
                  auto row = let("row", wg.y * c.width);
                  auto squares = var("squares", 0.0f);
                  loop("i", tid, c.width, c.workgroup, [&](auto i) {
                    auto v = let("v", x[row + i]);
                    squares += v * v;
                  });
                  auto mine = let("mine", squares);
                  auto factor = inverse_rms(c, mine, tid);
                  loop("i", tid, c.width, c.workgroup, [&](auto i) { y[row + i] = x[row + i] * factor * gain[i]; });
                });
}

HeadNormKernel head_norm(const HeadNormConfig& c) {
  return kernel("head_norm", c.workgroup, [&](InOut<"x", F32> x, In<"gain", F32> gain, WorkgroupId wg, LocalIndex tid) {
    auto head = let("head", (wg.y * c.n_heads + wg.x) * c.head_dim);
    auto squares = var("squares", 0.0f);
    loop("i", tid, c.head_dim, c.workgroup, [&](const Name<U32>& i) {
      auto v = let("v", x[head + i]);
      squares += v * v;
    });
    auto mine = let("mine", squares);
    auto total = reduce_workgroup(Reduce::kSum, c.caps, mine, tid, c.workgroup);
    auto factor = let("factor", 1.0f / sqrt(total / static_cast<float>(c.head_dim) + c.eps));
    loop("i", tid, c.head_dim, c.workgroup, [&](const Name<U32>& i) {
      auto v = let("v", x[head + i]);
      x[head + i] = v * factor * gain[i];
    });
  });
}

QuantizeKernel quantize(const RmsNormConfig& c) {
  return kernel("quantize", c.workgroup, [&](In<"x", Vec4<F32>> x, Out<"y", I8x4> y, WorkgroupId wg, LocalIndex tid) {
    const auto values = load_row(c, x, wg, tid);
    write_quantized(c, values, y, wg, tid);
  });
}

RmsNormQuantizeKernel rms_norm_quantize(const RmsNormConfig& c) {
  return kernel(
      "rms_norm_quantize", c.workgroup,
      [&](In<"x", Vec4<F32>> x, In<"gain", Vec4<F32>> gain, Out<"y", I8x4> y, WorkgroupId wg, LocalIndex tid) {
        const auto values = load_row(c, x, wg, tid);
        auto squares = var("squares", 0.0f);
        for (const auto& v : values) squares += dot(v, v);
        auto mine = let("mine", squares);
        auto factor = inverse_rms(c, mine, tid);
        for_my_vectors(c, tid, [&](uint32_t k, const Name<U32>& i) { values[k] = values[k] * factor * gain[i]; });
        write_quantized(c, values, y, wg, tid);
      });
}

}  // namespace tern::gpu
