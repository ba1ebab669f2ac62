// Heads and activations for the best-logits kernels, and functions that run these kernels one after another.
#pragma once

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "backend/gpu/kernels/head/best_logits.h"
#include "conform/gpu/float_data.h"

namespace tern::conform::exact_head {

using namespace wgsl;

inline constexpr float kNotANumber = std::numeric_limits<float>::quiet_NaN();

// A head with given values, and rows of activations to multiply it with.
struct HeadCase {
  HeadCase(Format format, int rows, int cols, int n, uint64_t seed)
      : stored(tensor_bytes(format, rows, cols)), x(random(static_cast<size_t>(n * cols), seed + 1)), n_x(n) {
    w = {.name = "output.weight",
         .format = format,
         .rows = rows,
         .cols = cols,
         .data = {reinterpret_cast<const std::byte*>(stored.data()), stored.size()}};
    for (int r = 0; r < rows; ++r) set_row(r, random(static_cast<size_t>(cols), seed + 2 + static_cast<uint64_t>(r)));
  }
  HeadCase(const HeadCase&) = delete;
  HeadCase& operator=(const HeadCase&) = delete;

  void set_row(int row, std::span<const float> values) {
    put_row(w, {reinterpret_cast<std::byte*>(stored.data()), stored.size()}, row, values);
  }
  std::vector<float> row(int r) const { return row_of(w, r); }
  std::vector<double> input(int i) const {
    const auto cols = static_cast<size_t>(w.cols);
    std::vector<double> values;
    for (size_t k = 0; k < cols; ++k) {
      const float v = x[static_cast<size_t>(i) * cols + k];
      values.push_back(gain.empty() ? v : v * gain[k]);
    }
    return values;
  }

  std::vector<unsigned char> stored;
  Tensor w;
  std::vector<float> x;  // [n_x, cols]
  int n_x;
  std::vector<float> gain = {};  // of a norm; empty: no norm
};

inline double length(std::span<const double> values) {
  double squares = 0;
  for (const double v : values) squares += v * v;
  return std::sqrt(squares);
}

struct Copy {
  std::vector<int8_t> codes;  // [rows, cols]
  std::vector<float> errors;  // [rows, 4]
};

inline Copy copy_of(GpuBench& bench, const HeadCase& c) {
  const Planes planes(c.w);
  const gpu::HeadCopyConfig config{.rows = static_cast<uint32_t>(c.w.rows),
                                   .cols = static_cast<uint32_t>(c.w.cols),
                                   .coding = planes.coding,
                                   .caps = bench.caps(),
                                   .lanes = 8,
                                   .workgroup = 64};
  Copy copy{poisoned<int8_t>(static_cast<size_t>(c.w.rows) * config.cols), poisoned<float>(size_t{4} * config.rows)};
  bench.run(gpu::head_copy(config), {.x = 2, .y = ceil_div(ceil_div(config.rows, config.rows_per_workgroup()), 2u)},
            in<gpu::WeightUnits>(planes.units), in<U32>(planes.scales), out<gpu::HeadCodes>(copy.codes),
            out<gpu::HeadErrors>(copy.errors));
  return copy;
}

inline std::vector<float> gain_of(const HeadCase& c) { return c.gain.empty() ? std::vector<float>(4, 1.0f) : c.gain; }

struct InputParts {
  std::vector<int8_t> parts;       // [rows, cols / 16, 2, 16]
  std::vector<float> bounds;       // [rows, 4]
  std::vector<uint32_t> greatest;  // [rows, kGreatestParts]
};

// Has room for `columns` rows of x. Rows after the last of x are left as initialized.
inline InputParts input_of(GpuBench& bench, const HeadCase& c, uint32_t columns) {
  const auto cols = static_cast<uint32_t>(c.w.cols), n = static_cast<uint32_t>(c.n_x);
  const gpu::EstimatedInputConfig config{
      .cols = cols, .normed = !c.gain.empty(), .caps = bench.caps(), .workgroup = 64};
  InputParts input{.parts = poisoned<int8_t>(size_t{columns} * cols * 2),
                   .bounds = poisoned<float>(size_t{columns} * 4),
                   .greatest = std::vector<uint32_t>(size_t{columns} * gpu::kGreatestParts, 7)};
  bench.run(gpu::estimated_input(config), {.y = n}, in<Vec4<F32>>(c.x), in<Vec4<F32>>(gain_of(c)),
            out<I8x4>(input.parts), out<gpu::HeadErrors>(input.bounds), out<U32>(input.greatest));
  return input;
}

inline gpu::EstimateConfig estimate_config(GpuBench& bench, const HeadCase& c, uint32_t columns) {
  return gpu::fit(gpu::EstimateConfig{.rows = static_cast<uint32_t>(c.w.rows),
                                      .cols = static_cast<uint32_t>(c.w.cols),
                                      .caps = bench.caps(),
                                      .lanes = 8,
                                      .rows_per_group = 2,
                                      .workgroup = 64,
                                      .columns = columns});
}

struct Estimates {
  std::vector<float> upper;        // [columns, rows]
  std::vector<uint32_t> greatest;  // [columns, kGreatestParts]
  uint32_t rows_of_workgroup = 0;
};

inline Estimates estimates_of(GpuBench& bench, const HeadCase& c, uint32_t columns, uint32_t most_ahead = 16) {
  const Copy copy = copy_of(bench, c);
  const InputParts input = input_of(bench, c, columns);
  auto config = estimate_config(bench, c, columns);
  config.most_ahead = most_ahead;
  Estimates e{.upper = poisoned<float>(size_t{columns} * config.rows),
              .greatest = input.greatest,
              .rows_of_workgroup = config.rows_per_workgroup()};
  bench.run(gpu::estimate_logits(config), {.x = 3, .y = ceil_div(config.n_workgroups(), 3u)},
            in<gpu::HeadCodes>(copy.codes), in<gpu::HeadErrors>(copy.errors), in<gpu::HeadCodes>(input.parts),
            in<gpu::HeadErrors>(input.bounds), out<F32>(e.upper), out<Atomic<U32>>(e.greatest));
  return e;
}

inline gpu::FloatLinearConfig linear_config(GpuBench& bench, const HeadCase& c, const Planes& planes) {
  return gpu::fit(gpu::FloatLinearConfig{.rows = static_cast<uint32_t>(c.w.rows),
                                         .cols = static_cast<uint32_t>(c.w.cols),
                                         .coding = planes.coding,
                                         .normed = !c.gain.empty(),
                                         .eps = kEps,
                                         .caps = bench.caps(),
                                         .lanes = 8,
                                         .rows_per_group = 2,
                                         .workgroup = 64});
}

inline std::vector<float> all_logits(GpuBench& bench, const HeadCase& c) {
  const Planes planes(c.w);
  const auto config = linear_config(bench, c, planes);
  auto y = poisoned<float>(static_cast<size_t>(c.n_x) * config.rows);
  bench.run(gpu::float_linear(config),
            {.x = ceil_div(config.rows, config.rows_per_workgroup()), .z = static_cast<uint32_t>(c.n_x)},
            in<gpu::WeightUnits>(planes.units), in<U32>(planes.scales), in<Vec4<F32>>(c.x), in<Vec4<F32>>(gain_of(c)),
            in<gpu::RowRange>(range_of(0, c.w.rows)), out<F32>(y));
  return y;
}

inline std::vector<float> best_logits(GpuBench& bench, const HeadCase& c, uint32_t n_best) {
  const auto columns = std::bit_ceil(static_cast<uint32_t>(c.n_x));
  const Estimates e = estimates_of(bench, c, columns);
  const Planes planes(c.w);
  gpu::BestLogitsConfig config{.linear = linear_config(bench, c, planes), .n_best = n_best};
  config.linear.rows_per_group = 1;
  config.linear.workgroup = 128;
  auto y = poisoned<float>(static_cast<size_t>(c.n_x) * config.linear.rows);
  bench.run(gpu::best_logits(config),
            {.x = ceil_div(config.linear.rows, config.linear.workgroup), .y = static_cast<uint32_t>(c.n_x)},
            in<gpu::WeightUnits>(planes.units), in<U32>(planes.scales), in<Vec4<F32>>(c.x), in<Vec4<F32>>(gain_of(c)),
            in<F32>(e.upper), in<U32>(e.greatest), out<U32>(y));
  return y;
}

}  // namespace tern::conform::exact_head
