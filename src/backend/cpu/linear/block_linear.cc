// y = W·x for packed weights and int8 blocks of activations, with weights in the file's order or interleaved; and
// act(gate) · up of two matrices.
//
// A run of 32 weights and 32 activations gives an exact integer, Σ (code − zero)·q = Σ code·q − zero·Σq. One fused
// multiply-add applies its scale d_w·d_x. block_formats-inl.h unpacks the codes.
//
// A few tokens stream the rows in order and unpack in registers. More tokens unpack some rows to a panel, which stays
// in the cache, and multiply tiles of rows × tokens from it. Both do the same float operations in the same order, so a
// token's results do not depend on the batch.
//
// This file has what does not depend on one format: how ops are divided into passes, and the tiles, which depend only
// on a format's kind (block_tiles-inl.h). A format's own loops (block_kernels-inl.h) are behind the pointers of a
// Kernel (block_job-inl.h). They are most of the code and are compiled for each format and instruction set. So they are
// in three files that compile in parallel: block_file_rows.cc, block_record_rows.cc and block_k_record_rows.cc.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/linear/block_linear.cc"
// clang-format off: this order
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "backend/cpu/linear/block_linear.h"

#include <cstring>
#include <optional>

#include "backend/cpu/linear/block_job-inl.h"
#include "backend/cpu/linear/block_tiles-inl.h"
#include "backend/cpu/linear/expert_groups.h"
#include "backend/cpu/linear/interleave.h"
#include "backend/cpu/ops/results-inl.h"
#include "backend/cpu/ops/take_scratch.h"
#include "base/check.h"

HWY_BEFORE_NAMESPACE();
namespace tern::cpu {
namespace HWY_NAMESPACE {
namespace block {

inline constexpr int kMostStreamedTokens = 8;

// Streams the rows for a few tokens, with as many at once as the registers hold.
void RowsForSomeTokens(const Kernel& kernel, const Job& job, int begin, int n_rows, const Results& results) {
  for (int token = 0; token < job.n;) {
    int n = std::min(kTileTokens, job.n - token);
    while (!kernel.rows_of[n - 1]) --n;
    kernel.rows_of[n - 1](job, {.results = &results, .token = token, .row = begin, .n_rows = n_rows});
    token += n;
  }
}

void RowsForTokens(const Kernel& kernel, const Job& job, int begin, int n_rows, const Results& results) {
  const auto cols = static_cast<size_t>(job.w->cols);
  const size_t groups = Groups(cols), row_bytes = groups * kernel.panel_bytes;
  for (int r = 0; r < n_rows; ++r) {
    kernel.unpack_row(job.row(begin + r), cols, job.scales, job.panel + static_cast<size_t>(r) * row_bytes);
  }
  for (int token = 0; token < job.n;) {
    const int n = job.n - token >= kTileTokens ? kTileTokens : 1;
    const uint8_t* activations = job.activations + static_cast<size_t>(token) * groups * kernel.activation_bytes;
    const Destination to = {.results = &results, .token = token, .row = begin, .n_rows = n_rows};
    (n == 1 ? kernel.tiles_of_one : kernel.tiles)(job.panel, activations, groups, job.w->scale, to);
    token += n;
  }
}

std::optional<Kernel> KernelOfRecords(Format format) {
  const std::optional<Kernel> kernel = SmallRecordKernel(format);
  return kernel ? kernel : LargeRecordKernel(format);
}

// A matrix, its format's functions, and its input in their order. A worker makes it after it has claimed rows.
//
// If memory was short when the model was loaded, a matrix may be in the file's order although its format has only a
// kernel for records. Then each pass converts its rows to records.
class Operand {
 public:
  // Row 0 is row `first_row` of `w`. `same_input` may be another matrix's operand. Its arranged input is reused if the
  // formats are the same.
  Operand(const Tensor& w, const ops::BlockRows& in, int n, std::span<float>& free, const Operand* same_input = nullptr,
          int first_row = 0)
      : job_{.w = &w, .n = n, .activations = {}, .scales = {}, .panel = {}}, first_row_(first_row) {
    auto kernel = w.is_rearranged ? std::nullopt : FileKernel(w.format);
    const bool is_in_records = !kernel;
    if (!kernel) kernel = KernelOfRecords(w.format);
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
    job_.rows = reinterpret_cast<const uint8_t*>(w.data.data()) + static_cast<size_t>(first_row) * job_.row_stride;
    makes_records_ = is_in_records && !w.is_rearranged;
    if (makes_records_ && !records_) records_ = take_scratch<std::byte>(free, kBlockPassRows * job_.row_stride);
  }

  void pass(int begin, int end, const Results& results) const {
    Job job = job_;
    if (makes_records_) {
      const uint64_t in_file = row_bytes(job.w->format, job.w->cols);
      for (int row = begin; row < end; ++row) {
        const MutableBytes record(records_ + static_cast<size_t>(row - begin) * job.row_stride, job.row_stride);
        const Bytes from = job.w->data.subspan(static_cast<uint64_t>(first_row_ + row) * in_file, in_file);
        interleave_row(job.w->format, from, job.w->cols, record);
      }
      job.rows = reinterpret_cast<const uint8_t*>(records_);
      job.first_row = begin;
    }
    const bool streams = kHasRowLoops && job.n <= kMostStreamedTokens;
    (streams ? RowsForSomeTokens : RowsForTokens)(kernel_, job, begin, end - begin, results);
  }

 private:
  void take_memory(const ops::BlockRows& in, std::span<float>& free) {
    const auto cols = static_cast<size_t>(job_.w->cols);
    const size_t records = static_cast<size_t>(job_.n) * Groups(cols);
    auto* activations = take_scratch<uint8_t>(free, records * kernel_.activation_bytes);
    kernel_.arrange(in, job_.n, cols, *kernel_.order, kernel_.zero, activations);
    job_.activations = activations;
    const size_t scales_bytes = kScaleRows * Groups(cols) * kLanes * sizeof(uint16_t);
    job_.scales = {take_scratch<uint16_t>(free, scales_bytes), take_scratch<uint16_t>(free, scales_bytes)};
    std::memset(job_.scales.d, 0, scales_bytes);  // values past the row's end are multiplied with 0, so they must be
                                                  // finite
    std::memset(job_.scales.halves, 0, scales_bytes);
    if (job_.n > 1 || !kHasRowLoops)
      job_.panel = take_scratch<uint8_t>(free, kBlockPassRows * Groups(cols) * kMostPanelBytes);
  }

  Kernel kernel_;
  Job job_;
  int first_row_;
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

// The gate's results go to the output; the up pass over the same rows then multiplies them.
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

void ExpertLinear(const ops::ExpertLinear& op, WorkQueue& queue) {
  if (op.chosen.n == 0) return;
  std::optional<Operand> w;
  std::optional<Results> results;
  ops::BlockRows in = op.in.blocks;
  for_experts(
      op.chosen, *op.w, queue,
      [&](const ExpertGroups::Group& group, std::span<float> free) {
        const int rows = op.w->expert_rows(), first = group.expert * rows;
        in.rows = group.choices;
        w.emplace(*op.w, in, group.n, free, nullptr, first);
        results.emplace(Results(ops::Store::kSet, op.out, rows).of(group.choices, op.bias ? op.bias + first : nullptr));
      },
      [&](int begin, int end) { w->pass(begin, end, *results); });
}

void ExpertGlu(const ops::ExpertGlu& op, WorkQueue& queue) {
  if (op.chosen.n == 0) return;
  std::optional<Operand> gate, up;
  std::optional<Results> store, finish;
  ops::BlockRows in = op.in.blocks;
  for_experts(
      op.chosen, *op.w_gate, queue,
      [&](const ExpertGroups::Group& group, std::span<float> free) {
        const int rows = op.w_gate->expert_rows(), first = group.expert * rows;
        const auto bias = [&](const float* all) { return all ? all + first : nullptr; };
        in.rows = group.tokens;
        gate.emplace(*op.w_gate, in, group.n, free, nullptr, first);
        up.emplace(*op.w_up, in, group.n, free, &*gate, first);
        store.emplace(Results(ops::Store::kSet, op.out, rows).of(group.choices, bias(op.gate_bias)));
        finish.emplace(Results(op.act, op.out, rows).of(group.choices, bias(op.up_bias), op.limit));
      },
      [&](int begin, int end) {
        gate->pass(begin, end, *store);
        up->pass(begin, end, *finish);
      });
}

}  // namespace block

void BlockLinear(const ops::FloatLinear& op, WorkQueue& queue) { block::Linear(op, queue); }
void BlockGlu(const ops::FloatGlu& op, WorkQueue& queue) { block::Glu(op, queue); }
void BlockExpertLinear(const ops::ExpertLinear& op, WorkQueue& queue) { block::ExpertLinear(op, queue); }
void BlockExpertGlu(const ops::ExpertGlu& op, WorkQueue& queue) { block::ExpertGlu(op, queue); }
int FileGroup(Format format) { return block::FileKernel(format) ? static_cast<int>(block::kGroup) : 0; }

}  // namespace HWY_NAMESPACE
}  // namespace tern::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tern::cpu {

HWY_EXPORT(BlockLinear);
HWY_EXPORT(BlockGlu);
HWY_EXPORT(BlockExpertLinear);
HWY_EXPORT(BlockExpertGlu);
HWY_EXPORT(FileGroup);

void block_linear(const ops::FloatLinear& op, WorkQueue& queue) { HWY_DYNAMIC_DISPATCH(BlockLinear)(op, queue); }
void block_glu(const ops::FloatGlu& op, WorkQueue& queue) { HWY_DYNAMIC_DISPATCH(BlockGlu)(op, queue); }
void block_expert_linear(const ops::ExpertLinear& op, WorkQueue& queue) {
  HWY_DYNAMIC_DISPATCH(BlockExpertLinear)(op, queue);
}
void block_expert_glu(const ops::ExpertGlu& op, WorkQueue& queue) { HWY_DYNAMIC_DISPATCH(BlockExpertGlu)(op, queue); }

int file_group(Format format) { return HWY_DYNAMIC_DISPATCH(FileGroup)(format); }

size_t block_scratch(int cols, int n) {
  // Records of activations and panels are largest with 64-byte vectors: 13 of them for a group of 512 values (Q2_K). If
  // steps have two vectors, they are 19 of 16 bytes for 128 values. Records of weights have at most 448 bytes.
  const size_t groups = (static_cast<size_t>(cols) + 511) / 512;
  const size_t records = static_cast<size_t>(n) + kBlockPassRows;
  constexpr size_t kRecordBytes = 4 * 19 * 16, kScaleBytes = 4 * 2 * 16 * sizeof(uint16_t), kAlignment = 5 * 64;
  constexpr size_t kWeightBytes = kBlockPassRows * 448;
  return (groups * (records * kRecordBytes + kScaleBytes + kWeightBytes) + kAlignment) / sizeof(float);
}

}  // namespace tern::cpu
#endif
