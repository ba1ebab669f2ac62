// Turns the plan's steps into recorded dispatches: chooses kernels and how they are laid out, and binds their buffers.
#pragma once

#include <map>
#include <optional>

#include "backend/gpu/gpu_kv_cache.h"
#include "backend/gpu/kernel_library.h"
#include "backend/gpu/kernels/attention.h"
#include "backend/gpu/kernels/common.h"
#include "backend/gpu/kernels/norm_fused.h"
#include "backend/gpu/kernels/ternary_matmul_matrix.h"
#include "backend/gpu/program.h"
#include "backend/gpu/weight_store.h"
#include "backend/gpu/work_buffers.h"
#include "plan/plan.h"

namespace tern::gpu {

// How the work of a matrix × vector kernel is laid out (kernels/ternary_linear.h).
struct MatvecLayout {
  uint32_t lanes, rows_per_group, workgroup;
};

// How kernels are laid out on this device. The defaults are what measured best on an NVIDIA H200 (docs/performance.md);
// bench/tune_gpu tries others.
struct Layouts {
  MatvecLayout square = {16, 1, 512};  // attn_output
  MatvecLayout wide = {16, 1, 512};    // ffn_down: more columns than rows
  MatvecLayout glu = {16, 1, 256};     // rows of each of the two matrices
  MatvecLayout qkv = {16, 2, 256};     // always pairs of rows
  MatvecLayout head = {32, 2, 256};
  uint32_t norm_workgroup = 1024;
  uint32_t attention_workgroup = 1024;
  int split_attention_from = 513;  // positions
  bool software_matrices = false;  // subgroup matrices even where a software driver only imitates them: for tests
};

struct RecorderContext {
  Device& device;
  KernelLibrary& kernels;
  WeightStore& weights;
  WorkBuffers& work;
  const Plan& plan;
  int max_batch;
  Layouts layouts;
};

// The features that kernels may use on this device.
Caps caps_of(const Device& device);

// Invocations of a workgroup of attention: as many as workgroup memory has room for the sums of.
uint32_t attention_workgroup(const Device& device, const Layouts& layouts);

// From how many tokens on the matrix kernels run, instead of the vector kernels once per token.
inline constexpr int kMatmulTokens = 8;

class Recorder {
 public:
  // Without a cache, steps that need one are left out: for uploading the weights and compiling ahead of time.
  Recorder(const RecorderContext& context, GpuKvCache* cache, Program& program);

  Result<void> record_all();

 private:
  // How many workgroups a dispatch has.
  struct Extent {
    Grid grid;
    Axis axis = Axis::kNone;
    Rows rows = Rows::kTokens;
    uint32_t rows_per_workgroup = 1;
    uint32_t positions_per_split = 0, max_splits = 0;
    When when = {};
  };
  template <class... P, class... V>
  Result<void> dispatch(const wgsl::Kernel<P...>& kernel, const Extent& extent, const V&... views);

  Result<void> record(const step::Embed& s);
  Result<void> record(const step::SelectRows& s);
  Result<void> record(const step::RmsNorm& s);
  Result<void> record(const step::Quantize& s);
  Result<void> record(const step::TernaryLinear& s);
  Result<void> record(const step::FloatLinear& s);
  Result<void> record(const step::Rope& s);
  Result<void> record(const step::KvAppend& s);
  Result<void> record(const step::Attention& s);
  Result<void> record(const step::Relu2Mul& s);
  Result<void> record(const step::Add& s);
  Result<void> record(const step::RmsNormQuantize& s);
  Result<void> record(const step::TernaryLinearAdd& s);
  Result<void> record(const step::TernaryGlu& s);
  Result<void> record(const step::TernaryQkv& s);

  Result<void> linear_few(SlotId in, const Tensor& w, SlotId out, TernaryStore store, const When& when);
  template <class Tiles>
  static Extent per_tile(const Tiles& tiles) {
    return {.grid = {.x = (tiles.rows + tiles.tile_rows - 1) / tiles.tile_rows},
            .axis = Axis::kY,
            .rows_per_workgroup = tiles.tile_tokens,
            .when = {.min_tokens = kMatmulTokens}};
  }
  // The layout for subgroup matrices, where this device has any that serve.
  std::optional<TernaryMatrixMatmulConfig> matrix_config(const Tensor& w, uint32_t n_matrices) const;
  Result<void> linear_many(SlotId in, const Tensor& w, SlotId out, TernaryStore store);
  Result<void> normed_linear(const step::TernaryLinearAdd& s);
  Result<void> glu_many(SlotId in, const step::TernaryGlu& s);
  Result<void> norm_rows(SlotId x, const step::NormOnRead& norm, const When& when);
  bool norms_on_read(const step::NormOnRead& norm, uint32_t cols) const;
  // The bindings of a norm inside another step, and of the statistics that it leaves.
  struct NormViews {
    View<wgsl::Vec4<wgsl::F32>> x, gain;
    View<NormStats> parts;
    NormConfig config;
  };
  Result<NormViews> norm_views(SlotId x, const step::NormOnRead& norm);
  struct NextViews {
    View<wgsl::F32> gain;
    View<NormStats> parts;
  };
  Result<NextViews> next_views(const step::StatsOnWrite& next, uint32_t n_parts);
  Result<void> rms_norm(const step::RmsNorm& s, SlotId in, const When& when);
  Result<void> rope(SlotId x, int n_heads, int head_dim, RopePairs pairs, const When& when);
  Result<void> append(SlotId k, SlotId v, int layer, const When& when);
  template <class KvWord>
  Result<void> append_as(SlotId k, SlotId v, int layer, const When& when);
  AttentionConfig attention_config() const;
  template <class KvWord>
  Result<void> attention_as(const step::Attention& s);
  template <class KvWord>
  Result<void> attention_in_splits(const step::Attention& s, const NextViews& next);
  template <class KvWord>
  Result<void> qkv_as(const step::TernaryQkv& s);
  Result<View<WeightScales>> scales(float a, float b = 0, float c = 0);

  Rows rows_of(SlotId id) const { return c_.plan.slot(id).rows == RowsOf::kBatch ? Rows::kTokens : Rows::kLogits; }
  uint32_t width(SlotId id) const { return static_cast<uint32_t>(c_.plan.slot(id).width); }
  uint32_t workgroup(uint32_t wanted) const;  // as much of it as the device allows
  uint32_t lanes(uint32_t wanted) const;
  TernaryConfig ternary_config(uint32_t rows, uint32_t cols, const MatvecLayout& layout) const;
  View<wgsl::U32> params() const { return {{&c_.work.params(), 0, 0}}; }

  RecorderContext c_;
  GpuKvCache* cache_;
  Program& program_;
  Caps caps_;
  int step_ = 0;
  std::map<int, uint32_t> n_parts_;  // of the statistics in a slot, as the step that writes them leaves them
  // While one token runs, the row whose logits are wanted is the only one: the copy is left out.
  std::optional<step::SelectRows> alias_;
};

}  // namespace tern::gpu
