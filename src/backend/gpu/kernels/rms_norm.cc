#include "backend/gpu/kernels/rms_norm.h"

namespace tern::gpu {

using namespace wgsl;

namespace {

// Each invocation keeps its vec4s of the row in registers, so that the row is read only once.
uint32_t vectors_per_invocation(const RmsNormConfig& c) {
  CHECK(c.width % 4 == 0);
  return (c.width / 4 + c.workgroup - 1) / c.workgroup;
}

// Calls body(k, i) for this invocation's vec4s, unrolled, with a guard only where the row does not fill the last round.
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

template <class Body>
void loop_over_row(const RmsNormConfig& c, const LocalIndex& tid, Body&& body) {
  loop("i", tid, c.width / 4, c.workgroup, std::forward<Body>(body));
}

constexpr uint32_t kNanBits = 0x7FC00000;

// Quantizes the row and writes it with its scale and sum. each_value(body) and each_again(body) call the body for this
// invocation's vec4s: the former with (v), to find the largest value; the latter with (v, i), to write.
template <class Each, class Again>
void write_quantized(const RmsNormConfig& c, const Each& each_value, const Again& each_again, const Out<"y", I8x4>& y,
                     const WorkgroupId& wg, const LocalIndex& tid) {
  auto largest = var("largest", 0u);
  each_value([&](const auto& v) { add_largest(largest, v); });
  auto mine = let("mine", largest);
  auto top = reduce_workgroup(Reduce::kMax, c.caps, mine, tid, c.workgroup);
  auto scale = let("scale", 127.0f / max(bitcast<F32>(top), 1e-5f));
  auto base = let("base", wg.y * (4 * quantized_stride(c.width)));
  auto sum = var("sum", 0);
  each_again([&](const auto& v, const Name<U32>& i) {
    auto q = to_int8(v * scale);
    y[base + i] = pack_int8(c.caps, q);
    sum += sum_of(q);
  });
  auto my_sum = let("my_sum", sum);
  auto total = reduce_workgroup(Reduce::kSum, c.caps, my_sum, tid, c.workgroup);
  when(tid == 0u, [&] {
    const uint32_t meta = 4 * quantized_meta(c.width);
    // A row with a value that is not finite gets NaN as its scale, so that no result looks like a number.
    y[base + meta] = packed<I8x4>(select(bitcast<U32>(scale), kNanBits, top >= kInfinityBits));
    y[base + (meta + 1)] = packed<I8x4>(bitcast<U32>(total));
  });
}

// The same for vec4s that are kept in registers.
void write_quantized(const RmsNormConfig& c, const std::vector<Var<Vec4<F32>>>& values, const Out<"y", I8x4>& y,
                     const WorkgroupId& wg, const LocalIndex& tid) {
  const auto each = [&](const auto& body) {
    for (const auto& v : values) body(v);
  };
  const auto again = [&](const auto& body) {
    for_my_vectors(c, tid, [&](uint32_t k, const Name<U32>& i) { body(values[k], i); });
  };
  write_quantized(c, each, again, y, wg, tid);
}

// The same for vec4s that value(i) computes in each pass.
template <class Value>
void quantize_in_loops(const RmsNormConfig& c, const Value& value, const Out<"y", I8x4>& y, const WorkgroupId& wg,
                       const LocalIndex& tid) {
  const auto each = [&](const auto& body) {
    loop_over_row(c, tid, [&](const Name<U32>& i) { body(let("v", value(i))); });
  };
  const auto again = [&](const auto& body) {
    loop_over_row(c, tid, [&](const Name<U32>& i) { body(let("v", value(i)), i); });
  };
  write_quantized(c, each, again, y, wg, tid);
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

RmsNormAddKernel rms_norm_add(const RmsNormConfig& c, float scale) {
  return kernel(
      "rms_norm_add", c.workgroup,
      [&](In<"x", Vec4<F32>> x, In<"gain", Vec4<F32>> gain, InOut<"y", Vec4<F32>> y, WorkgroupId wg, LocalIndex tid) {
        auto first = let("first", wg.y * (c.width / 4));
        auto factor = inverse_row_rms(c, x, wg.y, tid);
        loop_over_row(c, tid, [&](const Name<U32>& i) {
          auto sum = let("sum", y[first + i] + x[first + i] * factor * gain[i]);
          y[first + i] = scale == 1 ? e(sum) : sum * scale;
        });
      });
}

HeadNormKernel head_norm(const HeadNormConfig& c) {
  return kernel("head_norm", c.workgroup, [&](InOut<"x", F32> x, In<"gain", F32> gain, WorkgroupId wg, LocalIndex tid) {
    auto head = let("head", (wg.y * c.n_heads + wg.x) * c.head_dim);
    auto factor = inverse_head_rms(c, x, head, tid);
    loop("i", tid, c.head_dim, c.workgroup, [&](const Name<U32>& i) {
      auto v = let("v", x[head + i]);
      x[head + i] = v * factor * gain[i];
    });
  });
}

QuantizeKernel quantize(const RmsNormConfig& c) {
  return kernel("quantize", c.workgroup, [&](In<"x", Vec4<F32>> x, Out<"y", I8x4> y, WorkgroupId wg, LocalIndex tid) {
    if (c.in_loops) {
      auto first = let("first", wg.y * (c.width / 4));
      return quantize_in_loops(c, [&](const Name<U32>& i) { return x[first + i]; }, y, wg, tid);
    }
    const auto values = load_row(c, x, wg, tid);
    write_quantized(c, values, y, wg, tid);
  });
}

namespace {

void rms_norm_quantize_in_loops(const RmsNormConfig& c, const In<"x", Vec4<F32>>& x, const In<"gain", Vec4<F32>>& gain,
                                const Out<"y", I8x4>& y, const WorkgroupId& wg, const LocalIndex& tid) {
  auto first = let("first", wg.y * (c.width / 4));
  auto squares = var("squares", 0.0f);
  loop_over_row(c, tid, [&](const Name<U32>& i) {
    auto v = let("v", x[first + i]);
    squares += dot(v, v);
  });
  auto mine = let("mine", squares);
  auto factor = inverse_rms(c, mine, tid);
  quantize_in_loops(c, [&](const Name<U32>& i) { return x[first + i] * factor * gain[i]; }, y, wg, tid);
}

}  // namespace

RmsNormQuantizeKernel rms_norm_quantize(const RmsNormConfig& c) {
  return kernel(
      "rms_norm_quantize", c.workgroup,
      [&](In<"x", Vec4<F32>> x, In<"gain", Vec4<F32>> gain, Out<"y", I8x4> y, WorkgroupId wg, LocalIndex tid) {
        if (c.in_loops) return rms_norm_quantize_in_loops(c, x, gain, y, wg, tid);
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
