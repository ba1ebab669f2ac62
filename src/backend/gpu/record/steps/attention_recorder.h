// Attention: by the number of tokens, in splits of a long history, in groups of heads, or on subgroup matrices.
#pragma once

#include <optional>
#include <vector>

#include "backend/gpu/kernels/attention/attention.h"
#include "backend/gpu/kernels/attention/matrix_attention.h"
#include "backend/gpu/record/steps/heads_recorder.h"
#include "backend/gpu/record/steps/norm_recorder.h"

namespace tern::gpu {

// The layout of attention on subgroup matrices; none if they are not used.
std::optional<MatrixAttentionConfig> matrix_attention_config(const Device& device, const Layouts& layouts,
                                                             int max_batch, const step::Attention& s);

class AttentionRecorder {
 public:
  AttentionRecorder(Recording& recording, NormRecorder& norms, HeadsRecorder& heads)
      : r_(recording), norms_(norms), heads_(heads) {}

  Result<void> record(const step::Attention& s);

 private:
  struct Out {
    View<wgsl::F32> y;
    NextViews next;
  };
  // The kernels of a layer on this device, and their layouts.
  struct Kernels {
    AttentionKernels which;
    std::optional<MatrixAttentionConfig> matrices = {};
    std::optional<AttentionConfig> groups = {}, split_groups = {};
    std::vector<Layouts::AttentionSize> sizes = {};
  };
  template <class KvWord>
  Kernels kernels_of(const step::Attention& s) const;
  AttentionConfig attention_config(const step::Attention& s, uint32_t wanted_workgroup) const;
  // Workgroup sizes that fit the device, each from a number of tokens on.
  std::vector<Layouts::AttentionSize> workgroups(const step::Attention& s) const;
  // True if attention makes its heads itself when each sequence has one token.
  bool makes_heads(const step::Attention& s) const;
  template <class KvWord>
  Result<void> attention_as(const step::Attention& s);
  template <class KvWord>
  Result<void> serial_attention_as(const step::Attention& s);
  // How groups of heads are computed, unsplit or in splits; none if this device does not group heads.
  template <class KvWord>
  std::optional<AttentionConfig> grouped_config(const step::Attention& s) const;
  template <class KvWord>
  std::optional<AttentionConfig> split_groups_config(const step::Attention& s) const;
  template <class KvWord>
  Result<void> attention_of(const step::Attention& s, const AttentionConfig& config, Extent extent, const Out& out);
  // Takes up to seven heads that share keys and values in one workgroup.
  template <class KvWord>
  Result<void> attention_of_groups(const step::Attention& s, const AttentionConfig& config, Extent extent,
                                   const Out& out);
  template <class KvWord>
  Result<void> in_splits(const step::Attention& s, const AttentionConfig& config, const Phase<AttentionPhase>& phase,
                         const NextViews& next);
  // Layers with a score that has no value: on matrices, or in splits, whose sums are merged with that score.
  template <class KvWord>
  Result<void> with_sinks(const step::Attention& s);

  Recording& r_;
  NormRecorder& norms_;
  HeadsRecorder& heads_;
};

}  // namespace tern::gpu
