// Shared by all kernels: optional device features, the layout of rows and parameters, reductions.
#pragma once

#include <bit>

#include "backend/gpu/wgsl/wgsl.h"

namespace tern::gpu {

// Device features that a kernel may use. Part of every Config whose text depends on them.
struct Caps {
  bool packed_dot = false;  // dot4I8Packed; otherwise the same sum is computed with shifts
  // The smallest subgroup size of the device, a power of two; 0 without subgroups. Kernels assume no more lanes than
  // this.
  uint32_t subgroup = 0;
  bool operator==(const Caps&) const = default;
};

// Describes a batch, in one small storage buffer (kernels with many other buffers have only one binding left). It
// begins with these words and a BatchRow for each token. The list of rows whose logits are wanted and the sequences'
// block tables follow, at offsets given by these words and rows. A decoding loop advances the buffer on the device
// (argmax.h).
using ParamsBuffer = wgsl::In<"params", wgsl::U32>;
struct BatchParams {
  uint32_t n_tokens = 0;    // rows of the batch
  uint32_t logit_rows = 0;  // index in `params` of the list of wanted logit rows, after their number
  uint32_t step = 0;        // of this decoding loop: tokens of each row that are chosen, or about to be
};
struct BatchRow {
  uint32_t pos = 0;     // in its sequence
  uint32_t table = 0;   // index in `params` of the sequence's block table
  uint32_t angles = 0;  // where the angles of position 0 begin in RoPE's table
};
inline constexpr uint32_t kNTokens = 0, kLogitRows = 1, kStep = 2, kFirstRow = 3;  // indices into `params`
inline constexpr uint32_t kRowPos = 0, kRowTable = 1, kRowAngles = 2, kRowWords = 3;

// The number of rows whose logits are wanted.
inline wgsl::Name<wgsl::U32> n_logit_rows(const ParamsBuffer& params, std::string_view name) {
  auto list = wgsl::let("list", params[kLogitRows]);
  return wgsl::let(name, params[list - 1u]);
}

// One word of a row of the batch.
template <wgsl::ValueOf<wgsl::U32> Row>
wgsl::Temp<wgsl::U32> row_word(const ParamsBuffer& params, Row&& row, uint32_t word) {
  return params[std::forward<Row>(row) * kRowWords + (kFirstRow + word)];
}

// Values of a row, rounded up to whole I2_S blocks. The padding codes of weights are 0 (quant/formats/i2_s.h), so the
// int8 activations there are never written and may be anything.
constexpr uint32_t whole_blocks(uint32_t width) { return (width + 127) / 128 * 128; }

// A row of int8 activations, in vec4s of words: whole blocks, then one vec4 with the bits of the scale and of Σq.
constexpr uint32_t quantized_meta(uint32_t width) { return whole_blocks(width) / 16; }  // index of that last vec4
constexpr uint32_t quantized_stride(uint32_t width) { return quantized_meta(width) + 1; }
constexpr uint32_t quantized_row_bytes(uint32_t width) { return quantized_stride(width) * 16; }

// Rows in groups of 16, so that the data of a subgroup matrix is contiguous: for each 32 columns the bytes of all rows,
// row by row, and at the end a vec4 (scale, sum) for each row. A group takes as many bytes as 16 rows in the layout
// above.
inline constexpr uint32_t kRowsOfGroup = 16, kColumnsOfGroup = 32;
constexpr uint32_t group_stride(uint32_t width) { return kRowsOfGroup * quantized_stride(width); }  // in vec4s
// The index of the vec4 with values 16 · unit … of a row.
template <class Row, class Unit>
auto grouped_unit(uint32_t width, const Row& row, const Unit& unit) {
  return row / kRowsOfGroup * group_stride(width) + (row % kRowsOfGroup) * 2u + (unit >> 1u) * (2 * kRowsOfGroup) +
         (unit & 1u);
}
template <class Row>
auto grouped_meta(uint32_t width, const Row& row) {
  return row / kRowsOfGroup * group_stride(width) + (row % kRowsOfGroup) + whole_blocks(width);
}

// The statistics that a norm needs before it can process the first value of a row: (Σx², max |x·gain|) for each part of
// the row. There are as many parts as the kernel that writes the row has workgroups per row, at most this many.
using NormStats = wgsl::Vec2<wgsl::F32>;
constexpr uint32_t most_stats_parts(uint32_t width) { return (width + 3) / 4; }

// Calls body(i) for i = lane + first, lane + first + step, … below n, unrolled, on `width` lanes.
template <class Body>
void unrolled_share(std::string_view name, const wgsl::Name<wgsl::U32>& lane, uint32_t width, uint32_t first,
                    uint32_t n, uint32_t step, const Body& body) {
  using namespace wgsl;
  for (; first < n; first += step) {
    auto i = let(name, lane + first);
    if (first + width <= n) {
      body(i);
    } else {
      when(i < n, [&] { body(i); });
    }
  }
}

// Dot product of four packed int8, as an instruction or with shifts.
class Dot4 {
 public:
  explicit Dot4(const Caps& caps);
  template <wgsl::ValueOf<wgsl::I8x4> A, wgsl::ValueOf<wgsl::I8x4> B>
  wgsl::Temp<wgsl::I32> operator()(A&& a, B&& b) const {
    if (native_) return wgsl::dot4I8Packed(std::forward<A>(a), std::forward<B>(b));
    return emulated_(std::forward<A>(a), std::forward<B>(b));
  }

 private:
  bool native_;
  wgsl::Function<wgsl::I32, wgsl::I8x4, wgsl::I8x4> emulated_;
};

// Packs the low eight bits of four i32 into one word.
wgsl::Name<wgsl::I8x4> pack_int8(const Caps& caps, const wgsl::Name<wgsl::Vec4<wgsl::I32>>& v);

// Rounds four scaled values to int8, and adds up the results.
template <wgsl::ValueOf<wgsl::Vec4<wgsl::F32>> V>
wgsl::Name<wgsl::Vec4<wgsl::I32>> to_int8(V&& scaled) {
  using namespace wgsl;
  auto limited =
      let("limited", clamp(round(std::forward<V>(scaled)), splat<Vec4<F32>>(-128.0f), splat<Vec4<F32>>(127.0f)));
  return let("q", call<Vec4<I32>>("vec4<i32>", limited));
}

// Rounds values in −128 … 127 by adding 1.5 · 2^23, which leaves the integer in the float's low bits. That is one
// instruction where a conversion takes several, and GPUs round and convert at a quarter of the speed of additions. The
// bits differ from those of to_int8 only if a compiler fuses the preceding product with the addition.
inline constexpr float kRoundsAdded = 12582912.0f;
inline constexpr uint32_t kRoundsAddedBits = std::bit_cast<uint32_t>(kRoundsAdded);
template <wgsl::ValueOf<wgsl::F32> V>
wgsl::Name<wgsl::I32> rounded_by_adding(V&& scaled) {
  using namespace wgsl;
  auto moved = let("moved", std::forward<V>(scaled) + kRoundsAdded);
  return let("q", bitcast<I32>(bitcast<U32>(moved) - kRoundsAddedBits));
}
// The same for four values, packed as int8.
template <wgsl::ValueOf<wgsl::Vec4<wgsl::F32>> V>
wgsl::Name<wgsl::I8x4> packed_by_adding(const Caps& caps, V&& scaled) {
  using namespace wgsl;
  auto moved = let("moved", std::forward<V>(scaled) + splat<Vec4<F32>>(kRoundsAdded));
  return pack_int8(caps, let("q", bitcast<Vec4<I32>>(moved)));
}
inline wgsl::Temp<wgsl::I32> sum_of(const wgsl::Name<wgsl::Vec4<wgsl::I32>>& q) {
  using wgsl::at;
  return at(q, 0) + at(q, 1) + at(q, 2) + at(q, 3);
}

// The bits of infinity. Compared as integers, the bits of magnitudes sort like the magnitudes, with infinity and then
// NaN last. A maximum of floats may lose NaN.
inline constexpr uint32_t kInfinityBits = 0x7F800000;
template <class V>
void add_largest(const wgsl::Var<wgsl::U32>& largest, const V& v) {
  using namespace wgsl;
  auto a = let("a", bitcast<Vec4<U32>>(abs(v)));
  auto b = let("b", max(at(a, 0), at(a, 1)));
  auto d = let("d", max(at(a, 2), at(a, 3)));
  largest = max(largest, max(b, d));
}

// Maps the bits of floats to integers with the same order.
inline wgsl::Temp<wgsl::U32> order_of(const wgsl::Name<wgsl::U32>& bits) {
  return wgsl::select(bits | 0x80000000u, ~bits, bits >= 0x80000000u);
}

template <wgsl::ValueOf<wgsl::F32> V>
wgsl::Name<wgsl::U32> key_of(V&& value) {
  auto bits = wgsl::let("float_bits", wgsl::bitcast<wgsl::U32>(std::forward<V>(value)));
  return wgsl::let("key", order_of(bits));
}

// What happens to a linear layer's results.
enum class Store {
  kSet,  // y = w·x
  kAdd,  // y += w·x
};

// What a feed-forward layer applies to its gate before multiplying it with `up`.
enum class Activation {
  kRelu2,  // relu(gate)²
  kSilu,   // gate / (1 + e^−gate)
  kGeluTanh,
  kSwigluOai,  // GluAct::kSwigluOai
};
wgsl::Temp<wgsl::F32> gated(Activation act, const wgsl::Name<wgsl::F32>& gate, const wgsl::Name<wgsl::F32>& up);

// tanh(x), accurate to a few millionths. WGSL's own may be off by 1e-5, which is too much for a score of 50. Beyond ±9
// the result is ±1.
wgsl::Name<wgsl::F32> hyperbolic_tangent(const wgsl::Name<wgsl::F32>& x);

// cap · tanh(s / cap), or s if cap is 0.
wgsl::Name<wgsl::F32> softcapped(const wgsl::Name<wgsl::F32>& s, float cap);

enum class Reduce { kSum, kMax };

namespace detail {
template <class T>
wgsl::Temp<T> combine(Reduce how, const wgsl::Name<T>& a, const wgsl::Name<T>& b) {
  return how == Reduce::kSum ? a + b : wgsl::max(a, b);
}
}  // namespace detail

// The reduction of `v` over groups of `lanes` consecutive invocations (a power of two), on every one of them. All
// invocations of the workgroup must call it. Assumes that subgroups are runs of consecutive invocations, which holds on
// every driver for one-dimensional workgroups.
template <class T>
wgsl::Name<T> reduce_lanes(Reduce how, const Caps& caps, const wgsl::Name<T>& v, wgsl::LocalIndex tid, uint32_t lanes,
                           uint32_t workgroup) {
  using namespace wgsl;
  if (lanes <= caps.subgroup) {
    Name<T> sum = v;
    for (uint32_t mask = lanes / 2; mask > 0; mask /= 2) {
      auto other = subgroupShuffleXor(sum, mask);
      sum = let("sum", detail::combine(how, sum, other));
    }
    return sum;
  }
  auto part = shared<T>("part", workgroup);
  workgroupBarrier();  // an earlier reduction may still be reading
  part[tid] = v;
  workgroupBarrier();
  auto lane = let("part_lane", tid & (lanes - 1));
  for (uint32_t s = lanes / 2; s > 0; s /= 2) {
    const auto add = [&] {
      auto a = let("a", part[tid]);
      auto b = let("b", part[tid + s]);
      part[tid] = detail::combine(how, a, b);
    };
    if (workgroup % lanes == 0) {
      when(lane < s, add);
    } else {  // the last group may be incomplete
      when(lane < s && tid + s < workgroup, add);
    }
    workgroupBarrier();
  }
  return let("sum", part[tid - lane]);
}

// The reduction of `v` over the workgroup, on every invocation.
template <class T>
wgsl::Name<T> reduce_workgroup(Reduce how, const Caps& caps, const wgsl::Name<T>& v, wgsl::LocalIndex tid,
                               uint32_t workgroup) {
  using namespace wgsl;
  const bool is_power = (workgroup & (workgroup - 1)) == 0;
  if (caps.subgroup < 4 && is_power) return reduce_lanes(how, Caps{}, v, tid, workgroup, workgroup);
  if (caps.subgroup < 4 || workgroup % caps.subgroup != 0) {  // every invocation reads all values
    auto values = shared<T>("values", workgroup);
    workgroupBarrier();
    values[tid] = v;
    workgroupBarrier();
    auto reduced = var("reduced_values", values[0u]);
    loop("i", 1u, workgroup, 1u, [&](const Name<U32>& i) {
      auto a = let("a", reduced);
      auto b = let("b", values[i]);
      reduced = detail::combine(how, a, b);
    });
    return let("reduced", reduced);
  }
  // Subgroups may be larger than caps.subgroup: each is reduced in runs of that size.
  const uint32_t parts = workgroup / caps.subgroup;
  auto mine = reduce_lanes(how, caps, v, tid, std::min(caps.subgroup, workgroup), workgroup);
  if (parts <= 1) return mine;
  auto part = shared<T>("part", parts);
  when((tid & (caps.subgroup - 1)) == 0u, [&] { part[tid / caps.subgroup] = mine; });
  workgroupBarrier();
  if (parts <= caps.subgroup && (parts & (parts - 1)) == 0) {
    auto loaded = let("loaded", part[tid & (parts - 1)]);
    return reduce_lanes(how, caps, loaded, tid, parts, workgroup);
  }
  if constexpr (std::same_as<T, F32>) {
    if (parts <= caps.subgroup) {  // pad to a power of two with neutral values
      const uint32_t lanes = std::bit_ceil(parts);
      auto lane = let("part_lane", tid & (lanes - 1));
      auto existing = let("existing", part[min(lane, parts - 1)]);
      auto loaded = how == Reduce::kMax ? existing : let("loaded", select(0.0f, existing, lane < parts));
      return reduce_lanes(how, caps, loaded, tid, lanes, workgroup);
    }
  }
  auto total = var("total", part[0u]);
  loop("i", 1u, parts, 1u, [&](auto i) {
    auto a = let("a", total);
    auto b = let("b", part[i]);
    total = detail::combine(how, a, b);
  });
  return let("reduced", total);
}

}  // namespace tern::gpu
