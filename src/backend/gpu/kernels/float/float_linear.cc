#include "backend/gpu/kernels/float/int8_rows.h"
#include "backend/gpu/kernels/float/matvec_columns.h"

namespace tern::gpu {

using namespace wgsl;
using namespace float_matvec;

FloatLinearConfig fit(FloatLinearConfig c) {
  while (c.lanes > 1 && c.lanes / 2 * c.coding.values() >= c.cols) c.lanes /= 2;
  return c;
}

uint32_t staged_bytes(const FloatLinearConfig& c) {
  if (c.int8_x) return c.cols + c.cols / kRun * 8;
  return c.staged ? c.cols * 4 : 0;
}

namespace {

// Rows that are int8 already.
struct StoredInt8 {
  Int8Row row;

  void prepare() {}
  Name<F32> factor() { CHECK(false); }
  static void add_to_all(const std::vector<StoredInt8>& columns, const std::vector<Rows>& matrices,
                         const std::vector<Loaded>& loaded, const Name<U32>& i,
                         const std::vector<std::vector<Var<F32>>>& sums) {
    std::vector<const Int8Row*> rows;
    std::vector<const std::vector<Var<F32>>*> sums_of_rows;
    for (size_t column = 0; column < columns.size(); ++column) {
      rows.push_back(&columns[column].row);
      sums_of_rows.push_back(&sums[column]);
    }
    Int8Row::add_to_all(rows, matrices, loaded, i, sums_of_rows);
  }
};
std::vector<Totals> multiply(const FloatDots& dots, const std::vector<Rows>& matrices, std::deque<StoredInt8>& in) {
  std::vector<StoredInt8> columns(in.begin(), in.end());
  return dots.multiply(matrices, columns);
}

// The rows of this group: its first row, and further rows one group count apart, so that adjacent groups read adjacent
// rows.
std::vector<Name<U32>> rows_of_group(const FloatLinearConfig& c, const FloatDots& dots, const WorkgroupId& wg,
                                     const NumWorkgroups& n_wg) {
  auto first = let("first", (wg.y * n_wg.x + wg.x) * c.rows_per_workgroup() + dots.group());
  std::vector<Name<U32>> rows;
  for (uint32_t r = 0; r < c.rows_per_group; ++r) rows.push_back(let("row", first + r * (c.workgroup / c.lanes)));
  return rows;
}

// Where the rows start. Rows past the end load the last one again.
template <ValueOf<U32> Last>
std::vector<Name<U32>> starts_of(const FloatDots& dots, const std::vector<Name<U32>>& rows, Last&& last) {
  auto last_row = let("last_row", std::forward<Last>(last));
  std::vector<Name<U32>> starts;
  for (const auto& row : rows) starts.push_back(let("start", min(row, last_row) * dots.units()));
  return starts;
}

Columns<Input> one_column(const FloatLinearConfig& c, const FloatX& x, const FloatGain& gain, const WorkgroupId& wg,
                          const LocalIndex& tid) {
  CHECK(c.columns == 1);
  Columns<Input> columns;
  columns.rows.push_back(wg.z);
  columns.in.emplace_back(c, x, gain, wg.z, tid);
  return columns;
}

// Past the last row of x, the last row is loaded again but not stored. make(row): that row as an In.
template <class In, class Make>
Columns<In> several_columns(const FloatLinearConfig& c, const ParamsBuffer& params, const WorkgroupId& wg,
                            const Make& make) {
  Columns<In> columns;
  columns.n_rows = c.of_logits ? n_logit_rows(params, "n_rows") : let("n_rows", params[kNTokens]);
  auto last = let("last_x", *columns.n_rows - 1u);
  for (uint32_t column = 0; column < c.columns; ++column) {
    columns.rows.push_back(let("x_row", wg.z * c.columns + column));
    make(columns.in, let("from_x", min(columns.rows.back(), last)));
  }
  return columns;
}
Columns<Input> several_columns(const FloatLinearConfig& c, const FloatX& x, const FloatGain& gain,
                               const ParamsBuffer& params, const WorkgroupId& wg, const LocalIndex& tid) {
  return several_columns<Input>(
      c, params, wg, [&](std::deque<Input>& in, const Name<U32>& row) { in.emplace_back(c, x, gain, row, tid); });
}

// A row of a buffer, from this place on.
template <class Values>
struct RowOf {
  Values values;
  Name<U32> first;
  auto operator[](Temp<U32> i) const { return values[first + std::move(i)]; }
};

Columns<StoredInt8> int8_columns(const FloatLinearConfig& c, const Int8X& x, const Int8Runs& runs,
                                 const ParamsBuffer& params, const WorkgroupId& wg) {
  CHECK(!c.normed && !c.staged && c.coding.has_codes());
  const Dot4 dot4(c.caps);
  return several_columns<StoredInt8>(c, params, wg, [&](std::deque<StoredInt8>& in, const Name<U32>& row) {
    const RowOf<Int8X> pieces{x, let("x8_at", row * (c.cols / Int8Row::kPiece))};
    const RowOf<Int8Runs> scales{runs, let("runs_at", row * (c.cols / kRun))};
    in.push_back({Int8Row(c.coding, c.cols, dot4, pieces, scales)});
  });
}

// bias: null for none.
template <class Make>
void write_linear(const FloatLinearConfig& c, const WeightPlanes& planes, const RowRange& range,
                  const InOut<"y", F32>& y, const Grid& grid, const Make& make_columns,
                  const In<"bias", F32>* bias = nullptr) {
  const FloatDots dots(c, grid.tid);
  const auto rows = rows_of_group(c, dots, grid.wg, grid.n_wg);
  auto count = let("count", range.get<"count">());
  const auto starts = starts_of(dots, rows, count - 1u);
  auto columns = make_columns();
  const auto totals = multiply(dots, {{&planes, starts}}, columns.in);
  store_columns(dots, columns, rows, count, totals, [&](const Name<U32>& row, const Totals& of_row, size_t r) {
    auto index = let("index", row * c.rows + range.get<"first">() + rows[r]);
    auto result = bias ? let("biased", of_row[r] + (*bias)[range.get<"first">() + rows[r]]) : of_row[r];
    if (c.store == Store::kAdd) {
      y[index] += result;
    } else {
      y[index] = result;
    }
  });
}

// Calls take(index in y, result, the row's number in the workgroup) on the invocation that has the result.
template <class Make, class Take>
void glu_results(const FloatLinearConfig& c, const WeightPlanes& gate, const WeightPlanes& up, const Grid& grid,
                 const Make& make_columns, const Take& take) {
  CHECK(c.up_coding.words == c.coding.words);  // units have the same size, so both matrices share the loads of x
  const FloatDots dots(c, grid.tid);
  const auto rows = rows_of_group(c, dots, grid.wg, grid.n_wg);
  const auto starts = starts_of(dots, rows, e(c.rows - 1));
  auto columns = make_columns();
  const auto totals = multiply(dots, {{&gate, starts}, {&up, starts}}, columns.in);
  store_columns(dots, columns, rows, c.rows, totals, [&](const Name<U32>& row, const Totals& of_row, size_t r) {
    auto index = let("index", row * c.rows + rows[r]);
    take(index, gated(c.act, of_row[r], of_row[rows.size() + r]),
         dots.group() + static_cast<uint32_t>(r) * (c.workgroup / c.lanes));
  });
}
template <class Make>
void write_glu(const FloatLinearConfig& c, const WeightPlanes& gate, const WeightPlanes& up, const Out<"y", F32>& y,
               const Grid& grid, const Make& make_columns) {
  glu_results(c, gate, up, grid, make_columns,
              [&](const Name<U32>& index, Temp<F32> result, const Temp<U32>&) { y[index] = std::move(result); });
}

}  // namespace

FloatLinearKernel float_linear(const FloatLinearConfig& c) {
  return kernel(c.store == Store::kAdd ? "float_linear_add" : "float_linear", c.workgroup,
                [&](In<"w", WeightUnits> w, In<"scales", U32> scales, FloatX x, FloatGain gain, RowRange range,
                    InOut<"y", F32> y, WorkgroupId wg, NumWorkgroups n_wg, LocalIndex tid) {
                  const WeightPlanes planes(c.coding, w, scales);
                  write_linear(c, planes, range, y, {wg, n_wg, tid}, [&] { return one_column(c, x, gain, wg, tid); });
                });
}

FloatLinearBiasKernel float_linear_bias(const FloatLinearConfig& c) {
  return kernel(c.store == Store::kAdd ? "float_linear_bias_add" : "float_linear_bias", c.workgroup,
                [&](In<"w", WeightUnits> w, In<"scales", U32> scales, FloatX x, FloatGain gain, In<"bias", F32> bias,
                    RowRange range, InOut<"y", F32> y, WorkgroupId wg, NumWorkgroups n_wg, LocalIndex tid) {
                  const WeightPlanes planes(c.coding, w, scales);
                  write_linear(
                      c, planes, range, y, {wg, n_wg, tid}, [&] { return one_column(c, x, gain, wg, tid); }, &bias);
                });
}

FloatGluKernel float_glu(const FloatLinearConfig& c) {
  return kernel("float_glu", c.workgroup,
                [&](In<"w_gate", WeightUnits> w_gate, In<"gate_scales", U32> gate_scales, In<"w_up", WeightUnits> w_up,
                    In<"up_scales", U32> up_scales, FloatX x, FloatGain gain, Out<"y", F32> y, WorkgroupId wg,
                    NumWorkgroups n_wg, LocalIndex tid) {
                  const WeightPlanes gate(c.coding, w_gate, gate_scales), up(c.up_coding, w_up, up_scales);
                  write_glu(c, gate, up, y, {wg, n_wg, tid}, [&] { return one_column(c, x, gain, wg, tid); });
                });
}

FloatLinearColumnsKernel float_linear_columns(const FloatLinearConfig& c) {
  return kernel(c.store == Store::kAdd ? "float_linear_columns_add" : "float_linear_columns", c.workgroup,
                [&](In<"w", WeightUnits> w, In<"scales", U32> scales, FloatX x, FloatGain gain, RowRange range,
                    ParamsBuffer params, InOut<"y", F32> y, WorkgroupId wg, NumWorkgroups n_wg, LocalIndex tid) {
                  const WeightPlanes planes(c.coding, w, scales);
                  write_linear(c, planes, range, y, {wg, n_wg, tid},
                               [&] { return several_columns(c, x, gain, params, wg, tid); });
                });
}

FloatGluColumnsKernel float_glu_columns(const FloatLinearConfig& c) {
  return kernel("float_glu_columns", c.workgroup,
                [&](In<"w_gate", WeightUnits> w_gate, In<"gate_scales", U32> gate_scales, In<"w_up", WeightUnits> w_up,
                    In<"up_scales", U32> up_scales, FloatX x, FloatGain gain, ParamsBuffer params, Out<"y", F32> y,
                    WorkgroupId wg, NumWorkgroups n_wg, LocalIndex tid) {
                  const WeightPlanes gate(c.coding, w_gate, gate_scales), up(c.up_coding, w_up, up_scales);
                  write_glu(c, gate, up, y, {wg, n_wg, tid},
                            [&] { return several_columns(c, x, gain, params, wg, tid); });
                });
}

Int8LinearKernel int8_linear(const FloatLinearConfig& c) {
  return kernel(c.store == Store::kAdd ? "int8_linear_add" : "int8_linear", c.workgroup,
                [&](In<"w", WeightUnits> w, In<"scales", U32> scales, Int8X x, Int8Runs runs, RowRange range,
                    ParamsBuffer params, InOut<"y", F32> y, WorkgroupId wg, NumWorkgroups n_wg, LocalIndex tid) {
                  const WeightPlanes planes(c.coding, w, scales);
                  write_linear(c, planes, range, y, {wg, n_wg, tid},
                               [&] { return int8_columns(c, x, runs, params, wg); });
                });
}

Int8GluKernel int8_glu(const FloatLinearConfig& c) {
  return kernel("int8_glu", c.workgroup,
                [&](In<"w_gate", WeightUnits> w_gate, In<"gate_scales", U32> gate_scales, In<"w_up", WeightUnits> w_up,
                    In<"up_scales", U32> up_scales, Int8X x, Int8Runs runs, ParamsBuffer params, Out<"y", F32> y,
                    WorkgroupId wg, NumWorkgroups n_wg, LocalIndex tid) {
                  const WeightPlanes gate(c.coding, w_gate, gate_scales), up(c.up_coding, w_up, up_scales);
                  write_glu(c, gate, up, y, {wg, n_wg, tid}, [&] { return int8_columns(c, x, runs, params, wg); });
                });
}

Int8GluLeavingKernel int8_glu_leaving(const FloatLinearConfig& c, const WeightCoding& coding) {
  const uint32_t n = c.rows_per_workgroup();
  CHECK(c.columns == 1 && n % kRun == 0 && c.rows % kRun == 0);
  return kernel("int8_glu_leaving", c.workgroup,
                [&](In<"w_gate", WeightUnits> w_gate, In<"gate_scales", U32> gate_scales, In<"w_up", WeightUnits> w_up,
                    In<"up_scales", U32> up_scales, Int8X x, Int8Runs runs, ParamsBuffer params, Out<"y", F32> y,
                    LeftX left_x8, LeftRuns left_runs, WorkgroupId wg, NumWorkgroups n_wg, LocalIndex tid) {
                  const WeightPlanes gate(c.coding, w_gate, gate_scales), up(c.up_coding, w_up, up_scales);
                  auto results = shared<F32>("results", n);
                  glu_results(
                      c, gate, up, {wg, n_wg, tid}, [&] { return int8_columns(c, x, runs, params, wg); },
                      [&](const Name<U32>& index, Temp<F32> value, Temp<U32> row) {
                        auto result = let("result", std::move(value));
                        y[index] = result;
                        results[std::move(row)] = result;
                      });
                  workgroupBarrier();
                  auto first = let("first_left", (wg.y * n_wg.x + wg.x) * n);
                  leave_int8({{.width = c.rows, .coding = coding, .caps = c.caps, .workgroup = c.workgroup},
                              wg.z,
                              tid,
                              left_x8,
                              left_runs},
                             first, n, [&](const Name<U32>& i) { return let("kept", results[i]); });
                });
}

}  // namespace tern::gpu
