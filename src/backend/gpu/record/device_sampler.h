// Sampling on the device: each row's next token is the most probable one (kernels/head/argmax.h), or a random one
// (kernels/head/sample.h). It becomes the row's input of the next step, and goes into a ring of ids that the host reads
// later.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include "backend/backend.h"
#include "backend/gpu/device/device.h"
#include "backend/gpu/kernels/embed.h"
#include "backend/gpu/kernels/head/sample.h"
#include "backend/gpu/memory/views.h"
#include "backend/gpu/record/kernel_library.h"
#include "backend/gpu/record/program.h"
#include "base/bytes.h"

namespace tern::gpu {

// Workgroup size of the kernel that finds the best logits with a head copy: one invocation per row of the head.
inline uint32_t best_workgroup(const Limits& limits) { return std::min(256u, limits.invocations); }

// The sampler's surroundings; they must outlive it.
struct DeviceSamplerContext {
  Device& device;
  KernelLibrary& kernels;
  Caps caps;
  uint32_t n_vocab;
  uint32_t max_rows;
  BufferView logits;     // [max_rows, n_vocab] f32
  const Buffer& tokens;  // [max_rows], replaced by the chosen tokens
  const Buffer& params;  // BatchWords::params; sampling advances the step and the rows' pos
  // The embedding table, and where a step reads the token's row of it; none: not used for this plan.
  struct Embedding {
    EmbedConfig config;
    BufferView units, scales, row;
  };
  std::optional<Embedding> embedding = {};
  bool serial = false;  // Layouts::serial
};

class DeviceSampler {
 public:
  static constexpr uint32_t kRing = 64;  // steps whose tokens the device remembers

  static Result<std::unique_ptr<DeviceSampler>> create(const DeviceSamplerContext& context);

  const Program& greedy() const { return greedy_; }

  // True if runs of one row can use RunShape::embeds_next.
  bool can_embed() const { return c_.embedding && !c_.serial; }
  // Buffers for a row's largest logit as found with a head copy, one entry per part: [n] (best_logits.h). None if
  // embeds_next is not supported.
  struct Parts {
    uint32_t n;
    View<wgsl::F32> values;
    View<wgsl::U32> indices;
  };
  std::optional<Parts> parts_of_best() const;

  // The program that samples with these options, one per row (1 to max_rows), valid until the next call. Null if a row
  // needs a random draw and the vocabulary is too large, or the device is slower than the host at draws or at changes,
  // or a web build has no kernels for a filter. Each combination of filters is compiled when first needed.
  Result<const Program*> choosing(std::span<const DeviceSampling> rows);

  // Changes logits of the next step's rows, in the order of the queue; changes[row] has each token at most once.
  Result<void> change(std::span<const std::vector<LogitChange>> changes);

  // Uploads the random numbers of a step (counted from 0), one per row.
  Result<void> set_draws(uint64_t step, std::span<const float> uniforms);
  // Uploads the thresholds of XTC for a step, one per row, if choosing() had a row with XTC. kNoThreshold: not now.
  static constexpr float kNoThreshold = 2;
  Result<void> set_thresholds(uint64_t step, std::span<const float> thresholds);

  // Where the tokens of a step are stored, [n_rows].
  BufferView ids(uint64_t step, size_t n_rows) const { return {ids_.get(), 4 * (step % kRing) * n_rows, 4 * n_rows}; }

 private:
  explicit DeviceSampler(const DeviceSamplerContext& context) : c_(context) {}
  Result<void> prepare_greedy();
  template <class... P, class... V>
  Result<void> add(Program& program, const wgsl::Kernel<P...>& kernel, const Extent& extent, const V&... views);
  uint32_t n_parts_of_best() const { return ceil_div(c_.n_vocab, best_workgroup(c_.device.limits())); }
  Result<void> prepare_changes();
  Result<void> submit_changes();
  Result<void> prepare_sampling();
  Result<void> record_sampling(size_t filters, Program& program);
  Result<void> record_typical(Threshold threshold, Program& program);
  Result<void> record_xtc(Threshold threshold, Program& program);
  Result<void> record_drop(Threshold threshold, bool by_min_p, Program& program);
  template <class... P, class... V>
  Result<void> add(Program& program, const wgsl::Kernel<P...>& kernel, uint32_t grid, const V&... views);

  DeviceSamplerContext c_;
  std::unique_ptr<Buffer> ids_;               // ring of chosen tokens
  std::unique_ptr<Buffer> values_, indices_;  // argmax, per part
  Program greedy_;

  // Created when first needed.
  std::unique_ptr<Buffer> changes_;
  Program change_;
  std::vector<uint32_t> change_words_;
  std::unique_ptr<Buffer> hist_, state_, parts_, draws_, options_, deviations_, moments_;
  std::unique_ptr<Buffer> typical_options_, thresholds_, choices_;
  std::array<std::unique_ptr<Buffer>, 2 * kSampleLevels> levels_;
  std::array<std::unique_ptr<Program>, 32> sampling_;  // by filters: see device_sampler.cc
};

}  // namespace tern::gpu
