#include "backend/gpu/run/trust/check_best_logits.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "backend/gpu/memory/batch/batch_words.h"
#include "backend/gpu/record/head_copy.h"
#include "backend/gpu/run/trust/noise.h"
#include "backend/kv_layout.h"

namespace tern::gpu {
namespace {

// Relative to the largest magnitude: other kernels add in another order.
constexpr float kMostErrorOfLogits = 1e-3f;

struct HeadStep {
  int index;
  const step::FloatLinear* linear;
};

std::optional<HeadStep> head_of(const Plan& plan) {
  for (int i = 0; i < static_cast<int>(plan.steps.size()); ++i) {
    const auto* linear = std::get_if<step::FloatLinear>(&plan.steps[static_cast<size_t>(i)].body);
    if (linear && linear->out == plan.logits) return HeadStep{i, linear};
  }
  return std::nullopt;
}

// True if `best` contains a row's n best logits, and no wrong ones. Logits that are not finite are ignored: they are
// detected when a token is computed.
bool are_best(std::span<const float> all, std::span<const float> best, int n) {
  std::vector<float> some;
  std::ranges::copy_if(all, std::back_inserter(some), [](float y) { return std::isfinite(y); });
  if (some.empty()) return true;
  const auto [lowest, highest] = std::ranges::minmax(some);
  const float most_error = kMostErrorOfLogits * std::max(std::abs(lowest), std::abs(highest));
  const auto nth = some.begin() + std::min(static_cast<ptrdiff_t>(n), std::ssize(some)) - 1;
  std::ranges::nth_element(some, nth, std::greater<>());
  int n_found = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!std::isfinite(all[i])) continue;
    const bool is_missing = std::isinf(best[i]) && best[i] < 0;
    if (is_missing ? all[i] > *nth + most_error : !(std::abs(best[i] - all[i]) <= most_error)) return false;
    n_found += !is_missing && all[i] >= *nth - most_error ? 1 : 0;
  }
  return n_found >= std::min(n, static_cast<int>(some.size()));
}

// True if the largest of the parts is the largest logit, or so close to it that rounding decides.
bool is_greatest(std::span<const float> all, std::span<const float> values, std::span<const uint32_t> indices) {
  std::vector<float> best(all.size(), -HUGE_VALF);
  const auto greatest = std::ranges::max_element(values) - values.begin();
  const uint32_t index = indices[static_cast<size_t>(greatest)];
  if (index < best.size()) best[index] = values[static_cast<size_t>(greatest)];
  return are_best(all, best, 1);
}

std::unexpected<Error> wrong(const Device& device, std::string_view what, int n_rows) {
  return fail(ErrorCode::kNotSupported,
              "the GPU {} computes wrongly ({} by way of the head's int8 copy; rows at a time: {}); use another head",
              device.adapter().name, what, n_rows);
}

}  // namespace

Result<void> check_best_logits(Device& device, const Plan& plan, const Program& program, const WorkBuffers& work,
                               const DeviceSampler& sampler, int n_rows) {
  const auto head = head_of(plan);
  if (!head) return {};
  const auto width = static_cast<size_t>(plan.slot(head->linear->in).width);
  const auto n_logits = static_cast<size_t>(plan.slot(plan.logits).width);
  std::vector<float> x(static_cast<size_t>(n_rows) * width);
  std::ranges::generate(x, Noise());
  std::vector<TokenId> tokens(static_cast<size_t>(n_rows));
  const std::vector<KvBlockId> unused(static_cast<size_t>(kv_blocks_for(n_rows)));
  const Slice slice{.tokens = tokens, .logits = WantLogits::kAll, .blocks = unused, .n_ctx = n_rows};
  BatchWords words;
  words.set({&slice, 1}, work.ropes());
  TRY_STATUS(words.write(device, work));
  const BufferView in = work.view_of_rows(head->linear->in, n_rows);
  TRY_STATUS(device.write(*in.buffer, in.offset, std::as_bytes(std::span(x))));

  const auto run_head = [&](int n_best, bool embeds_next) {
    words.shape.n_best = n_best;
    words.shape.embeds_next = embeds_next;
    std::vector<Command> commands;
    program.commands(words.shape, commands, head->index, head->index + 1);
    return device.submit(commands);
  };
  const auto logits_of = [&](int n_best) -> Result<std::vector<float>> {
    TRY_STATUS(run_head(n_best, false));
    return read_values<float>(device, work.view(plan.logits), static_cast<size_t>(n_rows) * n_logits);
  };
  TRY(const std::vector<float> all, logits_of(0));
  for (const int n_best : {1, kMostBestLogits}) {
    TRY(const std::vector<float> best, logits_of(n_best));
    for (size_t at = 0; at < all.size(); at += n_logits) {
      if (are_best(std::span(all).subspan(at, n_logits), std::span(best).subspan(at, n_logits), n_best)) continue;
      return wrong(device, format_text("a row's best {} logits", n_best), n_rows);
    }
  }
  const auto parts = sampler.parts_of_best();
  if (n_rows > 1 || !parts) return {};
  TRY_STATUS(run_head(1, true));
  TRY(const auto values, read_values<float>(device, parts->values.view, parts->n));
  TRY(const auto indices, read_values<uint32_t>(device, parts->indices.view, parts->n));
  return is_greatest(all, values, indices) ? Result<void>() : wrong(device, "a row's greatest logit", n_rows);
}

}  // namespace tern::gpu
