// Turns the plan's steps into recorded dispatches: chooses kernels and their layouts, and binds buffers.
// recorder_ternary.cc: ternary layers; recorder_float.cc: float layers; recorder_attention.cc: attention and the steps
// before it; recorder_batches.cc: several rows on subgroup matrices; recorder_head.cc: the head with its int8 copy;
// recorder.cc: the rest.
//
// A step gets several dispatches, each for runs of another size (When): one for single tokens, others for a few tokens
// at a time (each a column of the product, in_columns()) or on subgroup matrices (in_batches()), and those for many
// tokens, in tiles (*_many, *_matmul).
#pragma once

#include <algorithm>
#include <climits>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "backend/gpu/kernels/attention/attention.h"
#include "backend/gpu/kernels/attention/matrix_attention.h"
#include "backend/gpu/kernels/common.h"
#include "backend/gpu/kernels/float/float_linear.h"
#include "backend/gpu/kernels/float/float_matmul_matrix.h"
#include "backend/gpu/kernels/rms_norm.h"
#include "backend/gpu/kernels/ternary/norm_fused.h"
#include "backend/gpu/kernels/ternary/ternary_batch.h"
#include "backend/gpu/kernels/ternary/ternary_columns.h"
#include "backend/gpu/kernels/ternary/ternary_matmul_matrix.h"
#include "backend/gpu/kernels/ternary/ternary_qkv.h"
#include "backend/gpu/memory/gpu_kv_store.h"
#include "backend/gpu/memory/weights/pack.h"
#include "backend/gpu/memory/weights/upload.h"
#include "backend/gpu/memory/weights/weight_store.h"
#include "backend/gpu/memory/work_buffers.h"
#include "backend/gpu/record/device_sampler.h"
#include "backend/gpu/record/head_copy.h"
#include "backend/gpu/record/kernel_library.h"
#include "backend/gpu/record/layer_path.h"
#include "backend/gpu/record/layouts.h"
#include "backend/gpu/record/program.h"
#include "backend/gpu/record/tiles.h"
#include "base/bytes.h"
#include "plan/plan.h"

namespace tern::gpu {

struct RecorderContext {
  Device& device;
  KernelLibrary& kernels;
  WeightStore& weights;
  WorkBuffers& work;
  const Plan& plan;
  int max_batch;
  Layouts layouts;
  const LayerPath& layer_path;
  const HeadCopy* head_copy = nullptr;     // null: all logits are always computed
  const DeviceSampler* sampler = nullptr;  // not null if there is a head_copy
};

// True if the device has f16 subgroup matrices and they are worth using.
bool has_f16_matrices(const Device& device, const Layouts& layouts);
// The layout of attention on subgroup matrices; none if they are not used.
std::optional<MatrixAttentionConfig> matrix_attention_config(const Device& device, const Layouts& layouts,
                                                             int max_batch, const step::Attention& s);

class Recorder {
 public:
  // The program binds `store`'s buffers, so it is valid as long as they are (GpuKvStore::version).
  Recorder(const RecorderContext& context, const GpuKvStore& store, Program& program);

  Result<void> record_all();

 private:
  // make(args...), traced once.
  template <class K, class... A>
  TracedKernel<K> traced(K (*make)(A...), const std::type_identity_t<std::remove_cvref_t<A>>&... args) {
    return c_.kernels.traced(make, args...);
  }

  template <class K, class... E>
  Result<void> dispatch(const K& kernel, const Extent& extent, const View<E>&... views) {
    TRY(auto recorded, c_.kernels.record(kernel, extent, views...));
    recorded.step = step_;
    recorded.path = path_;
    When& when = recorded.extent.when;
    when.min_best = std::max(when.min_best, fewest_best_);
    when.max_best = std::min(when.max_best, most_best_);
    program_.add(std::move(recorded));
    return {};
  }

#define TERN_RECORD_STEP(Type, name, Op) Result<void> record(const step::Type& s);
  TERN_STEPS(TERN_RECORD_STEP)
#undef TERN_RECORD_STEP

  // Ternary layers (recorder_ternary.cc): kernels for few tokens and for many. `in` is an int8 slot.
  struct LinearViews {
    View<TernaryWeights> w;
    View<WeightScales> scale;
  };
  struct GluViews {
    View<TernaryWeights> gate, up;
    View<WeightScales> scale;
  };
  struct QkvViews {
    View<TernaryWeights> w;
    View<WeightScales> scale;
    View<wgsl::Vec2<wgsl::F32>> angles;
  };
  Result<QkvViews> qkv_views(const step::TernaryQkv& s);
  Result<LinearViews> linear_views(const Tensor& w);
  Result<GluViews> glu_views(const step::TernaryGlu& s);
  Result<void> linear_few(SlotId in, const Tensor& w, SlotId out, Store store);
  Result<void> linear_many(SlotId in, const Tensor& w, SlotId out, Store store, const When& when = kManyTokens);
  Result<void> normed_linear(const step::TernaryLinearAdd& s);
  Result<void> glu_few(SlotId in, const step::TernaryGlu& s);
  Result<void> glu_many(SlotId in, const step::TernaryGlu& s, const When& when);
  // A kernel for several tokens at a time, and the runs it is for. in_columns() returns none if there is no room, or
  // the device does not suit the kernel. `one`: the layout for one token.
  struct InColumns {
    TernaryConfig layout;
    ColumnsConfig columns;
    Extent extent;
  };
  std::vector<InColumns> in_columns(const TernaryConfig& one, int last) const;  // up to `last` tokens
  // The number of tokens at a time, at most `wanted`, for which `one` can be laid out; 1: only one.
  uint32_t fitting_columns(const TernaryConfig& one, uint32_t wanted) const;
  TernaryConfig columns_layout(const TernaryConfig& one) const;
  // For layers that norm what they read: the most tokens for which the vector kernels run. The same for the whole plan,
  // since each layer writes the statistics that the next one needs.
  int most_in_columns() const;
  When few_normed() const { return {.max_tokens = c_.layouts.serial ? INT_MAX : most_few_}; }
  When many_normed() const { return {.min_tokens = most_few_ + 1}; }
  TernaryConfig linear_config(const Tensor& w, Store store) const;
  TernaryConfig ternary_config(const Tensor& w, const MatvecLayout& layout) const;
  // The layout for subgroup matrices; none if this device has no suitable ones.
  std::optional<TernaryMatrixMatmulConfig> matrix_config(const Tensor& w, uint32_t n_matrices,
                                                         const PromptTile& tile) const;
  std::vector<Tiled<TernaryMatrixMatmulConfig>> matrix_configs(const Tensor& w, uint32_t rows, uint32_t n_matrices,
                                                               const When& when) const;
  Extent per_rows(const TernaryConfig& config) const;

  // Float layers (recorder_float.cc).
  struct FloatRead {
    SlotId slot;
    const step::FloatNormOnRead* norm;  // null: none
    When when;
  };
  Result<std::vector<FloatRead>> float_reads(SlotId in, const step::FloatNormOnRead& norm, const When& few);
  // The runs in which a matrix is multiplied in tiles. If there are no kernels for several rows (in_columns): from
  // kMatmulTokens on. Otherwise from Layouts::few_tiles_from on if there are tiles for few tokens, else from
  // float_tiles_from on.
  When in_float_tiles(const Tensor& w, const WeightCoding& coding, const MatvecLayout& layout) const;
  // `config` for a few rows at a time if workgroup memory allows, otherwise with one column.
  FloatLinearConfig in_columns(FloatLinearConfig config, Rows rows) const;
  FloatLinearConfig float_config(const Tensor& w, const WeightCoding& coding, const FloatRead& read,
                                 const MatvecLayout& layout) const;
  const MatvecLayout& float_layout(const Tensor& w) const;
  Result<View<wgsl::Vec4<wgsl::F32>>> gain_view(const FloatRead& read);
  Result<void> float_matvec(const FloatMatrix& matrix, const Tensor& w, const FloatRead& read, SlotId out, Store store,
                            const MatvecLayout& layout);
  // out = W · in, or out += W · in, where W is the matrices one below the other.
  Result<void> float_linear_step(std::span<const Tensor* const> matrices, SlotId in, const step::FloatNormOnRead& norm,
                                 SlotId out, Store store, const MatvecLayout& layout);
  bool has_f16_matrices() const;  // worth using
  // The layout for subgroup matrices; none if this device has no suitable ones.
  std::optional<FloatMatrixMatmulConfig> float_matrix_config(const Tensor& w, const WeightCoding& coding,
                                                             uint32_t n_matrices, const PromptTile& tile) const;
  std::vector<Tiled<FloatMatrixMatmulConfig>> float_matrix_configs(const Tensor& w, const WeightCoding& coding,
                                                                   uint32_t n_matrices, uint32_t rows,
                                                                   const When& when) const;
  // Tiles for few tokens, where tiles for many would leave most of the GPU idle: for `fewest` to `most` rows of x. Each
  // tile is for up to its own number of rows, the last one for all beyond.
  struct FewTokens {
    FloatMatrixMatmulConfig config;
    int fewest, most;
  };
  std::vector<FewTokens> few_tokens_configs(const Tensor& w, const WeightCoding& coding, uint32_t n_matrices,
                                            std::span<const Layouts::FewTile> wanted, int fewest, int most) const;
  struct HalvedTokens {
    View<wgsl::Vec4<wgsl::F16>> x;
    View<wgsl::F32> scales;
  };
  // `in` as f16, normed if there is a norm: the batch's rows, or those whose logits are wanted. Unless rest_at is 0,
  // the rounding errors follow from row `rest_at` on.
  Result<HalvedTokens> halve_tokens(SlotId in, const step::FloatNormOnRead& norm, const When& when, Rows rows,
                                    uint32_t rest_at = 0);
  Result<SlotId> normed_input(SlotId in, const step::FloatNormOnRead& norm, const When& when);
  Result<void> float_matmul(const FloatMatrix& matrix, const Tensor& w, SlotId in, const step::FloatNormOnRead& norm,
                            SlotId out, Store store, const When& when);
  Result<void> glu_matmul(const step::FloatGlu& s, const WeightStore::Glu& parts, const When& when);

  // Norms inside other steps. int8_input() returns the int8 slot of a step's input and records the norm that fills it:
  // for all runs, or only for those of many tokens if the kernels for few norm what they read (norms_on_read()).
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

  // Several rows on subgroup matrices (recorder_batches.cc): the kernels' layouts and the runs they are for; none if
  // the device has no suitable matrices.
  struct InBatches {
    TernaryBatchConfig config;
    Extent extent;
  };
  // `side_rows`: rows of weights for each side of a workgroup; 0: any.
  std::optional<TernaryBatchConfig> batch_config(const Tensor& w, uint32_t side_rows, uint32_t subgroups,
                                                 uint32_t tokens) const;
  std::vector<InBatches> batches(const Tensor& w, uint32_t side_rows, uint32_t subgroups,
                                 uint32_t rows_of_workgroup) const;
  std::vector<InBatches> batches_of(const step::TernaryLinearAdd& s) const;
  std::vector<InBatches> batches_of(const step::TernaryGlu& s) const;
  std::vector<InBatches> batches_of(const step::TernaryQkv& s) const;
  bool has_batches(const step::TernaryLinearAdd& s) const;
  bool has_batches(const step::TernaryGlu& s) const;
  bool has_batches(const step::TernaryQkv& s) const;
  // The most tokens for which another kernel is needed.
  int last_before(std::span<const InBatches> batches) const;
  // The int8 rows of several tokens; records the kernel that writes them for `batches`.
  Result<View<QuantizedWords>> stored_rows(SlotId quantized, const NormViews& norm, const TernaryConfig& one,
                                           std::span<const InBatches> batches);
  // Records a step for these runs. Returns the most tokens for which another kernel is needed. `one`: the layout for
  // one row.
  Result<int> in_batches(const step::TernaryLinearAdd& s, const TernaryConfig& one, const NormViews& norm,
                         const NextViews& next);
  Result<int> in_batches(const step::TernaryGlu& s, const TernaryConfig& one, const NormViews& norm,
                         const NextViews& next);
  Result<int> in_batches(const step::TernaryQkv& s, const TernaryConfig& one, const NormViews& norm);
  // The rows of logits from which the head is computed in tiles, by the head_matmul functions below.
  int head_products_from(const Tensor& w) const {
    return std::max(2, w.format == Format::kF16 ? c_.layouts.head_matrices_from : c_.layouts.head_tiles_from);
  }
  // The best logits, found with the head's copy (recorder_head.cc).
  Result<void> best_logits(const step::FloatLinear& s);
  Result<void> estimates(const Tensor& w, std::span<const FloatRead> reads);
  Result<void> best_of_estimates(const step::FloatLinear& s, const FloatRead& read);
  EstimateConfig estimate_config(const Tensor& w, uint32_t columns) const;
  // The head in tiles (recorder_batches.cc); false if this device or format has no such kernel.
  Result<bool> head_matmul(const FloatMatrix& matrix, const Tensor& w, SlotId in, const step::FloatNormOnRead& norm,
                           SlotId out);
  Result<bool> f16_head_matmul(const FloatMatrix& matrix, const Tensor& w, SlotId in, const step::FloatNormOnRead& norm,
                               SlotId out);
  Result<bool> packed_head_matmul(const FloatMatrix& matrix, const Tensor& w, SlotId in,
                                  const step::FloatNormOnRead& norm, SlotId out);

  RmsNormConfig norm_config(SlotId x, float eps) const;
  Result<void> norm_quantize(const step::RmsNormQuantize& s, const When& when);
  Result<void> rms_norm(const step::RmsNorm& s, SlotId in, const When& when);

  // Attention (recorder_attention.cc).
  Result<View<wgsl::Vec2<wgsl::F32>>> angles(int rope);  // the table of Config::ropes[rope]
  Result<void> rope(SlotId x, int n_heads, int head_dim, int rope, RopePairs pairs, const When& when);
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
  AttentionConfig attention_config(const step::Attention& s, uint32_t wanted_workgroup) const;
  // Workgroup sizes that fit the device, each from a number of tokens on.
  std::vector<Layouts::AttentionSize> attention_workgroups(const step::Attention& s) const;
  // True if attention makes its heads itself when each sequence has one token.
  bool makes_heads(const step::Attention& s) const;
  template <class KvWord>
  Result<void> attention_as(const step::Attention& s);
  template <class KvWord>
  std::optional<AttentionConfig> grouped_config(const step::Attention& s, uint32_t wanted_workgroup,
                                                uint32_t max_splits) const;
  struct AttentionOut {
    View<wgsl::F32> y;
    NextViews next;
  };
  template <class KvWord>
  Result<void> attention_of(const step::Attention& s, const AttentionConfig& config, Extent extent,
                            const AttentionOut& out);
  // Takes up to four heads that share keys and values in one workgroup.
  template <class KvWord>
  Result<void> attention_of_groups(const step::Attention& s, const AttentionConfig& config, Extent extent,
                                   const AttentionOut& out);
  template <class KvWord>
  Result<void> attention_in_splits(const step::Attention& s, const NextViews& next);
  template <class KvWord>
  Result<void> serial_attention_as(const step::Attention& s);
  TernaryQkvConfig qkv_config(const step::TernaryQkv& s) const;
  template <class KvWord>
  Result<void> qkv_as(SlotId in, const step::TernaryQkv& s);  // in: int8
  // The three projections one by one, then RoPE and the KV-cache write.
  using LinearRecorder = std::function<Result<void>(SlotId in, const Tensor& w, SlotId out)>;
  Result<void> qkv_in_steps(SlotId in, const step::TernaryQkv& s, const LinearRecorder& linear, const When& when);
  // The three projections as one on subgroup matrices, then their heads; false if the device has no suitable matrices.
  Result<bool> qkv_on_matrices(SlotId in, const step::TernaryQkv& s, const When& when);
  Result<View<WeightScales>> scales(float a, float b = 0, float c = 0);

  // The runs that the vector kernels are for, and whether there are matrix kernels too.
  When few_tokens() const { return before(kManyTokens); }
  When before(const When& many) const { return c_.layouts.serial ? When{} : When{.max_tokens = many.min_tokens - 1}; }
  bool has_matmuls() const { return c_.max_batch >= kMatmulTokens && !c_.layouts.serial; }
  Rows rows_of(SlotId id) const { return c_.plan.slot(id).rows == RowsOf::kBatch ? Rows::kTokens : Rows::kLogits; }
  uint32_t width(SlotId id) const { return static_cast<uint32_t>(c_.plan.slot(id).width); }
  uint32_t workgroup(uint32_t wanted) const;  // limited to what the device allows
  uint32_t lanes(uint32_t wanted) const { return lanes_of(caps_, wanted); }
  Extent per_column(SlotId slot) const;  // one invocation per value of the slot's rows
  View<wgsl::U32> params() const { return {{&c_.work.params(), 0, 0}}; }

  RecorderContext c_;
  const GpuKvStore& store_;
  Program& program_;
  Caps caps_;
  int step_ = 0;
  DispatchPath path_ = DispatchPath::kAny;
  int fewest_best_ = 0, most_best_ = INT_MAX;  // n_best of the runs that dispatch() records for
  int most_few_ = INT_MAX;                     // most_in_columns(); INT_MAX while that is computed
  std::map<int, uint32_t> n_parts_;            // of the statistics in a slot, set by the step that writes them
  // With one token, the only row is the one whose logits are wanted, and the copy is skipped.
  std::optional<step::SelectRows> alias_;
};

}  // namespace tern::gpu
