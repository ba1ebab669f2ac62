#include "backend/gpu/run/profile/tune.h"

#include <algorithm>
#include <chrono>

#include "backend/gpu/record/tuned_layouts.h"
#include "backend/gpu/run/executable.h"
#include "backend/gpu/run/profile/layout_search.h"
#include "backend/kv_cache.h"
#include "tern/tools.h"

namespace tern::gpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kTokensBefore = 128, kTokens = 24, kRounds = 3;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Milliseconds per token, in the fastest round.
Result<double> time_tokens(GpuExecutable& executable, int pos, int n_tokens) {
  TRY(const auto cache, executable.new_cache(pos + n_tokens, KvType::kF16));
  double best = 0;
  for (int round = 0; round < kRounds; ++round) {
    TRY(const auto stream, executable.decode(*cache, /*token=*/1, pos, n_tokens, {.temperature = 0}));
    TRY_STATUS(stream->next());  // the first time, this compiles
    const auto begin = Clock::now();
    for (int i = 1; i < n_tokens; ++i) TRY_STATUS(stream->next());
    const double ms = ms_since(begin) / (n_tokens - 1);
    best = round == 0 ? ms : std::min(best, ms);
  }
  return best;
}

// Milliseconds of a prompt, in the fastest round.
Result<double> time_prompt(GpuExecutable& executable, int n_tokens) {
  TRY(const auto cache, executable.new_cache(n_tokens, KvType::kF16));
  const std::vector<TokenId> tokens(static_cast<size_t>(n_tokens), 1);
  double best = 0;
  for (int round = -1; round < kRounds; ++round) {  // the first compiles
    const auto begin = Clock::now();
    TRY_STATUS(executable.run(*cache, {.tokens = tokens}));
    const double ms = ms_since(begin);
    best = round <= 0 ? ms : std::min(best, ms);
  }
  return best;
}

}  // namespace

Result<TuneResult> tune(Executable& any, const TuneOptions& options) {
  auto& executable = static_cast<GpuExecutable&>(any);
  executable.layer_path().force_stepwise();  // the layouts are those of steps
  const Device& device = executable.device();
  const int n_ctx = executable.plan().config.n_ctx;
  const Layouts before = executable.layouts(), start = layouts_for(device, executable.options().without);
  if (start.serial) {
    return fail(ErrorCode::kNotSupported,
                "{} draws on the CPU, and the kernels for that have no layouts to choose from; use a GPU",
                device.adapter().name);
  }
  if (n_ctx < 8 || executable.max_batch() < 8) {
    return fail(ErrorCode::kNotSupported, "a context of {} tokens is too short to measure anything in", n_ctx);
  }
  std::vector<Knob> wanted = knobs(executable.plan().config.int8_activations);
  if (device.features().matrices.empty()) std::erase_if(wanted, [](const Knob& knob) { return knob.is_of_prompts; });
  // Large enough to use tiles of both sizes.
  constexpr int kPrompt = 512;
  const int n_prompt = std::min({kPrompt, executable.max_batch(), n_ctx}), n_tokens = std::min(kTokens, n_ctx / 2);
  const int pos = std::min(kTokensBefore, n_ctx - n_tokens - 2);
  const auto with = [&](const LayoutSettings& settings) {
    Layouts layouts = start;
    for (const std::string& setting : settings) apply_setting(layouts, setting);
    return layouts;
  };
  const auto begin = Clock::now();
  const LayoutTrials trials{.measure = [&](bool of_prompts, const LayoutSettings& settings) -> Result<double> {
                              const Layouts layouts = with(settings);
                              executable.set_layouts(layouts);
                              if (!of_prompts) return time_tokens(executable, pos, n_tokens);
                              auto ms = time_prompt(executable, n_prompt);
                              const int from = executable.layouts().attention_on_matrices_from;
                              if (!ms || from == layouts.attention_on_matrices_from) return ms;
                              return fail(ErrorCode::kNotSupported, "attention on subgroup matrices is wrong");
                            },
                            .check = [&](const LayoutSettings& settings) -> Result<void> {
                              executable.set_layouts(with(settings));
                              TRY_STATUS(executable.check());
                              return executable.check_long_prompts();
                            },
                            .is_late = [&] { return ms_since(begin) > options.seconds * 1e3; }};
  Result<TuneResult> result = search_layouts(wanted, trials, options.on_trial);
  executable.set_layouts(result ? with(result->settings) : before);
  if (!result) return result;
  result->prompt_tokens = n_prompt;
  result->device = executable.description();
  return result;
}

void forget_tuning(Executable& any) {
  auto& executable = static_cast<GpuExecutable&>(any);
  executable.set_layouts(layouts_for(executable.device(), executable.options().without));
}

KeptTuning kept_tuning(const Executable& any) {
  const auto& executable = static_cast<const GpuExecutable&>(any);
  const std::string& folder = executable.options().cache_dir;
  return {.file = folder.empty() ? "" : layouts_file(folder),
          .key = tuning_key(executable.device().adapter(), executable.plan())};
}

}  // namespace tern::gpu
