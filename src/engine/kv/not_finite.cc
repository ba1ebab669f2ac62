#include "engine/kv/not_finite.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "backend/kv_cache.h"

namespace tern {
namespace {

struct FirstStep {
  std::string name;
  int position = 0;
};

// Runs `tokens` at `first_pos` and returns the first step that writes a value that is not finite. If a step computes
// rows for only some tokens, these are the last ones.
std::optional<FirstStep> first_step_in(Executable& executable, KvCache& cache, std::span<const TokenId> tokens,
                                       int first_pos) {
  std::optional<FirstStep> first;
  const int n_tokens = static_cast<int>(tokens.size());
  executable.observe([&](const StepOutput& output) {
    const auto bad = std::ranges::find_if_not(output.values, [](float x) { return std::isfinite(x); });
    const auto bad_scale = std::ranges::find_if_not(output.scales, [](float x) { return std::isfinite(x); });
    if (first || (bad == output.values.end() && bad_scale == output.scales.end())) return;
    const auto width = static_cast<std::ptrdiff_t>(output.values.size()) / std::max(output.rows, 1);
    const std::ptrdiff_t row = bad != output.values.end()
                                   ? (bad - output.values.begin()) / std::max<std::ptrdiff_t>(width, 1)
                                   : bad_scale - output.scales.begin();
    first =
        FirstStep{.name = output.step->name, .position = first_pos + n_tokens - output.rows + static_cast<int>(row)};
  });
  const auto ran =
      executable.run(cache, {.tokens = tokens, .first_pos = first_pos, .logits = WantLogits::kLast, .n_best = 0});
  executable.observe(nullptr);
  if (!ran) return std::nullopt;
  return first;
}

}  // namespace

bool can_choose_by(std::span<const float> logits) {
  // Counts instead of leaving the loop early, so that it is vectorized: it runs for every token.
  constexpr float kGreatest = std::numeric_limits<float>::max();
  int n_bad = 0;
  int n_good = 0;
  for (const float x : logits) {
    n_bad += !(x <= kGreatest);
    n_good += x >= -kGreatest;
  }
  return n_bad == 0 && n_good > 0;
}

std::unexpected<Error> explain_not_finite(Executable& executable, KvType type, int n_ctx,
                                          std::span<const TokenId> tokens) {
  constexpr const char* kAdvice = "the model's file is damaged or was converted wrongly; download or convert it again";
  const auto n_batch = static_cast<size_t>(executable.max_batch());
  auto cache = executable.new_cache(n_ctx, type);
  if (!cache) return std::unexpected(std::move(cache).error());
  for (size_t begin = 0; begin < tokens.size(); begin += n_batch) {
    const auto batch = tokens.subspan(begin, std::min(n_batch, tokens.size() - begin));
    const auto first = first_step_in(executable, **cache, batch, static_cast<int>(begin));
    if (!first) continue;
    return fail(ErrorCode::kCorruption,
                "{}: the model's values are not finite numbers from this step on, at position {}; {}", first->name,
                first->position, kAdvice);
  }
  return fail(ErrorCode::kCorruption, "the model's logits are not finite numbers at position {}; {}", tokens.size() - 1,
              kAdvice);
}

}  // namespace tern
