// Norms: as steps of their own, and what steps need that norm what they read (step::NormOnRead).
#pragma once

#include <map>

#include "backend/gpu/kernels/rms_norm.h"
#include "backend/gpu/kernels/ternary/norm_fused.h"
#include "backend/gpu/record/steps/recording.h"

namespace tern::gpu {

// What a kernel binds that norms its input.
struct NormViews {
  View<wgsl::Vec4<wgsl::F32>> x, gain;
  View<NormStats> parts;
  NormConfig config;
};
// What a kernel binds that leaves statistics for a later norm.
struct NextViews {
  View<wgsl::F32> gain;
  View<NormStats> parts;
};

class NormRecorder {
 public:
  explicit NormRecorder(Recording& recording) : r_(recording) {}

  Result<void> record(const step::RmsNorm& s);
  Result<void> record(const step::RmsNormAdd& s);
  Result<void> record(const step::HeadNorm& s);
  Result<void> record(const step::Quantize& s);
  Result<void> record(const step::RmsNormQuantize& s) { return norm_quantize(s, {}); }
  Result<void> rms_norm(const step::RmsNorm& s, SlotId in, const When& when);

  // The int8 slot of a step's input. Records the norm that fills it: for all runs, or only for those `apart` if the
  // kernels of other runs norm what they read (norms_on_read()).
  Result<SlotId> int8_input(SlotId in, const step::NormOnRead& norm, const When& apart);
  bool norms_on_read(SlotId in, const step::NormOnRead& norm) const;
  Result<NormViews> norm_views(SlotId x, const step::NormOnRead& norm);
  Result<NextViews> next_views(const step::StatsOnWrite& next, uint32_t n_parts);

 private:
  RmsNormConfig norm_config(SlotId x, float eps) const;
  Result<void> norm_quantize(const step::RmsNormQuantize& s, const When& when);

  Recording& r_;
  std::map<int, uint32_t> n_parts_;  // of the statistics in a slot, set by the step that writes them
};

}  // namespace tern::gpu
