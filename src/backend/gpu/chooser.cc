#include "backend/gpu/chooser.h"

#include <algorithm>

#include "backend/gpu/kernels/argmax.h"

namespace tern::gpu {
namespace {

constexpr uint32_t kMaxParts = 128;
constexpr int kFilterTopK = 1, kFilterTopP = 2;

// About a thousand tokens for each workgroup: enough of them to fill a GPU, and few to look through after the draw.
SampleConfig sample_config(const ChooserContext& c) {
  return {.n = c.n_vocab,
          .parts = std::clamp((c.n_vocab + 1023) / 1024, 1u, kMaxParts),
          .ring = Chooser::kRing,
          .caps = c.caps};
}

}  // namespace

Result<std::unique_ptr<Chooser>> Chooser::create(const ChooserContext& context) {
  std::unique_ptr<Chooser> chooser(new Chooser(context));
  TRY(chooser->ids_, context.device.new_buffer("token ring", 4 * kRing, BufferUse::kWork));
  TRY_STATUS(chooser->prepare_greedy());
  return chooser;
}

template <class... P, class... V>
Result<void> Chooser::add(Program& program, const wgsl::Kernel<P...>& kernel, uint32_t grid, const V&... views) {
  TRY(auto dispatch, c_.kernels.record(kernel, {.grid = {.x = grid}}, views...));
  program.add(std::move(dispatch));
  return {};
}

Result<void> Chooser::prepare_greedy() {
  ArgmaxConfig config{.n = c_.n_vocab, .ring = kRing, .serial = c_.serial};
  if (c_.serial) config.workgroup = 16;
  TRY(values_, c_.device.new_buffer("argmax values", 4 * config.parts, BufferUse::kWork));
  TRY(indices_, c_.device.new_buffer("argmax indices", 4 * config.parts, BufferUse::kWork));
  const View<wgsl::F32> logits{c_.logits}, values{{values_.get()}};
  const View<wgsl::U32> indices{{indices_.get()}}, ids{{ids_.get()}}, tokens{{&c_.tokens}}, params{{&c_.params}};
  TRY_STATUS(add(greedy_, argmax_parts(config), config.workgroups(), logits, values, indices));
  return add(greedy_, argmax_next(config), 1, values, indices, tokens, ids, params);
}

Result<void> Chooser::prepare_sampling() {
  if (hist_) return {};
  const SampleConfig config = sample_config(c_);
  TRY(state_, c_.device.new_buffer("sampling state", kSampleStateBytes, BufferUse::kWork));
  TRY(parts_, c_.device.new_buffer("sampling parts", sample_parts_bytes(config), BufferUse::kWork));
  TRY(draws_, c_.device.new_buffer("random numbers", 4 * kRing, BufferUse::kWork));
  TRY(options_, c_.device.new_buffer("sampling options", 16, BufferUse::kUniform));
  for (uint32_t i = 0; i < levels_.size(); ++i) {
    TRY(levels_[i], c_.device.new_buffer("sampling level", 16, BufferUse::kUniform));
    const std::array<uint32_t, 4> words = {i, 24 - 8 * (i % kSampleLevels), 0, 0};
    TRY_STATUS(c_.device.write(*levels_[i], 0, std::as_bytes(std::span(words))));
  }
  TRY(hist_, c_.device.new_buffer("sampling histograms", kSampleHistBytes, BufferUse::kWork));
  return {};
}

Result<void> Chooser::record_sampling(bool has_top_k, bool has_top_p, Program& program) {
  const SampleConfig config = sample_config(c_);
  const View<wgsl::U32> logits{c_.logits}, parts{{parts_.get()}}, state{{state_.get()}}, ids{{ids_.get()}},
      tokens{{&c_.tokens}}, params{{&c_.params}};
  const View<wgsl::Atomic<wgsl::U32>> hist{{hist_.get()}};
  const View<SampleOptionsUniform> options{{options_.get()}};
  const View<wgsl::F32> draws{{draws_.get()}};
  const auto search = [&](Measure measure, LevelBegin begin) -> Result<void> {
    for (uint32_t level = 0; level < kSampleLevels; ++level, begin = LevelBegin::kNext) {
      const View<SampleLevelUniform> uniform{{levels_[sample_level_index(measure, level)].get()}};
      TRY_STATUS(add(program, sample_level(config, measure, begin), config.parts, logits, parts, hist, state, options,
                     uniform));
    }
    return {};
  };
  TRY_STATUS(add(program, sample_greatest(config), config.parts, logits, parts, hist));
  if (has_top_k) TRY_STATUS(search(Measure::kCount, LevelBegin::kStart));
  if (has_top_p) TRY_STATUS(search(Measure::kShare, has_top_k ? LevelBegin::kAfterCount : LevelBegin::kStart));
  const Threshold threshold = has_top_p ? Threshold::kShare : has_top_k ? Threshold::kCount : Threshold::kNone;
  TRY_STATUS(add(program, sample_weigh(config, threshold), config.parts, logits, parts, hist, state, options));
  return add(program, sample_next(config), 1, logits, parts, state, draws, options, tokens, ids, params);
}

Result<const Program*> Chooser::sampling(const DeviceSampling& o) {
  if (c_.n_vocab > kMaxSampleVocab || c_.serial) return nullptr;
  TRY_STATUS(prepare_sampling());
  const bool has_top_k = o.top_k > 0 && static_cast<uint32_t>(o.top_k) < c_.n_vocab;
  const bool has_top_p = o.top_p < 1;
  const std::array<float, 4> values = {o.temperature, static_cast<float>(o.top_k), o.top_p, o.min_p};
  TRY_STATUS(c_.device.write(*options_, 0, std::as_bytes(std::span(values))));
  auto& program = sampling_[static_cast<size_t>((has_top_k ? kFilterTopK : 0) + (has_top_p ? kFilterTopP : 0))];
  if (!program) {
    auto recorded = std::make_unique<Program>();
    TRY_STATUS(record_sampling(has_top_k, has_top_p, *recorded));
    program = std::move(recorded);
  }
  return program.get();
}

Result<void> Chooser::set_draw(uint64_t step, float uniform) {
  return c_.device.write(*draws_, 4 * (step % kRing), std::as_bytes(std::span(&uniform, 1)));
}

}  // namespace tern::gpu
