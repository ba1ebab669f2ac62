#include "backend/gpu/record/device_sampler.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "backend/gpu/kernels/head/argmax.h"
#include "base/check.h"

namespace tern::gpu {
namespace {

// Typical-p and XTC. In web builds the host chooses with them, because their kernels would add 10 kB to every page.
#ifdef __EMSCRIPTEN__
constexpr bool kHasFilterKernels = false;
#else
constexpr bool kHasFilterKernels = true;
#endif

constexpr uint32_t kMaxParts = 128;
constexpr size_t kFilterTopK = 1, kFilterTopP = 2, kFilterSigma = 4, kFilterTypical = 8, kFilterXtc = 16;

// The layout that the kernels read (gpu::SampleOptions).
struct RowOptions {
  float temperature, top_k, top_p, min_p;
};

// About a thousand tokens per workgroup: enough workgroups to fill a GPU, and few tokens to search after the draw.
SampleConfig sample_config(const DeviceSamplerContext& c) {
  return {.n = c.n_vocab,
          .parts = std::clamp((c.n_vocab + 1023) / 1024, 1u, kMaxParts),
          .ring = DeviceSampler::kRing,
          .caps = c.caps};
}

}  // namespace

Result<std::unique_ptr<DeviceSampler>> DeviceSampler::create(const DeviceSamplerContext& context) {
  std::unique_ptr<DeviceSampler> sampler(new DeviceSampler(context));
  TRY(sampler->ids_, context.device.new_buffer("token ring", 4 * kRing * context.max_rows, BufferUse::kWork));
  TRY_STATUS(sampler->prepare_greedy());
  return sampler;
}

template <class... P, class... V>
Result<void> DeviceSampler::add(Program& program, const wgsl::Kernel<P...>& kernel, const Extent& extent,
                                const V&... views) {
  TRY(auto dispatch, c_.kernels.record(kernel, extent, views...));
  program.add(std::move(dispatch));
  return {};
}
template <class... P, class... V>
Result<void> DeviceSampler::add(Program& program, const wgsl::Kernel<P...>& kernel, uint32_t grid, const V&... views) {
  return add(program, kernel, Extent{.grid = {.x = grid}, .axis = Axis::kY, .rows = Rows::kLogits}, views...);
}

Result<void> DeviceSampler::prepare_greedy() {
  ArgmaxConfig config{.n = c_.n_vocab, .ring = kRing, .serial = c_.serial};
  if (c_.serial) config.workgroup = 16;
  const uint64_t bytes = uint64_t{4} * std::max(config.parts * c_.max_rows, n_parts_of_best());
  TRY(values_, c_.device.new_buffer("argmax values", bytes, BufferUse::kWork));
  TRY(indices_, c_.device.new_buffer("argmax indices", bytes, BufferUse::kWork));
  const View<wgsl::F32> logits{c_.logits}, values{{values_.get()}};
  const View<wgsl::U32> indices{{indices_.get()}}, ids{{ids_.get()}}, tokens{{&c_.tokens}}, params{{&c_.params}};
  // With embeds_next, the parts come either from the logits or, with a head copy, without computing all logits.
  const When usual{.embeds_next = If::kNo}, embeds{.max_best = 0, .embeds_next = If::kYes},
      embeds_best{.min_best = 1, .embeds_next = If::kYes};
  const auto extent = [](uint32_t grid, const When& when) {
    return Extent{.grid = {.x = grid}, .axis = Axis::kY, .rows = Rows::kLogits, .when = when};
  };
  const auto parts = argmax_parts(config);
  TRY_STATUS(add(greedy_, parts, extent(config.workgroups(), usual), logits, values, indices, params));
  TRY_STATUS(add(greedy_, argmax_next(config), extent(1, usual), values, indices, tokens, ids, params));
  if (!can_embed()) return {};
  TRY_STATUS(add(greedy_, parts, extent(config.workgroups(), embeds), logits, values, indices, params));
  const DeviceSamplerContext::Embedding& table = *c_.embedding;
  const View<WeightUnits> units{table.units};
  const View<wgsl::U32> scales{table.scales};
  const View<wgsl::Vec4<wgsl::F32>> row{table.row};
  ArgmaxEmbedConfig next{.parts = config.parts,
                         .ring = kRing,
                         .workgroup = std::bit_floor(std::min(512u, c_.device.limits().invocations)),
                         .embed = table.config};
  TRY_STATUS(
      add(greedy_, argmax_embed(next), extent(1, embeds), values, indices, tokens, ids, params, units, scales, row));
  next.parts = n_parts_of_best();
  next.begins_step = true;
  return add(greedy_, argmax_embed(next), extent(1, embeds_best), values, indices, tokens, ids, params, units, scales,
             row);
}

std::optional<DeviceSampler::Parts> DeviceSampler::parts_of_best() const {
  if (!can_embed()) return {};
  return Parts{n_parts_of_best(), {{values_.get()}}, {{indices_.get()}}};
}

Result<void> DeviceSampler::prepare_sampling() {
  if (hist_) return {};
  const SampleConfig config = sample_config(c_);
  const uint64_t n = c_.max_rows;
  TRY(state_, c_.device.new_buffer("sampling state", n * kSampleStateBytes, BufferUse::kWork));
  TRY(parts_, c_.device.new_buffer("sampling parts", n * sample_parts_bytes(config), BufferUse::kWork));
  TRY(draws_, c_.device.new_buffer("random numbers", n * 4 * kRing, BufferUse::kWork));
  TRY(options_, c_.device.new_buffer("sampling options", n * sizeof(RowOptions), BufferUse::kWork));
  TRY(deviations_, c_.device.new_buffer("sampling deviations", n * sizeof(float), BufferUse::kWork));
  TRY(typical_options_, c_.device.new_buffer("typical options", n * sizeof(RowOptions), BufferUse::kWork));
  TRY(thresholds_, c_.device.new_buffer("XTC thresholds", n * 4 * kRing, BufferUse::kWork));
  TRY(choices_, c_.device.new_buffer("top choices", n * sample_choices_bytes(config), BufferUse::kWork));
  TRY(moments_, c_.device.new_buffer("sampling moments", n * sample_moments_bytes(config), BufferUse::kWork));
  for (uint32_t i = 0; i < levels_.size(); ++i) {
    TRY(levels_[i], c_.device.new_buffer("sampling level", 16, BufferUse::kUniform));
    const std::array<uint32_t, 4> words = {i, 24 - 8 * (i % kSampleLevels), 0, 0};
    TRY_STATUS(c_.device.write(*levels_[i], 0, std::as_bytes(std::span(words))));
  }
  TRY(hist_, c_.device.new_buffer("sampling histograms", n * kSampleHistBytes, BufferUse::kWork));
  return {};
}

Result<void> DeviceSampler::record_sampling(size_t filters, Program& program) {
  const bool has_top_k = filters & kFilterTopK, has_top_p = filters & kFilterTopP, has_floor = filters & kFilterSigma;
  const SampleConfig config = sample_config(c_);
  const View<wgsl::U32> logits{c_.logits}, parts{{parts_.get()}}, state{{state_.get()}}, ids{{ids_.get()}},
      tokens{{&c_.tokens}}, params{{&c_.params}};
  const View<wgsl::Atomic<wgsl::U32>> hist{{hist_.get()}};
  const View<wgsl::Vec4<wgsl::F32>> options{{options_.get()}};
  const View<wgsl::F32> draws{{draws_.get()}}, moments{{moments_.get()}}, deviations{{deviations_.get()}};
  const auto search = [&](Measure measure, LevelBegin begin) -> Result<void> {
    for (uint32_t level = 0; level < kSampleLevels; ++level, begin = LevelBegin::kNext) {
      const View<SampleLevelUniform> uniform{{levels_[sample_level_index(measure, level)].get()}};
      TRY_STATUS(add(program, sample_level(config, measure, begin), config.parts, logits, parts, hist, state, options,
                     uniform));
    }
    return {};
  };
  TRY_STATUS(add(program, sample_greatest(config), config.parts, logits, parts, hist, params));
  if (has_floor) {
    TRY_STATUS(add(program, sample_moments(config), config.parts, logits, parts, moments));
    TRY_STATUS(add(program, sample_floor(config), 1, parts, moments, deviations, state));
  }
  LevelBegin start = has_floor ? LevelBegin::kAfterFloor : LevelBegin::kStart;
  Threshold threshold = has_floor ? Threshold::kFloor : Threshold::kNone;
  if (has_top_k) {
    TRY_STATUS(search(Measure::kCount, start));
    start = LevelBegin::kAfterCount;
    threshold = Threshold::kCount;
  }
  if (kHasFilterKernels && (filters & kFilterTypical)) {
    TRY_STATUS(record_typical(threshold, program));
    start = LevelBegin::kStart;
    threshold = Threshold::kNone;
  }
  if (has_top_p) {
    TRY_STATUS(search(Measure::kShare, start));
    threshold = Threshold::kShare;
  }
  if (kHasFilterKernels && (filters & kFilterXtc)) {
    TRY_STATUS(record_xtc(threshold, program));
    threshold = Threshold::kNone;
  }
  TRY_STATUS(add(program, sample_weigh(config, threshold), config.parts, logits, parts, hist, state, options));
  return add(program, sample_next(config), 1, logits, parts, state, draws, options, tokens, ids, params);
}

// Makes dropped logits NaN.
Result<void> DeviceSampler::record_drop(Threshold threshold, bool by_min_p, Program& program) {
  const SampleConfig config = sample_config(c_);
  const View<wgsl::U32> logits{c_.logits}, parts{{parts_.get()}}, state{{state_.get()}};
  const View<wgsl::Atomic<wgsl::U32>> hist{{hist_.get()}};
  const View<wgsl::Vec4<wgsl::F32>> options{{options_.get()}};
  const View<wgsl::F32> moments{{moments_.get()}};
  TRY_STATUS(add(program, sample_weigh(config, threshold), config.parts, logits, parts, hist, state, options));
  TRY_STATUS(add(program, sample_drop(config, by_min_p), config.parts, logits, parts, state, options));
  return add(program, sample_surprise(config), config.parts, logits, parts, moments);
}

Result<void> DeviceSampler::record_typical(Threshold threshold, Program& program) {
  const SampleConfig config = sample_config(c_);
  const View<wgsl::U32> logits{c_.logits}, parts{{parts_.get()}}, state{{state_.get()}};
  const View<wgsl::Atomic<wgsl::U32>> hist{{hist_.get()}};
  const View<wgsl::Vec4<wgsl::F32>> options{{typical_options_.get()}};
  const View<wgsl::F32> moments{{moments_.get()}};
  TRY_STATUS(record_drop(threshold, /*by_min_p=*/false, program));
  for (uint32_t level = 0; level < kSampleLevels; ++level) {
    const View<SampleLevelUniform> uniform{{levels_[sample_level_index(Measure::kShare, level)].get()}};
    const auto kernel = sample_typical(config, level == 0 ? LevelBegin::kStart : LevelBegin::kNext);
    TRY_STATUS(add(program, kernel, config.parts, logits, parts, moments, hist, state, options, uniform));
  }
  TRY_STATUS(add(program, sample_typical_cut(config), config.parts, logits, parts, moments, hist, state, options));
  TRY_STATUS(add(program, sample_drop_untypical(config), config.parts, logits, parts, moments, state, options));
  return add(program, sample_again(config), config.parts, logits, parts, hist);
}

Result<void> DeviceSampler::record_xtc(Threshold threshold, Program& program) {
  const SampleConfig config = sample_config(c_);
  const View<wgsl::U32> logits{c_.logits}, parts{{parts_.get()}}, params{{&c_.params}}, choices{{choices_.get()}};
  const View<wgsl::Atomic<wgsl::U32>> hist{{hist_.get()}};
  const View<wgsl::F32> moments{{moments_.get()}}, thresholds{{thresholds_.get()}};
  TRY_STATUS(record_drop(threshold, /*by_min_p=*/true, program));
  TRY_STATUS(add(program, sample_xtc(config), config.parts, logits, parts, moments, thresholds, params, choices));
  TRY_STATUS(add(program, sample_drop_top(config), config.parts, logits, choices));
  return add(program, sample_again(config), config.parts, logits, parts, hist);
}

Result<const Program*> DeviceSampler::choosing(std::span<const DeviceSampling> rows) {
  CHECK(!rows.empty() && rows.size() <= c_.max_rows);
  const auto is_greedy = [](const DeviceSampling& o) { return o.temperature == 0; };
  const bool changes = std::ranges::any_of(rows, [](const DeviceSampling& o) { return static_cast<bool>(o.changes); });
  if (c_.serial && changes) return nullptr;
  if (std::ranges::all_of(rows, is_greedy)) return &greedy_;
  if (c_.n_vocab > kMaxSampleVocab || c_.serial) return nullptr;
  const auto has_filters = [](const DeviceSampling& o) { return o.typical_p < 1 || o.xtc_probability > 0; };
  if (!kHasFilterKernels && std::ranges::any_of(rows, has_filters)) return nullptr;
  TRY_STATUS(prepare_sampling());
  // Next to random rows, a greedy row is drawn with top-k 1. The filters run for all rows; rows without a filter get
  // one that keeps everything.
  std::vector<RowOptions> options, typical_options;
  std::vector<float> deviations;
  size_t filters = 0;
  for (const DeviceSampling& o : rows) {
    const bool filters_k = o.top_k > 0 && static_cast<uint32_t>(o.top_k) < c_.n_vocab, filters_p = o.top_p < 1;
    if (filters_k || is_greedy(o)) filters |= kFilterTopK;
    if (filters_p && !is_greedy(o)) filters |= kFilterTopP;
    if (o.top_n_sigma > 0 && !is_greedy(o)) filters |= kFilterSigma;
    const bool is_typical = o.typical_p < 1 && !is_greedy(o);
    if (is_typical) filters |= kFilterTypical;
    if (o.xtc_probability > 0 && !is_greedy(o)) filters |= kFilterXtc;
    RowOptions row{o.temperature, static_cast<float>(filters_k ? static_cast<uint32_t>(o.top_k) : c_.n_vocab),
                   filters_p ? o.top_p : 2.0f, o.min_p};
    if (is_greedy(o)) row = {.temperature = 1, .top_k = 1, .top_p = 2, .min_p = 0};
    options.push_back(row);
    typical_options.push_back({.temperature = 1, .top_k = 0, .top_p = is_typical ? o.typical_p : 2.0f, .min_p = 0});
    deviations.push_back(is_greedy(o) ? 0 : o.top_n_sigma);
  }
  TRY_STATUS(c_.device.write(*options_, 0, std::as_bytes(std::span(options))));
  if (filters & kFilterTypical)
    TRY_STATUS(c_.device.write(*typical_options_, 0, std::as_bytes(std::span(typical_options))));
  TRY_STATUS(c_.device.write(*deviations_, 0, std::as_bytes(std::span(deviations))));
  auto& program = sampling_[filters];
  if (!program) {
    auto recorded = std::make_unique<Program>();
    TRY_STATUS(record_sampling(filters, *recorded));
    program = std::move(recorded);
  }
  return program.get();
}

Result<void> DeviceSampler::prepare_changes() {
  if (changes_) return {};
  change_words_.reserve((kMostChanges + 1) * kChangeWords);
  const Extent extent{.grid = {.x = kMostChanges / kSampleWorkgroup}, .rows = Rows::kLogits};
  TRY(auto buffer, c_.device.new_buffer("changed logits", 4 * (kMostChanges + 1) * kChangeWords, BufferUse::kWork));
  const View<wgsl::U32> logits{c_.logits}, changes{{buffer.get()}};
  TRY_STATUS(add(change_, sample_change(), extent, logits, changes));
  changes_ = std::move(buffer);
  return {};
}

Result<void> DeviceSampler::submit_changes() {
  change_words_[0] = static_cast<uint32_t>(change_words_.size() / kChangeWords) - 1;
  TRY_STATUS(c_.device.write(*changes_, 0, std::as_bytes(std::span(change_words_))));
  std::vector<Command> commands;
  change_.commands({}, commands);
  change_words_.resize(kChangeWords);
  return c_.device.submit(commands);
}

// The bounds keep results finite, except for a bias of −infinity, which the kernel treats by itself.
Result<void> DeviceSampler::change(std::span<const std::vector<LogitChange>> changes) {
  CHECK(changes.size() <= c_.max_rows);
  TRY_STATUS(prepare_changes());
  static constexpr float kMost = 1e30f;
  const auto bounded = [](float x) { return std::bit_cast<uint32_t>(std::clamp(x, -kMost, kMost)); };
  change_words_.assign(kChangeWords, 0);
  for (size_t row = 0; row < changes.size(); ++row) {
    for (const LogitChange& c : changes[row]) {
      const auto place = static_cast<uint32_t>(row) * c_.n_vocab + static_cast<uint32_t>(c.token);
      const uint32_t bias = std::isinf(c.bias) ? std::bit_cast<uint32_t>(c.bias) : bounded(c.bias);
      const uint32_t factor = std::bit_cast<uint32_t>(std::clamp(c.factor, 1 / kMost, kMost));
      const uint32_t words[kChangeWords] = {place, bias, bounded(c.first), factor, bounded(c.second), bounded(c.third)};
      change_words_.insert(change_words_.end(), std::begin(words), std::end(words));
      if (change_words_.size() == (kMostChanges + 1) * kChangeWords) TRY_STATUS(submit_changes());
    }
  }
  return change_words_.size() > kChangeWords ? submit_changes() : Result<void>();
}

Result<void> DeviceSampler::set_draws(uint64_t step, std::span<const float> uniforms) {
  return c_.device.write(*draws_, 4 * (step % kRing) * uniforms.size(), std::as_bytes(uniforms));
}

Result<void> DeviceSampler::set_thresholds(uint64_t step, std::span<const float> thresholds) {
  return c_.device.write(*thresholds_, 4 * (step % kRing) * thresholds.size(), std::as_bytes(thresholds));
}

}  // namespace tern::gpu
