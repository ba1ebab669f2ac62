// Device buffers for the plan's slots, and the small buffers that every run needs.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "backend/gpu/device/device.h"
#include "backend/gpu/memory/rope_tables.h"
#include "backend/gpu/memory/views.h"
#include "plan/plan.h"

namespace tern::gpu {

class WorkBuffers {
 public:
  static Result<std::unique_ptr<WorkBuffers>> create(Device& device, const Plan& plan, int max_batch,
                                                     int max_logit_rows, int max_slices);

  BufferView view(SlotId id) const;
  // The rows of the slot in a run of n_tokens. With a single token its row is not copied for the logits.
  BufferView view_of_rows(SlotId id, int n_tokens) const;
  View<wgsl::F32> floats(SlotId id) const;
  View<wgsl::Vec2<wgsl::F32>> float_pairs(SlotId id) const;
  View<wgsl::Vec4<wgsl::F32>> float_quads(SlotId id) const;
  View<wgsl::I8x4> int8_words(SlotId id) const;
  View<wgsl::Vec4<wgsl::I8x4>> int8_quads(SlotId id) const;

  View<wgsl::Vec2<wgsl::F32>> stats(SlotId id) const;

  // Bytes of one row of a slot on the device.
  uint64_t row_bytes(SlotId id) const;

  const Buffer& params() const { return *params_; }            // BatchWords::params
  const Buffer& tokens() const { return *tokens_; }            // [max_batch] u32
  const Buffer& sequences() const { return *sequences_; }      // BatchWords::sequences; only if has_states()
  bool has_states() const { return sequences_ != nullptr; }    // the model has recurrent layers
  const Buffer& unused_gain() const { return *unused_gain_; }  // for kernels whose norm statistics are not used
  const Buffer& unused_stats() const { return *unused_stats_; }
  const Buffer& token_scales() const { return *token_scales_; }  // [max_batch] f32, for products in f16

  RopeTables& ropes() { return ropes_; }
  const RopeTables& ropes() const { return ropes_; }

  // Partial sums of attention over a long history, for n_splits splits (kernels/attention/attention.h); created when
  // first needed.
  static constexpr uint32_t kMostSplits = 128;
  Result<const Buffer*> attention_parts(int n_tokens, uint32_t n_splits);

  // A batch's activations as f16 (kernels/float/float_matmul_matrix.h); created when first needed.
  Result<const Buffer*> halves();

  // The scales and sums of rows of int8 activations (kernels/float/int8_rows.h), of a batch or of the rows whose logits
  // are wanted; created when first needed. The rows themselves take the place of those of f16.
  Result<const Buffer*> int8_runs();

  // Rows of int8 activations that the kernel of one step leaves for the next, and their runs: one of two places, in
  // turn, since a step may read one and write the other. For up to kMostLeftRows rows.
  static constexpr int kMostLeftRows = 16;
  struct LeftRows {
    const Buffer *x8, *runs;
  };
  Result<LeftRows> next_left_rows();

  // The tiles of a batch's choices of experts (kernels/expert_tiles.h), and behind them, from this word on, the factors
  // of rows of f16 activations; created when first needed.
  Result<const Buffer*> expert_tiles();
  uint32_t expert_factors_at() const;

  // Queries, keys and values of a batch side by side, [tokens, q_width + 2 kv_width] f32; created when first needed.
  Result<const Buffer*> qkv_rows();

  // Rows whose logits are wanted, as f16, followed from row halved_logit_rows() on by their rounding errors; created
  // when first needed.
  uint32_t halved_logit_rows() const;
  Result<const Buffer*> logit_halves(uint32_t width);

  // A uniform with these 16 bytes, shared by all callers with the same values.
  using Constant = std::array<uint32_t, 4>;
  Result<BufferView> constant(const Constant& values);

 private:
  // Buffers that are created when they are first needed.
  struct WhenNeeded {
    std::array<std::unique_ptr<Buffer>, 4> left_rows;  // two places: rows, runs
    std::unique_ptr<Buffer> halves, int8_runs, expert_tiles, qkv_rows, logit_halves;
    // By numbers of tokens and of splits.
    std::map<std::pair<int, uint32_t>, std::unique_ptr<Buffer>> attention_parts;
  };
  struct Constants {
    std::vector<std::unique_ptr<Buffer>> buffers;
    uint64_t used = 0;  // in the last buffer
    std::map<Constant, BufferView> views;
  };

  WorkBuffers(Device& device, const Plan& plan, int max_batch, int max_logit_rows)
      : device_(device),
        plan_(plan),
        max_batch_(max_batch),
        max_logit_rows_(max_logit_rows),
        ropes_(device, plan.config) {}

  Device& device_;
  const Plan& plan_;
  int max_batch_, max_logit_rows_;
  std::vector<std::unique_ptr<Buffer>> slots_;  // [plan.buffers]
  std::unique_ptr<Buffer> params_, tokens_, sequences_, unused_gain_, unused_stats_, token_scales_;
  WhenNeeded when_needed_;
  size_t left_rows_ = 0;  // the place given last
  RopeTables ropes_;
  Constants constants_;
};

// Bytes of a batch as f16, for the widest row of any step.
uint64_t halves_bytes(const Plan& plan, int max_batch);
// Bytes of WorkBuffers::int8_runs().
uint64_t int8_runs_bytes(const Plan& plan, int max_batch, int max_logit_rows);
// Bytes of WorkBuffers::expert_tiles(); 0 without experts.
uint64_t expert_tiles_bytes(const Plan& plan, int max_batch);
// Bytes of a batch's queries, keys and values.
uint64_t qkv_rows_bytes(const Plan& plan, int max_batch);

// Bytes of one of the plan's buffers on the device.
uint64_t device_bytes(const tern::Buffer& buffer, int max_batch, int max_logit_rows);
// Bytes of all activations of a batch.
uint64_t activation_bytes(const Plan& plan, int max_batch, int max_logit_rows);

}  // namespace tern::gpu
