// Turns the plan's steps into recorded dispatches: chooses kernels and how they are laid out, and binds their buffers.
// recorder_ternary.cc has the ternary layers, recorder_float.cc the float ones, recorder_attention.cc attention and
// what leads up to it, recorder.cc the rest.
#pragma once

#include <map>
#include <optional>

#include "backend/gpu/gpu_kv_cache.h"
#include "backend/gpu/kernel_library.h"
#include "backend/gpu/kernels/attention.h"
#include "backend/gpu/kernels/common.h"
#include "backend/gpu/kernels/float_linear.h"
#include "backend/gpu/kernels/float_matmul_matrix.h"
#include "backend/gpu/kernels/norm_fused.h"
#include "backend/gpu/kernels/rms_norm.h"
#include "backend/gpu/kernels/ternary_matmul_matrix.h"
#include "backend/gpu/pack.h"
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
  MatvecLayout float_square = {16, 1, 256};  // the same layers with float weights
  MatvecLayout float_wide = {32, 1, 256};
  MatvecLayout float_glu = {16, 1, 256};
  MatvecLayout float_qkv = {16, 1, 256};
  uint32_t stage_bits = 8;  // float weights of at most so many bits: activations go through workgroup memory
  bool int8_x = true;       // where the plan allows: activations become int8 where packed weights meet them
  uint32_t most_ahead = 8;  // units of float weights that a lane loads before its activations are ready
  uint32_t norm_workgroup = 1024;
  uint32_t attention_workgroup = 1024;
  int split_attention_from = 513;  // positions
  bool heads_in_attention = true;  // of one token, where the plan has them there: else a dispatch before it
  bool float_matrices = true;      // float layers of prompts as f16 on subgroup matrices, where there are any
  bool software_matrices = false;  // subgroup matrices even where a software driver only imitates them: for tests
  // Kernels without barriers and workgroup memory, short texts with loops, norms as dispatches of their own, prompts
  // token by token: what a driver that runs shaders on a CPU is fastest with, to compile and to run. Takes subgroups.
  bool serial = false;
};

// The layouts for this device: serial ones for software adapters, unless `without` says "serial".
Layouts layouts_for(const Device& device, std::span<const std::string> without);

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

// The kernels' name for it.
Activation activation(GluAct act);

// Invocations of a workgroup of attention: as many as workgroup memory has room for the sums of.
uint32_t attention_workgroup(const Device& device, const Layouts& layouts);

// From how many tokens on the matrix kernels run, instead of the vector kernels once per token.
inline constexpr int kMatmulTokens = 8;
inline constexpr When kFewTokens{.max_tokens = kMatmulTokens - 1};
inline constexpr When kManyTokens{.min_tokens = kMatmulTokens};

class Recorder {
 public:
  // Without a cache, steps that need one are left out: for uploading the weights and compiling ahead of time.
  Recorder(const RecorderContext& context, GpuKvCache* cache, Program& program);

  Result<void> record_all();

 private:
  template <class... P, class... E>
  Result<void> dispatch(const wgsl::Kernel<P...>& kernel, const Extent& extent, const View<E>&... views) {
    TRY(auto recorded, c_.kernels.record(kernel, extent, views...));
    recorded.step = step_;
    program_.add(std::move(recorded));
    return {};
  }

  Result<void> record(const step::Embed& s);
  Result<void> record(const step::SelectRows& s);
  Result<void> record(const step::RmsNorm& s);
  Result<void> record(const step::Quantize& s);
  Result<void> record(const step::TernaryLinear& s);
  Result<void> record(const step::QuantizeBlocks& s);
  Result<void> record(const step::FloatLinear& s);
  Result<void> record(const step::HeadNorm& s);
  Result<void> record(const step::Rope& s);
  Result<void> record(const step::KvAppend& s);
  Result<void> record(const step::Attention& s);
  Result<void> record(const step::GluMul& s);
  Result<void> record(const step::Add& s);
  Result<void> record(const step::AddBias& s);
  Result<void> record(const step::Softcap& s);
  Result<void> record(const step::RmsNormQuantize& s);
  Result<void> record(const step::TernaryLinearAdd& s);
  Result<void> record(const step::TernaryGlu& s);
  Result<void> record(const step::FloatLinearAdd& s);
  Result<void> record(const step::FloatGlu& s);
  Result<void> record(const step::TernaryQkv& s);
  Result<void> record(const step::FloatQkv& s);

  // Ternary layers (recorder_ternary.cc): kernels for few tokens and for many. `in` is an int8 slot.
  struct LinearViews {
    View<TernaryWeights> w;
    View<WeightScales> scale;
  };
  struct GluViews {
    View<TernaryWeights> gate, up;
    View<WeightScales> scale;
  };
  Result<LinearViews> linear_views(const Tensor& w);
  Result<GluViews> glu_views(const step::TernaryGlu& s);
  Result<void> linear_few(SlotId in, const Tensor& w, SlotId out, Store store);
  Result<void> linear_many(SlotId in, const Tensor& w, SlotId out, Store store);
  Result<void> normed_linear(const step::TernaryLinearAdd& s);
  Result<void> glu_few(SlotId in, const step::TernaryGlu& s);
  Result<void> glu_many(SlotId in, const step::TernaryGlu& s);
  TernaryConfig linear_config(const Tensor& w, Store store) const;
  TernaryConfig ternary_config(const Tensor& w, const MatvecLayout& layout) const;
  // The layout for subgroup matrices, where this device has any that serve.
  std::optional<TernaryMatrixMatmulConfig> matrix_config(const Tensor& w, uint32_t n_matrices) const;
  Extent per_rows(const TernaryConfig& config) const;

  // Float layers (recorder_float.cc).
  struct FloatRead {
    SlotId slot;
    const step::FloatNormOnRead* norm;  // null: none
    When when;
  };
  struct GluParts {
    const FloatMatrix::Part *gate, *up;
  };
  Result<std::vector<FloatRead>> float_reads(SlotId in, const step::FloatNormOnRead& norm);
  FloatLinearConfig float_config(const Tensor& w, const WeightCoding& coding, const FloatRead& read,
                                 const MatvecLayout& layout) const;
  const MatvecLayout& float_layout(const Tensor& w) const;
  Result<View<wgsl::Vec4<wgsl::F32>>> gain_view(const FloatRead& read);
  Result<void> float_matvec(const FloatMatrix& matrix, const Tensor& w, const FloatRead& read, SlotId out, Store store,
                            const MatvecLayout& layout);
  // out = (matrices, rows after rows) · in, or += that.
  Result<void> float_linear_step(std::span<const Tensor* const> matrices, SlotId in, const step::FloatNormOnRead& norm,
                                 SlotId out, Store store, const MatvecLayout& layout);
  Result<GluParts> glu_parts(const step::FloatGlu& s);
  // The layout for subgroup matrices, where this device has any that serve.
  std::optional<FloatMatrixMatmulConfig> float_matrix_config(const Tensor& w, const WeightCoding& coding,
                                                             uint32_t n_matrices) const;
  struct HalvedTokens {
    View<wgsl::F16> x;
    View<wgsl::F32> scales;
  };
  Result<HalvedTokens> halve_tokens(SlotId in);
  Result<SlotId> normed_input(SlotId in, const step::FloatNormOnRead& norm);
  Result<void> float_matmul(const FloatMatrix& matrix, const Tensor& w, SlotId in, SlotId out, Store store);
  Result<void> glu_matmul(const step::FloatGlu& s, const GluParts& parts);

  // Norms inside other steps. The first gives the int8 slot of a step's input, and records the norm that fills it where
  // the step's own kernel does not norm.
  Result<SlotId> int8_input(SlotId in, const step::NormOnRead& norm);
  bool norms_on_read(SlotId in, const step::NormOnRead& norm) const;
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

  RmsNormConfig norm_config(SlotId x, float eps) const;
  Result<void> norm_quantize(const step::RmsNormQuantize& s, const When& when);
  Result<void> rms_norm(const step::RmsNorm& s, SlotId in, const When& when);

  // Attention (recorder_attention.cc).
  Result<View<wgsl::Vec2<wgsl::F32>>> angles(int rope);  // the table of Config::ropes[rope] for this cache
  Result<void> rope(SlotId x, int n_heads, int head_dim, int rope, RopePairs pairs, const When& when);
  // The heads of a step's layer, in this cache.
  template <class S>
  HeadShape head_shape(const S& s) const {
    return {static_cast<uint32_t>(s.n_heads), static_cast<uint32_t>(s.n_kv_heads), static_cast<uint32_t>(s.head_dim),
            static_cast<uint32_t>(cache_->n_ctx())};
  }
  Result<void> append(const step::KvAppend& s, const When& when);
  template <class KvWord>
  Result<void> append_as(const step::KvAppend& s, const When& when);
  struct HeadViews {
    View<wgsl::F32> qkv, q_gain, k_gain;
    View<wgsl::Vec2<wgsl::F32>> angles;
  };
  Result<HeadViews> head_views(const step::FloatHeads& s);
  HeadsConfig heads_config(const step::FloatHeads& s) const;
  Result<void> heads(const step::FloatHeads& s, const When& when);
  template <class KvWord>
  Result<void> heads_as(const step::FloatHeads& s, const When& when);
  AttentionConfig attention_config(const step::Attention& s) const;
  // Whether attention of one token makes its heads itself.
  bool makes_heads(const step::Attention& s) const;
  template <class KvWord>
  Result<void> attention_as(const step::Attention& s);
  struct AttentionOut {
    View<wgsl::F32> y;
    NextViews next;
  };
  template <class KvWord>
  Result<void> attention_of(const step::Attention& s, const AttentionConfig& config, Extent extent,
                            const AttentionOut& out);
  template <class KvWord>
  Result<void> attention_in_splits(const step::Attention& s, const NextViews& next);
  template <class KvWord>
  Result<void> serial_attention_as(const step::Attention& s);
  template <class KvWord>
  Result<void> qkv_as(SlotId in, const step::TernaryQkv& s);  // in: int8
  // The three layers one by one, with RoPE and the write to the cache.
  using LinearRecorder = Result<void> (Recorder::*)(SlotId in, const Tensor& w, SlotId out, Store store);
  Result<void> qkv_in_steps(SlotId in, const step::TernaryQkv& s, LinearRecorder linear, const When& when);
  Result<View<WeightScales>> scales(float a, float b = 0, float c = 0);

  // Which runs the vector kernels are for, and whether there are others.
  When few_tokens() const { return c_.layouts.serial ? When{} : kFewTokens; }
  bool has_matmuls() const { return c_.max_batch >= kMatmulTokens && !c_.layouts.serial; }
  Rows rows_of(SlotId id) const { return c_.plan.slot(id).rows == RowsOf::kBatch ? Rows::kTokens : Rows::kLogits; }
  uint32_t width(SlotId id) const { return static_cast<uint32_t>(c_.plan.slot(id).width); }
  uint32_t workgroup(uint32_t wanted) const;  // as much of it as the device allows
  uint32_t lanes(uint32_t wanted) const;
  Extent per_column(SlotId slot) const;  // one invocation per value of the slot's rows
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
