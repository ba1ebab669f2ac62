// y = W·x for packed weights and int8 activations in blocks, from the file's bytes or interleaved; and act(gate) · up
// of two.
//
// A run of 32 weights and 32 activations gives an exact integer, Σ (code − zero)·q = Σ code·q − zero·Σq, which one
// fused multiply-add brings to its scale d_w·d_x. How the codes come out of the bytes: block_formats-inl.h.
//
// One token streams rows one after another and unpacks in registers. More tokens unpack some rows into a panel, which
// stays in the cache, and multiply tiles of rows × tokens from it. Both do the same float operations in the same order,
// so a token's results do not depend on its neighbours.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/block_linear.cc"
// clang-format off: this order
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "backend/cpu/block_linear.h"

#include <cstring>
#include <optional>
#include <type_traits>

#include "backend/cpu/block_kernels-inl.h"
#include "backend/cpu/cpu_target.h"
#include "backend/cpu/results-inl.h"
#include "base/check.h"
#include "quant/block_formats.h"

HWY_BEFORE_NAMESPACE();
namespace tern::cpu {
namespace HWY_NAMESPACE {
namespace block {

inline constexpr int kScaleRows = 4;  // whose scales are gathered at a time
inline constexpr int kMostStreamedTokens = 8;

// A matrix, its input in the format's order, and memory to work in.
struct Job {
  const Tensor* w;
  int n;
  const uint8_t* activations;
  RowScales scales;
  uint8_t* panel;  // kBlockPassRows rows
  const uint8_t* rows = nullptr;
  int first_row = 0;      // the one at `rows`
  size_t row_stride = 0;  // bytes

  const uint8_t* row(int r) const { return rows + static_cast<size_t>(r - first_row) * row_stride; }
};

template <class F>
void RowsForOneToken(const Job& job, int begin, int n_rows, const Results& results) {
  float y[1][kBlockPassRows] = {};
  const auto cols = static_cast<size_t>(job.w->cols);
  const uint8_t* row = job.row(begin);
  const size_t stride = job.row_stride;
  const FetchAhead ahead = blocks_ahead();
  for (int r = 0; r < n_rows; r += kScaleRows) {
    const auto n = static_cast<size_t>(std::min(kScaleRows, n_rows - r));
    // Ahead of all rows: a vector read right after the narrow writes that it covers would wait for them.
    for (size_t i = 0; i < n; ++i) GatherScales<F>(row + i * stride, cols, job.scales.row(i, cols));
    VF32 sums[kScaleRows] = {hn::Zero(DF32()), hn::Zero(DF32()), hn::Zero(DF32()), hn::Zero(DF32())};
    for (size_t i = 0; i < n; ++i, row += stride) {
      sums[i] = RowSums<F>(row, cols, job.activations, job.scales.row(i, cols), ahead);
    }
    SumLanes(sums, job.w->scale, y[0] + r);
  }
  PutTile(results, y, 0, begin, n_rows);
}

// The same for T tokens from `token` on.
template <class F, int T>
void RowsForFewTokens(const Job& job, int begin, int n_rows, int token, const Results& results) {
  float y[T][1][kBlockPassRows] = {};
  const auto cols = static_cast<size_t>(job.w->cols);
  const uint8_t* row = job.row(begin);
  const size_t stride = job.row_stride;
  const uint8_t* activations = job.activations + static_cast<size_t>(token) * Groups(cols) * kActivationBytesOf<F>;
  const FetchAhead ahead = blocks_ahead();
  for (int r = 0; r < n_rows; r += kScaleRows) {
    const auto n = static_cast<size_t>(std::min(kScaleRows, n_rows - r));
    for (size_t i = 0; i < n; ++i) GatherScales<F>(row + i * stride, cols, job.scales.row(i, cols));
    VF32 sums[T][kScaleRows];
    for (auto& token_sums : sums) {
      for (VF32& sum : token_sums) sum = hn::Zero(DF32());
    }
    for (size_t i = 0; i < n; ++i, row += stride) {
      VF32 of_row[T];
      RowSumsOfTokens<F, T>(row, cols, activations, job.scales.row(i, cols), ahead, of_row);
      for (size_t t = 0; t < T; ++t) sums[t][i] = of_row[t];
    }
    for (size_t t = 0; t < T; ++t) SumLanes(sums[t], job.w->scale, y[t][0] + r);
  }
  for (int t = 0; t < T; ++t) PutTile(results, y[t], token + t, begin, n_rows);
}

// Up to kMostStreamedTokens, as many at once as the registers hold.
template <class F>
void RowsForSomeTokens(const Job& job, int begin, int n_rows, const Results& results) {
  int token = 0;
  for (; token + kTileTokens <= job.n; token += kTileTokens) {
    RowsForFewTokens<F, kTileTokens>(job, begin, n_rows, token, results);
  }
  const int left = job.n - token;
  if constexpr (kTileTokens > 2) {
    if (left == 3) return RowsForFewTokens<F, 3>(job, begin, n_rows, token, results);
    if (left == 2) return RowsForFewTokens<F, 2>(job, begin, n_rows, token, results);
  }
  if (left == 1) RowsForFewTokens<F, 1>(job, begin, n_rows, token, results);
}

template <class F>
void RowsForTokens(const Job& job, int begin, int n_rows, const Results& results) {
  const auto cols = static_cast<size_t>(job.w->cols);
  const size_t groups = Groups(cols);
  for (int r = 0; r < n_rows; ++r) {
    UnpackRow<F>(job.row(begin + r), cols, job.scales, job.panel + static_cast<size_t>(r) * groups * kPanelBytesOf<F>);
  }
  const auto tile = [&]<int T>(std::integral_constant<int, T>, int token) {
    const uint8_t* activations = job.activations + static_cast<size_t>(token) * groups * kActivationBytesOf<F>;
    for (int r = 0; r < n_rows; r += kTileRows) {  // rows beyond the last: what the panel happens to hold
      float y[T][kTileRows];
      const uint8_t* panel = job.panel + static_cast<size_t>(r) * groups * kPanelBytesOf<F>;
      DotTile<T, kLargestOf<F>, F::kHalfScales, kMinsOf<F>>(panel, activations, groups, job.w->scale, y);
      PutTile(results, y, token, begin + r, std::min(kTileRows, n_rows - r));
    }
  };
  int token = 0;
  for (; token + kTileTokens <= job.n; token += kTileTokens) tile(std::integral_constant<int, kTileTokens>(), token);
  for (; token < job.n; ++token) tile(std::integral_constant<int, 1>(), token);
}

// A format's functions, chosen once per op. A pass computes at most kBlockPassRows rows for all tokens.
struct Kernel {
  void (*arrange)(const ops::BlockRows& in, int n, size_t cols, uint8_t* out);
  void (*pass_of_one)(const Job& job, int begin, int n_rows, const Results& results);
  void (*pass_of_some)(const Job& job, int begin, int n_rows, const Results& results);
  void (*pass)(const Job& job, int begin, int n_rows, const Results& results);
  size_t activation_bytes;
};

template <class F>
constexpr Kernel MakeKernel() {
  return {Arrange<F>, RowsForOneToken<F>, RowsForSomeTokens<F>, RowsForTokens<F>, kActivationBytesOf<F>};
}

// The kernel of records of `format`.
template <class... F>
std::optional<Kernel> RecordKernel(Format format, FormatList<F...> /*formats*/) {
  std::optional<Kernel> kernel;
  const auto look = [&]<class Type>(std::type_identity<Type>) {
    if constexpr (has_interleaved(Type::kCoding)) {
      if (Type::kId.format == format) kernel = MakeKernel<Interleaved<Type>>();
    }
  };
  (look(std::type_identity<F>()), ...);
  return kernel;
}

// The kernel of blocks as they lie in the file, for formats that have one.
std::optional<Kernel> FileKernel(Format format) {
  switch (format) {
    case Format::kQ1_0:
      return MakeKernel<Q1>();
    case Format::kQ2_0:
      return MakeKernel<Q2<kQ2_0Block>>();
    case Format::kPQ2_0:
      return MakeKernel<Q2<kPq2_0Block>>();
    case Format::kQ4_0:
      return MakeKernel<Q4>();
    case Format::kQ8_0:
      return MakeKernel<Q8>();
    case Format::kTQ2_0:
      return MakeKernel<Tq2>();
    case Format::kQ6_K:
      return MakeKernel<Q6>();
    default:
      return std::nullopt;
  }
}

// The next `bytes` of the worker's memory, for whole vectors.
template <class T>
T* Take(std::span<float>& free, size_t bytes) {
  const auto at = reinterpret_cast<uintptr_t>(free.data());
  const size_t skip = (64 - at % 64) % 64 / sizeof(float);
  const size_t floats = skip + (bytes + sizeof(float) - 1) / sizeof(float);
  CHECK(floats <= free.size());
  T* taken = reinterpret_cast<T*>(free.data() + skip);
  free = free.subspan(floats);
  return taken;
}

// A matrix with its format's functions and its input in their order. Made by a worker once it has claimed rows.
//
// A matrix that is in the file's order, though its format has a kernel for records only (because memory was short when
// the model was loaded), is made into records pass by pass.
class Operand {
 public:
  // `same_input` may be another matrix's, which serves this one too where the formats agree.
  Operand(const Tensor& w, const ops::BlockRows& in, int n, std::span<float>& free, const Operand* same_input = nullptr)
      : job_{.w = &w, .n = n, .activations = {}, .scales = {}, .panel = {}} {
    auto kernel = w.is_rearranged ? std::nullopt : FileKernel(w.format);
    const bool is_in_records = !kernel;
    if (!kernel) kernel = RecordKernel(w.format, BlockFormats());
    CHECK(kernel);
    kernel_ = *kernel;
    if (same_input && same_input->job_.w->format == w.format) {
      job_ = same_input->job_;
      job_.w = &w;
      records_ = same_input->records_;
    } else {
      take_memory(in, free);
    }
    job_.row_stride = is_in_records ? interleaved_row_bytes(w.format, w.cols) : row_bytes(w.format, w.cols);
    job_.rows = reinterpret_cast<const uint8_t*>(w.data.data());
    makes_records_ = is_in_records && !w.is_rearranged;
    if (makes_records_ && !records_) records_ = Take<std::byte>(free, kBlockPassRows * job_.row_stride);
  }

  void pass(int begin, int end, const Results& results) const {
    Job job = job_;
    if (makes_records_) {
      const uint64_t in_file = row_bytes(job.w->format, job.w->cols);
      for (int row = begin; row < end; ++row) {
        const MutableBytes record(records_ + static_cast<size_t>(row - begin) * job.row_stride, job.row_stride);
        const Bytes from = job.w->data.subspan(static_cast<uint64_t>(row) * in_file, in_file);
        interleave_row(job.w->format, from, job.w->cols, record);
      }
      job.rows = reinterpret_cast<const uint8_t*>(records_);
      job.first_row = begin;
    }
    const auto run = job.n == 1 ? kernel_.pass_of_one : is_few(job.n) ? kernel_.pass_of_some : kernel_.pass;
    run(job, begin, end - begin, results);
  }

 private:
  static bool is_few(int n) { return n <= kMostStreamedTokens; }

  void take_memory(const ops::BlockRows& in, std::span<float>& free) {
    const auto cols = static_cast<size_t>(job_.w->cols);
    const size_t records = static_cast<size_t>(job_.n) * Groups(cols);
    auto* activations = Take<uint8_t>(free, records * kernel_.activation_bytes);
    kernel_.arrange(in, job_.n, cols, activations);
    job_.activations = activations;
    const size_t scales_bytes = kScaleRows * Groups(cols) * kLanes * sizeof(uint16_t);
    job_.scales = {Take<uint16_t>(free, scales_bytes), Take<uint16_t>(free, scales_bytes)};
    std::memset(job_.scales.d, 0, scales_bytes);  // what lies past the row's end multiplies 0, so it must be finite
    std::memset(job_.scales.halves, 0, scales_bytes);
    if (job_.n > 1) job_.panel = Take<uint8_t>(free, kBlockPassRows * Groups(cols) * kMostPanelBytes);
  }

  Kernel kernel_;
  Job job_;
  bool makes_records_ = false;
  std::byte* records_ = nullptr;  // kBlockPassRows rows
};

// Calls pass(begin, end) for runs of kBlockPassRows rows.
template <class Pass>
void ForPasses(int n_rows, WorkQueue& queue, const Pass& pass) {
  queue.for_ranges(n_rows, kBlockPassRows, [&](int begin, int end) {
    for (int row = begin; row < end; row += kBlockPassRows) pass(row, std::min(row + kBlockPassRows, end));
  });
}

void Linear(const ops::FloatLinear& op, WorkQueue& queue) {
  if (op.n == 0) return;
  std::optional<Operand> w;
  const Results results(op.store, op.out, op.w->rows);
  ForPasses(op.w->rows, queue, [&](int begin, int end) {
    if (!w) {
      std::span<float> free = queue.scratch();
      w.emplace(*op.w, op.in.blocks, op.n, free);
    }
    w->pass(begin, end, results);
  });
}

// The gate's results go to the output, and the up pass over the same rows finishes them.
void Glu(const ops::FloatGlu& op, WorkQueue& queue) {
  if (op.n == 0) return;
  std::optional<Operand> gate, up;
  const Results store(ops::Store::kSet, op.out, op.w_gate->rows);
  const Results finish(op.act, op.out, op.w_gate->rows);
  ForPasses(op.w_gate->rows, queue, [&](int begin, int end) {
    if (!gate) {
      std::span<float> free = queue.scratch();
      gate.emplace(*op.w_gate, op.in.blocks, op.n, free);
      up.emplace(*op.w_up, op.in.blocks, op.n, free, &*gate);
    }
    gate->pass(begin, end, store);
    up->pass(begin, end, finish);
  });
}

}  // namespace block

void BlockLinear(const ops::FloatLinear& op, WorkQueue& queue) { block::Linear(op, queue); }
void BlockGlu(const ops::FloatGlu& op, WorkQueue& queue) { block::Glu(op, queue); }

}  // namespace HWY_NAMESPACE
}  // namespace tern::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tern::cpu {

HWY_EXPORT(BlockLinear);
HWY_EXPORT(BlockGlu);

void block_linear(const ops::FloatLinear& op, WorkQueue& queue) { HWY_DYNAMIC_DISPATCH(BlockLinear)(op, queue); }
void block_glu(const ops::FloatGlu& op, WorkQueue& queue) { HWY_DYNAMIC_DISPATCH(BlockGlu)(op, queue); }

size_t block_scratch(int cols, int n) {
  // Records of activations and panels are largest with 64-byte vectors, 13 of them for a group of 512 values (Q2_K);
  // or, where steps have two, 19 of 16 bytes for 128 values. Those of weights have 448 bytes at most.
  const size_t groups = (static_cast<size_t>(cols) + 511) / 512;
  const size_t records = static_cast<size_t>(n) + (n > 1 ? kBlockPassRows : 0);
  constexpr size_t kRecordBytes = 4 * 19 * 16, kScaleBytes = 4 * 2 * 16 * sizeof(uint16_t), kAlignment = 5 * 64;
  constexpr size_t kWeightBytes = kBlockPassRows * 448;
  return (groups * (records * kRecordBytes + kScaleBytes + kWeightBytes) + kAlignment) / sizeof(float);
}

}  // namespace tern::cpu
#endif
