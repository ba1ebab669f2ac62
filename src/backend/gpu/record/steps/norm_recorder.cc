#include "backend/gpu/record/steps/norm_recorder.h"

#include "base/bytes.h"
#include "base/check.h"

namespace tern::gpu {

RmsNormConfig NormRecorder::norm_config(SlotId x, float eps) const {
  return {.width = r_.width(x),
          .eps = eps,
          .caps = r_.caps(),
          .workgroup = r_.workgroup(r_.layouts().norm_workgroup),
          .in_loops = r_.layouts().serial};
}

Result<void> NormRecorder::rms_norm(const step::RmsNorm& s, SlotId in, const When& when) {
  TRY(const BufferView gain, r_.weights().vector(*s.gain));
  return r_.dispatch(r_.traced(gpu::rms_norm, norm_config(in, s.eps)),
                     {.axis = Axis::kY, .rows = r_.rows_of(s.out), .when = when}, r_.work().floats(in),
                     View<wgsl::F32>{gain}, r_.work().floats(s.out));
}

Result<void> NormRecorder::record(const step::RmsNorm& s) {
  const auto in_place = r_.in_place_of(s.in);
  if (!in_place) return rms_norm(s, s.in, {});
  TRY_STATUS(rms_norm(s, *in_place, kRunsOfOne));
  return rms_norm(s, s.in, kRunsOfSeveral);
}

Result<void> NormRecorder::record(const step::RmsNormAdd& s) {
  TRY(const BufferView gain, r_.weights().vector(*s.norm.gain));
  return r_.dispatch(r_.traced(rms_norm_add, norm_config(s.norm.in, s.norm.eps), s.scale),
                     {.axis = Axis::kY, .rows = r_.rows_of(s.x)}, r_.work().float_quads(s.norm.in),
                     View<wgsl::Vec4<wgsl::F32>>{gain}, r_.work().float_quads(s.x));
}

Result<void> NormRecorder::record(const step::HeadNorm& s) {
  TRY(const BufferView gain, r_.weights().vector(*s.gain));
  const HeadNormConfig config{static_cast<uint32_t>(s.n_heads), static_cast<uint32_t>(s.head_dim), s.eps, r_.caps()};
  return r_.dispatch(r_.traced(head_norm, config), {.grid = {.x = config.n_heads}, .axis = Axis::kY},
                     r_.work().floats(s.x), View<wgsl::F32>{gain});
}

Result<void> NormRecorder::record(const step::Quantize& s) {
  return r_.dispatch(r_.traced(quantize, norm_config(s.in, 0)), {.axis = Axis::kY, .rows = r_.rows_of(s.in)},
                     r_.work().float_quads(s.in), r_.work().int8_words(s.out));
}

Result<void> NormRecorder::norm_quantize(const step::RmsNormQuantize& s, const When& when) {
  TRY(const BufferView gain, r_.weights().vector(*s.gain));
  return r_.dispatch(r_.traced(rms_norm_quantize, norm_config(s.in, s.eps)),
                     {.axis = Axis::kY, .rows = r_.rows_of(s.in), .when = when}, r_.work().float_quads(s.in),
                     View<wgsl::Vec4<wgsl::F32>>{gain}, r_.work().int8_words(s.out));
}

// A separate kernel always norms many tokens, since no workgroup of a matrix kernel reads a whole row.
Result<SlotId> NormRecorder::int8_input(SlotId in, const step::NormOnRead& norm, const When& apart) {
  if (!norm.gain) return in;
  TRY_STATUS(norm_quantize({in, norm.gain, norm.eps, norm.quantized}, norms_on_read(in, norm) ? apart : When{}));
  return norm.quantized;
}

// A step can norm its input if the previous step wrote the statistics, and the row consists of whole vec4s of int8
// words and fits into workgroup memory.
bool NormRecorder::norms_on_read(SlotId in, const step::NormOnRead& norm) const {
  constexpr uint32_t kReductionBytes = 6144;
  return norm.gain && !r_.layouts().serial && n_parts_.contains(norm.stats.index) && r_.width(in) % 16 == 0 &&
         whole_blocks(r_.width(in)) + kReductionBytes <= r_.limits().workgroup_bytes;
}

Result<NormViews> NormRecorder::norm_views(SlotId x, const step::NormOnRead& norm) {
  TRY(const BufferView gain, r_.weights().vector(*norm.gain));
  const auto n_parts = n_parts_.find(norm.stats.index);
  CHECK(n_parts != n_parts_.end());
  return NormViews{.x = r_.work().float_quads(x),
                   .gain = {gain},
                   .parts = r_.work().stats(norm.stats),
                   .config = {.eps = norm.eps, .n_parts = n_parts->second}};
}

// If no norm follows, the statistics go to an unused buffer.
Result<NextViews> NormRecorder::next_views(const step::StatsOnWrite& next, uint32_t n_parts) {
  if (!next.gain) return NextViews{.gain = r_.unused_gain(), .parts = r_.unused_stats()};
  TRY(const BufferView gain, r_.weights().vector(*next.gain));
  CHECK(n_parts <= most_stats_parts(r_.width(next.stats)));
  n_parts_[next.stats.index] = n_parts;
  return NextViews{.gain = {gain}, .parts = r_.work().stats(next.stats)};
}

}  // namespace tern::gpu
